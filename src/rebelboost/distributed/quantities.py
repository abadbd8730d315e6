"""Losses of the rows of a part, and numbers of each of its samples, of which sums over all parts are taken."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Outputs, Pairs
from rebelboost.distributed.parts import PartRows, ScoredRows
from rebelboost.distributed.steps import Weighting
from rebelboost.losses.classes import FAMILY, Logistic
from rebelboost.losses.regression import regression_loss
from rebelboost.losses.smooth import ConvexLoss, along


class PartLoss(Protocol):
    """A convex loss, to be applied to the rows of a part."""

    def of(self, rows: PartRows) -> ConvexLoss:
        """The loss of some rows."""


@dataclass(frozen=True)
class ClassLoss:
    """A loss for classification other than the exponential."""

    name: str
    weighting: Weighting

    def of(self, rows: PartRows) -> ConvexLoss:
        """The loss of some rows."""
        return FAMILY[self.name](self.weighting.subcosts_of(rows))


@dataclass(frozen=True)
class NumberLoss:
    """A loss for regression."""

    name: str
    baseline: float

    def of(self, rows: PartRows) -> ConvexLoss:
        """The loss of some rows."""
        assert rows.target is not None
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        return regression_loss(self.name, rows.target - self.baseline, weight)


class Quantity(Protocol):
    """Numbers of each sample."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, m) numbers."""


def loss_of(scored: ScoredRows) -> ConvexLoss:
    """The loss of the rows."""
    assert scored.loss is not None
    return scored.loss


@dataclass(frozen=True)
class Derivatives:
    """Slopes and curvatures, (n, 2K): at the scores, or after adding the outputs of each sample's region."""

    outputs: Outputs | None = None

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 2K) numbers."""
        if self.outputs is None:
            return np.concatenate([scored.signed, scored.mass], axis=1)
        stepped = scored.scores + self.outputs[scored.regions]
        return np.concatenate(loss_of(scored).derivatives(stepped), axis=1)


@dataclass(frozen=True)
class Losses:
    """The loss of each score, at the scores or after adding the outputs of each sample's region."""

    outputs: Outputs | None = None

    def of(self, scored: ScoredRows) -> Floats:
        """(n, K) numbers."""
        scores = scored.scores
        if self.outputs is not None:
            scores = scores + self.outputs[scored.regions]
        return loss_of(scored).values(scores)


@dataclass(frozen=True)
class Everything:
    """Slopes, curvatures and losses at the scores; in a regression also w(H − y)² and w(H − y)."""

    baseline: float | None = None
    """Of a regression."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 3K) or (n, 3 + 2) numbers."""
        found = [Derivatives().of(scored), Losses().of(scored)]
        if self.baseline is not None:
            rows = scored.rows
            assert rows.target is not None
            distance = scored.scores[:, 0] - (rows.target - self.baseline)
            weight = np.ones(len(rows)) if rows.weight is None else rows.weight
            found += [np.stack([weight * (distance * distance), weight * distance], axis=1)]
        return np.concatenate(found, axis=1)


@dataclass(frozen=True)
class Projected:
    """Slopes along a direction, and curvatures along its squares."""

    direction: ByClass
    squares: ByClass

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 2) numbers."""
        signed, mass = along(scored.signed, self.direction), along(scored.mass, self.squares)
        return np.stack([signed, mass], axis=1)


@dataclass(frozen=True)
class Preferred:
    """Half the gain of a response of +1 over −1, and the curvature."""

    output: ByClass

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 2) numbers."""
        loss, scores, ones = loss_of(scored), scored.scores, np.ones(len(self.output))
        saved = loss.values(scores - self.output) - loss.values(scores + self.output)
        return np.stack([along(saved, ones / 2), along(scored.mass, ones)], axis=1)


@dataclass(frozen=True)
class Pulls:
    """Σ |c·p| of the logistic loss over its planes."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, K) numbers."""
        loss = loss_of(scored)
        assert isinstance(loss, Logistic)
        odds = logistic_odds(scored)
        pulls: Floats = (np.abs(loss.subcosts) * (odds / (1 + odds))).sum(axis=0)
        return pulls


@dataclass(frozen=True)
class SubcostSizes:
    """Σ |c| of the logistic loss over its planes."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, K) numbers."""
        loss = loss_of(scored)
        assert isinstance(loss, Logistic)
        sizes: Floats = np.abs(loss.subcosts).sum(axis=0)
        return sizes


def logistic_odds(scored: ScoredRows) -> Floats:
    """(V, n, K) the odds at the scores, until they change."""
    if scored.odds is None:
        loss = loss_of(scored)
        assert isinstance(loss, Logistic)
        scored.odds = loss.odds(scored.scores)
    return scored.odds


@dataclass(frozen=True)
class OfQuantity:
    """Pairs in fixed point of the two numbers of a quantity."""

    quantity: Quantity
    signed_scale: float
    mass_scale: float

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""
        del n_threads
        signed, mass = self.quantity.of(scored).T
        pairs: Pairs = np.rint(signed * self.signed_scale).astype(np.int64) << 32
        return pairs + np.rint(mass * self.mass_scale).astype(np.int64)
