"""`rebel train`: read a table, train and evaluate a model, and write the model file."""

import shlex
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rebelboost import RebelClassifier, RebelRegressor
from rebelboost.cli import costs as cost_files
from rebelboost.cli.costs import CostTable
from rebelboost.cli.model_files import (
    KeptRows,
    check_replaceable,
    check_writable,
    fingerprints,
    save_model,
)
from rebelboost.cli.options import TrainingOptions
from rebelboost.cli.output import Output
from rebelboost.cli.papers import (
    check_papers,
    check_papers_in_memory,
    check_papers_of,
    published_model,
)
from rebelboost.cli.training_summary import Trained, show_model, show_table
from rebelboost.estimators.positive import known_positive
from rebelboost.evaluation.evaluate import AnyEvaluation, evaluate, left_out
from rebelboost.evaluation.importance import KEPT_IMPORTANCE, held_out_importance
from rebelboost.exceptions import CostError, TableError
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import Source, Table, is_large, opened_source
from rebelboost.tables.grouping import SplitBy, held_out_rows
from rebelboost.tables.held_out import row_hashes
from rebelboost.tables.leaks import best_alone
from rebelboost.tables.schema import TableSchema, packed_schema, row_names
from rebelboost.tables.schema_inference import TrainingTable, infer_schema
from rebelboost.tasks.base import is_race
from rebelboost.tasks.classes import CROSS_FITTED, ClassTask
from rebelboost.tasks.regression import RegressionTask

if TYPE_CHECKING:
    from rebelboost.tables.large_tables import LargeTable


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
    check_papers(settings, model.kept.rows)
    settings = settings._replace(learner=model.kept.learner(settings.learner))
    to = model.path or Path(f"{data.stem}.safetensors")
    check_writable(to, *data.files, costs)
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as scratch:
        read = read_training(data, target, costs, columns, settings, output, Path(scratch))
        schema, matrix = read.schema, read.costs
        _check_positive(schema, settings.positive)
        if not model.force:
            check_replaceable(to, schema)
        described = packed_schema(model.kept.of_table(schema))
        show_table(schema, matrix, costs, output)
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
    if read.large is not None:
        trained.model.metadata_["held_out"] = read.large.rule.to_dict()
    words = _command(data, schema.target, costs, columns, settings)
    trained.model.metadata_["command"] = shlex.join([*words, *model.kept.words()])
    output.notes(save_model(trained.model, to, model.kept.rows))
    holds = model.kept.told(trained.model)
    show_model(trained, schema, output, paths=(data, to), holds=holds)


class TrainingData(NamedTuple):
    """A table that was read: all its rows, or one that is larger than memory."""

    schema: TableSchema
    costs: cost_files.CostTable | None
    samples: TrainingTable | None = None
    large: "LargeTable | None" = None


def read_training(
    data: Source,
    target: str | None,
    costs: Path | None,
    columns: ColumnOptions,
    settings: TrainingOptions,
    output: Output,
    scratch: Path,
) -> TrainingData:
    """Read a table, and the costs that it is to be trained for."""
    with output.telling(f"reading {data}") as tell, opened_source(data) as table:
        prices = None if costs is None else cost_files.open_costs(costs)
        columns = _keeping(columns.resolved(table.names), prices, table)
        if is_large(data, table):
            # Imported here, because small tables need nothing of it.
            from rebelboost.cli.train_files import check_large
            from rebelboost.tables.large_tables import read_large_table

            check_papers_in_memory(settings)
            if settings.directions:
                raise TableError(
                    "--monotone needs rows in memory: leave it out, or train on fewer rows"
                )
            if settings.reject_budget is not None:
                raise TableError(
                    "--reject-budget needs rows in memory to be met on: leave it out, and give it to "
                    "`rebel predict`"
                )
            check_large(settings.learner, columns)
            large = read_large_table(table, target, columns, scratch, tell)
            _check_task(large.schema, settings.learner, costs)
            matrix = None if prices is None else _priced(prices, large.schema)
            return TrainingData(large.schema, matrix, large=large)
        schema, samples = infer_schema(table, target, columns)
        _check_task(schema, settings.learner, costs)
        if schema.predicts_numbers and settings.reject_budget is not None:
            raise TableError(
                f"{schema.target!r} consists of numbers, on which a model cannot abstain: leave "
                "--reject-budget out"
            )
        check_papers_of(settings, schema.target, numbers=schema.predicts_numbers)
        matrix = None if prices is None else _priced(prices, schema)
        if matrix is not None:
            amounts = list(matrix.columns.values())
            rows = samples.rows
            cost_files.check_amounts(samples.frame, amounts, lambda row: table.place(rows[row]))
        return TrainingData(schema, matrix, samples)


def _learned(
    read: TrainingData, settings: TrainingOptions, scratch: Path, output: Output
) -> Trained:
    if read.large is not None:
        from rebelboost.cli.train_files import LargeJob, learn_pieces

        return learn_pieces(LargeJob(read.large, read.costs, settings, scratch), output)
    assert read.samples is not None
    numbers = read.schema.predicts_numbers
    return learn(Job(read.samples, read.costs, settings, numbers=numbers), output)


def _keeping(
    columns: ColumnOptions, prices: cost_files.CostFile | None, table: Table
) -> ColumnOptions:
    """Keep the columns that hold costs, even if they look uninformative."""
    named = [] if prices is None else [cell for _, _, cell in prices.named if cell in table.types]
    return columns._replace(keep=[*columns.keep, *dict.fromkeys(named)]) if named else columns


def _priced(prices: cost_files.CostFile, schema: TableSchema) -> cost_files.CostTable:
    kinds = {column.name: column.kind for column in schema.columns}
    return cost_files.read_costs(prices, schema.classes, kinds)


def _check_learner(learner: str) -> None:
    if learner not in ClassTask.learners:
        known = ", ".join(ClassTask.learners)
        raise ValueError(f"--learner is {learner!r}: choose one of {known}")


def _check_task(schema: TableSchema, learner: str, costs: Path | None) -> None:
    """Raise an error for options that apply to classes only."""
    if not schema.predicts_numbers:
        return
    name = schema.target
    remedy = "use --cut-at to divide them into two classes, or --task classes"
    if costs is not None:
        raise CostError(f"{name!r} consists of numbers, but costs are for classes: {remedy}")
    if learner not in RegressionTask.learners:
        raise TableError(
            f"{name!r} consists of numbers, which --learner {learner} does not predict: use --learner "
            "tree, or --cut-at to divide them into two classes"
        )


def _check_positive(schema: TableSchema, positive: str | None) -> None:
    if positive is None:
        return
    if schema.predicts_numbers:
        raise TableError(
            f"--positive is for classes, but {schema.target!r} consists of numbers: leave it out"
        )
    known_positive(positive, schema.classes, "--positive ")


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


HELD_OUT_ROWS = "{} of the table, held out from a separate fit"


class Job(NamedTuple):
    """What is to be trained."""

    samples: TrainingTable
    costs: CostTable | None
    settings: TrainingOptions
    numbers: bool
    """Whether numbers are predicted, not classes."""

    @property
    def is_cross_fitted(self) -> bool:
        """Whether training evaluates the model on left-out rows."""
        if self.numbers:
            return is_race(self.settings.learner)
        has_costs = self.costs is not None and not self.costs.is_uniform
        return has_costs or self.settings.learner in CROSS_FITTED


def learn(job: Job, output: Output) -> Trained:
    """Fit and evaluate."""
    began = time.monotonic()
    samples, groups = job.samples, job.samples.split.groups
    model = _estimator(job, output)
    model.fit(samples.frame, samples.y, groups=groups, times=samples.split.times)
    model.metadata_ = job.settings.metadata()
    seconds = time.monotonic() - began
    evaluation = left_out(model, samples.y, X=samples.frame, groups=groups)
    if evaluation is None:
        evaluation = _held_out(job, output)
    importance = held_out_importance(model, samples.frame, samples.y)
    alone = [] if job.numbers else best_alone(samples.frame.iter_columns(), samples.y, groups)
    return Trained(model, evaluation, seconds, importance, tuple(alone))


def _estimator(job: Job, output: Output) -> Any:
    settings = job.settings
    given: dict[str, Any] = {
        "n_rounds": settings.rounds,
        "random_state": settings.seed,
        "costs": None if job.costs is None else job.costs.given,
        "monotone": settings.directions,
        "reject_budget": settings.reject_budget,
    }
    if settings.time_budget is not None:
        given["time_budget"] = _budget(job)
    kind: Any = RebelRegressor if job.numbers else RebelClassifier
    if settings.papers is not None:
        threads, verbose = settings.threads or -1, int(output.is_watched)
        return published_model(kind, settings, {**given, "n_jobs": threads, "verbose": verbose})
    return kind(
        settings.learner,
        n_jobs=settings.threads or -1,
        verbose=int(output.is_watched),
        **{name: value for name, value in given.items() if value is not None},
    )


def _budget(job: Job) -> float | None:
    """Seconds for a fit: half of the time budget, if another fit is needed to evaluate the model."""
    seconds = job.settings.time_budget
    return None if seconds is None else seconds / (1 if job.is_cross_fitted else 2)


def _held_out(job: Job, output: Output) -> AnyEvaluation | None:
    """Evaluate a fit to four fifths of the rows on the others; None if there are too few rows."""
    samples, split = job.samples, job.samples.split
    strata = np.zeros(len(samples.y)) if job.numbers else samples.y
    out = held_out_rows(strata, job.settings.seed or 0, split)
    if not out.any() or len(np.unique(strata[~out])) < len(np.unique(strata)):
        return None
    output.step("evaluating: fitting to four fifths of the rows, to be tested on the other fifth")
    first = _estimator(job, output)
    first.fit(samples.frame.filter(~out), samples.y[~out])
    first.metadata_ = job.settings.metadata()
    source = HELD_OUT_ROWS.format(_which(split))
    groups = None if split.groups is None else split.groups[out]
    found: AnyEvaluation = evaluate(
        first, samples.frame.filter(out), samples.y[out], groups=groups, source=source
    )
    return found


def _which(split: SplitBy) -> str:
    if split.time:
        return f"the latest fifth by {split.time}"
    return f"a random fifth of the values of {split.group}" if split.group else "a random fifth"
