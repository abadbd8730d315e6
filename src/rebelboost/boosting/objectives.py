"""Objectives: create the initial state of training, with scores of 0, from rows and a loss."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rebelboost.boosting.state import ExponentialLoss, SmoothLoss, State
from rebelboost.losses.classes import AnyClassLoss, loss_kind
from rebelboost.losses.regression import AnyRegressionLoss, RegressionLossKind, regression_kind
from rebelboost.rows.base import Rows, facts_of
from rebelboost.rows.slopes import ClassLoss, ConvexRowsLoss, RegressionLoss
from rebelboost.rows.sums import sums_of, total_weight
from rebelboost.rows.weights import LeastLosses, Weighting


class Objective(Protocol):
    """A loss, by name, that can be applied to rows."""

    @property
    def loss(self) -> Any:
        """Name of the loss, or what makes one."""

    def state(self, rows: Rows, *, held: bool = False) -> State:
        """Scores of 0, and the weights of the rows that are trained on, or of those held out."""


@dataclass(frozen=True)
class ClassObjective:
    """Objective of classification with costs."""

    loss: AnyClassLoss = "exponential"
    """One of `CLASS_LOSSES`, or what makes a loss from subcosts."""
    subcosts: str = "thesis"
    """How costs become weights, one of `SUBCOSTS`."""

    def state(self, rows: Rows, *, held: bool = False) -> State:
        """Scores of 0, and their weights."""
        facts, sums = facts_of(rows), sums_of(rows, held=held)
        # Scaled so that squares neither overflow nor underflow; the mean loss keeps the user's units.
        largest = sums.largest_cost if facts.by_sample else float(facts.costs.max(initial=0.0))
        shift = int(np.frexp(largest)[1]) - 1
        weighting = Weighting(
            None if facts.by_sample else np.ldexp(facts.costs, -shift),
            shift,
            self.subcosts,
            facts.costs.shape[1],
            facts.costs,
            sums.unit,
            sums.paid_unit,
            facts.by_sample,
        )
        total, floor = math.ldexp(sums.counted, -shift), 0.0
        if weighting.n_planes > 1:
            least: Any = rows.ask(LeastLosses(self.loss, weighting, held))
            floor = math.fsum(least) / total
        n_rows = sums.n_rows
        if loss_kind(self.loss).is_multiplied:
            return State(ExponentialLoss(rows, weighting, n_rows, total, floor, held))
        of = ConvexRowsLoss(ClassLoss(self.loss, weighting), n_rows, sums.counted, weighting, held)
        return State(SmoothLoss(rows, of, total, floor, sums.unit))


@dataclass(frozen=True)
class RegressionObjective:
    """Objective of regression."""

    loss: AnyRegressionLoss = "squared"
    """One of `REGRESSION_LOSSES`, or what makes a loss from targets and weights."""
    delta: float = 1.0
    """Threshold of the Huber loss."""

    @property
    def kind(self) -> RegressionLossKind:
        """What is to be known of the loss."""
        return regression_kind(self.loss)

    def state(self, rows: Rows, *, held: bool = False) -> State:
        """Scores of 0, and their slopes."""
        sums, baseline = sums_of(rows, held=held), facts_of(rows).baseline
        loss = RegressionLoss(self.loss, self.delta, baseline)
        of = ConvexRowsLoss(loss, sums.n_rows, sums.counted, held=held)
        return State(SmoothLoss(rows, of, total_weight(rows, held=held), unit=sums.unit))
