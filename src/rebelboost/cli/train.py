"""`rebel train`: read a table, train and evaluate a model, and write the model file."""

import shlex
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from rebelboost.cli import costs as cost_files
from rebelboost.cli.files import (
    check_replaceable,
    check_writable,
    fingerprints,
    save_model,
)
from rebelboost.cli.fitting import Job, Trained, TrainingOptions, learn
from rebelboost.cli.privacy import KeptRows
from rebelboost.cli.render import Output
from rebelboost.cli.train_files import LargeJob, check_large, is_large, learn_pieces
from rebelboost.cli.training_text import show_model, show_table
from rebelboost.estimators.positive import known_positive
from rebelboost.evaluation.importance import KEPT_IMPORTANCE
from rebelboost.exceptions import CostError, TableError
from rebelboost.tables.files import Table
from rebelboost.tables.kept import keep_table
from rebelboost.tables.options import ColumnOptions
from rebelboost.tables.schema import TrainingTable, Understanding, row_names, understand
from rebelboost.tables.seen import row_hashes
from rebelboost.tables.survey import Survey, surveyed
from rebelboost.tables.together import Source, opened_source
from rebelboost.tasks.classes import ClassTask
from rebelboost.tasks.regression import RegressionTask


class ModelFile(NamedTuple):
    """Where the model is written."""

    path: Path | None = None
    """None: named after the table."""
    force: bool = False
    """Whether a model of another table or target may be replaced."""
    kept: KeptRows = KeptRows()
    """What is kept of the training rows."""


def run_training(
    data: Source,
    target: str | None,
    costs: Path | None,
    model: ModelFile,
    *,
    columns: ColumnOptions,
    settings: TrainingOptions,
    output: Output,
) -> None:
    """Read the table, print a summary, train, evaluate, save, and print the results."""
    output.outlast_reader()  # a model is written, whoever reads about it
    _check_learner(settings.learner)
    settings = settings._replace(learner=model.kept.learner(settings.learner))
    to = model.path or Path(f"{data.stem}.safetensors")
    check_writable(to, *data.files, costs)
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as scratch:
        read = _read(data, target, costs, columns, settings, output, Path(scratch))
        understanding, matrix = read.understanding, read.costs
        _check_positive(understanding, settings.positive)
        if not model.force:
            check_replaceable(to, understanding)
        described = keep_table(model.kept.of_table(understanding))
        show_table(understanding, matrix, costs, output)
        with output.warnings_as_notes():
            trained = _learned(read, settings, Path(scratch), output)
    if read.samples is not None:
        named = _named(trained.model, read.samples, named=model.kept.names)
        trained = trained._replace(model=named)
    trained.model.metadata_ = _kept(trained, described, data)
    trained.model.metadata_ |= settings.metadata()
    if read.samples is not None and model.kept.rows != "none":
        hashes = row_hashes(read.samples.frame, read.samples.y)
        trained.model.metadata_["row_hashes"] = hashes
    if read.survey is not None:
        trained.model.metadata_["held_out"] = read.survey.rule.to_dict()
    words = _command(data, understanding.target, costs, columns, settings)
    trained.model.metadata_["command"] = shlex.join([*words, *model.kept.words()])
    output.notes(save_model(trained.model, to, model.kept.rows))
    holds = model.kept.told(trained.model)
    show_model(trained, understanding, output, paths=(data, to), holds=holds)


class Read(NamedTuple):
    """A table that was read: all its rows, or a survey of one that is large."""

    understanding: Understanding
    costs: cost_files.CostTable | None
    samples: TrainingTable | None = None
    survey: Survey | None = None


def _read(
    data: Source,
    target: str | None,
    costs: Path | None,
    columns: ColumnOptions,
    settings: TrainingOptions,
    output: Output,
    scratch: Path,
) -> Read:
    """Read a table, and the costs that it is to be trained for."""
    with output.telling(f"reading {data}") as tell, opened_source(data) as table:
        prices = None if costs is None else cost_files.open_costs(costs)
        columns = _keeping(columns.resolved(table.names), prices, table)
        if is_large(data, table):
            check_large(settings.learner, columns)
            survey = surveyed(table, target, columns, scratch, tell)
            _check_task(survey.understanding, settings.learner, costs)
            matrix = None if prices is None else _priced(prices, survey.understanding)
            return Read(survey.understanding, matrix, survey=survey)
        understanding, samples = understand(table, target, columns)
        _check_task(understanding, settings.learner, costs)
        matrix = None if prices is None else _priced(prices, understanding)
        if matrix is not None:
            amounts = list(matrix.columns.values())
            rows = samples.rows
            cost_files.check_amounts(samples.frame, amounts, lambda row: table.place(rows[row]))
        return Read(understanding, matrix, samples)


def _learned(read: Read, settings: TrainingOptions, scratch: Path, output: Output) -> Trained:
    if read.survey is not None:
        return learn_pieces(LargeJob(read.survey, read.costs, settings, scratch), output)
    assert read.samples is not None
    numbers = read.understanding.predicts_numbers
    return learn(Job(read.samples, read.costs, settings, numbers=numbers), output)


def _keeping(
    columns: ColumnOptions, prices: cost_files.CostFile | None, table: Table
) -> ColumnOptions:
    """Keep the columns that hold costs, even if they look uninformative."""
    named = [] if prices is None else [cell for _, _, cell in prices.named if cell in table.types]
    return columns._replace(keep=[*columns.keep, *dict.fromkeys(named)]) if named else columns


def _priced(prices: cost_files.CostFile, understanding: Understanding) -> cost_files.CostTable:
    kinds = {column.name: column.kind for column in understanding.columns}
    return cost_files.read_costs(prices, understanding.classes, kinds)


def _check_learner(learner: str) -> None:
    if learner not in ClassTask.learners:
        known = ", ".join(ClassTask.learners)
        raise ValueError(f"--learner is {learner!r}: choose one of {known}")


def _check_task(understanding: Understanding, learner: str, costs: Path | None) -> None:
    """Raise an error for options that apply to classes only."""
    if not understanding.predicts_numbers:
        return
    name = understanding.target
    remedy = "use --cut-at to divide them into two classes, or --task classes"
    if costs is not None:
        raise CostError(f"{name!r} consists of numbers, but costs are for classes: {remedy}")
    if learner not in RegressionTask.learners:
        raise TableError(
            f"{name!r} consists of numbers, which --learner {learner} does not predict: use --learner "
            "tree, or --cut-at to divide them into two classes"
        )


def _check_positive(understanding: Understanding, positive: str | None) -> None:
    if positive is None:
        return
    if understanding.predicts_numbers:
        raise TableError(
            f"--positive is for classes, but {understanding.target!r} consists of numbers: leave it out"
        )
    known_positive(positive, understanding.classes, "--positive ")


def _command(
    data: Source, target: str, costs: Path | None, columns: ColumnOptions, settings: TrainingOptions
) -> list[str]:
    """Return the command line that reproduces the model."""
    words = ["rebel", "train", *data.words, "--target", target]
    words += ["--costs", str(costs)] if costs is not None else []
    words += columns.words()
    for option, value in settings._asdict().items():
        if value not in (None, "auto"):
            words += [f"--{option.replace('_', '-')}", str(value)]
    return words


def _kept(trained: Trained, described: dict[str, Any], data: Source) -> dict[str, Any]:
    """Return the metadata that later commands need."""
    evaluation, importance = trained.evaluation, trained.importance
    return {
        "table": described,
        **fingerprints(data),
        "evaluation": None if evaluation is None else evaluation.to_dict(),
        KEPT_IMPORTANCE: None if importance is None else [*map(list, importance)],
        "seconds": round(trained.seconds, 3),
    }


def _named(model: Any, samples: TrainingTable, *, named: bool) -> Any:
    """Name the model's training rows by the identifier column or, without one or names, by number."""
    examples = getattr(model, "example_classes_", None)
    if examples is None:  # a regressor, which has no examples
        return model
    if samples.ids is None or not named:
        return model.with_row_labels({row: int(samples.rows[row]) for row in examples})
    names = row_names(*samples.ids, samples.rows.tolist())
    return model.with_row_labels({row: names[row] for row in examples})
