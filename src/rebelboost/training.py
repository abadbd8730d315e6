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
from rebelboost.costs import uniform
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
        # In units in which squares neither over- nor underflow; the mean loss is in the user's.
        unit = int(np.frexp(self.costs.max(initial=0.0))[1]) - 1
        costs = np.ldexp(self.costs, -unit)
        rows = costs if self.by_sample else costs[self.labels]
        subcosts = SUBCOSTS[settings.subcosts](rows, self.labels)
        if self.weight is not None:
            subcosts *= self.weight[:, np.newaxis]
        total = len(self.labels) if self.weight is None else math.fsum(self.weight)
        risk = Risk(subcosts, math.ldexp(total, -unit), settings.n_threads)
        return State(risk, self.judge())

    def judge(self) -> Judge:
        """Judges decisions by these labels and costs."""
        return Judge(self.labels, self.costs, self.weight, self.by_sample)

    def rows(self, chosen: NDArray[np.bool_]) -> "Problem":
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


def class_costs(problem: Problem) -> Floats:
    """(K, K) costs by class: as given, or the mean of the rows of each class's samples."""
    if not problem.by_sample:
        return problem.costs
    n_classes = problem.costs.shape[1]
    costs = uniform(n_classes)  # of a class that has no samples
    weight = np.ones(len(problem.labels)) if problem.weight is None else problem.weight
    for k in np.unique(problem.labels[weight > 0]):
        own = problem.labels == k
        # Sorted, so that the order of samples changes no bit.
        paid = np.sort(problem.costs[own] * weight[own, np.newaxis], axis=0)
        costs[k] = paid.sum(axis=0) / np.sort(weight[own]).sum()
        costs[k, k] = 0.0
    return costs


def held_out_samples(problem: Problem, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Choose about this share of every class's weight, and one sample at least, for validation."""
    place = _places(problem, seed)
    held = place < fraction
    if not held.any():
        held = place == place.min()
    return held & ~_of_absent_class(problem.labels, ~held)


def folds(problem: Problem, n_folds: int, seed: int) -> list[NDArray[np.bool_]]:
    """(N,) masks of the samples that each part leaves out: about the same share of every class.

    No part leaves out the last of a class, and parts that would leave out nothing are dropped.
    """
    place = _places(problem, seed)
    fold = np.minimum(place * n_folds, n_folds - 1).astype(np.int64)
    left_out = [fold == i for i in range(n_folds)]
    left_out = [out & ~_of_absent_class(problem.labels, ~out) for out in left_out]
    return [out for out in left_out if out.any()]


def n_distinct(problem: Problem) -> int:
    """Count the samples, equal ones once."""
    return len(np.unique(_hashes(problem.X, 0)))


def _of_absent_class(labels: Labels, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find samples whose class would have none among those kept."""
    return np.bincount(labels[kept], minlength=int(labels.max()) + 1)[labels] == 0


def _places(problem: Problem, seed: int) -> Floats:
    """(N,) in [0, 1]: each sample's place in a random order of its class, by weight.

    A hash of its values places a sample, not its row, so that the order of samples does not matter.
    Equal ones stay together, so that a weight of 2 is as good as the sample twice; but where they
    are more than half of their class they are spread, lest most of a class be left out at once.
    """
    weights = _fixed_weights(problem.weight)
    mass = np.ones(len(problem.labels), dtype=np.int64) if weights is None else weights
    keys = _hashes(problem.X, seed)
    order = np.lexsort((mass, keys, problem.labels))
    keys, labels, mass = keys[order], problem.labels[order], mass[order]
    changes = (keys[1:] != keys[:-1]) | (labels[1:] != labels[:-1])
    first = np.flatnonzero(np.append(True, changes))
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    of_group = np.add.reduceat(mass, first)
    of_class = np.bincount(labels, mass)
    before_class = np.cumsum(of_class) - of_class
    end_of_group = np.cumsum(of_group)[group]
    together = 2 * of_group[group] <= of_class[labels]
    middle = np.where(together, end_of_group - of_group[group] / 2, np.cumsum(mass) - mass / 2)
    place = np.ones(len(order))
    np.divide(middle - before_class[labels], of_class[labels], out=place, where=mass > 0)
    placed = np.empty(len(order))
    placed[order] = place
    return placed


def _hashes(X: Values, seed: int) -> NDArray[np.uint64]:
    """(N,) numbers that look random, the same for equal rows."""
    keys = np.full(len(X), seed, dtype=np.uint64)
    for column in X.T:
        x = np.where(np.isnan(column), np.nan, column.astype(np.float64) + 0.0)  # one NaN, one 0
        keys = (keys ^ x.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys * np.uint64(0xBF58476D1CE4E5B9)


def _fixed_weights(weight: BySample | None) -> Ints | None:
    """Sample weights as integers, so that quantiles do not depend on the order of samples."""
    if weight is None:
        return None
    scale = coarse_scale(float(weight.max()) * len(weight)) * 2.0**20
    return np.rint(weight * scale).astype(np.int64)
