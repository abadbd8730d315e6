"""Levels of the loss that bound the training cost, and below which the cost is proven to be zero.

With the THESIS subcosts and the exponential loss, the loss bounds the cost [THESIS Sec. 4.3]. REBEL's
subcosts bound it for every loss of the family, but its loss has a minimum c* above 0: the mean cost is at
most L* plus the loss above c*, with L* = mean(β) + c* [REBEL, Eq. 2], and zero once that excess is below L•
[REBEL S.4]. Losses are counted above their minimum throughout.
"""

import math
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Labels
from rebelboost.base.fixed_point import exact_total, exact_totals
from rebelboost.losses.classes import CLASS_LOSSES
from rebelboost.losses.exponential import rebel_subcosts

ROUNDING = 1e-9
"""Relative error of a mean loss: fixed point rounds each of up to 2²⁰ samples by 2⁻⁵⁰ of the sum."""


class RebelLevels(NamedTuple):
    """Levels of a loss with REBEL's subcosts."""

    floor: float
    """L*: the bound of the mean cost where the loss has its minimum."""
    least_loss: float
    """c*: that minimum."""
    zero_level: float
    """Zero training cost is proven if the loss exceeds c* by less; 0 if rounding errors are larger."""


def zero_cost_level(
    costs: Floats, weight: BySample | None = None, labels: Labels | None = None
) -> float:
    """Level of the loss below which the training cost is proven to be zero, for the THESIS subcosts.

    It is min ω·c over all mistakes with a positive cost, divided by Σω; with uniform costs, 1/N. `costs`
    are (N, K), a row for each sample, or (K, K) by class if `labels` are given.
    """
    rows, omega, total = _lightest(costs, weight, labels)
    return least_added(omega[:, np.newaxis] * rows, rows, total)


class Lightest(NamedTuple):
    """The smallest positive weight of each row of costs."""

    rows: Floats
    weight: BySample
    total: float
    """Weight of all samples."""


def rebel_levels(
    costs: Floats,
    weight: BySample | None = None,
    labels: Labels | None = None,
    loss: str = "exponential",
) -> RebelLevels:
    """Levels for REBEL's subcosts [REBEL S.4, S.5]; arguments as in `zero_cost_level`."""
    return rebel_levels_of(
        costs, _shares(len(costs), weight, labels), _lightest(costs, weight, labels), loss
    )


def rebel_levels_of(costs: Floats, share: BySample, lightest: Lightest, loss: str) -> RebelLevels:
    """The same, given the share of each row of costs in the weight, and the smallest weights.

    A mistake adds at least what it takes to make its score equal to that of the true class y:
    L•_nk = l(c⁺_y + c⁺_k, c⁻_y + c⁻_k) − l(c⁺_y, c⁻_y) − l(c⁺_k, c⁻_k), with l(c⁺, c⁻) = 2√(c⁺c⁻) for
    the exponential loss. The paper prints L• without the mean over the samples.
    """
    least = CLASS_LOSSES[loss].least
    plus, minus = _rebel(costs)
    beta = -2 * plus.min(axis=1)  # c⁺ of the true class, whose cost is 0, is −β/2
    least_losses = least(plus, minus).sum(axis=1)
    least_loss = float(least_losses @ share)
    floor = float((beta + least_losses) @ share)

    rows, omega, total = lightest
    plus, minus = _rebel(rows)
    own_plus, own_minus = plus.min(axis=1, keepdims=True), minus.max(axis=1, keepdims=True)
    added = (
        least(plus + own_plus, minus + own_minus) - least(plus, minus) - least(own_plus, own_minus)
    )
    added -= 8 * np.finfo(np.float64).eps * (plus + minus)  # the difference of rounded numbers
    level = least_added(omega[:, np.newaxis] * added, rows, total) - ROUNDING * least_loss
    return RebelLevels(max(0.0, floor), least_loss, max(0.0, level))


def largest_floor(costs: Floats, loss: str = "exponential") -> float:
    """The largest L* of any sample: an upper bound of L* for every part of the samples."""
    plus, minus = _rebel(costs)
    least_losses = CLASS_LOSSES[loss].least(plus, minus).sum(axis=1)
    return float(np.max(least_losses - 2 * plus.min(axis=1), initial=0.0))


def _rebel(costs: Floats) -> tuple[Floats, Floats]:
    plus, minus = rebel_subcosts(costs, np.empty(0, dtype=np.int32))
    return plus, -minus


def _shares(n_rows: int, weight: BySample | None, labels: Labels | None) -> BySample:
    """(n_rows,) share of each row of costs in the total weight."""
    if labels is None:
        omega = np.ones(n_rows) if weight is None else weight
    else:
        omega = exact_totals(weight, labels, n_rows)
    return omega / omega.sum()


def _lightest(costs: Floats, weight: BySample | None, labels: Labels | None) -> Lightest:
    n_samples = len(costs) if labels is None else len(labels)
    omega = np.ones(n_samples) if weight is None else weight
    total = exact_total(omega)
    if labels is None:
        return Lightest(costs, omega, total)
    lightest = np.full(len(costs), np.inf)
    counts = omega > 0
    np.minimum.at(lightest, labels[counts], omega[counts])
    there = np.isfinite(lightest)
    return Lightest(costs[there], lightest[there], total)


def least_added(added: Floats, costs: Floats, total: float) -> float:
    """The least that a mistake with a positive cost adds to the mean loss."""
    costly = (costs > 0) & (added != 0)
    return float(added[costly].min() / total) if costly.any() else math.inf
