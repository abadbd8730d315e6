"""From checked arrays to an ensemble: bins, risk and state, then the loop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.binning import fit_binner
from rebelboost.boosting import HeldOut, Judge, Plan, State, boost, replay
from rebelboost.callbacks import Callback, EarlyStopping, Tolerance
from rebelboost.dataset import TrainingSet
from rebelboost.model import Ensemble
from rebelboost.risk import SUBCOSTS, Risk, coarse_scale
from rebelboost.sampling import Sampling
from rebelboost.shapes import BySample, Bytes, Floats, Ints, Labels, Values


@dataclass(frozen=True)
class Problem:
    """Samples with their classes, costs and weights."""

    X: Values
    labels: Labels
    costs: Floats
    """What each decision costs: (K, K) by class, or (N, K) by sample."""
    by_sample: bool = False
    weight: BySample | None = None

    def state(self, settings: "Settings") -> State:
        """Scores of 0, and their weights."""
        rows = self.costs if self.by_sample else self.costs[self.labels]
        subcosts = SUBCOSTS[settings.subcosts](rows, self.labels)
        if self.weight is not None:
            subcosts *= self.weight[:, np.newaxis]
        total = len(self.labels) if self.weight is None else math.fsum(self.weight)
        judge = Judge(self.labels, self.costs, self.weight, self.by_sample)
        return State(Risk(subcosts, total, settings.n_threads), judge)

    def rows(self, chosen: NDArray[np.int64]) -> "Problem":
        """Keep the chosen samples only."""
        return Problem(
            self.X[chosen],
            self.labels[chosen],
            self.costs[chosen] if self.by_sample else self.costs,
            self.by_sample,
            None if self.weight is None else self.weight[chosen],
        )


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
    seed: int = 0
    n_threads: int = 1

    @property
    def plan(self) -> Plan:
        """The loop's part."""
        return Plan(self.rounds, self.shrinkage, self.sampling, self.seed)


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
    learner, n_threads = settings.learner, settings.n_threads
    binner = fit_binner(
        problem.X,
        max_bins=learner.bins,
        method=learner.binning,
        weights=_fixed_weights(problem.weight),
        categorical=categorical,
        n_threads=n_threads,
    )
    data = TrainingSet(binner.transform(problem.X, n_threads), binner, n_threads)
    state = problem.state(settings)
    held_out = HeldOut(held.X, held.state(settings), n_threads) if held is not None else None
    hears = [*callbacks, Tolerance(settings.tol, state.log_loss)]
    stopping = None
    if settings.patience is not None:
        stopping = EarlyStopping(settings.patience)
        hears.append(stopping)
    before: tuple[Any, ...] = ()
    if start is not None:
        before = start.terms
        replay(start, problem.X, state, n_threads)
        if held_out is not None:
            replay(start, held_out.X, held_out.state, n_threads)
    terms = boost(data, learner, state, settings.plan, callbacks=hears, held_out=held_out)
    ensemble = Ensemble((*before, *terms), problem.costs.shape[1])
    if stopping is not None and stopping.best_round >= 0:
        return ensemble.truncate(stopping.best_round + 1)
    return ensemble


def _fixed_weights(weight: BySample | None) -> Ints | None:
    """Sample weights as integers, so that quantiles do not depend on the order of samples."""
    if weight is None:
        return None
    scale = coarse_scale(float(weight.max()) * len(weight)) * 2.0**20
    return np.rint(weight * scale).astype(np.int64)
