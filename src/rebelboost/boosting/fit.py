"""From checked arrays to an ensemble: what the learner needs, risk and state, then the loop."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from rebelboost.base.arrays import Bytes
from rebelboost.boosting.callbacks import Callback, EarlyStopping, Tolerance
from rebelboost.boosting.loop import boost, replay
from rebelboost.boosting.preparation import prepare
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import HeldOut
from rebelboost.data.samples import Trainable
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.queries import Queries


def train(
    problem: Trainable,
    settings: Settings,
    categorical: Bytes,
    *,
    callbacks: Sequence[Callback] = (),
    held: HeldOut | None = None,
    start: Ensemble | None = None,
) -> Ensemble:
    """Boost, from the beginning or from where `start` ended."""
    n_threads = settings.n_threads
    prepared = prepare(problem, settings.learner, categorical, n_threads)
    state = prepared.state(settings)
    hears = [*callbacks, Tolerance(prepared.tolerance(settings), state.log_loss)]
    stopping = None
    if settings.patience is not None:
        stopping = EarlyStopping(settings.patience)
        hears.append(stopping)
    before: tuple[Any, ...] = ()
    if start is not None:
        before = start.terms
        replay(start, Queries(prepared.problem.X), state, n_threads)
        if held is not None:
            replay(start, held.queries, held.state, n_threads)
    with one_linear_algebra_thread():
        terms = boost(
            prepared.data,
            prepared.learner,
            state,
            settings.plan,
            callbacks=hears,
            held_out=held,
        )
    ensemble = Ensemble((*before, *terms), state.risk.n_classes, prepared.unavoidable_cost)
    if stopping is not None and stopping.best_round >= 0:
        return ensemble.truncate(stopping.best_round + 1)
    return ensemble


def follow(held: Trainable | None, settings: Settings) -> HeldOut | None:
    """Get samples ready to be followed while others are trained on."""
    if held is None:
        return None
    return HeldOut(Queries(held.X), held.state(settings), settings.n_threads)


def one_linear_algebra_thread() -> AbstractContextManager[Any]:
    """Keep NumPy's library from using threads of its own.

    The products of a round take less than a millisecond. Its threads wait for one another by
    spinning, which took a hundred on two busy cores.
    """
    context: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return context


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
