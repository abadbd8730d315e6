"""`rebel train`: a table → a model, its honest figures and its file."""

import shlex
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rebelboost import RebelClassifier
from rebelboost.base.arrays import Floats
from rebelboost.boosting.rounds import Round
from rebelboost.cli import costs as cost_files
from rebelboost.cli.files import check_writable, fingerprint
from rebelboost.cli.render import Output
from rebelboost.cli.training_text import show_model, show_table
from rebelboost.costs.matrix import is_uniform
from rebelboost.estimators.inputs import LEARNERS
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.result import Evaluation
from rebelboost.tables.files import opened
from rebelboost.tables.schema import TrainingTable, Understanding, Wishes, row_name, understand

HELD_OUT = 0.2
"""Share of the rows by which a model is judged that has no left-out samples of its own."""
FEWEST_TO_HOLD_OUT = 10
FITS_OF_ONE, FITS_AVERAGED = 2, 30
"""Fits that share the time: of a model and one to judge it by, each of which may be an average of 15."""
HELD_OUT_ROWS = "a fifth of all, that a first fit had not seen"


class Choices(NamedTuple):
    """What the user chose of the training; None leaves it to the estimator."""

    learner: str = "auto"
    rounds: int | None = None
    time_budget: float | None = None
    seed: int | None = None
    threads: int | None = None


class Trained(NamedTuple):
    """A model and what is told of it."""

    model: RebelClassifier
    evaluation: Evaluation | None
    seconds: float


def run_training(
    data: Path,
    target: str | None,
    costs: Path | None,
    model: Path | None,
    *,
    wishes: Wishes,
    choices: Choices,
    output: Output,
) -> None:
    """Read, say what was understood, learn, judge, save, and say what to do next."""
    _check_learner(choices.learner)
    to = Path(f"{data.stem}.safetensors") if model is None else model
    check_writable(to)
    with output.waiting(f"reading {data}"), opened(data) as table:
        understanding, samples = understand(table, target, wishes)
    with output.warnings_as_notes():
        matrix = None
        if costs is not None:
            matrix = cost_files.read_costs(costs, np.unique(samples.y).tolist())
    show_table(understanding, matrix, costs, output)
    with output.warnings_as_notes():
        trained = _learn(samples, matrix, choices, output)
    trained = trained._replace(model=_named(trained.model, samples))
    trained.model.metadata_ = _kept(trained, understanding, data)
    words = _command(data, understanding.target, costs, wishes, choices)
    trained.model.metadata_["command"] = shlex.join(words)
    trained.model.save(to)
    show_model(trained, output, paths=(data, to))


def _check_learner(learner: str) -> None:
    if learner not in LEARNERS:
        known = ", ".join(LEARNERS)
        raise ValueError(f"--learner is {learner!r}: give one of {known}")


def _command(
    data: Path, target: str, costs: Path | None, wishes: Wishes, choices: Choices
) -> list[str]:
    """What makes the model again."""
    words = ["rebel", "train", str(data), "--target", target]
    words += ["--costs", str(costs)] if costs is not None else []
    for option, names in wishes._asdict().items():
        words += [word for name in names for word in (f"--{option}", name)]
    for option, value in choices._asdict().items():
        if value not in (None, "auto"):
            words += [f"--{option.replace('_', '-')}", str(value)]
    return words


def _learn(
    samples: TrainingTable, costs: Floats | None, choices: Choices, output: Output
) -> Trained:
    began = time.monotonic()
    model = _estimator(choices, costs, output).fit(samples.frame, samples.y)
    seconds = time.monotonic() - began
    evaluation = left_out(model, samples.y)
    if evaluation is None:
        evaluation = _held_out(model, samples, choices, output)
    return Trained(model, evaluation, seconds)


def _estimator(choices: Choices, costs: Floats | None, output: Output) -> RebelClassifier:
    given: dict[str, Any] = {
        "n_rounds": choices.rounds,
        "random_state": choices.seed,
        "costs": costs,
    }
    if choices.time_budget is not None:
        averaged = costs is not None and not is_uniform(costs)
        given |= _within(choices.time_budget, choices.learner, averaged=averaged)
    return RebelClassifier(
        choices.learner,
        n_jobs=choices.threads or -1,
        verbose=int(output.is_watched),
        **{name: value for name, value in given.items() if value is not None},
    )


def _within(seconds: float, learner: str, *, averaged: bool) -> dict[str, Any]:
    """Parameters that keep to a time: of the choice among learners, or a limit for each fit."""
    if learner == "auto":
        return {"time_budget": seconds}
    return {"callbacks": [Deadline(seconds / (FITS_AVERAGED if averaged else FITS_OF_ONE))]}


class Deadline:
    """Ends a fit that has had its share of the time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def on_round(self, record: Round) -> bool:
        """Look at the clock."""
        return record.seconds > self.seconds

    def on_end(self) -> None:
        """Nothing to tidy up."""


def _held_out(
    model: RebelClassifier, samples: TrainingTable, choices: Choices, output: Output
) -> Evaluation | None:
    """Judge a fit on four fifths of the rows by the others; None where they are too few."""
    out = held_out_rows(samples.y, choices.seed or 0)
    if not out.any():
        return None
    # The costs in use, and not a recipe such as "balanced", which fewer rows would change.
    output.step("judging: another fit, on four fifths of the rows, that the others will test")
    first = _estimator(choices, model.costs_, output)
    first.fit(samples.frame.filter(~out), samples.y[~out])
    return evaluate(first, samples.frame.filter(out), samples.y[out], source=HELD_OUT_ROWS)


def held_out_rows(y: np.ndarray[Any, Any], seed: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(N,) flags: a fifth of every class, at random, never the last of one."""
    rng = np.random.default_rng(seed)
    out = np.zeros(len(y), dtype=bool)
    if len(y) < FEWEST_TO_HOLD_OUT:
        return out
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        n = min(int(HELD_OUT * len(rows) + rng.uniform()), len(rows) - 1)
        out[rows[:n]] = True
    return out


def _kept(trained: Trained, understanding: Understanding, data: Path) -> dict[str, Any]:
    """What later commands need to know of the model's table."""
    evaluation = trained.evaluation
    return {
        "table": understanding.to_dict(),
        "fingerprint": fingerprint(data),
        "evaluation": None if evaluation is None else evaluation.to_dict(),
        "seconds": round(trained.seconds, 3),
    }


def _named(model: RebelClassifier, samples: TrainingTable) -> RebelClassifier:
    """The model, calling its examples as the file does: by the column that names rows, or by number."""
    examples = model.example_classes_
    if samples.ids is None:
        return model.with_row_labels({row: int(samples.rows[row]) for row in examples})
    name, values = samples.ids
    return model.with_row_labels({row: row_name(name, values[row]) for row in examples})
