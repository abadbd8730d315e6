"""Losses for classification: the table of all, and the logistic and the squared loss.

The loss of a class's score H is c⁺g(H) + c⁻g(−H) with g = log₂(1 + eˣ) or (1 + x)² [THESIS Sec. 4.3; REBEL
S.8]. g = eˣ is in `losses/exponential.py`. For two classes with uniform costs, H₁ = −H₂, and boosting is
LogitBoost or L₂Boost.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Outputs,
    Planes,
    Scores,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import fine_scales
from rebelboost.kernels.elementary import portable_exp, portable_log, portable_log1p
from rebelboost.losses.convex import ClassLossKind, ConvexLoss, parabola_outputs
from rebelboost.losses.exponential import EXPONENTIAL

LARGEST_SQUARED = 1 - 1e-6
"""Scores of the squared loss are clipped to ± this value for probabilities."""


@dataclass(frozen=True)
class Logistic(ConvexLoss):
    """g(x) = log₂(1 + eˣ): LogitBoost."""

    subcosts: Planes
    """(V, N, K): positive entries are c⁺, negative ones −c⁻, times the sample's weight."""

    reach: ClassVar[float] = 2.0

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""
        return self.subcosts.shape[1], self.subcosts.shape[2]

    @cached_property
    def _signs(self) -> Planes:
        return np.where(self.subcosts > 0, 1.0, -1.0)

    def odds(self, scores: Scores) -> Planes:
        """e^H for c⁺, e^−H for c⁻, (V, N, K); limited to e⁷⁰⁰."""
        return portable_exp(np.minimum(self._signs * scores, 700.0))

    def values(self, scores: Scores) -> Floats:
        """c⁺g(H) + c⁻g(−H)."""
        logs = portable_log1p(self.odds(scores))
        return (np.abs(self.subcosts) * logs).sum(axis=0) / math.log(2)

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """c⁺g′(H) − c⁻g′(−H) and c⁺g″(H) + c⁻g″(−H)."""
        odds = self.odds(scores)
        q = 1 / (1 + odds)
        pull = self.subcosts * (odds * q) / math.log(2)  # 1 − q would cancel where odds are small
        return pull.sum(axis=0), (np.abs(pull) * q).sum(axis=0)

    def sums_along(self, slopes: Any, where: Any, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """Computed by a kernel, which multiplies the odds instead of computing exponentials again."""
        found: tuple[Outputs, Outputs] = slopes.sums_by_odds(where, outputs)
        return found

    def floor(self) -> float:
        """Sum of the minimal loss of each score: the entropy of its c⁺ and c⁻, 0 with one plane."""
        return math.fsum(self.least().ravel())

    def least(self) -> Floats:
        """(N, K) the minimal loss of each score."""
        return least_logistic(*_plus_and_minus(self.subcosts))


@dataclass(frozen=True)
class Squared(ConvexLoss):
    """g(x) = (1 + x)²: L₂Boost on labels of ±1."""

    subcosts: Planes

    reach: ClassVar[float] = math.inf
    is_parabola: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""
        return self.subcosts.shape[1], self.subcosts.shape[2]

    def values(self, scores: Scores) -> Floats:
        """c⁺g(H) + c⁻g(−H)."""
        values = np.zeros(self.shape)
        for costs in self.subcosts:
            values += np.abs(costs) * (1 + np.where(costs > 0, scores, -scores)) ** 2
        return values

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """c⁺g′(H) − c⁻g′(−H) and c⁺g″(H) + c⁻g″(−H)."""
        slope, curvature = np.zeros(self.shape), np.zeros(self.shape)
        for costs in self.subcosts:
            slope += 2 * costs * (1 + np.where(costs > 0, scores, -scores))
            curvature += 2 * np.abs(costs)
        return slope, curvature

    def leaf_outputs(self, slopes: Any, where: Any, ridge: Floats) -> Outputs:
        """The minimum of a parabola."""
        return parabola_outputs(slopes, where, ridge)

    def floor(self) -> float:
        """Sum of the minimal loss of each score, 4c⁺c⁻/(c⁺ + c⁻); 0 with one plane."""
        return math.fsum(self.least().ravel())

    def least(self) -> Floats:
        """(N, K) the minimal loss of each score."""
        return least_squared(*_plus_and_minus(self.subcosts))


def line_factors(
    outputs: Outputs, most: ByClass, most_now: ByClass
) -> tuple[Outputs, Outputs, ByClass]:
    """Factors e^a and e^−a of the odds, and scales of sums of |c·p|.

    `most` bounds these sums at any scores, `most_now` at the present ones.
    """
    far = np.clip(outputs, -700.0, 700.0)
    up, down = portable_exp(far), portable_exp(-far)
    # Odds that grow f-fold make a slope at most f times as large.
    growth = np.maximum(up, down).max(axis=0)
    return up, down, fine_scales(np.minimum(most, growth * most_now))


def least_logistic(plus: Floats, minus: Floats) -> Floats:
    """min_h c⁺g(h) + c⁻g(−h), elementwise: at e^h = c⁻/c⁺; 0 where one of them is 0."""
    least = np.zeros(plus.shape)
    torn = (plus > 0) & (minus > 0)
    plus, minus = plus[torn], minus[torn]
    score = portable_log(minus) - portable_log(plus)
    near = portable_log1p(portable_exp(-np.abs(score)))
    least[torn] = plus * (np.maximum(score, 0) + near) + minus * (np.maximum(-score, 0) + near)
    return least / math.log(2)


def least_squared(plus: Floats, minus: Floats) -> Floats:
    """min_h c⁺g(h) + c⁻g(−h) = 4c⁺c⁻/(c⁺ + c⁻), elementwise."""
    both = plus + minus
    return np.divide(4 * plus * minus, both, out=np.zeros(both.shape), where=both > 0)


def _plus_and_minus(subcosts: Planes) -> tuple[Floats, Floats]:
    return np.maximum(subcosts, 0).sum(axis=0), np.maximum(-subcosts, 0).sum(axis=0)


def log_ratios_of_squared(scores: Scores) -> Floats:
    """Ln (1 + H)/(1 − H). Scores may lie beyond ±1, where probabilities reach 0 and 1."""
    inside = np.clip(scores, -LARGEST_SQUARED, LARGEST_SQUARED)
    return portable_log(1 + inside) - portable_log(1 - inside)


def scores_of_squared(ratios: Floats) -> Scores:
    """The inverse."""
    odds = portable_exp(-np.abs(ratios))
    return np.copysign((1 - odds) / (1 + odds), ratios)


def itself(scores: Scores) -> Scores:
    """H: log-odds are the scores of the logistic loss."""
    return scores


CLASS_LOSSES = {
    "exponential": EXPONENTIAL,
    "logistic": ClassLossKind(Logistic, least_logistic, itself, itself, slope=1.0),
    "squared": ClassLossKind(
        Squared,
        least_squared,
        log_ratios_of_squared,
        scores_of_squared,
        slope=2.0,
        is_linear=False,
    ),
}
"""Losses for classification, by name."""

AnyClassLoss = str | Callable[[Planes], ConvexLoss]
"""The name of a loss, or what makes one from (V, N, K) subcosts."""


def loss_kind(given: AnyClassLoss) -> ClassLossKind:
    """What others need to know of a loss."""
    found = CLASS_LOSSES[decoded_as(given)]
    return found if isinstance(given, str) else replace(found, make=given, thesis_bounds_cost=False)


def class_loss(given: AnyClassLoss, subcosts: Planes) -> Any:
    """The loss of samples with these subcosts."""
    make = loss_kind(given).make
    assert make is not None
    return make(subcosts)


def least_losses(given: AnyClassLoss, subcosts: Planes) -> Floats:
    """The minimal losses of samples with these subcosts, in any shape."""
    kind = loss_kind(given)
    if kind.is_multiplied:
        return kind.least(subcosts[0], -subcosts[1]).sum(axis=1)
    loss = class_loss(given, subcosts)
    return loss.least() if hasattr(loss, "least") else np.zeros(1)


def decoded_as(given: AnyClassLoss) -> str:
    """Name of the loss whose scores are decoded alike; "logistic" unless `given` says otherwise."""
    name: str = given if isinstance(given, str) else getattr(given, "decoded_as", "logistic")
    if name not in CLASS_LOSSES:
        raise ValueError(
            f"decoded_as is {name!r}: give one of {', '.join(map(repr, CLASS_LOSSES))}"
        )
    return name
