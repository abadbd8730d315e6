"""Logistic and squared loss, for classification.

The loss of a class's score H is c⁺g(H) + c⁻g(−H) with g = log₂(1 + eˣ) or (1 + x)² [THESIS Sec. 4.3; REBEL
S.8]. g = eˣ is in `losses/exponential.py`. For two classes with uniform costs, H₁ = −H₂, and boosting is
LogitBoost or L₂Boost.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
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
from rebelboost.losses.convex import ConvexLoss, parabola_outputs


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


FAMILY: dict[str, type[Logistic] | type[Squared]] = {"logistic": Logistic, "squared": Squared}
"""Losses for classification other than the exponential, by name."""

AnyClassLoss = str | Callable[[Planes], ConvexLoss]
"""The name of a loss, or what makes one from (V, N, K) subcosts."""


def class_loss(given: AnyClassLoss, subcosts: Planes) -> Any:
    """The loss of samples with these subcosts."""
    return FAMILY[given](subcosts) if isinstance(given, str) else given(subcosts)


def decoded_as(given: AnyClassLoss) -> str:
    """Name of the loss whose scores are decoded alike; "logistic" unless `given` says otherwise."""
    name: str = given if isinstance(given, str) else getattr(given, "decoded_as", "logistic")
    return name
