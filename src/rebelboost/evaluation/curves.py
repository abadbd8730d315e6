"""Curves with 95 % intervals: ROC, lift, net benefit, and what decisions save over the range of a price.

The intervals hold for each point by itself. Those of shares are score intervals. A point of the ROC curve is
two shares, whose intervals hold together; the band is the envelope of these rectangles. Net benefit and savings
are means of bounded values, with the interval of mean costs, which allows for mistakes not yet seen
(`rebelboost.evaluation.intervals`).

Net benefit [Vickers and Elkin 2006] at a threshold t is TP/n − FP/n · t/(1 − t): a false alarm counts as much
as the threshold says. For more classes, or costs by row, the same question is asked of one price: what the
model's decisions cost less than the best constant decision, if it were other than it is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Labels
from rebelboost.costs.decision import cheapest, expected_costs
from rebelboost.evaluation.calibration import N_BARS
from rebelboost.evaluation.intervals import Estimate, WeightedRows, mean_cost_interval, share

if TYPE_CHECKING:
    from rebelboost.evaluation.result import Judged

JOINT_Z = 2.241402727604945
"""Quantile of the standard normal distribution for two intervals that hold together with 95 %."""
N_CUTS = 31
"""Number of quantiles of all probabilities, and of those of each class, at which ROC and lift are computed."""
THRESHOLDS = np.arange(1, 100) / 100
"""Thresholds of the decision curve."""
FACTORS = 2.0 ** np.linspace(-5, 5, 41)
"""By what a price is multiplied in a cost curve."""
N_TRIED = 5
"""Number of points of a curve at which the effect of groups is computed; the strongest one counts for all."""


class Band(NamedTuple):
    """A curve, with a 95 % interval for each point."""

    x: Floats
    value: Floats
    low: Floats
    high: Floats

    def to_dict(self) -> dict[str, list[float]]:
        """Convert to a dictionary that can be written as JSON."""
        return {key: array.tolist() for key, array in self._asdict().items()}


@dataclass(frozen=True, eq=False)
class BinaryCurves:
    """Curves of the probability of the positive class, of two."""

    positive: Any
    """Name of the class."""
    prevalence: float
    """Its share of the samples."""
    roc: Band
    """Sensitivity by false-positive rate."""
    lift: Band
    """How often the class is among the samples with the highest probabilities, by their share of all; in
    multiples of the prevalence."""
    net_benefit: Band
    """Net benefit by threshold."""
    treat_all: Floats
    """Net benefit of calling all samples positive, by the same thresholds; that of calling none is 0."""
    counts: tuple[tuple[int, ...], tuple[int, ...]]
    """Samples of the other class and of this one, by probability, in intervals of equal width from 0 to 1."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        bands = {name: getattr(self, name).to_dict() for name in ("roc", "lift", "net_benefit")}
        rest = {
            "treat_all": self.treat_all.tolist(),
            "counts": [list(each) for each in self.counts],
        }
        return {"positive": self.positive, "prevalence": self.prevalence, **bands, **rest}


@dataclass(frozen=True, eq=False)
class CostCurve:
    """What decisions save beside the best constant decision, if one price were other than it is.

    The model decides by each price, and is charged at it.
    """

    true: Any
    """The price is that of samples of this class …"""
    decided: Any
    """… which are decided as this one."""
    price: float
    """The present price; where samples have their own, their mean."""
    saving: Band
    """Mean cost of the best constant decision less that of the model's, by the factor of the price."""
    cost: Floats
    """Mean cost of the model's decisions."""
    constants: tuple[Any, ...]
    """The best constant decision at each factor."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        about = {"true": self.true, "decided": self.decided, "price": self.price}
        rest = {"cost": self.cost.tolist(), "constants": list(self.constants)}
        return {**about, "saving": self.saving.to_dict(), **rest}


# ---- two classes


def binary_curves(
    probability: BySample,
    is_positive: NDArray[np.bool_],
    sampling: WeightedRows,
    name: Any,
    thresholds: Floats = THRESHOLDS,
) -> BinaryCurves:
    """The curves, with net benefit at these thresholds; both classes must occur."""
    weight = sampling.weight
    prevalence = float(is_positive @ weight / weight.sum())
    odds = thresholds / (1 - thresholds)
    counts = [np.histogram(probability[is_positive == k], N_BARS, (0.0, 1.0))[0] for k in (0, 1)]
    return BinaryCurves(
        name,
        prevalence,
        *_ranking(probability, is_positive, sampling),
        _net_benefit(probability, is_positive, sampling, thresholds),
        prevalence - (1 - prevalence) * odds,
        (tuple(counts[0].tolist()), tuple(counts[1].tolist())),
    )


def _ranking(
    probability: BySample, is_positive: NDArray[np.bool_], sampling: WeightedRows
) -> tuple[Band, Band]:
    """ROC and lift."""
    quantiles = np.linspace(0, 1, N_CUTS)
    of = (probability, probability[is_positive], probability[~is_positive])
    cuts = np.unique([np.quantile(each, quantiles, method="higher") for each in of])[::-1]
    calls = [(probability >= cut).astype(np.float64) for cut in cuts]
    sensitivity, alarms = (
        _shares(sampling.of(rows), [each[rows] for each in calls])
        for rows in (is_positive, ~is_positive)
    )
    # Above the highest probability, no sample is called positive.
    (x, left, right), (y, low, high) = (
        np.array([(0.0, 0.0, each[0].low), *each]).T for each in (alarms, sensitivity)
    )
    high[0] = high[1]
    # Corners above one another: of those below, the lowest counts, and of those above, the highest.
    below, first = np.unique(right, return_index=True)
    above, last = np.unique(left[::-1], return_index=True)
    roc = Band(x, y, np.interp(x, below, low[first]), np.interp(x, above, high[::-1][last]))
    weight, hits = sampling.weight, is_positive.astype(np.float64)
    prevalence = hits @ weight / weight.sum()
    precision = [
        share(float(each @ (hits * weight)), float(each @ weight), n)
        for each, n in zip(calls, _sizes_called(sampling, calls), strict=True)
    ]
    depth = np.array([each @ weight / weight.sum() for each in calls])
    lift = Band(depth, *(np.array(precision) / prevalence).T)
    return roc, lift


def _shares(sampling: WeightedRows, calls: list[BySample]) -> list[Estimate]:
    """Share of the samples that are called positive, by threshold."""
    total = float(sampling.weight.sum())
    n = _number(sampling, calls)
    return [share(float(each @ sampling.weight), total, n, JOINT_Z) for each in calls]


def _sizes_called(sampling: WeightedRows, calls: list[BySample]) -> list[float]:
    """Effective number of the samples that are called positive, by threshold."""
    worth = _number(sampling, calls) / float(sampling.weight.sum())
    return [worth * float(each @ sampling.weight) for each in calls]


def _number(sampling: WeightedRows, values: list[BySample]) -> float:
    """Effective number of samples: the smallest one for some of the values."""
    inner = np.linspace(0, len(values) - 1, N_TRIED + 2)[1:-1]
    tried = np.unique(inner.round().astype(int))
    return min([sampling.n_kish, *(sampling.number(values[int(i)]) for i in tried)])


def _net_benefit(
    probability: BySample,
    is_positive: NDArray[np.bool_],
    sampling: WeightedRows,
    thresholds: Floats,
) -> Band:
    weight, total = sampling.weight, float(sampling.weight.sum())
    odds = thresholds / (1 - thresholds)

    def losses(i: int) -> BySample:
        """1 less what each sample adds: 0 for a hit, 1 without a call, more for a false alarm."""
        called = probability >= thresholds[i]
        return np.where(called, np.where(is_positive, 0.0, 1 + odds[i]), 1.0)

    tried = range(0, len(odds), max(1, len(odds) // N_TRIED))
    n = _number(sampling, [losses(i) for i in tried])
    found = []
    for t, odd in zip(thresholds, odds, strict=True):
        called = probability >= t
        hits, alarms = (float(weight[called & each].sum()) for each in (is_positive, ~is_positive))
        kinds = np.array([0.0, 1.0, 1 + odd])
        masses = np.array([hits, total - hits - alarms, alarms])
        some = masses > 1e-12 * total
        loss = mean_cost_interval(kinds[some], masses[some], n, 1 + odd)
        found.append((hits / total - alarms / total * odd, 1 - loss.high, 1 - loss.low))
    return Band(thresholds, *np.array(found).T)


# ---- a price


def cost_curve(
    judged: "Judged", costs: Floats, cell: tuple[int, int], names: tuple[Any, ...]
) -> CostCurve:
    """What decisions save, by the price of a cell (true class, decision).

    `costs` are (K, decisions), with a column for abstaining if there is one; `names` are of decisions.
    """
    curve = _PriceCurve(judged, costs, cell)
    found, paid, best = zip(*(curve.at(factor) for factor in FACTORS), strict=True)
    weight = curve.sampling.weight
    price = float(np.average(curve.own_price, weights=weight))
    if judged.costs is None:
        price = float(costs[cell])
    saving = Band(FACTORS, *np.array(found).T)
    constants = tuple(names[k] for k in best)
    return CostCurve(names[cell[0]], names[cell[1]], price, saving, np.array(paid), constants)


class _PriceCurve:
    """Decisions and costs of samples, by the factor of one price."""

    def __init__(self, judged: "Judged", costs: Floats, cell: tuple[int, int]) -> None:
        n_classes = len(costs)
        self._judged, (self._true, self._decided) = judged, cell
        self._reject = None if costs.shape[1] == n_classes else float(costs[0, n_classes])
        by_class = np.ascontiguousarray(costs[:, :n_classes])
        matrix = by_class if judged.costs is None else judged.costs
        self._risks = expected_costs(judged.posterior, matrix)
        self.own_price: Any = matrix[..., self._true, self._decided]
        self._prices = judged.prices(by_class, self._reject)
        # By class, prices that no sample has count too; by row, those of the samples.
        known = matrix if judged.costs is None else self._prices[:, :n_classes]
        self._known = known
        self.sampling = judged.weighted
        self.own_price = np.broadcast_to(self.own_price, judged.true.shape)

    def at(self, factor: float) -> tuple[tuple[float, float, float], float, int]:
        """What is saved, with its interval; the mean cost; and the code of the best constant decision."""
        weight, rows = self.sampling.weight, np.arange(len(self._prices))
        prices = self._prices.copy()
        prices[self._judged.true == self._true, self._decided] *= factor
        decided = self._decide(factor)
        model, best = prices[rows, decided], int(np.argmin(weight @ prices))
        saved = prices[:, best] - model
        greatest, constant = self._greatest(factor, best, prices)
        # From the dearest mistake of the model to that of the constant decision.
        lost = constant - saved
        found = mean_cost_interval(lost, weight, self.sampling.number(saved), constant + greatest)
        interval = constant - found.high, constant - found.low
        mean = float(np.average(saved, weights=weight))
        return (mean, *interval), float(np.average(model, weights=weight)), best

    def _decide(self, factor: float) -> Labels:
        if factor == 1:
            return self._judged.decided
        risks, posterior = self._risks.copy(), self._judged.posterior
        risks[:, self._decided] += posterior[:, self._true] * self.own_price * (factor - 1)
        decided = cheapest(risks, posterior)
        if self._reject is not None:
            decided[risks.min(axis=1) > self._reject] = risks.shape[1]
        return decided

    def _greatest(self, factor: float, best: int, prices: Floats) -> tuple[float, float]:
        """The greatest possible cost of any decision, and of the constant one."""
        known = self._known.copy()
        if self._judged.costs is None:
            known[self._true, self._decided] *= factor
        greatest = max(float(known.max()), float(prices.max()))
        own = self._reject if best == known.shape[1] else float(known[:, best].max())
        assert own is not None
        return greatest, max(own, float(prices[:, best].max()))
