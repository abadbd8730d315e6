"""The exact model of a project: what a fit from scratch to its labelled rows gives, bit for bit.

The rows are read as `rebel train` reads a file with the same cells and labels, in the order of their numbers.
Nothing of an earlier model or of unlabelled rows enters. The model's hash is that of its file, which holds no
times and no names of rows, so equal rows, labels and settings have equal hashes on every machine.
"""

import hashlib
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Ints, Scores
from rebelboost.base.names import ClassNames, printed
from rebelboost.estimators.base import BoostedEstimator
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.load import restore
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.evaluation.evaluate import AnyEvaluation, left_out
from rebelboost.exceptions import ProjectError, TableError
from rebelboost.files.history import without_work
from rebelboost.files.safetensors import parse
from rebelboost.live.reading import table_of
from rebelboost.live.store import Row, StoredFit, now
from rebelboost.tables.columns import NUMBERS, ColumnOptions
from rebelboost.tables.schema import packed_schema
from rebelboost.tables.schema_inference import infer_schema

FORBIDDEN = ("time_budget", "callbacks", "warm_start", "costs", "n_jobs")
"""Parameters of the estimators that a project cannot have: with a time budget, a fit is not repeatable."""

SOURCE = "a project"
"""What a model is said to be trained on: the name of a file would be a part of its hash."""


class Task(NamedTuple):
    """What a project learns."""

    target: str
    source: str
    """Name of the table that it began with."""
    columns: tuple[str, ...]
    options: ColumnOptions
    settings: Mapping[str, Any]
    """Parameters of the estimator."""
    costs: Sequence[tuple[str, str, float]]
    """True class, decided class, cost; all other mistakes cost 1."""
    half_life: float | None = None
    """Number of labels after which a row counts half."""
    threshold: float = 0.0
    """Rows of less worth stand for others, which were removed (`thinning`)."""

    @property
    def predicts_numbers(self) -> bool:
        """Whether the target consists of numbers."""
        return self.options.task == NUMBERS

    def costs_of(self, classes: Sequence[Any]) -> dict[tuple[Any, Any], float] | None:
        """The costs among these classes; None if all are 1."""
        names = ClassNames(classes)
        named = {
            (names.classes[i], names.classes[j]): cost
            for true, decided, cost in self.costs
            if (i := names.find(true)) is not None and (j := names.find(decided)) is not None
        }
        return named or None


@dataclass(frozen=True, eq=False)
class ExactFit:
    """A fit from scratch."""

    number: int
    """Number of the last change that it has seen."""
    at: str
    """Time in UTC."""
    hash: str
    """SHA-256 of the model."""
    n_rows: int
    """Number of labelled rows."""
    seconds: float
    estimator: Any
    """The model: `RebelClassifier` or `RebelRegressor`."""
    rows: Ints
    """(N,) numbers of the rows."""
    told: Mapping[str, Any]
    """What was noted, and the results on left-out rows."""
    contents: bytes
    """The model's file."""

    def __repr__(self) -> str:
        return f"ExactFit({self.n_rows} rows, hash {self.hash[:12]}, {self.seconds:.2f} s)"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted when the table was read and the model was fitted."""
        return tuple(self.told["notes"])

    def stored(self) -> StoredFit:
        """The fit as it is kept in the project."""
        rows = self.rows.astype("<i8").tobytes()
        return StoredFit(
            self.number,
            self.at,
            self.hash,
            self.n_rows,
            self.seconds,
            self.told,
            self.contents,
            rows,
        )

    @staticmethod
    def of_stored(found: StoredFit) -> "ExactFit":
        """The fit that a project keeps."""
        return ExactFit(
            found.number,
            found.at,
            found.hash,
            found.n_rows,
            found.seconds,
            restore(parse(found.contents)),
            np.frombuffer(found.rows, dtype="<i8").astype(np.int64),
            found.told,
            found.contents,
        )

    @property
    def left_out_scores(self) -> Scores | None:
        """(N, K) scores of the rows by fits that did not see them; None without a cross-fit."""
        found = self.estimator.cross_fit_
        if found is None or len(found.rows) < self.n_rows:
            return None
        scores: Scores = np.empty_like(found.left_out)
        scores[found.rows] = found.left_out
        return scores


def fit_exactly(task: Task, rows: Sequence[Row], number: int) -> ExactFit:
    """Fit to labelled rows, given the number of the last change."""
    if not rows:
        raise ProjectError(
            f"no row has a label yet: give some a value of {task.target!r} with `label`"
        )
    began = time.monotonic()
    table = table_of(rows, task.columns, task.target, task.source)
    try:
        schema, samples = infer_schema(table, task.target, task.options)
    except TableError as error:
        raise ProjectError(f"{task.source}: {error}") from None
    kind: Any = RebelRegressor if schema.predicts_numbers else RebelClassifier
    estimator = kind(**{"random_state": 0, **task.settings}, n_jobs=-1)
    if not schema.predicts_numbers:
        estimator.costs = task.costs_of(np.unique(samples.y).tolist())
    notes = list(schema.warnings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(
            samples.frame,
            samples.y,
            sample_weight=weights_of(rows, task),
            groups=samples.split.groups,
            times=samples.split.times,
        )
        found = left_out(estimator, samples.y, X=samples.frame, groups=samples.split.groups)
    notes += dict.fromkeys(str(each.message) for each in caught)
    estimator.metadata_ = {"table": packed_schema(replace(schema, source=SOURCE))}
    estimator.n_jobs = None  # the number of threads is not part of the model
    contents = _contents(estimator)
    return ExactFit(
        number,
        now(),
        hashlib.sha256(contents).hexdigest(),
        len(rows),
        round(time.monotonic() - began, 3),
        estimator,
        np.array([row.id for row in rows]),
        {"notes": notes, "left_out": _figures(found)},
        contents,
    )


def weights_of(rows: Sequence[Row], task: Task) -> BySample | None:
    """(N,) weights of rows: half for each half-life of age, and more for rows that stand for others."""
    if task.half_life is None and task.threshold <= 0:
        return None
    worth = np.array([row.worth for row in rows])
    weight = np.maximum(1.0, task.threshold / worth)
    if task.half_life is not None:
        order = np.array([row.labelled or 0 for row in rows])
        age = len(rows) - 1 - np.argsort(np.argsort(order, kind="stable"), kind="stable")
        weight = weight * np.exp2(-age / task.half_life)
    return np.maximum(weight, 1e-6)


def _contents(estimator: BoostedEstimator) -> bytes:
    """The file of a model, without what differs from run to run."""
    estimator.history_ = without_work(estimator.history_, estimator.model_.ensemble)
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as folder:
        path = Path(folder) / "model.safetensors"
        estimator.save(path)
        return path.read_bytes()


def _figures(found: AnyEvaluation | None) -> dict[str, float] | None:
    """Results on left-out rows: accuracy, mean cost and log-loss, or the errors of numbers."""
    if found is None:
        return None
    told = found.to_dict()
    kept = {
        name: told.get(name) for name in ("n", "accuracy", "cost", "log_loss", "error", "squared")
    }
    values = {k: v["value"] if isinstance(v, dict) else v for k, v in kept.items()}
    return {name: float(value) for name, value in values.items() if value is not None}


def check_settings(settings: Mapping[str, Any], *, numbers: bool) -> None:
    """Raise an error for parameters that a project cannot have."""
    kind: Any = RebelRegressor if numbers else RebelClassifier
    known = kind().get_params(deep=False)
    for name, value in settings.items():
        if name in FORBIDDEN:
            raise ProjectError(f"settings: {name!r} cannot be set for a project: leave it out")
        if name not in known:
            raise ProjectError(f"settings: {kind.__name__} has no parameter {name!r}")
        if not isinstance(value, str | int | float | bool | None):
            raise ProjectError(f"settings: {name!r} is {value!r}: give text, a number or None")
    kind(**settings).check_parameters()


def listed_costs(costs: Mapping[Any, Any]) -> list[tuple[str, str, float]]:
    """Costs {(true, decided): cost} as they are kept, by the names of the classes."""
    found: list[tuple[str, str, float]] = []
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ProjectError(f"costs name {pair!r}: give pairs (true class, decided class)")
        if not isinstance(cost, int | float) or not 0 <= cost < np.inf:
            raise ProjectError(f"the cost of {pair!r} is {cost!r}: give a number of 0 or more")
        found.append((printed(pair[0]), printed(pair[1]), float(cost)))
    return found
