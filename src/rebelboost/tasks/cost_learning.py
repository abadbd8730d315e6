"""Learning what decisions cost from costs that were given for each training sample."""

import numpy as np

from rebelboost.base.arrays import BySample, Floats
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.objectives import RegressionObjective
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.settings import Settings
from rebelboost.costs.matrix import class_costs
from rebelboost.data.folds import folds, held_out_part
from rebelboost.data.samples import Samples
from rebelboost.learners.tree import Tree
from rebelboost.losses.regression import mean_of
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import LearnedCell, LearnedCosts
from rebelboost.rows.base import MemoryRows

FEWEST = 20
"""Samples of a class: with fewer, its mean costs must do."""
MOST_CLASSES = 4
"""With more classes, one factor of each class's row is learned in place of every cell."""
HELD_OUT, PATIENCE = 0.2, 30
"""Share of the samples by which a regression is stopped, and rounds that it waits for a lower loss."""
TREE = Tree(depth=5, least_mass=0.003)
ROUNDS, SHRINKAGE, SUBSAMPLE = 300, 0.1, 0.3


def learn_costs(samples: Samples, seed: int = 0, n_threads: int = 1) -> LearnedCosts:
    """Fit a regression to every cost that differs among the samples of a class."""
    means = class_costs(samples)
    cells = []
    for true in range(samples.n_classes):
        own = samples.labels == true
        if np.count_nonzero(own) < FEWEST:
            continue
        rows = samples.rows(own)
        if samples.n_classes > MOST_CLASSES:
            total = means[true].sum()
            targets = {-1: rows.costs.sum(axis=1) / total} if total > 0 else {}
        else:
            targets = {k: rows.costs[:, k] for k in range(samples.n_classes) if k != true}
        cells += [
            _fit(rows, true, decided, target, seed, n_threads)
            for decided, target in targets.items()
            if np.ptp(target) > 0
        ]
    return LearnedCosts(tuple(cells))


def expected_by_sample(samples: Samples, seed: int = 0, n_threads: int = 1) -> Floats:
    """(N, K, K) costs of each sample as learned from the others: half of them at a time."""
    cube = np.tile(class_costs(samples), (len(samples), 1, 1))
    for part in folds(samples, 2, seed):
        kept, out = samples.rows(part.kept), part.out
        learned = learn_costs(kept, seed, n_threads)
        cube[out] = learned.applied(class_costs(kept), samples.X[out], n_threads)
    return cube


def _fit(
    rows: Samples, true: int, decided: int, target: BySample, seed: int, n_threads: int
) -> LearnedCell:
    mean = mean_of(target, rows.weight)
    numbers = Samples.of_targets(
        rows.X,
        target - mean,
        rows.weight,
        rows.categorical,
        groups=rows.groups,
        times=rows.times,
    )
    settings = Settings(
        TREE,
        ROUNDS,
        SHRINKAGE,
        0.0,
        RegressionObjective(),
        Sampling(SUBSAMPLE, by_value=True),
        PATIENCE,
        seed=seed,
        n_threads=n_threads,
    )
    part = held_out_part(numbers, HELD_OUT, seed)
    if part is None:
        return LearnedCell(true, decided, mean, Ensemble.of((), 1))
    held = follow(numbers.rows(part.out), settings)
    kept = MemoryRows.of(numbers.rows(part.kept), n_threads)
    ensemble = train(kept, settings, held=held)
    return LearnedCell(true, decided, mean, ensemble)
