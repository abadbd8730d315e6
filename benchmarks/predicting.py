"""Predicting beside LightGBM: one row, many rows, loading, and the size of the file; in one thread.

python benchmarks/predicting.py [--sets loans,vehicle] [--models FOLDER]

Both libraries are fitted at their defaults. With --models, our models are saved to the folder, or read from
it if they are there: two versions of the package can so be compared on the same models.
"""

import argparse
import io
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import measuring
import trial

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from loans import loan_lines

SETS = ("loans", "anneal", "vehicle", "yeast", "eucalyptus", "waveform40")
"""A table like people's own, and sets of the choosing half."""
TRAINED, PREDICTED = 2_000, 20_000
SHORTEST, BATCHES = 0.05, 7
"""Seconds of a batch of calls, at least, and number of batches; the fastest counts."""


class Table(NamedTuple):
    """A table to train on, and its labels."""

    X: pd.DataFrame
    y: np.ndarray


class Figures(NamedTuple):
    """What one library took."""

    frame_row: float
    """Milliseconds to predict one row of a data frame."""
    array_row: float
    """The same for a NumPy array; NaN if the table has categories."""
    rows: float
    """Rows of a data frame predicted in a second, of 20,000."""
    load: float
    """Milliseconds to load the model."""
    size: float
    """Size of the file in kB."""


def table_of(name: str) -> Table:
    if name == "loans":
        return loans()
    X, _, y, _ = trial.load(name, 0, TRAINED * 4 // 3)
    return Table(X, y)


def loans() -> Table:
    """Numbers with gaps, a category and days; as read from a file of comma-separated values."""
    lines = "\n".join(loan_lines(n_rows=TRAINED))
    table = pd.read_csv(io.StringIO(lines), parse_dates=["since"])
    table["since"] = (table["since"] - pd.Timestamp("2000-01-01")).dt.days.astype(float)
    table["city"] = table["city"].astype("category")
    return Table(table[["amount", "rate", "city", "since"]], table["repaid"].to_numpy())


# ---- the two libraries


class Fitted(NamedTuple):
    """A model, how it is loaded, and its file."""

    predict: Callable[[Any], Any]
    load: Callable[[], Any]
    file: Path


def ours(X: Any, y: np.ndarray, file: Path) -> Fitted:
    from rebelboost import RebelClassifier, load

    if not file.exists():
        RebelClassifier(n_jobs=1).fit(X, y).save(file)
    return Fitted(load(file).predict, lambda: load(file), file)


def theirs(X: Any, y: np.ndarray, file: Path) -> Fitted:
    from lightgbm import Booster, LGBMClassifier

    fitted = LGBMClassifier(n_jobs=1, verbosity=-1).fit(X, y)
    fitted.booster_.save_model(file)
    return Fitted(fitted.predict, lambda: Booster(model_file=file), file)


LIBRARIES = {"rebelboost": (ours, "safetensors"), "LightGBM": (theirs, "txt")}


def measure(table: Table, library: str, file: Path) -> Figures:
    """All figures of a library; rows of arrays by a second model, which is fitted on an array."""
    fit, kind = LIBRARIES[library]
    X, y = table
    fitted = fit(X, y, file.with_suffix(f".{kind}"))
    many = X.iloc[np.arange(PREDICTED) % len(X)].reset_index(drop=True)
    row, array_row = X.iloc[:1], np.nan
    if all(getattr(dtype, "kind", "O") in "if" for dtype in X.dtypes):
        array = np.ascontiguousarray(X.to_numpy())
        on_array = fit(array, y, file.with_name(f"{file.name}_array.{kind}"))
        array_row = 1e3 * seconds_of(lambda: on_array.predict(array[:1]))
    return Figures(
        1e3 * seconds_of(lambda: fitted.predict(row)),
        array_row,
        PREDICTED / seconds_of(lambda: fitted.predict(many)),
        1e3 * seconds_of(fitted.load),
        fitted.file.stat().st_size / 1e3,
    )


def seconds_of(call: Callable[[], Any]) -> float:
    """Processor seconds of a call: the least mean of batches of calls."""
    call()
    n_calls, taken = 1, _batch(call, 1)
    while taken < SHORTEST:
        n_calls *= 2
        taken = _batch(call, n_calls)
    return min(_batch(call, n_calls) for _ in range(BATCHES)) / n_calls


def _batch(call: Callable[[], Any], n_calls: int) -> float:
    began = time.process_time()
    for _ in range(n_calls):
        call()
    return time.process_time() - began


# ---- the report


def report(found: dict[str, dict[str, Figures]]) -> str:
    header = ["set", "library", "frame row, ms", "array row, ms", "rows/s", "load, ms", "file, kB"]
    rows = [
        [
            name,
            library,
            f"{each.frame_row:.2f}",
            "–" if np.isnan(each.array_row) else f"{each.array_row:.3f}",
            f"{each.rows:,.0f}",
            f"{each.load:.1f}",
            f"{each.size:,.0f}",
        ]
        for name, figures in found.items()
        for library, each in figures.items()
    ]
    return measuring.markdown(header, rows)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--models", type=Path)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    measuring.limit_threads(1)
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as folder:
        models = options.models or Path(folder)
        models.mkdir(parents=True, exist_ok=True)
        for name in options.sets:
            table = table_of(name)
            found[name] = {library: measure(table, library, models / name) for library in LIBRARIES}
    print("\n\n".join([measuring.describe_machine(measuring.machine(), 1), report(found)]))


if __name__ == "__main__":
    main()
