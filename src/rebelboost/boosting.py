"""The loop."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rebelboost.callbacks import Callback, Held, Round, tell
from rebelboost.dataset import TrainingSet
from rebelboost.learners import Candidate, WeakLearner, covered
from rebelboost.model import Ensemble, Term
from rebelboost.packing import Queries
from rebelboost.risk import Risk
from rebelboost.sampling import Sampling
from rebelboost.shapes import Floats, Ints, Labels, Outputs, Regions, Scores
from rebelboost.slopes import AnyWeights, SmoothRisk

MOST_FRUITLESS = 20
"""After so many rounds in a row that find nothing, there is nothing to be found."""
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


class Plan(NamedTuple):
    """How to boost."""

    rounds: int
    shrinkage: float = 1.0
    sampling: Sampling = Sampling()
    seed: int = 0
    part: int = 0

    def rng(self, t: int) -> np.random.Generator:
        """Randomness of round t, the same whether training began there or before; of each part its own."""
        return np.random.default_rng([self.seed, t, self.part])


def boost(
    data: TrainingSet,
    learner: WeakLearner,
    state: State,
    plan: Plan,
    *,
    callbacks: Sequence[Callback] = (),
    held_out: HeldOut | None = None,
) -> list[Term]:
    """Boost [REBEL, Sec. 3; LOCAL, Sec. 3]: in each round find f_t and a_t, and add f_t·a_t to H.

    Begins where `state` stands, returns the new terms.
    """
    terms: list[Term] = []
    n_fruitless = 0
    began = time.perf_counter()
    for t in range(state.n_terms, plan.rounds):
        rng = plan.rng(t)
        focus = plan.sampling.focus(data, state.weights, rng)
        candidate = learner.propose(data, state.weights, focus, rng)
        found = covered(candidate.hypothesis, candidate.regions, state.judge.weight)
        candidate = candidate._replace(hypothesis=found)
        term = Term(found, plan.shrinkage * candidate.outputs)
        if not np.any(term.outputs):  # nothing found; the next draw may be luckier
            n_fruitless += 1
            if n_fruitless == MOST_FRUITLESS:
                break
            continue
        n_fruitless = 0
        log_before = state.weights.log_total
        state.add(candidate.regions, term.by_region)
        terms.append(term)
        if held_out is not None:
            held_out.add(term)
        if tell(callbacks, _record(plan.part, t, candidate, state, log_before, held_out, began)):
            break
    return terms


def replay(ensemble: Ensemble, queries: Queries, state: State, n_threads: int = 1) -> None:
    """Bring a state to where the ensemble's training had brought it, bit for bit."""
    for term in ensemble.terms:
        state.add(term.regions(queries, n_threads), term.by_region)


def _record(
    part: int,
    t: int,
    candidate: Candidate,
    state: State,
    log_before: float,
    held_out: HeldOut | None,
    began: float,
) -> Round:
    edge = _edge(candidate)
    error, cost = state.judged()
    return Round(
        part=part,
        index=t,
        log_loss=state.log_loss,
        loss_ratio=math.exp(state.weights.log_total - log_before),
        edge=edge,
        bound=state.risk.bound(edge),
        error=error,
        cost=cost,
        held=held_out.state.held() if held_out is not None else None,
        hypothesis=candidate.hypothesis,
        seconds=time.perf_counter() - began,
        work=candidate.work,
    )


def _edge(candidate: Candidate) -> float:
    """ρ = ‖P‖₁/ΣS [THESIS, Eq. 4.12], P for each output vector of the candidate."""
    P = candidate.plus - candidate.minus
    responses = candidate.hypothesis.responses
    if responses is not None:
        P = (responses[:, np.newaxis] * P).sum(axis=0)
    return float(np.abs(P).sum() / (candidate.plus + candidate.minus).sum())
