"""Error and mean cost of decisions on samples whose classes are known."""

from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Labels, Scores
from rebelboost.costs.decision import least_risk
from rebelboost.costs.matrix import class_costs
from rebelboost.costs.posterior import Decoder
from rebelboost.data.samples import Samples


@dataclass(frozen=True)
class Judge:
    """Computes the error and the mean cost of decisions on labelled samples."""

    labels: Labels
    costs: Floats
    """(K, K) by class, or (N, K) by sample."""
    weight: Floats | None = None
    """(N,) sample weights, or None."""
    by_sample: bool = False
    place: Ints | None = None
    """(N,) index of each sample among those decided on; None: the same samples in the same order."""

    @classmethod
    def of(cls, samples: Samples, place: Ints | None = None) -> "Judge":
        """Create a judge from the labels and costs of samples."""
        return cls(samples.labels, samples.costs, samples.weight, samples.by_sample, place)

    def judge(self, decided: Labels) -> tuple[float, float]:
        """Weighted share of wrong decisions, and mean cost."""
        if self.place is not None:
            decided = decided[self.place]
        n_classes = self.costs.shape[1]
        cells = self.labels * np.int32(n_classes) + decided
        confusion = np.bincount(cells, self.weight, n_classes**2).reshape(n_classes, n_classes)
        total = confusion.sum()
        error = 1 - np.trace(confusion) / total
        if not self.by_sample:
            return float(error), float((confusion * self.costs).sum() / total)
        paid = self.costs[np.arange(len(decided)), decided]
        return float(error), float(np.average(paid, weights=self.weight))


def decision_cost(scores: Scores, decoder: Decoder, samples: Samples) -> float:
    """Mean cost of the least-risk decisions on samples."""
    costs = class_costs(samples) if samples.decided_by is None else samples.decided_by
    decided = least_risk(scores, decoder.posterior(scores), costs)
    return Judge.of(samples).judge(decided)[1]
