"""Scores and weights of samples, updated as terms are added, and the error of the current decisions."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Bins, Layer, Outputs, Scores
from rebelboost.base.kernel_arrays import Boosted, RoundLog
from rebelboost.boosting.rounds import Held
from rebelboost.costs.judge import Rates
from rebelboost.losses.exponential import log_mean_loss
from rebelboost.model.terms import Queries, Terms
from rebelboost.rows.base import Rows
from rebelboost.rows.block import ScoredRows
from rebelboost.rows.slopes import ConvexRowsLoss, Slopes, StartSlopes
from rebelboost.rows.weights import Start, Weighting, Weights, Where

if TYPE_CHECKING:
    from rebelboost.learners.base import AnyWeights

REFRESH = 64
"""Weights are recomputed from the scores after this many rounds, to limit rounding errors."""


@dataclass(frozen=True)
class ExponentialLoss:
    """The exponential loss of rows."""

    rows: Rows
    weighting: Weighting
    n_samples: int
    total_weight: float
    floor: float = 0.0
    """Σ 2√(c⁺c⁻), 0 with one plane."""
    held: bool = False

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return self.weighting.n_classes

    @property
    def start(self) -> Start:
        """What sets the scores to 0."""
        return Start(self.weighting, self.held)

    def weights(self) -> Weights:
        """Weights w = c·e^{±H}, computed from the scores."""
        return Weights(self.rows, self.weighting, self.n_samples, held=self.held)

    def bound(self, rho: float) -> float:
        """√(1 − ρ²): largest share of the loss left by a ±1 response of ratio ρ [THESIS 4.5.1]."""
        return math.sqrt(max(0.0, 1 - rho**2))


@dataclass(frozen=True)
class SmoothLoss:
    """A convex loss of rows."""

    rows: Rows
    of: ConvexRowsLoss
    total_weight: float
    floor: float = 0.0
    unit: float = 1.0
    """Unit of the counted weights."""

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self.of.n_samples

    @property
    def n_outputs(self) -> int:
        """Number of scores of a sample."""
        return self.of.loss.n_outputs

    @property
    def held(self) -> bool:
        """Whether the rows are those held out."""
        return self.of.held

    @property
    def start(self) -> StartSlopes:
        """What sets the scores to 0."""
        return StartSlopes(self.of.loss, self.unit, self.held)

    def weights(self) -> Slopes:
        """Slopes of the loss at the scores."""
        return Slopes(self.rows, self.of)

    def bound(self, rho: float) -> float:
        """1: the loss does not rise. A bound by ρ is known for the exponential loss only."""
        del rho
        return 1.0


LossOfRows = ExponentialLoss | SmoothLoss


class State:
    """Scores and weights of rows, updated as terms are added."""

    def __init__(self, loss: LossOfRows) -> None:
        self.loss = loss
        loss.rows.ask(loss.start)
        self.weights: AnyWeights = loss.weights()
        self.n_terms = 0
        self._rates: Rates = (math.nan, math.nan)
        block = loss.rows.alone
        self._scored = None if block is None else block.scored(held=loss.held)

    def add(self, where: Where | Terms, outputs: Outputs) -> None:
        """Add a term: add its outputs to the scores, and update the weights."""
        self._rates = self.weights.advance(where, outputs)
        self._count(1)

    def note(self, log: RoundLog, kind: int) -> None:
        """Note that a kernel has added terms; `kind` is 0 for training samples, and 1 for held-out ones."""
        assert isinstance(self.weights, Weights)
        self.weights.exponent += int(log.shifts[:, kind].sum())
        error, cost = log.rates[-1, kind].tolist()
        self._rates = error, cost
        self._count(len(log.edges))

    def _count(self, n_added: int) -> None:
        self.n_terms += n_added
        if self.n_terms % REFRESH == 0:
            self.weights = self.loss.weights()

    @property
    def log_loss(self) -> float:
        """Logarithm of the mean loss above its floor; −∞ at the floor."""
        loss = self.loss
        return log_mean_loss(self.weights.log_total, loss.total_weight, loss.floor)

    def judged(self) -> Rates:
        """Error and mean cost of the current decisions; in a regression RMSE and mean absolute error."""
        return self._rates

    def held(self) -> Held:
        """Loss, error and cost of the current scores."""
        return Held(self.log_loss, *self._rates)

    # ---- one block in memory

    @property
    def scored(self) -> ScoredRows:
        """The samples of one block in memory."""
        assert self._scored is not None
        return self._scored

    @property
    def scores(self) -> Scores:
        """(N, K) the scores."""
        return self.scored.scores

    @property
    def boosted(self) -> Boosted:
        """The arrays that kernels change when they add terms; see `note`."""
        scored = self.scored
        assert scored.judge is not None
        judged = scored.judge.for_kernels
        return Boosted(scored.planes, scored.scores, self.weights.totals, scored.decided, judged)

    @property
    def can_fuse(self) -> bool:
        """Whether kernels can add several terms to the samples, and judge decisions on them."""
        if self._scored is None or not isinstance(self.weights, Weights):
            return False
        judge = self._scored.judge
        return judge is not None and len(judge.for_kernels.labels) > 0


@dataclass
class HeldOut:
    """Validation samples, and the state of their scores."""

    state: State
    n_threads: int = 1
    bins: Bins | None = None
    """The samples in the bins of the training set, if they are in memory and the learner has any."""
    queries: Queries | None = field(init=False)
    """The samples, if they are in memory."""

    def __post_init__(self) -> None:
        block = self.state.loss.rows.alone
        in_memory = None if block is None else block.given
        self.queries = None if in_memory is None else Queries(in_memory.X)

    def follow(self, term: Terms, nodes: Layer | None) -> None:
        """Add a term of the training to the scores; `nodes` are its splits on bins, if it has any."""
        if nodes is None or self.bins is None:
            self.state.add(term, term.by_region)
            return
        regions = np.zeros(self.state.loss.n_samples, dtype=np.uint16)
        if len(nodes.features) > 0:
            kernels.active.route(self.bins, nodes, regions, self.n_threads)
        self.state.add(regions, term.by_region)
