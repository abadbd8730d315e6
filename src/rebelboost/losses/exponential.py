"""The exponential loss: from costs to weights, from weights to output vectors, and the remaining loss.

Conventions: `plus` and `minus` are w⁺ and w⁻, P = Σ f·(w⁺ − w⁻), S = Σ (w⁺ + w⁻), by class.
The loss of scores H is Σ_n Σ_k c⁺_nk e^{H_k} + c⁻_nk e^{−H_k} [THESIS Sec. 4.3; REBEL Sec. 3].
"""

import math
from collections.abc import Iterable

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Labels,
    Outputs,
    Planes,
    Scores,
)
from rebelboost.kernels.elementary import portable_exp, portable_log
from rebelboost.losses.convex import ClassLossKind

CAP = 1e-8
"""Relative smoothing of s±: limits an output to ½ ln(2/CAP) ≈ 9.6. It is relative to the remaining mass,
because an absolute constant would stall training once the loss is small.
"""

LOOSE = 2.0**10
"""Totals are recomputed if their upper bound exceeds them by this factor, which costs precision."""


def thesis_subcosts(costs: Floats, labels: Labels) -> Planes:
    """c⁺ = √(K−1)/(2‖c‖) · c², c⁻ = ‖c‖/(2√(K−1)) at the label [THESIS Sec. 4.3], in one plane.

    `costs` (N, K) are the samples' cost rows. 2√(c⁺_k c⁻_y) = c_yk, so at argmax the loss bounds the
    cost. A row of zeros has no weight.
    """
    norm = np.linalg.norm(costs, axis=1, keepdims=True)
    root = math.sqrt(costs.shape[1] - 1)
    planes = np.zeros_like(costs)
    np.divide(costs, norm, out=planes, where=norm > 0)
    planes *= costs * (root / 2)
    planes[np.arange(len(costs)), labels] = -norm[:, 0] / (2 * root)
    return planes[np.newaxis]


def rebel_subcosts(costs: Floats, labels: Labels) -> Planes:
    """c⁺ = ½(c − β), c⁻ = ½(max c − c), β = Σc − (K−1)·max c [REBEL, Eq. 2], in two planes."""
    del labels  # the label is where the cost is 0
    largest = costs.max(axis=1, keepdims=True)
    beta = costs.sum(axis=1, keepdims=True) - (costs.shape[1] - 1) * largest
    return np.stack([(costs - beta) / 2, (costs - largest) / 2])


SUBCOSTS = {"thesis": thesis_subcosts, "rebel": rebel_subcosts}
"""Schemes that turn costs into weights, by name."""


def log_total_of(totals: Iterable[float], exponent: int) -> float:
    """Logarithm of the sum of totals times 2^exponent, −∞ if it is 0."""
    total = math.fsum(totals)
    return math.log(total) + exponent * math.log(2) if total > 0 else -math.inf


def largest_weights(planes: Planes) -> ByClass:
    """(K,) the largest weight of each class; 0 without samples."""
    found: ByClass = np.abs(planes).max(axis=(0, 1), initial=0.0)
    return found


def highest_exponent(subcosts: Planes, scores: Scores) -> float:
    """The largest ±H of the scores that have a weight; −∞ if none has."""
    signed_scores = np.where(subcosts > 0, scores, -scores)
    return float(np.max(signed_scores, initial=-math.inf, where=subcosts != 0))


def exponent_for(highest: float) -> int:
    """The power of two that brings all e^{±H} to at most 1."""
    return math.ceil(highest / math.log(2)) if math.isfinite(highest) else 0


def planes_at(subcosts: Planes, scores: Scores, exponent: int) -> Planes:
    """Weights c·e^{±H}·2^−exponent."""
    signed_scores = np.where(subcosts > 0, scores, -scores)
    signed_scores -= exponent * math.log(2)
    factors = portable_exp(np.where(subcosts != 0, signed_scores, 0.0))
    planes: Planes = subcosts * factors
    return planes


def least_exponential(plus: Floats, minus: Floats) -> Floats:
    """min_h c⁺e^h + c⁻e^−h = 2√(c⁺c⁻), elementwise [REBEL S.5]."""
    least: Floats = 2 * np.sqrt(np.abs(plus * minus))
    return least


EXPONENTIAL = ClassLossKind(
    None,
    least_exponential,
    log_ratios=lambda scores: 2 * scores,
    scores_with=lambda ratios: ratios / 2,
    slope=2.0,
    thesis_bounds_cost=True,
)
"""g(x) = eˣ: AdaBoost."""


def log_mean_loss(log_total: float, total_weight: float, floor: float) -> float:
    """Logarithm of the mean loss above its floor, given that of the sum of all weights."""
    return log_above(floor, log_total - math.log(total_weight))


def log_above(floor: float, log_mean: float) -> float:
    """Logarithm of the excess of a mean loss over its floor, given the mean's logarithm; −∞ at the floor."""
    if floor == 0:
        return log_mean
    above = math.exp(log_mean) - floor
    return math.log(above) if above > 0 else -math.inf


def signed_output(P: ByClass, S: ByClass) -> ByClass:
    """a* = ½ ln((S − P)/(S + P)), the best output of a ±1 response [THESIS, Eq. 4.9]."""
    return half_log_ratio(S - P, S + P, CAP * S)


def leaf_outputs(plus: Outputs, minus: Outputs, smoothing: float) -> Outputs:
    """½ ln(s⁻/s⁺) of each leaf, shrunk towards 0 by `smoothing` of the average mass of a leaf."""
    totals = np.add.accumulate(plus + minus, axis=0)[-1]
    return half_log_ratio(minus, plus, max(smoothing / len(plus), CAP) * totals)


def half_log_ratio(above: Floats, below: Floats, smoothing: Floats) -> Floats:
    """½ ln((above + smoothing)/(below + smoothing)); 0 where the weights are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (above + smoothing) / (below + smoothing)
    return np.where(above + below > 0, 0.5 * portable_log(ratio), 0.0)


def loss_after(plus: Outputs, minus: Outputs, outputs: Outputs) -> float:
    """Σ w⁺e^a + w⁻e^−a over all regions and classes."""
    return float((plus * portable_exp(outputs) + minus * portable_exp(-outputs)).sum())
