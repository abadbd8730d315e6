"""Prepare models and tables; shared by several commands."""

from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost import RebelRegressor
from rebelboost.base.arrays import Ints
from rebelboost.cascade.calibration import FEWEST_SAMPLES
from rebelboost.cascade.thresholds import check_agreement_share
from rebelboost.cli.costs import check_amounts, open_costs, read_costs
from rebelboost.cli.files import fingerprint
from rebelboost.estimators.base import encode_table
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.numbers import NumberEvaluation, evaluate_numbers, left_out_numbers
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import TableError
from rebelboost.tables.apart import group_numbers
from rebelboost.tables.files import opened
from rebelboost.tables.schema import row_name
from rebelboost.tables.schema_reader import Match, understood_by
from rebelboost.tables.target import hint

AnyEvaluation = Evaluation | NumberEvaluation


class Labelled(NamedTuple):
    """A table with known classes or numbers, in the form that the model expects."""

    frame: pl.DataFrame
    y: NDArray[Any]
    names: list[Any]
    """Names of the rows, from the identifier column if there is one; else row numbers from 1."""
    notes: list[str]
    is_training: bool
    """Whether the model was trained on this file."""
    groups: Ints | None = None
    """(N,) number of each row's group, if the model was tested on new groups; None without that column."""


def fed(model: Any, frame: pl.DataFrame) -> Any:
    """Return the samples as the model was trained: with column names, or as a bare array."""
    return frame if hasattr(model, "feature_names_in_") else frame.to_numpy()


def predicts_numbers(model: Any) -> bool:
    """Whether the model is a regressor."""
    return isinstance(model, RebelRegressor)


def with_costs(model: Any, costs: Path | None) -> Any:
    """Return the model with the costs from a file, if one is given."""
    if costs is None:
        return model
    if predicts_numbers(model):
        raise TableError("the model predicts numbers, which have no costs: leave --costs out")
    fitted = model.model_
    kinds = {
        name: "category" if f in fitted.encoder.levels else "number"
        for f, name in enumerate(fitted.shown_names)
    }
    return model.with_costs(read_costs(open_costs(costs), model.classes_.tolist(), kinds).given)


def cascade_of(model: Any, agreement: float | None) -> Any:
    """The model's cascade: for an agreement, or the stored one; None if there is neither."""
    if agreement is not None and predicts_numbers(model):
        raise TableError(
            "--agreement is for classifiers, but this model predicts numbers: leave it out"
        )
    stored = getattr(model, "cascade_", None)
    if agreement is None or (stored is not None and stored.agreement == agreement):
        return stored
    check_agreement_share(agreement)
    staged = getattr(model.cross_fit_, "staged", None)
    n = 0 if staged is None else len(staged.rows)
    if n < FEWEST_SAMPLES:
        raise TableError(
            f"--agreement needs held-out scores of {FEWEST_SAMPLES} training rows or more, but the model "
            f"file has {n}: train again with `rebel train` and --learner auto or tree, on more rows"
        )
    return model.cascade(agreement=agreement)


def own_costs_of(model: Any, frame: pl.DataFrame, source: Path, first: int = 1) -> Any:
    """Costs of decisions on rows: (K, K), or (N, K, K) if they differ; `first` numbers the rows."""
    fitted = model.model_
    if fitted.columns is not None:
        names = [fitted.shown_names[cell.feature] for cell in fitted.columns.cells]
        check_amounts(frame, list(dict.fromkeys(names)), source, first)
    return fitted.costs_of(encode_table(model, fed(model, frame)))


def read_labelled(model: Any, data: Path) -> Labelled:
    """Read the rows that have a class; rows without one are skipped and counted."""
    with opened(data) as table:
        understanding = understood_by(model, table)
        target = understanding.target
        if not target:
            raise TableError(
                "the model was trained in Python and does not store the name of its target: "
                "use rebelboost.evaluation.evaluate in Python"
            )
        if target not in table.types:
            raise TableError(
                f"{data} has no column {target!r}, which the model predicts: "
                f"{hint(target, table.names)}"
            )
        naming = [n for n in [understanding.naming] if n in table.types]
        group = [n for n in [understanding.group] if n in table.types]
        match = Match(table, understanding, list(dict.fromkeys([target, *naming, *group])))
        frame, aside = match.all()
    labels = understanding.target_values(aside[target])
    labelled = labels.is_not_null()
    names: list[Any] = list(range(1, len(aside) + 1))
    if naming:
        given = aside[naming[0]].to_list()
        names = [
            n if g is None else row_name(naming[0], g) for n, g in zip(names, given, strict=True)
        ]
    notes = match.tally.notes()
    if n := labels.null_count():
        frame = frame.filter(labelled)
        notes.append(f"{n:,} row(s) without a value of {target!r} were skipped")
    if len(frame) == 0:
        raise TableError(f"{data} has no row with a value of {target!r}: fill in the column")
    if not predicts_numbers(model):
        own_costs_of(model, frame, data)  # refuses missing and negative costs
    y = np.array(labels.drop_nulls().to_list())
    is_training = (model.metadata_ or {}).get("fingerprint") == fingerprint(data)
    groups = _groups(aside.filter(labelled)[group[0]]) if group else None
    return Labelled(frame, y, [*compress(names, labelled)], notes, is_training, groups)


def _groups(values: pl.Series) -> Ints | None:
    """Number the groups; None if there is but one, which says nothing about others."""
    return group_numbers(values, Path()) if values.drop_nulls().n_unique() > 1 else None


def held_out(model: Any, given: Labelled, *, recosted: bool) -> AnyEvaluation | None:
    """Evaluate on rows of the training table that were left out; None if this is not possible.

    Without a cross-fit, there are the stored figures, unless the costs are others (`recosted`).
    """
    found: AnyEvaluation | None
    if predicts_numbers(model):
        found = left_out_numbers(model, given.y, groups=given.groups)
    else:
        found = left_out(model, given.y, X=fed(model, given.frame), groups=given.groups)
    stored = model.metadata_.get("evaluation")
    if found is not None or stored is None or recosted:
        return found
    kind = NumberEvaluation if predicts_numbers(model) else Evaluation
    return kind.from_dict(stored)


def tested(model: Any, given: Labelled, data: Path) -> AnyEvaluation:
    """Evaluate on rows that the model has not seen."""
    frame = fed(model, given.frame)
    if predicts_numbers(model):
        return evaluate_numbers(model, frame, given.y, groups=given.groups, source=data.name)
    return evaluate(model, frame, given.y, groups=given.groups, source=data.name)
