"""Tells whether two pictures are one: first by their hashes, among thousands, then by laying one over the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from intake.picture_looks import LAYS, LAYS_OF_A_TURN, Box, Grey, Hashes, hashes_laid, laid, seen_through, windows

MOST_BITS_APART = 16
MOST_CANDIDATES = 40
ROWS_AT_ONCE = 200
STARTS = 3
LIKENESS = 0.95
# Six more ways to lay a picture are six more chances to resemble a stranger: of 31,000 pairs of scenes with a few flat
# shapes 48 were that alike turned, 17 more than this, while none of 600 cut copies came below it.
LIKENESS_TURNED = 0.97
HOPELESS = 0.6
# What two pictures agree by before an edge is moved: 1,000 copies with their sides cut by any share began at 0.54 or
# more, four of five strangers below this.
STRANGE = 0.45
SAMPLES = 24
WAVES = 16
SLOW_WAVES = 2  # left out: every picture with a light wall above a dark table shares them
STEPS = (5, 2, 1)
SMALLEST_SIDE = 60
WHOLE: Box = (0, 0, 100, 100)


@dataclass(frozen=True)
class Candidate:
    """`row` of the stored hashes; `lay`: how the new picture has to be laid; `parts`: the windows that fit best then,
    of the stored picture or (`of_new`) the new."""

    row: int
    parts: tuple[Box, ...]
    of_new: bool
    lay: int

    @property
    def enough(self) -> float:
        return LIKENESS if self.lay < LAYS_OF_A_TURN else LIKENESS_TURNED


class Near(NamedTuple):
    """A stored picture that is near by its hashes, the nearest first: by how many `bits`; the rest as in Candidate."""

    bits: int
    lay: int
    of_new: bool
    row: int


def candidates(whole: Grey, stored: Hashes, *, turned: bool) -> list[Candidate]:
    """Stored pictures (rows of one hash a window) that may be a copy, a part or the origin of `whole`, also mirrored
    and, if `turned`, lying on a side or upside down; the nearest first, at most 40 of each turn."""
    new = hashes_laid(whole, LAYS if turned else LAYS_OF_A_TURN)
    of_turn: list[list[Near]] = [[] for _ in range(0, len(new), LAYS_OF_A_TURN)]
    for near in sorted(_near(stored, new)):
        of_turn[near.lay // LAYS_OF_A_TURN].append(near)
    return [_candidate(near, stored, new) for found in of_turn for near in found[:MOST_CANDIDATES]]


def same(new: Grey, stored: Grey, candidate: Candidate) -> bool:
    """Whether the two are one picture."""
    return likeness(new, stored, candidate) >= candidate.enough


def likeness(new: Grey, stored: Grey, candidate: Candidate) -> float:
    """How well the two lie on each other, 1.0 when every wave agrees; a window's edges are moved until it is likely
    enough or no move helps, and only where the two agree a little from the start."""
    new = laid(new, candidate.lay)
    part_of, other = (new, stored) if candidate.of_new else (stored, new)
    wanted = _unit(seen_through(other, WHOLE, SAMPLES, WAVES))
    best = max(_agreement(wanted, part_of, part) for part in candidate.parts)
    if best < STRANGE:
        return best
    for part in candidate.parts:
        best = max(best, _laid_on(wanted, part_of, part, candidate.enough))
        if best >= candidate.enough:
            break
    return best


def _laid_on(wanted: Grey, picture: Grey, box: Box, enough: float) -> float:
    best = _agreement(wanted, picture, box)
    for step in STEPS:
        while best < enough:
            better, moved = max((_agreement(wanted, picture, near), near) for near in _moved(box, step))
            if better <= best:
                break
            best, box = better, moved
        if best < HOPELESS:
            break
    return best


def _near(stored: Hashes, new: Hashes) -> Iterator[Near]:
    """`new`: a row of hashes for each lay. Few stored rows at once stay where the processor has them at hand."""
    for start in range(0, len(stored), ROWS_AT_ONCE):
        rows = stored[start : start + ROWS_AT_ONCE]
        for of_new, apart in (
            (False, np.bitwise_count(rows ^ new[:, :1, None])),
            (True, np.bitwise_count(rows[:, :1] ^ new[:, None])),
        ):
            finds = np.unique(np.flatnonzero(apart <= MOST_BITS_APART) // len(windows()))
            lays, places = np.divmod(finds, len(rows))
            bits = apart[lays, places].min(axis=1)
            for few, lay, place in zip(bits.tolist(), lays.tolist(), places.tolist(), strict=True):
                yield Near(few, lay, of_new, start + place)


def _candidate(near: Near, stored: Hashes, new: Hashes) -> Candidate:
    one, many = (stored[near.row], new[near.lay]) if near.of_new else (new[near.lay], stored[near.row])
    fitting = np.argsort(np.bitwise_count(many ^ one[0]), kind="stable")[:STARTS]
    return Candidate(near.row, tuple(windows()[part] for part in fitting), near.of_new, near.lay)


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
    length = math.sqrt(np.vdot(waves, waves))
    return waves / length if length else waves
