"""Prepare models and tables; shared by several commands."""

from collections.abc import Callable
from dataclasses import replace
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
from rebelboost.cli.model_files import fingerprints
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.positive import known_positive, positive_class
from rebelboost.evaluation.evaluate import AnyEvaluation, evaluate, left_out
from rebelboost.evaluation.regression import (
    RegressionEvaluation,
)
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import TableError
from rebelboost.tables.files import Source, Table, opened_source
from rebelboost.tables.grouping import group_numbers
from rebelboost.tables.held_out import HoldOutRule, drawn_rows, seen_rows
from rebelboost.tables.schema import Match, TableSchema, row_names, schema_of
from rebelboost.tables.target import suggestion

MOST_JUDGED, AT_ONCE = 1_000_000, 100_000
"""Rows of a table that are evaluated at most, about, and that are read at a time."""

SEEN_ROWS = (
    "{}{:,} of these {:,} rows equal rows that the model was trained on, so these figures are too "
    "optimistic: use rows that it has not seen"
)


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
    was_seen: bool = False
    """Whether the model was trained on some of these files."""
    is_held_out: bool = False
    """Whether only rows of them are here that the training left out."""
    schema: TableSchema | None = None
    """How the table was read."""
    by: pl.Series | None = None
    """The column by which results are given too."""


def model_input(model: Any, frame: pl.DataFrame) -> Any:
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


def with_budget(model: Any, budget: float | None) -> Any:
    """Return the model with a budget of abstentions, if one is given."""
    if budget is None:
        return model
    if predicts_numbers(model):
        raise TableError(
            "the model predicts numbers, on which it cannot abstain: leave --reject-budget out"
        )
    return model.with_abstentions(budget)


def with_positive(model: Any, positive: str | None) -> Any:
    """Let figures on two classes be about this one; None leaves the choice."""
    if positive is None:
        return model
    if predicts_numbers(model):
        raise ValueError(
            "--positive is for two classes, but the model predicts numbers: leave it out"
        )
    known_positive(positive, model.classes_, "--positive ")
    model.metadata_["positive"] = positive
    return model


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


def costs_of_rows(model: Any, frame: pl.DataFrame, place: Callable[[int], tuple[int, Path]]) -> Any:
    """Costs of decisions on rows: (K, K), or (N, K, K) if they differ; see `check_amounts` for `place`."""
    fitted = model.model_
    if fitted.columns is not None:
        names = [fitted.shown_names[cell.feature] for cell in fitted.columns.cells]
        check_amounts(frame, list(dict.fromkeys(names)), place)
    return fitted.costs_of(encode_table(model, model_input(model, frame)))


def read_labelled(model: Any, data: Source, target: str = "", by: str = "") -> Labelled:
    """Read the rows that have a class; rows without one are skipped and counted.

    `target` is the column with the classes, if it is another one than the model stores, and `by` a column
    by which results are asked for.
    Of files that a model of a large table was trained on, only the rows that it left out are read.
    """
    kept = model.metadata_ or {}
    own = fingerprints(data)
    is_training = kept.get("fingerprint") == own["fingerprint"]
    files = {*own.get("fingerprints", ()), own["fingerprint"]}
    was_seen = not files.isdisjoint([kept.get("fingerprint"), *kept.get("fingerprints", ())])
    with opened_source(data) as table:
        schema = schema_of(model, table)
        if target:
            schema = replace(schema, target=target)
        target = _target(schema, table)
        naming = [n for n in [schema.naming] if n in table.types]
        group = [n for n in [schema.group] if n in table.types]
        divided = [_divided(by, table, model)] if by else []
        match = Match(table, schema, list(dict.fromkeys([target, *naming, *group, *divided])))
        rule = HoldOutRule.from_dict(kept["held_out"]) if was_seen and "held_out" in kept else None
        frame, aside, rows, n_unlabelled = _labelled(match, schema, rule)
        if len(frame) == 0:
            what = "that training left out" if rule else f"with a value of {target!r}"
            remedy = "give other rows" if rule else "fill in the column"
            raise TableError(f"{data} has no row {what}: {remedy}")
        if not predicts_numbers(model):  # refuses missing and negative costs
            costs_of_rows(model, frame, lambda row: table.place(int(rows[row])))
    names: list[Any] = rows.tolist()
    if naming:
        names = row_names(naming[0], aside[naming[0]].to_list(), rows.tolist())
    notes = match.tally.notes()
    if n_unlabelled:
        notes.append(f"{n_unlabelled:,} row(s) without a value of {target!r} were skipped")
    n_read = len(frame)
    if rule is None and match.tally.n_rows - n_unlabelled > n_read:
        notes.append(
            f"evaluated on {n_read:,} of {match.tally.n_rows - n_unlabelled:,} rows, drawn by their values"
        )
    y = np.array(schema.target_values(aside[target]).to_list())
    groups = _groups(aside[group[0]]) if group else None
    column = _numbers_or_text(aside[by]) if by else None
    held = rule is not None
    return Labelled(frame, y, names, notes, is_training, groups, was_seen, held, schema, column)


def _divided(by: str, table: Table, model: Any) -> str:
    if predicts_numbers(model):
        raise TableError("--by is for classes, but the model predicts numbers: leave it out")
    if by not in table.types:
        raise TableError(f"{table.path} has no column {by!r} (--by): {suggestion(by, table.names)}")
    return by


def _numbers_or_text(column: pl.Series) -> pl.Series:
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column


def _target(schema: TableSchema, table: Table) -> str:
    target = schema.target
    if not target:
        raise TableError(
            "the model was trained in Python and does not store the name of its target: "
            "add --target with the column of true classes"
        )
    if target not in table.types:
        raise TableError(
            f"{table.path} has no column {target!r}, which the model predicts: "
            f"{suggestion(target, table.names)}"
        )
    return target


def _labelled(
    match: Match, schema: TableSchema, rule: HoldOutRule | None
) -> tuple[pl.DataFrame, pl.DataFrame, Ints, int]:
    """Features and other columns of rows that have a class, their numbers from 1, and how many have none.

    With a rule, only the rows that tested the model; of many rows, about `MOST_JUDGED`, drawn by their values.
    """
    n_rows = int(match.table.frame.select(pl.len()).collect(engine="streaming").item())
    share = MOST_JUDGED / max(1, n_rows) if rule is None else 1.0
    batches = match.batches(AT_ONCE if rule is not None or share < 1 else None)
    found, n_unlabelled = [], 0
    for frame, aside in batches:
        labels = schema.target_values(aside[schema.target])
        n_unlabelled += labels.null_count()
        chosen = labels.is_not_null().to_numpy()
        if rule is not None:
            group = aside[rule.group] if rule.group else None
            chosen = rule.draw(match.raw, labels, group).test
        elif share < 1:
            chosen = chosen & drawn_rows(frame, share)
        first = match.tally.n_rows - len(frame) + 1
        keep = pl.Series(chosen)
        found.append((frame.filter(keep), aside.filter(keep), np.flatnonzero(chosen) + first))
    frames, asides, rows = zip(*found, strict=True)
    return pl.concat(frames), pl.concat(asides), np.concatenate(rows), n_unlabelled


def _groups(values: pl.Series) -> Ints | None:
    """Number the groups; None if there is but one, which says nothing about others."""
    return group_numbers(values, Path()) if values.drop_nulls().n_unique() > 1 else None


def held_out(model: Any, given: Labelled, *, recosted: bool) -> AnyEvaluation | None:
    """Evaluate on rows of the training table that were left out; None if this is not possible.

    Without a cross-fit, there are the stored figures, unless the costs are others (`recosted`).
    """
    table = model_input(model, given.frame)
    found: AnyEvaluation | None = left_out(
        model, given.y, X=table, groups=given.groups, by=given.by
    )
    stored = model.metadata_.get("evaluation")
    if found is not None or stored is None or recosted:
        return found
    if predicts_numbers(model):
        return RegressionEvaluation.from_dict(stored)
    code = positive_class(model)
    positive = None if code is None else model.model_.class_names[code]
    return replace(Evaluation.from_dict(stored), positive=positive)


def tested(model: Any, given: Labelled, data: Source) -> AnyEvaluation:
    """Evaluate on rows that the model has not seen."""
    frame = model_input(model, given.frame)
    source = f"rows of {data.name} that training left out" if given.is_held_out else data.name
    found: AnyEvaluation = evaluate(
        model, frame, given.y, groups=given.groups, by=given.by, source=source
    )
    return found


def rows_seen(model: Any, given: Labelled) -> tuple[int, str] | None:
    """How many rows of another file equal rows of the training table, and a sentence that says so."""
    hashes = None if given.was_seen else (model.metadata_ or {}).get("row_hashes")
    found = seen_rows(hashes, given.frame, given.y)
    if found is None:
        return None
    about = "" if found.exact else "about "
    return found.n, SEEN_ROWS.format(about, found.n, len(given.y))
