"""The weights and the state of a fit whose samples are spread: the arithmetic of a local fit, on answers."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    Ints,
    Labels,
    Layer,
    Outputs,
    Pairs,
    Projection,
    Regions,
    Scores,
    Step,
)
from rebelboost.boosting.state import HeldOut, State
from rebelboost.costs.judge import error_of, rates
from rebelboost.distributed.routing import Routing
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.slope_steps import LeastLosses
from rebelboost.distributed.slopes import SpreadSlopes, SpreadSmoothLoss
from rebelboost.distributed.steps import (
    Advance,
    AdvanceHeld,
    Highest,
    Largest,
    Leaves,
    Reweigh,
    Start,
    Totals,
    Weighting,
)
from rebelboost.distributed.tree_steps import OfWeights
from rebelboost.losses.exponential import ExponentialLoss, Weights, exponent_for
from rebelboost.model.terms import Terms

NOWHERE = np.empty(0, dtype=np.uint16)
"""Stands for regions that only the parts know."""


class SpreadWeights(Weights):
    """Weights whose samples are elsewhere. What visits samples is asked of the parts."""

    def __init__(
        self, spread: SpreadRows, weighting: Weighting, n_samples: int, *, held: bool
    ) -> None:
        self.spread, self.weighting, self.held = spread, weighting, held
        self._n_samples = n_samples
        self.tree: Layer | Routing | None = None
        """The tree of the round, as splits on bins, once it is grown; or another term."""
        self.term: Terms | None = None
        """The term of the round."""
        self.anew = False
        """Whether the parts were asked about another term since."""
        self.pairing: OfWeights | None = None
        """The pairs that the round's tree is grown on."""
        self.cover: Ints = np.zeros(1, dtype=np.int64)
        """(L,) counted weight of the samples in each leaf of the tree."""
        self.judged: tuple[Ints, Ints] = np.zeros((1, 1), np.int64), np.zeros(1, np.int64)
        """Confusion and costs of the current decisions, in units."""
        (highest,) = spread.ask(Highest(weighting, held))
        exponent = exponent_for(float(highest))
        (self._largest,) = spread.ask(Reweigh(weighting, exponent, held))
        super().__init__(np.empty((weighting.n_planes, 0, weighting.n_classes)), exponent, 1)

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self._n_samples

    n_rows = n_samples

    def largest(self) -> ByClass:
        """The largest weight of each class."""
        if self._largest is None:
            (self._largest,) = self.spread.ask(Largest(self.held))
        return self._largest

    def region_sums(self, regions: Regions, n_regions: int, scales: ByClass) -> Ints:
        """(L, 2, K) fixed-point sums: over all samples, or over the leaves of the round's tree."""
        del regions, n_regions
        sums: Ints
        if self.tree is None:
            (sums,) = self.spread.ask(Totals(scales, self.held))
        else:
            assert isinstance(self.tree, Layer)
            sums, self.cover = self.spread.ask(Leaves(self.tree, scales))
        return sums

    def projected(self, projection: Projection) -> Pairs:
        """Keep the projection: the parts project when a tree is begun."""
        self.pairing = OfWeights(projection)
        return np.empty(0, dtype=np.int64)

    def route(self, tree: Layer | Routing, *, anew: bool = False) -> None:
        """Take this tree, or other term, for that of the round."""
        self.tree, self.anew = tree, anew

    def stepped(self, step: Step, scores: Scores, regions: Regions, decided: Labels) -> Ints:
        """Let the parts change scores and weights by a term; return the totals of the new weights."""
        del scores, regions, decided
        command: Any
        if self.held:
            assert self.term is not None
            command = AdvanceHeld(self.term, step, self.weighting)
        else:
            assert self.tree is not None
            command = Advance(step, self.weighting, self.tree, self.anew)
        totals, confusion, paid = self.spread.ask(command)
        self.judged = confusion, paid
        self._largest = self.tree = None
        found: Ints = totals
        return found


@dataclass(frozen=True, kw_only=True)
class SpreadLoss(ExponentialLoss):
    """The exponential loss of samples that are elsewhere; `subcosts` have no rows."""

    spread: SpreadRows
    weighting: Weighting
    n_rows: int
    held: bool = False
    least: float = 0.0
    """The minimal mean loss over all scores."""

    @property
    def floor(self) -> float:
        """The minimal mean loss over all scores."""
        return self.least

    @property
    def start(self) -> Start:
        """What sets the scores to 0."""
        return Start(self.weighting, self.held)

    def weights(self, scores: Scores) -> SpreadWeights:
        """Weights at the scores that the parts hold."""
        del scores
        return SpreadWeights(self.spread, self.weighting, self.n_rows, held=self.held)


def spread_loss(
    spread: SpreadRows,
    weighting: Weighting,
    n_rows: int,
    total_weight: float,
    *,
    held: bool = False,
) -> SpreadLoss:
    """The exponential loss of the rows that are trained on, or of those held out."""
    return SpreadLoss(
        np.empty((weighting.n_planes, 0, weighting.n_classes)),
        total_weight,
        spread=spread,
        weighting=weighting,
        n_rows=n_rows,
        held=held,
        least=least_mean_loss(spread, "exponential", weighting, total_weight, held=held),
    )


def least_mean_loss(
    spread: SpreadRows, loss: str, weighting: Weighting, total_weight: float, *, held: bool
) -> float:
    """The minimal mean loss over all scores; 0 with one plane of weights."""
    if weighting.n_planes == 1:
        return 0.0
    return math.fsum(spread.ask(LeastLosses(loss, weighting, held))) / total_weight


@dataclass
class SpreadState(State):
    """Scores and weights of samples that are elsewhere."""

    loss: SpreadLoss | SpreadSmoothLoss
    weights: SpreadWeights | SpreadSlopes = field(init=False)

    def __post_init__(self) -> None:
        self.loss.spread.ask(self.loss.start)
        super().__post_init__()
        self.sums = self.weights.judged

    def add(self, regions: Regions, outputs: Outputs) -> None:
        """Add a term: let the parts add its outputs to the scores, and update the weights."""
        weights = self.weights
        super().add(regions, outputs)
        self.sums = weights.judged

    def judged(self) -> tuple[float, float]:
        """Error and mean cost of the current decisions."""
        confusion, paid = self.sums[0].astype(np.float64), self.sums[1]
        weighting = self.loss.weighting
        if weighting is None:  # a regression
            assert self._rates is not None
            return self._rates
        if not weighting.pays:
            return rates(confusion, self.judge.costs)
        total = confusion.sum() * weighting.units.weight
        return error_of(confusion), float(paid[0] * weighting.units.paid / total)


@dataclass
class SpreadHeldOut(HeldOut):
    """Validation samples that are elsewhere."""

    state: SpreadState

    def add(self, term: Terms) -> None:
        """Add a term of the training to the scores."""
        self.state.weights.term = term
        self.state.add(NOWHERE, term.by_region)
