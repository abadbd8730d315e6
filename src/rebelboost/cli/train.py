"""`rebel train`: read a table, train and evaluate a model, and write the model file."""

import shlex
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rebelboost.cli import costs as cost_files
from rebelboost.cli.files import check_replaceable, check_writable, fingerprint
from rebelboost.cli.fitting import Job, Trained, TrainingOptions, learn
from rebelboost.cli.privacy import KeptRows
from rebelboost.cli.render import Output
from rebelboost.cli.training_text import show_model, show_table
from rebelboost.estimators.inputs import LEARNERS
from rebelboost.exceptions import CostError, TableError
from rebelboost.tables.files import Table, opened
from rebelboost.tables.options import ColumnOptions
from rebelboost.tables.schema import TrainingTable, Understanding, row_name, understand


class ModelFile(NamedTuple):
    """Where the model is written."""

    path: Path | None = None
    """None: named after the table."""
    force: bool = False
    """Whether a model of another table or target may be replaced."""
    kept: KeptRows = KeptRows()
    """What is kept of the training rows."""


def run_training(
    data: Path,
    target: str | None,
    costs: Path | None,
    model: ModelFile,
    *,
    columns: ColumnOptions,
    settings: TrainingOptions,
    output: Output,
) -> None:
    """Read the table, print a summary, train, evaluate, save, and print the results."""
    _check_learner(settings.learner)
    settings = settings._replace(learner=model.kept.learner(settings.learner))
    to = model.path or Path(f"{data.stem}.safetensors")
    check_writable(to, data, costs)
    with output.waiting(f"reading {data}"), opened(data) as table:
        prices = None if costs is None else cost_files.open_costs(costs)
        understanding, samples = understand(table, target, _keeping(columns, prices, table))
    with output.warnings_as_notes():
        _check_task(understanding, settings.learner, costs)
        matrix = None if prices is None else _priced(prices, understanding, samples, data)
    if not model.force:
        check_replaceable(to, understanding)
    show_table(understanding, matrix, costs, output)
    with output.warnings_as_notes():
        job = Job(samples, matrix, settings, numbers=understanding.predicts_numbers)
        trained = learn(job, output)
    trained = trained._replace(model=_named(trained.model, samples, named=model.kept.names))
    trained.model.metadata_ = _kept(trained, model.kept.of_table(understanding), data)
    words = _command(data, understanding.target, costs, columns, settings)
    trained.model.metadata_["command"] = shlex.join([*words, *model.kept.words()])
    trained.model.save(to, rows=model.kept.rows)
    holds = model.kept.told(trained.model)
    show_model(trained, understanding, output, paths=(data, to), holds=holds)


def _keeping(
    columns: ColumnOptions, prices: cost_files.CostFile | None, table: Table
) -> ColumnOptions:
    """Keep the columns that hold costs, even if they look uninformative."""
    named = [] if prices is None else [cell for _, _, cell in prices.named if cell in table.types]
    return columns._replace(keep=[*columns.keep, *dict.fromkeys(named)]) if named else columns


def _priced(
    prices: cost_files.CostFile, understanding: Understanding, samples: TrainingTable, data: Path
) -> cost_files.CostTable:
    kinds = {column.name: column.kind for column in understanding.columns}
    costs = cost_files.read_costs(prices, np.unique(samples.y).tolist(), kinds)
    cost_files.check_amounts(samples.frame, list(costs.columns.values()), data)
    return costs


def _check_learner(learner: str) -> None:
    if learner not in LEARNERS:
        known = ", ".join(LEARNERS)
        raise ValueError(f"--learner is {learner!r}: choose one of {known}")


def _check_task(understanding: Understanding, learner: str, costs: Path | None) -> None:
    """Raise an error for options that apply to classes only."""
    if not understanding.predicts_numbers:
        return
    name = understanding.target
    remedy = "use --cut-at to divide them into two classes, or --task classes"
    if costs is not None:
        raise CostError(f"{name!r} consists of numbers, but costs are for classes: {remedy}")
    if learner == "similarity":
        raise TableError(
            f"{name!r} consists of numbers, which similarities do not predict: use --learner tree, "
            "or --cut-at to divide them into two classes"
        )


def _command(
    data: Path, target: str, costs: Path | None, columns: ColumnOptions, settings: TrainingOptions
) -> list[str]:
    """Return the command line that reproduces the model."""
    words = ["rebel", "train", str(data), "--target", target]
    words += ["--costs", str(costs)] if costs is not None else []
    words += columns.words()
    for option, value in settings._asdict().items():
        if value not in (None, "auto"):
            words += [f"--{option.replace('_', '-')}", str(value)]
    return words


def _kept(trained: Trained, understanding: Understanding, data: Path) -> dict[str, Any]:
    """Return the metadata that later commands need."""
    evaluation = trained.evaluation
    return {
        "table": understanding.to_dict(),
        "fingerprint": fingerprint(data),
        "evaluation": None if evaluation is None else evaluation.to_dict(),
        "seconds": round(trained.seconds, 3),
    }


def _named(model: Any, samples: TrainingTable, *, named: bool) -> Any:
    """Name the model's training rows by the identifier column or, without one or names, by number."""
    examples = getattr(model, "example_classes_", None)
    if examples is None:  # a regressor, which has no examples
        return model
    if samples.ids is None or not named:
        return model.with_row_labels({row: int(samples.rows[row]) for row in examples})
    name, values = samples.ids
    return model.with_row_labels({row: row_name(name, values[row]) for row in examples})
