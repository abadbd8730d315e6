"""How well the probability of one of two classes ranks and fits: AUC, KS, calibration intercept and slope.

The interval of the AUC is a score interval [Newcombe 2006, method 5], which has a positive width even if the
AUC is 1. It assumes a form of the variance; where the variance that is seen [DeLong et al. 1988] is larger, it
counts. The interval of the calibration intercept is a score interval too. That of the slope uses the sandwich
variance. Samples that go together are added up first.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Labels
from rebelboost.evaluation.intervals import LEVEL, Estimate, WeightedRows, Z

LARGEST_LOGIT = 35.0
"""Probabilities beyond this, about 1e-15 from 0 or 1, count as this."""
MOST_STEPS, CLOSE = 100, 1e-7
NEAR = 1e-12
KOLMOGOROV = math.sqrt(math.log(1 / LEVEL) / 2)
"""Times √(1/m + 1/n), how far the greatest gap of two samples may exceed the true one by chance."""
STEEPEST = 1e3
"""A calibration slope that would be larger is not estimated: the probabilities separate the classes."""


@dataclass(frozen=True)
class BinaryMeasures:
    """How well the probability of the positive class ranks samples, and how well it fits."""

    auc: Estimate
    """Area under the ROC curve."""
    ks: Estimate
    """Largest difference between sensitivity and false-positive rate over all thresholds (Kolmogorov-Smirnov).

    The lower end of the interval allows for the choice of the threshold.
    """
    ks_threshold: float
    """Probability from which a sample is called positive there."""
    intercept: Estimate
    """Calibration in the large: added to all log odds, it makes the mean probability right. 0 is right."""
    slope: Estimate | None
    """Calibration slope: 1 is right, below 1 overconfident. None if the probabilities separate the classes."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        named = {"auc": self.auc, "ks": self.ks, "intercept": self.intercept, "slope": self.slope}
        found: dict[str, Any] = {key: each and each.to_dict() for key, each in named.items()}
        return {**found, "ks_threshold": self.ks_threshold}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "BinaryMeasures":
        """Create from a dictionary; the inverse of `to_dict`."""
        auc, ks, intercept = (Estimate.from_dict(stored[key]) for key in ("auc", "ks", "intercept"))
        slope = stored["slope"] and Estimate.from_dict(stored["slope"])
        return cls(auc, ks, stored["ks_threshold"], intercept, slope)


def binary_measures(
    probability: BySample, is_positive: Labels, sampling: WeightedRows
) -> BinaryMeasures | None:
    """Measure the probability of the positive class; None unless both classes occur."""
    hits = np.asarray(is_positive, dtype=np.float64)
    if not 0 < hits @ sampling.weight < sampling.weight.sum():
        return None
    ks, threshold = _ks(probability, hits, sampling)
    odds = log_odds(probability)
    intercept = _intercept(odds, hits, sampling)
    return BinaryMeasures(
        _auc(probability, hits, sampling),
        ks,
        threshold,
        intercept,
        _slope(odds, hits, intercept.value, sampling),
    )


# ---- ranking


def area_under_roc(labels: Labels, scores: BySample, weight: BySample) -> float:
    """The same number as scikit-learn's `roc_auc_score`, whose module takes long to import.

    `labels` are 0 and 1. Samples with the same score are one step of the curve.
    """
    counted = weight != 0
    order = np.argsort(-scores[counted], kind="stable")
    ranked, hits, weight = (each[counted][order] for each in (scores, labels, weight))
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    found = np.stack([np.cumsum((1 - hits) * weight)[ends], np.cumsum(hits * weight)[ends]])
    corners = np.diff(found, 2).any(axis=0)  # points between others on a line add nothing
    found = found[:, np.concatenate([[True], corners, [True]])] if len(ends) > 2 else found
    if not found[:, -1].all():  # one of the classes has no weight
        return float("nan")
    false, true = np.insert(found, 0, 0.0, axis=1) / found[:, -1:]
    return float((np.diff(false) * (true[1:] + true[:-1]) / 2.0).sum())


def _auc(scores: BySample, hits: BySample, sampling: WeightedRows) -> Estimate:
    area = area_under_roc(hits.astype(np.int32), scores, sampling.weight)
    yes, no = hits == 1, hits == 0
    above = _share_below(scores[yes], scores[no], sampling.weight[no])
    below = 1 - _share_below(scores[no], scores[yes], sampling.weight[yes])
    of_yes, of_no = sampling.of(yes), sampling.of(no)
    m, n = of_yes.number(above), of_no.number(below)
    seen = _variance(above, of_yes.weight) / m + _variance(below, of_no.weight) / n
    expected = _expected_variance(area, m, n)
    more = max(1.0, seen / expected) if expected > 0 else 1.0
    return _score_interval(area, m, n, more)


def _share_below(scores: BySample, others: BySample, weight: BySample) -> BySample:
    """(n,) weighted share of the others with a lower score; those with the same count half."""
    order = np.argsort(others, kind="stable")
    ranked, mass = others[order], np.append(0.0, np.cumsum(weight[order]))
    left, right = (np.searchsorted(ranked, scores, side) for side in ("left", "right"))
    found: BySample = (mass[left] + mass[right]) / (2 * mass[-1])
    return found


def _variance(values: BySample, weight: BySample) -> float:
    mean = np.average(values, weights=weight)
    return float(np.average((values - mean) ** 2, weights=weight))


def _expected_variance(area: float, m: float, n: float) -> float:
    """The variance of an AUC of m positive and n negative samples [Hanley and McNeil 1982; Newcombe 2006]."""
    others = max((m + n) / 2 - 1, 0.0)
    rest = others * ((1 - area) / (2 - area) + area / (1 + area))
    return area * (1 - area) * (1 + rest) / (m * n)


def _score_interval(area: float, m: float, n: float, more: float) -> Estimate:
    """The areas from which this one is not farther than the normal quantile times its deviation there."""
    from scipy.optimize import brentq  # slow to import

    def outside(at: float) -> float:
        return abs(area - at) - Z * math.sqrt(more * max(_expected_variance(at, m, n), 0.0))

    # At 0 and at 1 the variance is 0, and so is the difference there.
    inside = min(max(area, NEAR), 1 - NEAR)
    low = 0.0 if area <= NEAR else float(brentq(outside, 0.0, inside))
    high = 1.0 if area >= 1 - NEAR else float(brentq(outside, inside, 1.0))
    return Estimate(area, low, high)


def _ks(scores: BySample, hits: BySample, sampling: WeightedRows) -> tuple[Estimate, float]:
    order = np.argsort(-scores, kind="stable")
    weight = sampling.weight[order]
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    true = np.cumsum(hits[order] * weight)[ends]
    false = np.cumsum((1 - hits[order]) * weight)[ends]
    gaps = true / true[-1] - false / false[-1]
    best = int(np.argmax(gaps))
    threshold = float(scores[order][ends[best]])
    called = (scores >= threshold).astype(np.float64)
    yes, no = (sampling.of(hits == k) for k in (1, 0))
    here = difference(yes.share(called[hits == 1]), no.share(called[hits == 0]))
    m, n = yes.share_number(called[hits == 1]), no.share_number(called[hits == 0])
    low = here.value - KOLMOGOROV * math.sqrt(1 / m + 1 / n)
    value = max(0.0, float(here.value))  # rounding may leave it below
    return Estimate(value, max(0.0, min(low, here.low)), here.high), threshold


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The difference of two independent shares, from their score intervals [Newcombe 1998, method 10]."""
    value = first.value - second.value
    low = math.hypot(first.value - first.low, second.high - second.value)
    high = math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, max(value - low, -1.0), min(value + high, 1.0))


# ---- calibration


def log_odds(probability: BySample) -> BySample:
    """ln(p/(1 − p)), limited."""
    with np.errstate(divide="ignore"):
        odds: BySample = np.log(probability) - np.log1p(-probability)
    return np.clip(odds, -LARGEST_LOGIT, LARGEST_LOGIT)


def _logistic(odds: BySample) -> BySample:
    found: BySample = 0.5 * (1 + np.tanh(0.5 * odds))
    return found


def _intercept(odds: BySample, hits: BySample, sampling: WeightedRows) -> Estimate:
    """What to add to all log odds so that the mean probability is the share of the class."""
    from scipy.optimize import brentq

    weight = sampling.weight

    def surplus(at: float) -> float:
        return float(weight @ (_logistic(odds + at) - hits))

    limit = 2 * LARGEST_LOGIT
    if surplus(-limit) >= 0 or surplus(limit) <= 0:  # certain, and wrong
        return Estimate(math.copysign(limit, -surplus(0.0)), -limit, limit)
    found = float(brentq(surplus, -limit, limit, xtol=1e-12))
    fitted = _logistic(odds + found)
    mass = float(weight @ (fitted * (1 - fitted)))
    _, low, high = sampling.around(found, weight * (hits - fitted) / mass)
    expected = float(weight**2 @ (fitted * (1 - fitted))) / mass**2
    more = max(1.0, ((high - low) / (2 * Z)) ** 2 / expected)

    def deviations(at: float) -> float:
        fit = _logistic(odds + at)
        variance = more * float(weight**2 @ (fit * (1 - fit)))
        return -surplus(at) / math.sqrt(max(variance, 1e-300))

    if not math.isfinite(more):
        return Estimate(found, -limit, limit)
    low, high = -limit, limit  # of certain and wrong probabilities, anything is possible
    if deviations(low) > Z:
        low = float(brentq(lambda at: deviations(at) - Z, low, found))
    if deviations(high) < -Z:
        high = float(brentq(lambda at: deviations(at) + Z, found, high))
    return Estimate(found, low, high)


def _slope(
    odds: BySample, hits: BySample, intercept: float, sampling: WeightedRows
) -> Estimate | None:
    """The factor of the log odds in a logistic regression on them; Newton's method, halving its steps."""
    weight = sampling.weight
    design = np.column_stack([np.ones(len(odds)), odds])
    if np.ptp(odds) == 0:
        return None
    at = np.array([intercept, 1.0])
    for _ in range(MOST_STEPS):
        fitted = _logistic(design @ at)
        gradient = design.T @ (weight * (hits - fitted))
        curvature = _curvature(design, weight * fitted * (1 - fitted))
        if curvature is None:
            return None
        step = np.linalg.solve(curvature, gradient)
        if np.abs(step).max() < CLOSE * max(1.0, np.abs(at).max()):
            break
        before, scale = _log_likelihood(design @ at, hits, weight), 1.0
        while scale > CLOSE:
            if _log_likelihood(design @ (at + scale * step), hits, weight) >= before:
                break
            scale /= 2
        at = at + scale * step
        if abs(at[1]) > STEEPEST:
            return None
    else:
        return None
    pulls = np.linalg.solve(curvature, (design * (weight * (hits - fitted))[:, np.newaxis]).T)[1]
    found = sampling.around(float(at[1]), pulls)
    return found if math.isfinite(found.low) else None


def _curvature(design: Floats, weight: BySample) -> Floats | None:
    found: Floats = (design * weight[:, np.newaxis]).T @ design
    return found if np.linalg.cond(found) < 1e14 else None


def _log_likelihood(odds: BySample, hits: BySample, weight: BySample) -> float:
    return float(weight @ (hits * odds - np.logaddexp(0.0, odds)))
