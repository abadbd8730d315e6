"""boosting.state."""

from dataclasses import dataclass, field

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Labels, Outputs, Regions, Scores
from rebelboost.boosting.rounds import Held
from rebelboost.losses.exponential import Risk
from rebelboost.losses.smooth import AnyWeights, SmoothRisk
from rebelboost.model.ensemble import Term
from rebelboost.model.queries import Queries

REFRESH = 64
"""Every so many rounds the weights are computed from the scores, lest rounding errors pile up."""


@dataclass(frozen=True)
class Judge:
    """Error and mean cost of decisions, for samples whose classes are known."""

    labels: Labels
    costs: Floats
    """(K, K) by class, or (N, K) by sample."""
    weight: Floats | None = None
    """(N,)"""
    by_sample: bool = False
    place: Ints | None = None
    """(N,) where each sample is among those decided on; None: all are, in their order."""

    def judge(self, decided: Labels) -> tuple[float, float]:
        """Weighted share of wrong decisions, and mean cost."""
        if self.place is not None:
            decided = decided[self.place]
        n_classes = self.costs.shape[1]
        cells = self.labels * np.int32(n_classes) + decided
        confusion = np.bincount(cells, self.weight, n_classes**2).reshape(n_classes, n_classes)
        total = confusion.sum()
        error = 1 - np.trace(confusion) / total
        if not self.by_sample:
            return float(error), float((confusion * self.costs).sum() / total)
        paid = self.costs[np.arange(len(decided)), decided]
        return float(error), float(np.average(paid, weights=self.weight))


@dataclass
class State:
    """Scores and weights of a set of samples, as terms are added."""

    risk: Risk | SmoothRisk
    judge: Judge
    scores: Scores = field(init=False)
    weights: AnyWeights = field(init=False)
    decided: Labels = field(init=False)
    n_terms: int = 0

    def __post_init__(self) -> None:
        n_samples = self.risk.n_samples
        self.scores = np.zeros((n_samples, self.risk.n_classes))
        self.weights = self.risk.weights(self.scores)
        self.decided = np.zeros(n_samples, dtype=np.int32)

    def add(self, regions: Regions, outputs: Outputs) -> None:
        """Add a term: its outputs to the scores, its factors to the weights."""
        self.weights.advance(self.scores, regions, outputs, self.decided)
        self.n_terms += 1
        if self.n_terms % REFRESH == 0:
            self.weights = self.risk.weights(self.scores)

    @property
    def log_loss(self) -> float:
        """Ln of the mean loss."""
        return self.risk.log_loss(self.weights)

    def judged(self) -> tuple[float, float]:
        """Error and mean cost."""
        return self.judge.judge(self.decided)

    def held(self) -> Held:
        """How the scores do."""
        return Held(self.log_loss, *self.judged())


@dataclass
class HeldOut:
    """Validation samples: values, and the state of their scores."""

    queries: Queries
    state: State
    n_threads: int = 1

    def add(self, term: Term) -> None:
        """Follow the training."""
        self.state.add(term.regions(self.queries, self.n_threads), term.by_region)
