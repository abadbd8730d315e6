"""`rebel train`: read a table, train and evaluate a model, and write the model file."""

import shlex
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rebelboost import RebelClassifier
from rebelboost.cli import costs as cost_files
from rebelboost.cli.files import check_replaceable, check_writable, fingerprint
from rebelboost.cli.privacy import KeptRows
from rebelboost.cli.render import Output
from rebelboost.cli.training_text import show_model, show_table
from rebelboost.estimators.inputs import LEARNERS
from rebelboost.estimators.training import CROSS_FITTED
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.result import Evaluation
from rebelboost.tables.apart import LeaveOut
from rebelboost.tables.files import Table, opened
from rebelboost.tables.options import ColumnOptions
from rebelboost.tables.schema import TrainingTable, Understanding, row_name, understand

HELD_OUT = 0.2
"""Share of the rows that are held out to evaluate a model that was not cross-validated in training."""
FEWEST_TO_HOLD_OUT = 10
"""Tables with fewer rows are not evaluated."""
HELD_OUT_ROWS = "{} of the table, held out from a separate fit"


class TrainingOptions(NamedTuple):
    """Options of the training; None stands for the estimator's default."""

    learner: str = "auto"
    rounds: int | None = None
    time_budget: float | None = None
    seed: int | None = None
    threads: int | None = None


class ModelFile(NamedTuple):
    """Where the model is written."""

    path: Path | None = None
    """None: named after the table."""
    force: bool = False
    """Whether a model of another table or target may be replaced."""
    kept: KeptRows = KeptRows()
    """What is kept of the training rows."""


class Trained(NamedTuple):
    """A trained model, its evaluation and its training time."""

    model: RebelClassifier
    evaluation: Evaluation | None
    seconds: float


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
    check_writable(to)
    with output.waiting(f"reading {data}"), opened(data) as table:
        prices = None if costs is None else cost_files.open_costs(costs)
        understanding, samples = understand(table, target, _keeping(columns, prices, table))
    with output.warnings_as_notes():
        matrix = None if prices is None else _priced(prices, understanding, samples, data)
    if not model.force:
        check_replaceable(to, understanding.source, understanding.target)
    show_table(understanding, matrix, costs, output)
    with output.warnings_as_notes():
        trained = _learn(samples, matrix, settings, output)
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


def _learn(
    samples: TrainingTable,
    costs: cost_files.CostTable | None,
    settings: TrainingOptions,
    output: Output,
) -> Trained:
    began = time.monotonic()
    apart = samples.apart
    model = _estimator(settings, costs, output)
    model.fit(samples.frame, samples.y, groups=apart.groups, times=apart.times)
    seconds = time.monotonic() - began
    evaluation = left_out(model, samples.y, X=samples.frame, groups=apart.groups)
    if evaluation is None:
        evaluation = _held_out(costs, samples, settings, output)
    return Trained(model, evaluation, seconds)


def _estimator(
    settings: TrainingOptions, costs: cost_files.CostTable | None, output: Output
) -> RebelClassifier:
    given: dict[str, Any] = {
        "n_rounds": settings.rounds,
        "random_state": settings.seed,
        "costs": None if costs is None else costs.given,
        "time_budget": _budget(settings, costs),
    }
    return RebelClassifier(
        settings.learner,
        n_jobs=settings.threads or -1,
        verbose=int(output.is_watched),
        **{name: value for name, value in given.items() if value is not None},
    )


def _budget(settings: TrainingOptions, costs: cost_files.CostTable | None) -> float | None:
    """Seconds for a fit: half of the time budget, if another fit is needed to evaluate the model."""
    if settings.time_budget is None:
        return None
    has_costs = costs is not None and not costs.is_uniform
    is_cross_fitted = has_costs or settings.learner in CROSS_FITTED
    return settings.time_budget / (1 if is_cross_fitted else 2)


def _held_out(
    costs: cost_files.CostTable | None,
    samples: TrainingTable,
    settings: TrainingOptions,
    output: Output,
) -> Evaluation | None:
    """Evaluate a fit to four fifths of the rows on the others; None if there are too few rows."""
    out = held_out_rows(samples.y, settings.seed or 0, samples.apart)
    if not out.any() or len(np.unique(samples.y[~out])) < len(np.unique(samples.y)):
        return None
    output.step("evaluating: fitting to four fifths of the rows, to be tested on the other fifth")
    first = _estimator(settings, costs, output)
    first.fit(samples.frame.filter(~out), samples.y[~out])
    source = HELD_OUT_ROWS.format(_which(samples.apart))
    groups = None if samples.apart.groups is None else samples.apart.groups[out]
    return evaluate(first, samples.frame.filter(out), samples.y[out], groups=groups, source=source)


def _which(apart: LeaveOut) -> str:
    if apart.time:
        return f"the latest fifth by {apart.time}"
    return f"a random fifth of the values of {apart.group}" if apart.group else "a random fifth"


Mask = np.ndarray[Any, np.dtype[np.bool_]]


def held_out_rows(y: np.ndarray[Any, Any], seed: int, apart: LeaveOut | None = None) -> Mask:
    """Select a fifth of the rows, as new ones will come; shape (N,)."""
    if len(y) < FEWEST_TO_HOLD_OUT:
        return np.zeros(len(y), dtype=bool)
    rng = np.random.default_rng(seed)
    if apart is not None and apart.times is not None:
        return np.asarray(apart.times > np.quantile(apart.times, 1 - HELD_OUT, method="lower"))
    if apart is not None and apart.groups is not None:
        names = rng.permutation(np.unique(apart.groups))
        return np.isin(apart.groups, names[: max(1, int(HELD_OUT * len(names)))])
    return _fifth_of_classes(y, rng)


def _fifth_of_classes(y: np.ndarray[Any, Any], rng: np.random.Generator) -> Mask:
    """Select a random fifth of each class, but never all of its rows."""
    out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        n = min(int(HELD_OUT * len(rows) + rng.uniform()), len(rows) - 1)
        out[rows[:n]] = True
    return out


def _kept(trained: Trained, understanding: Understanding, data: Path) -> dict[str, Any]:
    """Return the metadata that later commands need."""
    evaluation = trained.evaluation
    return {
        "table": understanding.to_dict(),
        "fingerprint": fingerprint(data),
        "evaluation": None if evaluation is None else evaluation.to_dict(),
        "seconds": round(trained.seconds, 3),
    }


def _named(model: RebelClassifier, samples: TrainingTable, *, named: bool) -> RebelClassifier:
    """Name the model's training rows by the identifier column or, without one or names, by number."""
    examples = model.example_classes_
    if samples.ids is None or not named:
        return model.with_row_labels({row: int(samples.rows[row]) for row in examples})
    name, values = samples.ids
    return model.with_row_labels({row: row_name(name, values[row]) for row in examples})
