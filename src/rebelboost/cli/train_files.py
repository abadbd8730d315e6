"""`rebel train` on a folder or on several files: tables that may be larger than memory."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rebelboost import RebelClassifier
from rebelboost.cli.files import check_writable
from rebelboost.cli.fitting import TrainingOptions
from rebelboost.cli.render import Output
from rebelboost.distributed import fit_files
from rebelboost.exceptions import TableError

LEARNERS = ("auto", "auto_trees", "tree")
"""Learners that stand for trees with leaf outputs here; candidates are not compared."""


def are_many(data: Sequence[Path]) -> bool:
    """Whether the arguments are a folder, a pattern or several files."""
    return len(data) > 1 or data[0].is_dir() or "*" in data[0].name


def run_files_training(
    data: Sequence[Path],
    target: str | None,
    to: Path | None,
    settings: TrainingOptions,
    others: Mapping[str, object],
    output: Output,
) -> None:
    """Train one model of trees on all rows, write it, and print what was done."""
    given = [name for name, value in others.items() if value]
    if given:
        raise TableError(
            f"{given[0]} applies to a single file: leave it out, or join the files into one"
        )
    if target is None:
        raise TableError(
            "several files need the name of the column to predict: add --target COLUMN"
        )
    if settings.learner not in LEARNERS:
        raise TableError(
            f"--learner {settings.learner} needs all rows in memory: use --learner tree"
        )
    to = to or Path(f"{data[0].stem if data[0].is_dir() else 'model'}.safetensors")
    check_writable(to, *data)
    if to.exists():
        raise TableError(f"{to} exists: choose another file with -o, or remove it")
    model = RebelClassifier(
        "tree",
        n_rounds=settings.rounds or "auto",
        cross_fit=None,
        time_budget=settings.time_budget,
        n_jobs=settings.threads or -1,
        random_state=settings.seed,
        verbose=int(output.is_watched),
    )
    began = time.monotonic()
    with output.warnings_as_notes():
        fit_files(model, list(data), target)
    model.save(to)
    n_rows = round(float(model.class_weight_.sum()))
    output.lines(
        [
            ("rows", f"{n_rows:,}"),
            ("classes", ", ".join(map(str, model.classes_.tolist()))),
            ("model", f"{len(model.ensemble_):,} trees, one fit to all rows, not evaluated"),
            ("time", f"{time.monotonic() - began:.1f} s"),
            ("written", str(to)),
            ("next", f"rebel evaluate {to} OTHER_ROWS.parquet"),
        ]
    )
