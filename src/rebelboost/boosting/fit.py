"""A single fit: prepare the learner, initialise the loss on the samples, and run the boosting loop."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Literal

from rebelboost.boosting.callbacks import Callback, EarlyStopping, Tolerance
from rebelboost.boosting.loop import boost, replay
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import HeldOut, State
from rebelboost.data.samples import Samples
from rebelboost.learners.base import Prepared
from rebelboost.learners.similarity_search import papers_tolerance
from rebelboost.model.ensemble import Ensemble
from rebelboost.rows.base import MemoryRows, Rows


def train(
    rows: Rows,
    settings: Settings,
    *,
    history: History | None = None,
    callbacks: Sequence[Callback] = (),
    held: HeldOut | None = None,
    start: Ensemble | None = None,
) -> Ensemble:
    """Boost from scratch, or continue from `start`. `history` records the rounds."""
    n_threads = settings.n_threads
    prepared = settings.learner.prepare(rows, n_threads)
    state = settings.objective.state(prepared.rows)
    tol = _tolerance(prepared, state, settings.tol)
    listeners = [*callbacks, Tolerance(tol, state.log_loss)]
    stopping = None
    if settings.patience is not None:
        stopping = EarlyStopping(settings.patience)
        listeners.append(stopping)
    if history is not None:
        listeners.insert(0, history)
    if held is not None and held.queries is not None:
        held.bins = prepared.binned(held.queries)
    n_before = 0
    if start is not None:
        n_before = len(start)
        if prepared.level_means:
            state.scored.level_means = prepared.level_means
        replay(start, state)
        if held is not None:
            replay(start, held.state)
    with one_linear_algebra_thread():
        terms = boost(prepared, state, settings, callbacks=listeners, held_out=held)
    ensemble = Ensemble.of(terms, state.loss.n_outputs, prepared.unavoidable_cost)
    if start is not None:
        ensemble = start.extended(ensemble)
    if stopping is not None and stopping.best_round >= 0:
        ensemble = ensemble.truncate(stopping.best_round + 1)
    if history is not None:
        history.number_terms(sum(map(len, terms)), n_before, len(ensemble))
    return ensemble


def _tolerance(prepared: Prepared, state: State, tol: float | Literal["papers"] | None) -> float:
    """Fraction of the initial loss at which training stops."""
    if tol == "papers":
        return papers_tolerance(state.loss.n_outputs, state.loss.n_samples)
    return prepared.tolerance if tol is None else tol


def follow(held: Samples, settings: Settings) -> HeldOut:
    """Prepare held-out samples, which are scored after each round of training."""
    rows = MemoryRows.of(held, settings.n_threads)
    return HeldOut(settings.objective.state(rows), settings.n_threads)


def one_linear_algebra_thread() -> AbstractContextManager[Any]:
    """Limit NumPy's linear algebra library to one thread.

    The matrix products of a round take less than a millisecond. The library's threads wait by spinning,
    which cost a hundred milliseconds on two busy cores.
    """
    context: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return context


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
