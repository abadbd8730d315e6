"""Samples with their classes, costs and weights; and parts of them."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost.boosting import Judge, State
from rebelboost.costs import uniform
from rebelboost.hashing import hash_rows
from rebelboost.risk import SUBCOSTS, coarse_scale
from rebelboost.settings import Settings
from rebelboost.shapes import BySample, Floats, Ints, Labels, Values


@dataclass(frozen=True)
class Problem:
    """Samples with their classes, costs and weights."""

    X: Values
    labels: Labels
    costs: Floats
    """What each decision costs: (K, K) by class, or (N, K) by sample."""
    by_sample: bool = False
    weight: BySample | None = None

    row_numbers: Ints | None = None
    """(N,) where each sample is in the table that the user gave; None: all of it, in its order."""

    @property
    def rows_of_table(self) -> Ints:
        """(N,) where each sample is in the table that the user gave."""
        if self.row_numbers is not None:
            return self.row_numbers
        return np.arange(len(self.labels))

    def state(self, settings: Settings, judge: Judge | None = None) -> State:
        """Scores of 0, and their weights."""
        # In units in which squares neither over- nor underflow; the mean loss is in the user's.
        unit = int(np.frexp(self.costs.max(initial=0.0))[1]) - 1
        costs = np.ldexp(self.costs, -unit)
        rows = costs if self.by_sample else costs[self.labels]
        planes = SUBCOSTS[settings.subcosts](rows, self.labels)
        if self.weight is not None:
            planes *= self.weight[:, np.newaxis]
        total = len(self.labels) if self.weight is None else math.fsum(self.weight)
        risk = settings.risk(planes, math.ldexp(total, -unit))
        return State(risk, self.judge() if judge is None else judge)

    @property
    def identity(self) -> Values:
        """What tells samples of one class apart."""
        return self.X

    def judge(self) -> Judge:
        """Judges decisions by these labels and costs."""
        return Judge(self.labels, self.costs, self.weight, self.by_sample)

    def rows(self, chosen: NDArray[np.bool_]) -> "Problem":
        """Keep the chosen samples only."""
        return self.take(np.flatnonzero(chosen))

    def take(self, samples: Ints) -> "Problem":
        """Take samples in the given order."""
        return Problem(
            self.X[samples],
            self.labels[samples],
            self.costs[samples] if self.by_sample else self.costs,
            self.by_sample,
            None if self.weight is None else self.weight[samples],
            self.rows_of_table[samples],
        )


class Trainable(Protocol):
    """What `train` needs to know of samples: a `Problem`, or a regression's."""

    @property
    def X(self) -> Values:  # noqa: N802  (scikit-learn's name)
        """(N, d)."""

    @property
    def labels(self) -> Labels:
        """(N,) classes, by which samples are held out; all 0 in a regression."""

    @property
    def identity(self) -> Values:
        """(N, …) what tells samples of one class apart."""

    @property
    def weight(self) -> BySample | None:
        """(N,)."""

    def state(self, settings: Settings) -> State:
        """Scores of 0, and their weights."""


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


def held_out_samples(problem: Trainable, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Choose about this share of every class's weight, and one sample at least, for validation."""
    place = _places(problem, seed)
    held = place < fraction
    if not held.any():
        held = place == place.min()
    return held & ~_of_absent_class(problem.labels, ~held)


def split(problem: Problem, fraction: float, seed: int) -> tuple[Problem, Problem | None]:
    """Hold out this share; nothing where each class has one sample, which training cannot do without."""
    held = held_out_samples(problem, fraction, seed) if fraction > 0 else np.zeros(1, dtype=bool)
    return (problem.rows(~held), problem.rows(held)) if held.any() else (problem, None)


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
    return len(np.unique(hash_rows(problem.X, 0)))


def _of_absent_class(labels: Labels, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find samples whose class would have none among those kept."""
    return np.bincount(labels[kept], minlength=int(labels.max()) + 1)[labels] == 0


def _places(problem: Trainable, seed: int) -> Floats:
    """(N,) in [0, 1]: each sample's place in a random order of its class, by weight.

    A hash of its values places a sample, not its row, so that the order of samples does not matter.
    Equal ones stay together, so that a weight of 2 is as good as the sample twice; but where they
    are more than half of their class they are spread, lest most of a class be left out at once.
    """
    weights = fixed_weights(problem.weight)
    mass = np.ones(len(problem.labels), dtype=np.int64) if weights is None else weights
    keys = hash_rows(problem.identity, seed)
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


def fixed_weights(weight: BySample | None) -> Ints | None:
    """Sample weights as integers, so that quantiles do not depend on the order of samples."""
    if weight is None:
        return None
    scale = coarse_scale(float(weight.max()) * len(weight)) * 2.0**20
    return np.rint(weight * scale).astype(np.int64)
