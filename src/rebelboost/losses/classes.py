"""Logistic and squared loss, for classification.

The loss of a class's score H is c⁺g(H) + c⁻g(−H) with g = log₂(1 + eˣ) or (1 + x)² [THESIS Sec. 4.3; REBEL
S.8]. g = eˣ is in `losses/exponential.py`. For two classes with uniform costs, H₁ = −H₂, and boosting is
LogitBoost or L₂Boost.
"""

import math
from dataclasses import dataclass

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    LogisticLine,
    Outputs,
    Planes,
    Regions,
    Scores,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import fine_scales
from rebelboost.kernels.elementary import portable_exp, portable_log, portable_log1p
from rebelboost.losses.smooth import Parabolas, Slopes, largest


@dataclass(frozen=True)
class Logistic:
    """g(x) = log₂(1 + eˣ): LogitBoost."""

    subcosts: Planes
    """(V, N, K): positive entries are c⁺, negative ones −c⁻, times the sample's weight."""

    reach = 2.0

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""
        return self.subcosts.shape[1], self.subcosts.shape[2]

    @cached_property
    def _signs(self) -> Planes:
        return np.where(self.subcosts > 0, 1.0, -1.0)

    @cached_property
    def _most(self) -> ByClass:
        """Upper bounds of Σ_n |c·p|, for any scores."""
        return largest(np.abs(self.subcosts).sum(axis=0)) * self.shape[0]

    def odds(self, scores: Scores) -> Planes:
        """e^H for c⁺, e^−H for c⁻, (V, N, K); limited to e⁷⁰⁰."""
        return portable_exp(np.minimum(self._signs * scores, 700.0))

    def slopes(self, scores: Scores, n_threads: int) -> Slopes:
        """Slopes and curvatures at the scores."""
        return Slopes(self, scores, n_threads)

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

    def sums_along(
        self, slopes: Slopes, regions: Regions, outputs: Outputs
    ) -> tuple[Outputs, Outputs]:
        """Computed by a kernel, which multiplies the odds instead of computing exponentials again."""
        if slopes.line is None:
            odds = self.odds(slopes.scores)
            pull = (np.abs(self.subcosts) * (odds / (1 + odds))).sum(axis=0)
            slopes.line = odds, largest(pull) * len(pull)
        odds, most = slopes.line
        up, down, scales = line_factors(outputs, self._most, most)
        sums = np.zeros((len(outputs), 2, outputs.shape[1]), dtype=np.int64)
        line = LogisticLine(self.subcosts, odds, up, down, scales)
        kernels.active.logistic_sums(line, regions, sums, slopes.n_threads)
        units = scales * math.log(2)
        return sums[:, 0] / units, sums[:, 1] / units

    def leaf_outputs(self, slopes: Slopes, regions: Regions, ridge: Floats) -> Outputs:
        """Found by line search."""
        return slopes.best_outputs(regions, ridge)

    def floor(self) -> float:
        """Sum of the minimal loss of each score: the entropy of its c⁺ and c⁻, 0 with one plane."""
        return math.fsum(self.least().ravel())

    def least(self) -> Floats:
        """(N, K) the minimal loss of each score."""
        return least_logistic(*_plus_and_minus(self.subcosts))


@dataclass(frozen=True)
class Squared:
    """g(x) = (1 + x)²: L₂Boost on labels of ±1."""

    subcosts: Planes

    reach = math.inf

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""
        return self.subcosts.shape[1], self.subcosts.shape[2]

    def slopes(self, scores: Scores, n_threads: int) -> Slopes:
        """Slopes and curvatures at the scores."""
        return Parabolas(self, scores, n_threads)

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

    def sums_along(
        self, slopes: Slopes, regions: Regions, outputs: Outputs
    ) -> tuple[Outputs, Outputs]:
        """Computed by differentiating at the new scores."""
        return slopes.sums_at(regions, outputs)

    def leaf_outputs(self, slopes: Slopes, regions: Regions, ridge: Floats) -> Outputs:
        """The minimum of a parabola."""
        return parabola_outputs(slopes, regions, ridge)

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


def parabola_outputs(slopes: Slopes, regions: Regions, ridge: Floats) -> Outputs:
    """−P/(W + ridge) of each region."""
    signed, mass = slopes.region_derivatives(regions, np.zeros(ridge.shape))
    flat = mass + ridge
    return np.divide(-signed, flat, out=np.zeros(ridge.shape), where=flat > 0)


FAMILY: dict[str, type[Logistic] | type[Squared]] = {"logistic": Logistic, "squared": Squared}
"""Losses for classification other than the exponential, by name."""
