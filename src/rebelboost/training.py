"""From checked arrays to an ensemble: what the learner needs, risk and state, then the loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rebelboost.boosting import HeldOut, Plan, boost, replay
from rebelboost.callbacks import Callback, EarlyStopping, Tolerance
from rebelboost.model import Ensemble
from rebelboost.packing import Queries
from rebelboost.preparation import prepare
from rebelboost.problem import Problem
from rebelboost.sampling import Sampling
from rebelboost.shapes import Bytes


@dataclass(frozen=True)
class Settings:
    """What does not depend on the data."""

    learner: Any
    rounds: int
    shrinkage: float
    tol: float = 0.0
    subcosts: str = "thesis"
    sampling: Sampling = field(default_factory=Sampling)
    patience: int | None = None
    part: int = 0
    """Number of the fit, where several are averaged."""
    seed: int = 0
    n_threads: int = 1

    @property
    def plan(self) -> Plan:
        """The loop's part."""
        return Plan(self.rounds, self.shrinkage, self.sampling, self.seed, self.part)


def train(
    problem: Problem,
    settings: Settings,
    categorical: Bytes,
    *,
    callbacks: Sequence[Callback] = (),
    held: Problem | None = None,
    start: Ensemble | None = None,
) -> Ensemble:
    """Boost, from the beginning or from where `start` ended."""
    n_threads = settings.n_threads
    prepared = prepare(problem, settings.learner, categorical, n_threads)
    state = prepared.problem.state(settings.subcosts, n_threads, prepared.judge)
    held_out = None
    if held is not None:
        held_out = HeldOut(Queries(held.X), held.state(settings.subcosts, n_threads), n_threads)
    hears = [*callbacks, Tolerance(settings.tol, state.log_loss)]
    stopping = None
    if settings.patience is not None:
        stopping = EarlyStopping(settings.patience)
        hears.append(stopping)
    before: tuple[Any, ...] = ()
    if start is not None:
        before = start.terms
        replay(start, Queries(prepared.problem.X), state, n_threads)
        if held_out is not None:
            replay(start, held_out.queries, held_out.state, n_threads)
    terms = boost(
        prepared.data, prepared.learner, state, settings.plan, callbacks=hears, held_out=held_out
    )
    n_classes = problem.costs.shape[1]
    ensemble = Ensemble((*before, *terms), n_classes, prepared.unavoidable_cost)
    if stopping is not None and stopping.best_round >= 0:
        return ensemble.truncate(stopping.best_round + 1)
    return ensemble
