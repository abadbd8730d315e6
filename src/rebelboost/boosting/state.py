"""Scores and weights of samples, updated as terms are added, and the error of the current decisions."""

import math
from dataclasses import dataclass, field

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Bins, BySample, Labels, Layer, Outputs, Regions, Scores
from rebelboost.base.fixed_point import exact_total, sum_of_sizes
from rebelboost.base.round_arrays import Boosted, RoundLog
from rebelboost.boosting.rounds import Held
from rebelboost.costs.judge import Judge, Rates
from rebelboost.losses.exponential import ExponentialLoss, LocalWeights
from rebelboost.losses.smooth import AnyWeights, SmoothLoss
from rebelboost.model.queries import Queries
from rebelboost.model.terms import Terms

REFRESH = 64
"""Weights are recomputed from the scores after this many rounds, to limit rounding errors."""


@dataclass
class State:
    """Scores and weights of a set of samples, updated as terms are added."""

    loss: ExponentialLoss | SmoothLoss
    judge: Judge
    scores: Scores = field(init=False)
    weights: AnyWeights = field(init=False)
    decided: Labels = field(init=False)
    n_terms: int = 0

    def __post_init__(self) -> None:
        n_samples = self.loss.n_samples
        self.scores = np.zeros((n_samples, self.loss.n_classes))
        self.weights = self.loss.weights(self.scores)
        self.decided = np.zeros(n_samples, dtype=np.int32)
        self._rates: Rates | None = None

    def add(self, regions: Regions, outputs: Outputs) -> None:
        """Add a term: add its outputs to the scores, and update the weights."""
        self._rates = self.weights.advance(self.scores, regions, outputs, self.decided, self.judge)
        self._count(1)

    @property
    def boosted(self) -> Boosted:
        """The arrays that kernels change when they add terms; see `note`."""
        weights = self.weights
        assert isinstance(weights, LocalWeights)
        judged = self.judge.for_kernels
        return Boosted(weights.planes, self.scores, weights.totals, self.decided, judged)

    def note(self, log: RoundLog, kind: int) -> None:
        """Note that a kernel has added terms; `kind` is 0 for training samples, and 1 for held-out ones."""
        assert isinstance(self.weights, LocalWeights)
        self.weights.exponent += int(log.shifts[:, kind].sum())
        self._rates = tuple(log.rates[-1, kind].tolist())
        self._count(len(log.edges))

    def _count(self, n_added: int) -> None:
        self.n_terms += n_added
        if self.n_terms % REFRESH == 0:
            self.weights = self.loss.weights(self.scores)

    @property
    def log_loss(self) -> float:
        """Logarithm of the mean loss."""
        return self.loss.log_loss(self.weights)

    def judged(self) -> tuple[float, float]:
        """Error and mean cost of the current decisions."""
        return self.judge.judge(self.decided) if self._rates is None else self._rates

    def held(self) -> Held:
        """Loss, error and cost of the current scores."""
        return Held(self.log_loss, *self.judged())


@dataclass
class NumberState(State):
    """Scores (N, 1) of a regression, evaluated by their distance from the target."""

    target: BySample = field(kw_only=True)

    def judged(self) -> tuple[float, float]:
        """Root mean squared error, and mean absolute error."""
        if self._rates is not None:
            return self._rates
        distance = self.scores[:, 0] - self.target
        weight = self.judge.weight
        assert weight is not None
        total = exact_total(weight)
        return (
            math.sqrt(sum_of_sizes(weight * (distance * distance)) / total),
            sum_of_sizes(weight * distance) / total,
        )


@dataclass
class HeldOut:
    """Validation samples, and the state of their scores."""

    queries: Queries
    state: State
    n_threads: int = 1
    bins: Bins | None = None
    """The samples in the bins of the training set, if the learner has any."""

    def follow(self, term: Terms, nodes: Layer | None) -> None:
        """Add a term of the training to the scores; `nodes` are its splits on bins, if it has any."""
        if nodes is None or self.bins is None:
            self.add(term)
            return
        regions = np.zeros(len(self.queries), dtype=np.uint16)
        if len(nodes.features) > 0:
            kernels.active.route(self.bins, nodes, regions, self.n_threads)
        self.state.add(regions, term.by_region)

    def add(self, term: Terms) -> None:
        """Add a term of the training to the scores."""
        self.state.add(term.regions(self.queries, self.n_threads), term.by_region)
