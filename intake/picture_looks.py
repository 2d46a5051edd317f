"""What a picture looks like, in a form that outlives saving again, scaling, cropping and small changes of light.

Own code on Pillow and numpy. ImageHash (BSD-2) brings scipy and PyWavelets for it and its crop-resistant hash hangs on
a fixed brightness, so that a lighter copy falls into other segments; pdqhash knows whole pictures only. A picture is
kept as a small grey copy, which proves a likeness, and as one short hash for each of 60 windows into it, which finds
the few pictures worth a proof among thousands. Turned and mirrored, a picture has the same windows in another order, so
nothing more is kept to find it however it lies.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Grey = NDArray[np.float32]
Hashes = NDArray[np.uint64]
# Left, top, right, bottom in hundredths of the picture's sides.
Box = tuple[int, int, int, int]

SIDE = 32
HASH_SAMPLES = 32
HASH_SIDE = 8
WINDOW_STEP = 10
LARGEST_CUT = 30
LEAST_AREA = 62  # below the 70 % that is promised: the window nearest to such a crop may be a little smaller
# The ways a picture can lie: four turns, the first of them none, each also mirrored.
LAYS = 8
LAYS_OF_A_TURN = 2
# Grey levels (of 255) that a picture without its slowest waves varies by. The copy is rounded to whole levels, so
# below one level there is more rounding than picture; a covered lens stays there.
LEAST_DETAIL = 1.0
# The same in shares of all it varies by, so that a pale copy has as much as its original; a wall with a shade has less.
LEAST_DETAIL_SHARE = 0.18
SLOW_WAVES = 3
# Mean grey levels and bits of a hash that rounding may change.
ROUNDING = 2.0
ROUNDED_BITS = 4


def looks_of(jpeg: bytes) -> list[str]:
    """Two texts in hex: the grey copy of the whole picture (32 x 32), then the hashes of its windows, 16 digits each,
    the whole picture's first. A picture too plain to be told from another gets the first only. Raises OSError when
    `jpeg` is no readable JPEG."""
    with Image.open(io.BytesIO(jpeg), formats=("JPEG",)) as image:
        image.draft("L", (SIDE * 4, SIDE * 4))
        grey = image.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    whole = np.asarray(grey, dtype=np.uint8)
    if _shows_little(whole.astype(np.float32)):
        return [whole.tobytes().hex()]
    return [whole.tobytes().hex(), hashes_of(whole.astype(np.float32)).astype(">u8").tobytes().hex()]


def looks_fit(looks: Sequence[str], jpeg: bytes) -> bool:
    """Whether `jpeg` still has these looks; another decoder may round a few grey levels otherwise. Raises OSError when
    it is no readable JPEG, ValueError when `looks` are none."""
    apart = np.abs(read_whole(looks[0]) - read_whole(looks_of(jpeg)[0]))
    return float(apart.mean()) <= ROUNDING and (not _kept_hashes(looks) or _hashes_fit(looks))


def looks_read_later(jpeg: bytes, at: datetime) -> list[str]:
    """Looks of a picture that was kept before looks were, with a third text: the moment `at` they were read, since
    nobody could compare it before. Raises OSError when `jpeg` is no readable JPEG."""
    whole, *hashes = looks_of(jpeg)
    return [whole, hashes[0] if hashes else "", at.isoformat()]


def read_later(looks: Sequence[str]) -> datetime | None:
    """When the looks of a picture that had none were read; None for those it was kept with. Raises ValueError."""
    return datetime.fromisoformat(looks[2]) if len(looks) > 2 else None


def is_plain(looks: Sequence[str]) -> bool:
    """Whether the picture holds too little to be told by, or its looks cannot be read; one without looks was never
    asked."""
    return bool(looks) and comparable_hashes(looks) is None


def comparable_hashes(looks: Sequence[str]) -> Hashes | None:
    """The hashes to compare a picture by; None for a plain one and for what are no looks. A picture that a stricter
    measure once called plain gets its hashes from the grey copy."""
    try:
        whole = read_whole(looks[0])
        if _kept_hashes(looks):
            return read_hashes(_kept_hashes(looks))
    except (LookupError, TypeError, ValueError):
        return None
    return None if _shows_little(whole) else hashes_of(whole)


def _kept_hashes(looks: Sequence[str]) -> str:
    return looks[1] if len(looks) > 1 else ""


def _shows_little(whole: Grey) -> bool:
    detail = _detail(whole)
    return detail < LEAST_DETAIL or detail < LEAST_DETAIL_SHARE * float(whole.std())


def read_whole(text: str) -> Grey:
    """Raises ValueError for what is no grey copy."""
    return np.frombuffer(bytes.fromhex(text), dtype=np.uint8).reshape(SIDE, SIDE).astype(np.float32)


def read_hashes(text: str) -> Hashes:
    """One hash for each of `windows()`. Raises ValueError for anything else."""
    hashes = np.frombuffer(bytes.fromhex(text), dtype=">u8").astype(np.uint64)
    if len(hashes) != len(windows()):
        raise ValueError("a picture has one hash for each window")
    return hashes


def hashes_of(whole: Grey) -> Hashes:
    """Each window's hash: which of its 64 slowest waves are stronger than their median."""
    return _hashes(_waves_of_windows(whole))


def hashes_laid(whole: Grey, lays: int) -> Hashes:
    """The hashes of `whole` in the first of its `lays`, a row for each, made without looking through a window twice: a
    window of a turned picture is a window of the picture, turned."""
    waves = _waves_of_windows(whole)
    return np.array([_hashes(_waves_laid(waves, lay)[_windows_laid(lay)]) for lay in range(lays)])


def laid(picture: Grey, lay: int) -> Grey:
    """`picture` mirrored for an odd `lay`, and then turned by 90 degrees for every two."""
    return np.rot90(picture[:, ::-1] if lay % 2 else picture, lay // 2)


def seen_through(whole: Grey, box: Box, samples: int, waves: int) -> Grey:
    """The `waves` x `waves` slowest waves (two-dimensional cosine transform) of the window `box`."""
    left, top, right, bottom = box
    across, down = _waves_of_cut(left, right, samples, waves), _waves_of_cut(top, bottom, samples, waves)
    seen: Grey = (down @ whole @ across.T).astype(np.float32, copy=False)
    return seen


@lru_cache(maxsize=1)
def windows() -> tuple[Box, ...]:
    """The whole picture first, then every window whose edges are cut in tenths, down to what a crop may leave."""
    cuts = [
        (start, 100 - end)
        for start in range(0, LARGEST_CUT + 1, WINDOW_STEP)
        for end in range(0, LARGEST_CUT + 1 - start, WINDOW_STEP)
    ]
    boxes = [(left, top, right, bottom) for left, right in cuts for top, bottom in cuts]
    return tuple(sorted((box for box in boxes if area(box) >= LEAST_AREA), key=lambda box: -area(box)))


def area(box: Box) -> float:
    """In hundredths of the picture."""
    return (box[2] - box[0]) * (box[3] - box[1]) / 100


def _hashes_fit(looks: Sequence[str]) -> bool:
    """Whether the hashes are those of the grey copy beside them."""
    apart = np.bitwise_count(read_hashes(looks[1]) ^ hashes_of(read_whole(looks[0])))
    return int(apart.max()) <= ROUNDED_BITS


def _waves_of_windows(whole: Grey) -> Grey:
    return np.array([seen_through(whole, box, HASH_SAMPLES, HASH_SIDE) for box in windows()])


def _hashes(waves: Grey) -> Hashes:
    """One hash for each of `waves` (windows x 8 x 8)."""
    values = waves.reshape(len(waves), -1)[:, 1:]  # without the brightness
    bits = np.zeros((len(waves), HASH_SIDE * HASH_SIDE), dtype=bool)
    bits[:, :-1] = values > np.median(values, axis=1, keepdims=True)
    return np.packbits(bits, axis=1).view(">u8")[:, 0].astype(np.uint64)


def _waves_laid(waves: Grey, lay: int) -> Grey:
    """Mirroring a picture turns its odd waves round; turning it also makes what went across go down."""
    back = np.where(np.arange(HASH_SIDE) % 2, -1, 1).astype(np.float32)
    waves = waves * back if lay % 2 else waves
    for _ in range(lay // 2):
        waves = waves.swapaxes(1, 2) * back[:, None]
    return waves


@lru_cache(maxsize=LAYS)
def _windows_laid(lay: int) -> list[int]:
    """For each of `windows()` of a picture in this lay, which window of the picture it is."""
    return [windows().index(_before_laying(box, lay)) for box in windows()]


def _before_laying(box: Box, lay: int) -> Box:
    for _ in range(lay // 2):
        left, top, right, bottom = box
        box = (100 - bottom, left, 100 - top, right)
    left, top, right, bottom = box
    return (100 - right, top, 100 - left, bottom) if lay % 2 else box


def _detail(whole: Grey) -> float:
    waves = seen_through(whole, (0, 0, 100, 100), SIDE, SIDE)
    waves[:SLOW_WAVES, :SLOW_WAVES] = 0
    return float(np.sqrt(np.mean(waves**2)))


@lru_cache(maxsize=8192)
def _waves_of_cut(start: int, end: int, samples: int, waves: int) -> Grey:
    """Takes `samples` evenly between two edges (hundredths) of SIDE values and turns them into `waves` waves."""
    places = np.clip((start + (np.arange(samples) + 0.5) / samples * (end - start)) * SIDE / 100 - 0.5, 0, SIDE - 1)
    before = np.floor(places).astype(int)
    after, share = np.minimum(before + 1, SIDE - 1), places - before
    picked = np.zeros((samples, SIDE))
    picked[np.arange(samples), before] += 1 - share
    picked[np.arange(samples), after] += share
    turns = np.cos(np.pi * np.outer(np.arange(waves), 2 * np.arange(samples) + 1) / (2 * samples))
    turns *= np.sqrt(2 / samples)
    turns[0] *= np.sqrt(0.5)
    return (turns @ picked).astype(np.float32)
