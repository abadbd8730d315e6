"""`rebel train` on files that are too large to be one table in memory: trees, fitted to pieces of the rows."""

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rebelboost import RebelClassifier, RebelRegressor, Tree
from rebelboost.base.hashing import drawn_by
from rebelboost.cli.costs import CostTable, check_amounts
from rebelboost.cli.fitting import Mask, Trained, TrainingOptions
from rebelboost.cli.inputs import AnyEvaluation
from rebelboost.cli.render import Output
from rebelboost.data.samples import Samples
from rebelboost.distributed.files import fit_pieces
from rebelboost.distributed.training import SpreadInput
from rebelboost.estimators.base import table_scores
from rebelboost.estimators.inputs import known_labels
from rebelboost.evaluation.evaluate import evaluate
from rebelboost.evaluation.importance import held_out_importance
from rebelboost.evaluation.numbers import evaluate_numbers
from rebelboost.exceptions import TableError
from rebelboost.selection.scoring import Calibrated, ClassScorer
from rebelboost.tables.files import Table
from rebelboost.tables.options import ColumnOptions
from rebelboost.tables.survey import HeldRows, Survey
from rebelboost.tables.together import Source

LEARNERS = ("auto", "auto_trees", "tree")
"""Learners that stand for trees with leaf outputs here; all but the last compare depths."""
DEPTHS, FEWEST_TO_COMPARE = (6, 3, 10), 100
"""Depths that are compared, and rows that are needed for that."""
COMPARED = 0x6A09_E667_F3BC_C908
"""Number of the draw of the rows by which depths are compared."""
MOST_CELLS = 20_000_000
"""Tables of several files with more cells than this are trained on in pieces."""
FEWEST_TO_TEST = 10
"""Rows, or groups of rows, that are needed to test a model."""
DISTINCT = 0.99
"""Share of the rows that must differ for them to count as independent."""
PATIENCE = 20
"""Rounds without a lower loss of the rows left out, after which training ends."""
HELD_OUT_ROWS = "left out of the training, drawn by {}"


def is_large(source: Source, table: Table) -> bool:
    """Whether files are trained on in pieces."""
    if not table.parts and len(source.files) == 1:
        return False
    n_rows = int(table.frame.select(pl.len()).collect(engine="streaming").item())
    return n_rows * len(table.types) > MOST_CELLS


class LargeJob(NamedTuple):
    """What is to be trained."""

    survey: Survey
    costs: CostTable | None
    settings: TrainingOptions
    scratch: Path
    """For temporary files."""


def check_large(learner: str, columns: ColumnOptions) -> None:
    """Raise an error for options that need all rows in memory."""
    if learner not in LEARNERS:
        raise TableError(
            f"--learner {learner} needs all rows in memory, but there are more than "
            f"{MOST_CELLS:,} cells: use --learner tree, or fewer rows"
        )
    if columns.time:
        raise TableError(
            f"--time needs all rows in memory, but there are more than {MOST_CELLS:,} cells: leave it "
            "out, and evaluate the model on files of later rows"
        )


def learn_pieces(job: LargeJob, output: Output) -> Trained:
    """Fit one model to all rows but those left out, and evaluate it on these."""
    began = time.monotonic()
    survey = job.survey
    if job.costs is not None and job.costs.columns:
        _check_costs(job.costs, survey)
    held, numbers = survey.held, survey.understanding.predicts_numbers
    model = _estimator(job, output)
    if job.settings.learner != "tree":
        output.step("choosing the depth of the trees")
        model.set_params(learner=Tree(depth=_depth(held, job.settings, numbers=numbers)))
    rounds = ~held.test
    validation = (held.frame.filter(pl.Series(rounds)), held.y[rounds]) if rounds.any() else None
    if validation is None:
        model.set_params(early_stopping=False)
    given = SpreadInput(weighted=False, by_sample=False, validation=validation)
    fit_pieces(model, survey.pieces, given, job.scratch, output.step)
    if validation is not None and isinstance(model, RebelClassifier):
        _calibrate(model, *validation)
    model.metadata_ = job.settings.metadata()
    evaluation = tested_rows(model, held, survey.rule.group)
    test = pl.Series(held.test)
    importance = held_out_importance(model, held.frame.filter(test), held.y[held.test], unseen=True)
    return Trained(model, evaluation, time.monotonic() - began, importance)


def _check_costs(costs: CostTable, survey: Survey) -> None:
    names = list(dict.fromkeys(costs.columns.values()))
    place = {column.name: f for f, column in enumerate(survey.understanding.columns)}
    for piece in survey.pieces:
        amounts = piece.columns([place[name] for name in names], every=True)
        check_amounts(amounts, names, piece.place)


def _estimator(job: LargeJob, output: Output) -> RebelClassifier | RebelRegressor:
    costs = job.costs
    model = _plain(Tree(), job.settings, numbers=job.survey.understanding.predicts_numbers)
    model.set_params(time_budget=job.settings.time_budget, verbose=int(output.is_watched))
    if costs is not None:
        # As in a cross-fit: probabilities of the classes, and costs in the decision.
        model.set_params(costs=costs.given, training="neutral")
    return model


def _plain(
    learner: Tree, settings: TrainingOptions, *, numbers: bool
) -> RebelClassifier | RebelRegressor:
    """An estimator that stops early."""
    kind: Any = RebelRegressor if numbers else RebelClassifier
    model: RebelClassifier | RebelRegressor = kind(
        learner,
        n_rounds=settings.rounds or "auto",
        cross_fit=None,
        early_stopping=True,
        n_rounds_no_change=PATIENCE,
        n_jobs=settings.threads or -1,
        random_state=settings.seed,
    )
    return model


def _depth(held: HeldRows, settings: TrainingOptions, *, numbers: bool) -> int:
    """Choose the depth of the trees by fits to most of the rows that choose the number of rounds."""
    rows = ~held.test
    out = drawn_by(held.keys, 1 / 5, COMPARED)
    fit, judge = rows & ~out, rows & out
    if not numbers:
        judge &= np.isin(held.y, np.unique(held.y[fit]))
    if min(judge.sum(), fit.sum()) < FEWEST_TO_COMPARE or len(np.unique(held.y[fit])) < 2:
        return Tree().depth
    losses = {
        depth: _loss(_plain(Tree(depth=depth), settings, numbers=numbers), held, fit, judge)
        for depth in DEPTHS
    }
    return min(losses, key=lambda depth: losses[depth])


def _loss(model: RebelClassifier | RebelRegressor, held: HeldRows, fit: Mask, judge: Mask) -> float:
    """Loss, on some rows, of a fit to others: mean squared error, or log-loss at the best temperature."""
    X, y = held.frame.filter(pl.Series(judge)), held.y[judge]
    model.fit(held.frame.filter(pl.Series(fit)), held.y[fit], validation=(X, y))
    if isinstance(model, RebelRegressor):
        return math.fsum((model.predict(X) - y) ** 2)
    return _calibration(model, X, y).log_loss


def _calibrate(model: RebelClassifier, frame: pl.DataFrame, y: Any) -> None:
    """Calibrate probabilities by rows that are left out: a single fit is far too sure."""
    temperature, offset, _ = _calibration(model, frame, y)
    fitted = model.model_
    if offset.any():
        fitted = replace(fitted, ensemble=fitted.ensemble.plus(offset))
    model.model_ = replace(fitted, decoder=replace(fitted.decoder, temperature=temperature))


def _calibration(model: RebelClassifier, frame: pl.DataFrame, y: Any) -> Calibrated:
    """The best temperature and offset, and the log-loss with them."""
    fitted = model.model_
    scores, labels = table_scores(model, frame), known_labels(y, len(frame), fitted.classes)
    decoder = fitted.decoder
    samples = Samples(np.empty((len(labels), 0)), labels, decoder.costs)
    return ClassScorer(samples, samples, decoder.loss, decoder.subcosts).calibrated(scores)


def tested_rows(model: Any, held: HeldRows, group: str) -> AnyEvaluation | None:
    """Evaluate on those of the rows left out that test the model; None if there are too few."""
    keys = held.keys[held.test]
    n_kinds = len(np.unique(keys))
    if n_kinds < FEWEST_TO_TEST:
        return None
    # Rows that were drawn together are no independent tests.
    groups = keys if group or n_kinds < DISTINCT * len(keys) else None
    source = HELD_OUT_ROWS.format(group or "their values")
    test: Any = evaluate_numbers if isinstance(model, RebelRegressor) else evaluate
    found: AnyEvaluation = test(
        model,
        held.frame.filter(pl.Series(held.test)),
        held.y[held.test],
        groups=groups,
        source=source,
    )
    return found
