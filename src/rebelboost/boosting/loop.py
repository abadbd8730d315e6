"""The boosting loop: in each round a learner proposes a term, which is added to the model."""

import math
import time
from collections.abc import Sequence

import numpy as np

from rebelboost.base.fixed_point import in_order
from rebelboost.boosting.callbacks import Callback, tell
from rebelboost.boosting.fused import FusedRounds
from rebelboost.boosting.rounds import Round, RoundBatch
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import HeldOut, State
from rebelboost.learners.base import Candidate, Prepared
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.terms import Terms

MOST_FRUITLESS = 20
"""Training stops after this many consecutive rounds without a new term."""


def boost(
    prepared: Prepared,
    state: State,
    settings: Settings,
    *,
    callbacks: Sequence[Callback] = (),
    held_out: HeldOut | None = None,
) -> list[Terms]:
    """Boost [REBEL, Sec. 3; LOCAL, Sec. 3]: in each round find f_t and a_t, and add f_t·a_t to H.

    Continues from `state`, and returns the new terms. Between the stages of the settings, several rounds may be
    done at once (`FusedRounds`), if the callbacks may wait.
    """
    terms: list[Terms] = []
    n_fruitless = 0
    began = time.perf_counter()
    draws = settings.draws()
    fused = FusedRounds.of(prepared, state, settings, held_out, callbacks)
    t = state.n_terms - 1
    while (t := t + 1) < settings.rounds:
        batch = None if fused is None else fused.go(t, began)
        if batch is not None:
            terms += batch.terms
            t += len(batch) - 1
            n_fruitless = 0
            if tell(callbacks, batch):
                break
            continue
        rng = draws.at(t)
        focus = settings.sampling.focus(prepared, state.weights, rng)
        candidate = prepared.propose(state.weights, focus, rng)
        term = prepared.covered(candidate.term.scaled(settings.shrinkage), candidate.where)
        if not term.outputs.any():  # nothing found; another random draw may succeed
            n_fruitless += 1
            if n_fruitless == MOST_FRUITLESS:
                break
            continue
        n_fruitless = 0
        log_before = state.weights.log_total
        state.add(candidate.where if term.has_regions else term, term.by_region)
        terms.append(term)
        if held_out is not None:
            held_out.follow(term, candidate.nodes)
        rho = _rho(candidate) if candidate.rho is None else candidate.rho
        error, cost = state.judged()
        record = Round(
            part=settings.part,
            index=t,
            log_loss=state.log_loss,
            loss_ratio=math.exp(state.weights.log_total - log_before),
            rho=rho,
            bound=state.loss.bound(rho),
            error=error,
            cost=cost,
            held=None if held_out is None else held_out.state.held(),
            hypothesis=term,
            seconds=time.perf_counter() - began,
            work=candidate.work,
        )
        if tell(callbacks, RoundBatch(record)):
            break
    return terms


def replay(ensemble: Ensemble, state: State) -> None:
    """Update a state by the terms of an ensemble, to the same bits as its training did."""
    for term in ensemble:
        state.add(term, term.by_region)


def _rho(candidate: Candidate) -> float:
    """ρ = ‖P‖₁/ΣS [THESIS, Eq. 4.12], with P for each output vector of the candidate."""
    P = candidate.plus - candidate.minus
    responses = candidate.term.responses
    if responses is not None:
        P = (responses[:, np.newaxis] * P).sum(axis=0)
    return in_order(np.abs(P)) / in_order(candidate.plus + candidate.minus)
