"""Choice of the samples and features that a round searches: the heuristics of QUICK Sec. 5.2."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import ByFeature, Bytes, Indices
from rebelboost.base.draws import key_from
from rebelboost.base.hashing import draw
from rebelboost.learners.base import AnyWeights, Focus, Prepared
from rebelboost.rows.trees import Draw

NO_SAMPLES = np.empty(0, dtype=np.int32)
FIRST_LOT = 1 << 32
"""Features are drawn by the random numbers of a round from this one on: learners draw the first ones."""


@dataclass(frozen=True)
class Sampling:
    """Random fractions of samples (StochasticBoost) and features (LazyBoost), and weight trimming."""

    subsample: float = 1.0
    feature_subsample: float = 1.0
    weight_trimming: float | None = None
    """Fraction of the mass held by the samples that are searched, which are the heaviest."""
    by_value: bool = False
    """Draw samples by their values: independently of their order, and equal samples together."""

    @property
    def is_of_features(self) -> bool:
        """Whether all samples are searched in every round."""
        return self.subsample >= 1 and self.weight_trimming is None

    def focus(self, prepared: Prepared, weights: AnyWeights, rng: np.random.Generator) -> Focus:
        """Choose the samples and features of this round."""
        if prepared.rows.alone is None:
            prepared.draw = None
            if self.subsample < 1:  # blocks draw samples by their values
                number = int(rng.integers(2**64, dtype=np.uint64))
                prepared.draw = Draw(number, self.subsample)
            return Focus(NO_SAMPLES, self.features(prepared.n_features, rng))
        if self.subsample >= 1 and self.feature_subsample >= 1 and self.weight_trimming is None:
            return _everything(prepared.n_samples, prepared.n_features)
        samples = np.arange(prepared.n_samples, dtype=np.int32)
        if self.subsample < 1 and self.by_value:
            drawn = draw(prepared.keys, self.subsample, rng)
            samples = samples[drawn] if drawn.any() else samples
        elif self.subsample < 1:
            n_drawn = max(1, round(self.subsample * prepared.n_samples))
            samples = np.sort(rng.choice(samples, n_drawn, replace=False))
        if self.weight_trimming is not None:
            samples = _heaviest(weights, samples, self.weight_trimming)
        return Focus(samples, self.features(prepared.n_features, rng))

    def features(self, n_features: int, rng: np.random.Generator) -> ByFeature:
        """Choose the features of this round."""
        keys = np.array([key_from(rng)], dtype=np.uint64)
        return self.features_by_key(n_features, keys)[0]

    def features_by_key(self, n_features: int, keys: NDArray[np.uint64]) -> Bytes:
        """(R, d) choose the features of R rounds, given their keys; (1, d) if all rounds have all features."""
        if self.feature_subsample >= 1:
            return np.ones((1, n_features), dtype=np.uint8)
        lots = np.empty((len(keys), n_features), dtype=np.uint64)
        for key, own in zip(keys.tolist(), lots, strict=True):
            kernels.active.random_numbers(key, FIRST_LOT, own)
        n_drawn = max(1, round(self.feature_subsample * n_features))
        drawn = np.argpartition(lots, n_drawn - 1, axis=1)[:, :n_drawn]
        allowed = np.zeros(lots.shape, dtype=np.uint8)
        np.put_along_axis(allowed, drawn, 1, axis=1)
        return allowed


@lru_cache(maxsize=8)
def _everything(n_samples: int, n_features: int) -> Focus:
    return Focus(np.arange(n_samples, dtype=np.int32), np.ones(n_features, dtype=np.uint8))


def _heaviest(weights: AnyWeights, samples: Indices, share: float) -> Indices:
    """The fewest heaviest samples that hold this share of the mass, including all ties with the lightest."""
    ones = np.ones(len(weights.totals))
    values, _ = weights.project(ones, ones)
    mass = values[samples] & 0xFFFFFFFF
    falling = np.sort(mass)[::-1]
    held = np.cumsum(falling)
    last = int(np.searchsorted(held, share * held[-1]))
    return samples[mass >= falling[min(last, len(falling) - 1)]]
