"""Ranking and probabilities on tables of TabArena, at its official splits: 1 − AUC, log-loss, error, seconds.

python benchmarks/arena.py [--half choosing] [--sets a,b] [--rivals a,b] [--repeats 1] [--measured] [--docs]

Each unit, a library at its defaults on one split, runs in one thread; results stay in
`.benchmarks/reproduce/units` until the code or the version changes. The measure of a table is the
benchmark's: 1 − AUC for two classes, log-loss for more. Published figures, which were not run by us, are
marked with an asterisk: TabFM's are means over all splits of tables under 2,500 rows, the others are those of
repeat 0 (`README.md` in the folder of the tables names their sources).
"""

import argparse
import gzip
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

import compare
import data
import measuring
from auto import version_of
from reproduce import harness
from trial import log_loss, processor_seconds

RIVALS = (compare.OURS, "lightgbm", "catboost", "ebm", "realmlp", "xrfm", "autogluon_best")
FOLDS = 3
MOST_FOR_ALL_REPEATS = 2500
"""With more rows, the benchmark has 3 repeats; otherwise 10."""
DATES = {"Marketing_Campaign": "Dt_Customer"}
"""Columns of dates, which are text in the files."""
PUBLISHED = ("TabFM", "TabICLv2", "CatBoost", "LightGBM")
PAGE = harness.ROOT / "docs" / "libraries.md"
MARKS = ("<!-- arena -->", "<!-- /arena -->")
BY_CHANCE = 0.5
"""1 − AUC of a library that failed."""
RATIOS = (("catboost", "CatBoost"), ("lightgbm", "LightGBM"), (None, "TabICLv2"), (None, "TabFM"))
"""Rivals with which we are compared: as run here, and as published."""

Unit = tuple[str, int, int, str, str]
"""Table, repeat, fold, rival, what made it."""


# ---- tables


def halves() -> dict[str, list[str]]:
    """Every other table, by name, to choose by; the rest to report on."""
    files = (data.folder() / "arena").glob("*.csv.gz")
    ordered = sorted((file.name.removesuffix(".csv.gz") for file in files), key=str.lower)
    return {"choosing": ordered[::2], "reporting": ordered[1::2], "all": ordered}


def table(name: str, *, dated: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and codes of the classes. Dates are days since 1970 for libraries that know none."""
    folder = data.folder() / "arena"
    declared = json.loads((folder / "categorical.json").read_text())[name]
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        found = pd.read_csv(file, keep_default_na=False, na_values=[""])
    y = np.unique(found.pop("target").astype(str), return_inverse=True)[1]
    if name in DATES:
        dates = pd.to_datetime(found[DATES[name]], format="ISO8601")
        days = (dates - pd.Timestamp("1970-01-01")).dt.days
        found[DATES[name]] = dates if dated else days
    for column in found.columns:
        if column in declared or not _is_number(found[column]):
            found[column] = _categories(found[column])
    # Some libraries refuse names with brackets.
    return found.rename(columns=lambda c: re.sub(r"[^\w]", "_", c)), y


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)


def _categories(column: pd.Series) -> pd.Series:
    """As texts; the levels are those of the whole table, so that all parts have the same."""
    text = column.astype(object).where(column.notna(), None)
    return pd.Series(
        pd.Categorical([None if each is None else str(each) for each in text]), index=column.index
    )


def n_repeats(name: str) -> int:
    return len(folds_of(name))


def folds_of(name: str) -> np.ndarray:
    """(repeats, rows) the fold in which each row is tested."""
    with np.load(data.folder() / "arena" / "splits" / f"{name}.npz") as arrays:
        folds = arrays["fold"]
    return folds if folds.shape[1] < MOST_FOR_ALL_REPEATS else folds[:3]


# ---- units


def measure(name: str, repeat: int, fold: int, rival: str, made_by: str) -> dict[str, Any]:
    """Measures of a library on one split, in one thread; seconds of the processor, with predictions."""
    del made_by  # part of the unit's name
    warnings.simplefilter("ignore")
    X, y = table(name, dated=rival == compare.OURS)
    test = folds_of(name)[repeat] == fold
    classifier = compare.load(rival).make(1)
    used, began = processor_seconds(), time.perf_counter()
    result: dict[str, Any] = {"error": 100.0, "log_loss": math.inf, "one_minus_auc": BY_CHANCE}
    try:
        classifier.fit(X[~test].reset_index(drop=True), y[~test])
        p = np.asarray(classifier.predict_proba(X[test].reset_index(drop=True)))
    except Exception as reason:  # noqa: BLE001  (a library that cannot do a table has the worst result)
        return {**result, "failed": repr(reason), "seconds": 0.0, "wall": 0.0}
    result |= {
        "seconds": processor_seconds() - used,
        "wall": time.perf_counter() - began,
        "error": 100 * float(np.mean(p.argmax(axis=1) != y[test])),
        "log_loss": log_loss(p, y[test]),
        "one_minus_auc": None,
    }
    if p.shape[1] == 2:
        result["one_minus_auc"] = 1 - float(roc_auc_score(y[test], p[:, 1]))
    return result


def units_of(sets: Iterable[str], rivals: Iterable[str], repeats: int) -> list[Unit]:
    """A library that is not installed is reported and left out."""
    units: list[Unit] = []
    sets = list(sets)
    for rival in rivals:
        version = version_of(rival)
        if version is None:
            print(f"Absent: {rival}", file=sys.stderr)
            continue
        units += [
            (name, repeat, fold, rival, version)
            for name in sets
            for repeat in range(min(repeats, n_repeats(name)))
            for fold in range(FOLDS)
        ]
    return units


# ---- report


def published() -> dict[str, dict[str, float]]:
    """The figures in the README of the tables, by table and library; the metric is the benchmark's."""
    text = (data.folder() / "arena" / "README.md").read_text(encoding="utf-8")
    lines = text.partition("## Published figures")[2].splitlines()
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 + len(PUBLISHED) and cells[1] in {"1 − AUC", "log-loss"}:
            values = zip(PUBLISHED, cells[2:], strict=True)
            found[cells[0]] = {library: float(v) for library, v in values if v}
    return found


Found = Mapping[Unit, Mapping[str, Any]]


def mean_of(found: Found, name: str, rival: str, key: str, repeats: int) -> float | None:
    """Mean over the splits of so many repeats; None unless all were run."""
    repeats = min(repeats, n_repeats(name))
    own = [
        run[key]
        for (table_name, repeat, _, by, _), run in found.items()
        if table_name == name and by == rival and repeat < repeats
    ]
    if len(own) < FOLDS * repeats or any(each is None for each in own):
        return None
    return float(np.mean(own))


def metric_of(found: Found, name: str, rival: str, repeats: int) -> float | None:
    """1 − AUC for two classes, log-loss for more."""
    two = mean_of(found, name, rival, "one_minus_auc", repeats)
    return mean_of(found, name, rival, "log_loss", repeats) if two is None else two


def ratios(found: Found, sets: list[str], repeats: int) -> list[list[str]]:
    """Geometric means of our measure over a rival's, and on how many tables ours is lower."""
    known, rows = published(), []
    for rival, library in RATIOS:
        run = {n: metric_of(found, n, rival, repeats) for n in sets} if rival else {}
        # TabFM's are means of all repeats; the others are of repeat 0.
        many = math.inf if library == "TabFM" else 1
        for where, theirs, n in (
            ("run here", run, repeats),
            ("published", {n: known.get(n, {}).get(library) for n in sets}, many),
        ):
            both = {
                name: (metric_of(found, name, compare.OURS, int(min(n, 10))), value)
                for name, value in theirs.items()
                if value is not None
            }
            pairs = {name: ours / value for name, (ours, value) in both.items() if ours is not None}
            if pairs:
                lower = sum(ratio < 1 for ratio in pairs.values())
                higher = ", ".join(name for name, ratio in pairs.items() if ratio >= 1)
                geometric = math.exp(np.mean(np.log(list(pairs.values()))))
                rows.append([f"{library}, {where}", f"{geometric:.3f}",
                             f"{lower} of {len(pairs)}", higher])  # fmt: skip
    return rows


def report(found: Found, sets: list[str], rivals: list[str], repeats: int) -> Iterable[str]:
    yield measuring.describe_machine(measuring.machine(), 1)
    known = published()
    titles = [compare.load(rival).name for rival in rivals]
    extra = [library for library in PUBLISHED if any(library in known.get(n, {}) for n in sets)]
    yield f"1 − AUC for two classes, log-loss for more; means of {repeats} repeats of 3 folds"
    rows = []
    for name in sets:
        own = [metric_of(found, name, rival, repeats) for rival in rivals]
        theirs = [known.get(name, {}).get(library) for library in extra]
        rows.append([name, *(_shown(each) for each in (*own, *theirs))])
    yield measuring.markdown(["", *titles, *(f"{library} *" for library in extra)], rows)
    yield "\\* published, not run here"
    yield measuring.markdown(
        ["rebelboost over", "geometric mean", "lower on", "not lower on"],
        ratios(found, sets, repeats),
    )
    for key in ("error", "log_loss", "seconds"):
        means = [[mean_of(found, name, rival, key, repeats) for rival in rivals] for name in sets]
        rows = [[n, *map(_shown, own)] for n, own in zip(sets, means, strict=True)]
        yield f"{key}\n\n" + measuring.markdown(["", *titles], rows)


def write_page(tables: Iterable[str]) -> None:
    """Put the measures and the ratios into docs/libraries.md, between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    written = "\n\n".join([MARKS[0], *tables, MARKS[1]])
    PAGE.write_text(before + written + after, encoding="utf-8")


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--half", choices=("choosing", "reporting", "all"), default="all")
    parser.add_argument("--sets", help="these instead of a half")
    parser.add_argument("--rivals", default=",".join(RIVALS[:3]))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--processes", type=int, default=harness.N_PROCESSES)
    parser.add_argument("--measured", action="store_true", help="report, and measure nothing")
    parser.add_argument("--docs", action="store_true", help="write the page of the docs")
    options = parser.parse_args()
    sets = options.sets.split(",") if options.sets else halves()[options.half]
    units = units_of(sets, options.rivals.split(","), options.repeats)
    found = harness.measure_all(
        measure, units, made_by="", n_processes=0 if options.measured else options.processes
    )
    rivals = [r for r in options.rivals.split(",") if any(unit[3] == r for unit in units)]
    machine, *texts = report(found, sets, rivals, options.repeats)
    print("\n\n".join([machine, *texts]))
    if options.docs:
        write_page(texts[:4])


if __name__ == "__main__":
    main()
