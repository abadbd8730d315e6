"""`rebel train` on files that are too large to be one table in memory: trees, fitted to pieces of the rows."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rebelboost import RebelClassifier, RebelRegressor
from rebelboost.cli.costs import CostTable, check_amounts
from rebelboost.cli.options import TrainingOptions
from rebelboost.cli.output import Output
from rebelboost.cli.training_summary import Trained
from rebelboost.distributed.files import fit_pieces
from rebelboost.evaluation.evaluate import AnyEvaluation, evaluate
from rebelboost.evaluation.importance import held_out_importance
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import MOST_CELLS
from rebelboost.tables.large_tables import HeldRows, LargeTable

LEARNERS = ("auto", "auto_trees", "tree")
"""Learners that stand for trees with leaf outputs here; all but the last compare depths."""
FEWEST_TO_TEST = 10
"""Rows, or groups of rows, that are needed to test a model."""
DISTINCT = 0.99
"""Share of the rows that must differ for them to count as independent."""
PATIENCE = 20
"""Rounds without a lower loss of the rows left out, after which training ends."""
HELD_OUT_ROWS = "left out of the training, drawn by {}"


class LargeJob(NamedTuple):
    """What is to be trained."""

    survey: LargeTable
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
    held = survey.held
    rounds = ~held.test
    validation = (held.frame.filter(pl.Series(rounds)), held.y[rounds]) if rounds.any() else None
    model = _estimator(job, output, stops_early=validation is not None)
    fit_pieces(model, survey.pieces, job.scratch, output.step, validation=validation)
    model.metadata_ = job.settings.metadata()
    evaluation = tested_rows(model, held, survey.rule.group)
    test = pl.Series(held.test)
    importance = held_out_importance(model, held.frame.filter(test), held.y[held.test], unseen=True)
    return Trained(model, evaluation, time.monotonic() - began, importance)


def _check_costs(costs: CostTable, survey: LargeTable) -> None:
    names = list(dict.fromkeys(costs.columns.values()))
    place = {column.name: f for f, column in enumerate(survey.schema.columns)}
    for piece in survey.pieces:
        amounts = piece.columns([place[name] for name in names], every=True)
        check_amounts(amounts, names, piece.place)


def _estimator(
    job: LargeJob, output: Output, *, stops_early: bool
) -> RebelClassifier | RebelRegressor:
    """An estimator of trees; rows that are left out choose their depth and number, and calibrate them."""
    settings, costs = job.settings, job.costs
    kind: Any = RebelClassifier
    if job.survey.schema.predicts_numbers:
        kind = RebelRegressor
    model: RebelClassifier | RebelRegressor = kind(
        "tree" if settings.learner == "tree" else "auto_trees",
        n_rounds=settings.rounds or "auto",
        early_stopping=stops_early,
        n_rounds_no_change=PATIENCE,
        time_budget=settings.time_budget,
        n_jobs=settings.threads or -1,
        random_state=settings.seed,
        verbose=int(output.is_watched),
    )
    if costs is not None:
        # As in a cross-fit: probabilities of the classes, and costs in the decision.
        model.set_params(costs=costs.given, training="neutral")
    return model


def tested_rows(model: Any, held: HeldRows, group: str) -> AnyEvaluation | None:
    """Evaluate on those of the rows left out that test the model; None if there are too few."""
    keys = held.keys[held.test]
    n_kinds = len(np.unique(keys))
    if n_kinds < FEWEST_TO_TEST:
        return None
    # Rows that were drawn together are no independent tests.
    groups = keys if group or n_kinds < DISTINCT * len(keys) else None
    source = HELD_OUT_ROWS.format(group or "their values")
    found: AnyEvaluation = evaluate(
        model,
        held.frame.filter(pl.Series(held.test)),
        held.y[held.test],
        groups=groups,
        source=source,
    )
    return found
