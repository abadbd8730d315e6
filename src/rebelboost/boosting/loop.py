"""The loop."""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rebelboost.boosting.callbacks import Callback, tell
from rebelboost.boosting.rounds import Round
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.state import HeldOut, State
from rebelboost.data.training_set import TrainingSet
from rebelboost.learners.base import Candidate, WeakLearner
from rebelboost.model.ensemble import Ensemble, Term
from rebelboost.model.queries import Queries
from rebelboost.model.trees import covered

MOST_FRUITLESS = 20
"""After so many rounds in a row that find nothing, there is nothing to be found."""


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
