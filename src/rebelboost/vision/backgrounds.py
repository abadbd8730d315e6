"""Windows of images without objects: at random, and those that a detector mistakes for objects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Bytes, Ints
from rebelboost.vision.features import Size
from rebelboost.vision.model import DetectorModel
from rebelboost.vision.scanning import Level, levels, scales_between

CACHED_PIXELS = 60_000_000
"""Resized backgrounds are kept if all together have at most this many pixels."""
SHARE_OF_LEVEL = 0.1
"""Largest share of the wanted windows that may come from one image at one scale."""


class Mined(NamedTuple):
    """Windows that a detector mistakes for objects."""

    windows: Bytes
    """(n, H, W)"""
    n_found: int
    """False alarms before some were chosen."""
    n_scanned: int
    """Windows scanned."""
    n_terms: int
    """Terms that they used, all together."""

    @property
    def rate(self) -> float:
        """False alarms per window."""
        return self.n_found / max(1, self.n_scanned)


@dataclass
class Backgrounds:
    """Images without objects, at all scales from 1 on."""

    images: Sequence[Bytes]
    window: Size
    factor: float = 1.25
    _cache: list[Level] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        pixels = sum(image.size for image in self.images) / (1 - self.factor**-2)
        if pixels <= CACHED_PIXELS:
            self._cache = list(self._levels(range(len(self.images))))

    def _levels(self, order: Sequence[int] | Ints) -> Iterator[Level]:
        for i in order:
            image = self.images[i]
            most = min(image.shape[0] / self.window[0], image.shape[1] / self.window[1])
            yield from levels(image, self.window, scales_between(1.0, most, self.factor))

    def _shuffled(self, rng: np.random.Generator) -> Iterator[Level]:
        if self._cache is None:
            yield from self._levels(rng.permutation(len(self.images)))
        else:
            yield from (self._cache[i] for i in rng.permutation(len(self._cache)))

    def draw(self, n: int, rng: np.random.Generator) -> Bytes:
        """About n random windows; every image and scale in proportion to its number of windows."""
        sizes = [self._n_windows(level) for level in self._iterated()]
        counts = rng.multinomial(n, np.array(sizes) / sum(sizes))
        drawn = []
        for level, count in zip(self._iterated(), counts, strict=True):
            spare = [level.image.shape[i] - self.window[i] + 1 for i in range(2)]
            tops, lefts = (rng.integers(0, each, count) for each in spare)
            drawn.append(self._cut(level, tops, lefts))
        return np.concatenate(drawn)

    def _iterated(self) -> Iterator[Level]:
        yield from self._levels(range(len(self.images))) if self._cache is None else self._cache

    def _n_windows(self, level: Level) -> int:
        height, width = level.image.shape
        return (height - self.window[0] + 1) * (width - self.window[1] + 1)

    def _cut(self, level: Level, tops: Ints, lefts: Ints) -> Bytes:
        height, width = self.window
        cut = np.empty((len(tops), height, width), dtype=np.uint8)
        for i, (top, left) in enumerate(zip(tops, lefts, strict=True)):
            cut[i] = level.image[top : top + height, left : left + width]
        return cut

    def mine(
        self, model: DetectorModel, n: int, step: int, rng: np.random.Generator, n_threads: int
    ) -> Mined:
        """Scan the backgrounds in random order, until 2n false alarms are found; keep up to n."""
        most = max(1, int(SHARE_OF_LEVEL * n))
        kept, n_kept = [], 0
        n_found = n_scanned = n_terms = 0
        for level in self._shuffled(rng):
            scores, used = model.scan(level.image, step, n_threads)
            n_scanned += scores.size
            n_terms += int(used.sum())
            tops, lefts = np.nonzero((scores > model.threshold) & (used == len(model)))
            n_found += len(tops)
            some = rng.permutation(len(tops))[:most]
            kept.append(self._cut(level, step * tops[some], step * lefts[some]))
            n_kept += len(some)
            if n_kept >= 2 * n:
                break
        windows = np.concatenate(kept)
        return Mined(windows[rng.permutation(len(windows))[:n]], n_found, n_scanned, n_terms)
