"""`rebel demo`: run every command on a data set that comes with scikit-learn."""

import contextlib
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rebelboost.cli.output import Output
from rebelboost.datasets import tumours
from rebelboost.exceptions import TableError

COSTS = "true,benign,malignant\nbenign,0,1\nmalignant,20,0\n"
STEPS = (
    "rebel train tumours.csv --target diagnosis --costs costs.csv -o tumours.safetensors",
    "rebel evaluate tumours.safetensors unseen.csv",
    "rebel predict tumours.safetensors unseen.csv --id patient -o decisions.csv",
    "rebel explain tumours.safetensors unseen.csv --rows 1",
    "rebel report tumours.safetensors unseen.csv -o report.html",
)


def run_demo(folder: Path | None, app: Callable[..., Any], *, output: Output) -> None:
    """Write the example files, then run each command of the tour."""
    to = Path(tempfile.mkdtemp(prefix="rebel-demo-")) if folder is None else folder
    to.mkdir(parents=True, exist_ok=True)
    check_free(to)
    write_tables(to)
    output.text(f"Wrote to {to}:")
    output.text("  tumours.csv  training data: 30 measurements and the diagnosis of each tumour")
    output.text("  unseen.csv   test data, not used in training")
    output.text(
        "  costs.csv    costs of mistakes: a missed malignant tumour costs 20, a false alarm 1"
    )
    for step in STEPS:
        output.text("")
        output.heading(f"$ {step}")
        _run(app, step, to)
    output.text("")
    output.text(f"All files are in {to}.")


def check_free(folder: Path) -> None:
    """Raise an error if the folder holds other files with the names of the demo's tables."""
    with tempfile.TemporaryDirectory() as scratch:
        write_tables(Path(scratch))
        for own in Path(scratch).iterdir():
            there = folder / own.name
            if there.exists() and there.read_bytes() != own.read_bytes():
                raise TableError(f"{there} exists, and is not of the demo: choose another folder")


def write_tables(folder: Path) -> None:
    """Write three files: two thirds of the rows for training, one third for testing, and the costs."""
    measured, diagnosis = tumours()
    frame = pl.DataFrame({name.replace(" ", "_"): column for name, column in measured.items()})
    frame.insert_column(0, pl.Series("patient", [f"P{i:03d}" for i in range(len(frame))]))
    frame = frame.with_columns(pl.Series("diagnosis", diagnosis))
    unseen = np.random.default_rng(0).permutation(len(frame)) % 3 == 0
    frame.filter(~unseen).write_csv(folder / "tumours.csv")
    frame.filter(unseen).write_csv(folder / "unseen.csv")
    (folder / "costs.csv").write_text(COSTS, encoding="utf-8")


def _run(app: Callable[..., Any], step: str, folder: Path) -> None:
    """Run a command line in the folder."""
    with contextlib.chdir(folder):
        app(shlex.split(step)[1:], standalone_mode=False)
