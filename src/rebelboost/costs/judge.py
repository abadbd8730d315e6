"""Error and mean cost of decisions on samples whose classes are known."""

from dataclasses import dataclass

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Floats, Ints, JudgedLabels, Labels, Scores
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import counting_unit, in_order, in_units
from rebelboost.costs.decision import least_risk
from rebelboost.costs.matrix import class_costs
from rebelboost.costs.posterior import Decoder
from rebelboost.data.samples import Samples

Rates = tuple[float, float]
"""Error and mean cost."""
UNJUDGED = JudgedLabels(
    np.empty(0, dtype=np.int32), np.empty(0), np.empty((0, 0)), np.empty(0, dtype=np.int64)
)
"""Stands for samples whose decisions no kernel judges."""


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

    def judge(self, decided: Labels) -> Rates:
        """Weighted share of wrong decisions, and mean cost."""
        if len(self.for_kernels.labels) > 0:
            return kernels.active.rate(decided, self.for_kernels)
        if self.place is not None:
            decided = decided[self.place]
        confusion = confusion_of(self.labels, decided, self.costs.shape[1], self.counted)
        if not self.by_sample:
            return rates(confusion, self.costs)
        paid = self.costs[np.arange(len(decided)), decided]
        sums = in_units(weighed(paid, self.weight), self.paid_unit)
        total = confusion.sum() * self.unit
        return error_of(confusion), float(sums.sum() * self.paid_unit / total)

    @cached_property
    def for_kernels(self) -> JudgedLabels:
        """What kernels judge by; without labels if costs are by sample."""
        if self.by_sample:
            return UNJUDGED
        counts = np.ones(len(self.labels)) if self.counted is None else self.counted
        costs = np.ascontiguousarray(self.costs, dtype=np.float64)
        place = UNJUDGED.place if self.place is None else self.place
        return JudgedLabels(self.labels, counts, costs, place)

    @cached_property
    def unit(self) -> float:
        """The unit of `counted`."""
        if self.weight is None:
            return 1.0
        return counting_unit(float(self.weight.max(initial=0.0)), len(self.weight))

    @cached_property
    def paid_unit(self) -> float:
        """The unit of costs by sample, times weights."""
        most = weighed(self.costs, self.weight).max(initial=0.0)
        return counting_unit(float(most), len(self.labels))

    @cached_property
    def counted(self) -> Floats | None:
        """(N,) the weights as multiples of a unit: the order of the samples changes no bit of their sums."""
        return None if self.weight is None else in_units(self.weight, self.unit)


def weighed(costs: Floats, weight: Floats | None) -> Floats:
    """(N, …) costs by sample, times the samples' weights."""
    if weight is None:
        return costs
    return costs * weight.reshape(-1, *[1] * (costs.ndim - 1))


def confusion_of(
    labels: Labels, decided: Labels, n_classes: int, counts: Floats | None = None
) -> Floats:
    """(K, K) number, or counted weight, of the samples of each true and each decided class."""
    cells = labels * np.int32(n_classes) + decided
    return np.bincount(cells, counts, n_classes**2).reshape(n_classes, n_classes).astype(np.float64)


def error_of(confusion: Floats) -> float:
    """Share of wrong decisions."""
    return float(1 - np.trace(confusion) / confusion.sum())


def rates(confusion: Floats, costs: Floats) -> Rates:
    """Share of wrong decisions, and mean cost, with costs by class."""
    return error_of(confusion), in_order(confusion * costs) / float(confusion.sum())


def decision_cost(scores: Scores, decoder: Decoder, samples: Samples) -> float:
    """Mean cost of the least-risk decisions on samples."""
    costs = class_costs(samples) if samples.decided_by is None else samples.decided_by
    decided = least_risk(scores, decoder.posterior(scores), costs)
    return Judge.of(samples).judge(decided)[1]
