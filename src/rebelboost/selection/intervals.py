"""Prediction intervals of a cross-fitted regression, from what each fit says of the samples it did not see.

Residuals of held-out samples are those of single fits. The model is their average, whose squared error is at
most the mean of theirs, so intervals from these residuals are rather too wide than too narrow.

Residuals are often larger in some places than in others. A second cross-fit, of trees to the sizes of the
residuals, predicts how large they are, and residuals are measured in this unit.
"""

import math
from dataclasses import replace

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.boosting.objectives import RegressionObjective
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.settings import Settings
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.kernels.elementary import log_of, portable_log
from rebelboost.learners.tree import Tree
from rebelboost.losses.regression import mean_of
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.intervals import Intervals, Spread
from rebelboost.selection.calibration import RegressionScorer
from rebelboost.selection.candidates import Entry
from rebelboost.selection.cross_fit import Parts, cross_fit
from rebelboost.selection.fit_pool import FitPool
from rebelboost.selection.result import CrossFit

FEWEST = 60
"""With fewer held-out samples, all have the same spread."""
N_FOLDS = 5
POWERS = (0.0, 0.5, 1.0)
"""Exponents of the predicted sizes that are compared."""
TREE = Tree(depth=3, least_mass=0.02)
ROUNDS, SHRINKAGE, SUBSAMPLE = 100, 0.1, 0.5


def learn_intervals(
    samples: Samples, found: CrossFit, settings: Settings, deadline: float = math.inf
) -> Intervals | None:
    """Learn intervals from the held-out predictions of a cross-fit; None if nothing was held out.

    `settings` are those of a candidate: the trees of the spread have at most as many rounds. The deadline
    is on the clock of `time.monotonic`.
    """
    if not any(each.n_parts and math.isfinite(each.log_loss) for each in found.standings):
        return None
    return intervals_from(samples, found.rows, found.left_out[:, 0], settings, deadline)


def intervals_from(
    samples: Samples,
    given_rows: Ints,
    predicted: BySample,
    settings: Settings,
    deadline: float = math.inf,
) -> Intervals:
    """Learn intervals from predictions of held-out samples, given their rows in the table."""
    order = np.argsort(given_rows, kind="stable")
    rows, left_out = given_rows[order], predicted[order]
    judged = samples.take(np.searchsorted(samples.rows_of_table, rows))  # which are sorted
    assert judged.target is not None
    residual = judged.target - left_out
    constant = Spread(1.0, Ensemble.of((), 1), 0.0)
    size = np.abs(residual)
    level = mean_of(size, judged.weight)
    if len(judged) < FEWEST or level == 0:
        return _intervals(constant, residual, judged.weight)
    sized = replace(judged, target=size - level)
    learned = _fit_sizes(sized, settings, deadline)
    there = np.searchsorted(judged.rows_of_table, learned.rows)
    weight = None if judged.weight is None else judged.weight[there]
    spreads = [Spread(level, learned.ensemble, power) for power in POWERS]
    relative = [spread.relative(learned.left_out[:, 0]) for spread in spreads]
    losses = [_loss(size[there], at, weight) for at in relative]
    best = int(np.argmin(losses))
    if POWERS[best] == 0:
        return _intervals(constant, residual, judged.weight)
    return _intervals(spreads[best], residual[there] / relative[best], weight)


def _fit_sizes(sized: Samples, settings: Settings, deadline: float) -> CrossFit:
    """Cross-fit trees to the sizes of the residuals."""
    own = Settings(
        TREE,
        min(ROUNDS, settings.rounds),
        SHRINKAGE,
        0.0,
        RegressionObjective(),
        Sampling(SUBSAMPLE, by_value=True),
        seed=settings.seed,
        n_threads=settings.n_threads,
    )
    left_out = folds(sized, N_FOLDS, settings.seed)
    parts = Parts(left_out, sized.times is not None, deadline)
    return cross_fit(
        RegressionScorer(sized), [Entry("spread", own)], parts, FitPool(settings.n_threads)
    )


def _loss(size: BySample, spread: BySample, weight: BySample | None) -> float:
    """Mean log-loss of residuals with a Laplace distribution of this spread, up to a constant."""
    weight = np.ones(len(size)) if weight is None else weight
    total = math.fsum(weight)
    relative = math.fsum(weight * size / spread) / total
    return math.fsum(weight * portable_log(spread)) / total + log_of(relative)


def _intervals(spread: Spread, residual: BySample, weight: BySample | None) -> Intervals:
    order = np.argsort(residual, kind="stable")
    return Intervals(spread, residual[order], _in_units(weight, len(residual))[order])


def _in_units(weight: BySample | None, n_samples: int) -> Floats:
    """Weights in units of Σw²/Σw: they sum to the effective number of samples."""
    if weight is None:
        return np.ones(n_samples)
    return weight * (math.fsum(weight) / math.fsum(weight**2))
