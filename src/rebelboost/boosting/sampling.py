"""Choice of the samples and features that a round searches: the heuristics of QUICK Sec. 5.2."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rebelboost.base.arrays import ByFeature, Indices
from rebelboost.base.hashing import draw
from rebelboost.learners.base import Focus, Prepared
from rebelboost.losses.smooth import AnyWeights


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
        if self.feature_subsample >= 1:
            return np.ones(n_features, dtype=np.uint8)
        allowed = np.zeros(n_features, dtype=np.uint8)
        n_drawn = max(1, round(self.feature_subsample * n_features))
        allowed[rng.choice(n_features, n_drawn, replace=False)] = 1
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
