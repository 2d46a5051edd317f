"""Tells whether two pictures are one: first by their hashes, among thousands, then by laying one over the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intake.picture_looks import Box, Grey, Hashes, hashes_of, seen_through, windows

MOST_BITS_APART = 16
MOST_CANDIDATES = 40
STARTS = 3
LIKENESS = 0.95
HOPELESS = 0.6
SAMPLES = 24
WAVES = 16
SLOW_WAVES = 2  # left out: every picture with a light wall above a dark table shares them
STEPS = (5, 2, 1)
SMALLEST_SIDE = 60
WHOLE: Box = (0, 0, 100, 100)


@dataclass(frozen=True)
class Candidate:
    """`row` of the stored hashes; `parts`: the windows that fit best, of the stored picture or (`of_new`) the new."""

    row: int
    parts: tuple[Box, ...]
    of_new: bool
    mirrored: bool


def candidates(whole: Grey, stored: Hashes) -> list[Candidate]:
    """Stored pictures (rows of one hash a window) that may be a copy, a part or the origin of `whole`, also mirrored;
    the nearest first, at most 40."""
    found: list[tuple[int, Candidate]] = []
    for mirrored in (False, True):
        new = hashes_of(whole[:, ::-1] if mirrored else whole)
        for of_new, apart in (
            (False, np.bitwise_count(stored ^ new[0])),
            (True, np.bitwise_count(stored[:, :1] ^ new)),
        ):
            found += list(_near(apart, of_new, mirrored))
    found.sort(key=lambda pair: pair[0])
    return [candidate for _, candidate in found[:MOST_CANDIDATES]]


def likeness(new: Grey, stored: Grey, candidate: Candidate) -> float:
    """How well the two lie on each other, 1.0 when every wave agrees; a window's edges are moved until it is likely
    enough or no move helps."""
    new = new[:, ::-1] if candidate.mirrored else new
    part_of, other = (new, stored) if candidate.of_new else (stored, new)
    wanted = _unit(seen_through(other, WHOLE, SAMPLES, WAVES))
    best = 0.0
    for part in candidate.parts:
        best = max(best, _laid_on(wanted, part_of, part))
        if best >= LIKENESS:
            break
    return best


def _laid_on(wanted: Grey, picture: Grey, box: Box) -> float:
    best = _agreement(wanted, picture, box)
    for step in STEPS:
        while best < LIKENESS:
            better, moved = max((_agreement(wanted, picture, near), near) for near in _moved(box, step))
            if better <= best:
                break
            best, box = better, moved
        if best < HOPELESS:
            break
    return best


def _near(apart: NDArray[np.uint8], of_new: bool, mirrored: bool) -> Iterator[tuple[int, Candidate]]:
    nearest = apart.min(axis=1)
    rows = np.flatnonzero(nearest <= MOST_BITS_APART)
    for row in rows[np.argsort(nearest[rows], kind="stable")][:MOST_CANDIDATES]:
        fitting = np.argsort(apart[row], kind="stable")[:STARTS]
        yield int(nearest[row]), Candidate(int(row), tuple(windows()[one] for one in fitting), of_new, mirrored)


def _moved(box: Box, step: int) -> Iterator[Box]:
    for edge in range(4):
        for way in (-step, step):
            near = list(box)
            near[edge] = min(100, max(0, near[edge] + way))
            moved: Box = (near[0], near[1], near[2], near[3])
            if moved != box and min(moved[2] - moved[0], moved[3] - moved[1]) >= SMALLEST_SIDE:
                yield moved


def _agreement(wanted: Grey, picture: Grey, box: Box) -> float:
    return float(np.vdot(wanted, _unit(seen_through(picture, box, SAMPLES, WAVES))))


def _unit(waves: Grey) -> Grey:
    """The waves without the slowest ones, with the length 1, so that light and contrast say nothing."""
    waves[:SLOW_WAVES, :SLOW_WAVES] = 0
    length = float(np.linalg.norm(waves))
    return waves / length if length else waves
