"""Drift: false alarms and shifts that are found, and what other class frequencies cost.

python benchmarks/monitoring.py [--splits 12] [--draws 2] [--tables 15]

Half of each table, at most 1,000 rows, trains a classifier. "no change": rows are drawn from the other half,
and `monitor` compares them with what training saw; an alarm is false. The others are shifts: half a standard
deviation of the column that the model uses most; a fifth of this column's values lost; the most frequent class
drawn half as often. The cost of other class frequencies is that of decisions on rows drawn with random
frequencies: as trained, with frequencies that are estimated from these rows without their classes, and with the
true ones.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from rebelboost import RebelClassifier
from rebelboost.metrics import mean_cost
from trial import load

TABLES = (
    "abalone",
    "adult",
    "car",
    "cardiotocography",
    "cmc",
    "connect_4",
    "dry_bean",
    "kr_vs_kp",
    "landsat",
    "led7",
    "letter",
    "sleep",
    "waveform40",
    "wine_quality_red",
    "yeast",
)
MOST_ROWS, MOST_TRAINED, FEWEST_OF_CLASS = 8000, 1000, 40
Rest = tuple[pd.DataFrame, np.ndarray]
SIZES = (200, 1000)
ALARM = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--tables", type=int, default=len(TABLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    monitored: dict[tuple[str, int], list[float]] = {}
    paid = []
    for name in TABLES[: options.tables]:
        of_table = []
        for split in range(options.splits):
            clf, costs, rest = trained(name, split)
            rng = np.random.default_rng([split, 1])
            for key, alarm in alarms(clf, rest, rng, options.draws):
                monitored.setdefault(key, []).append(alarm)
            of_table.append(prior_costs(clf, costs, rest, rng))
        mean = np.mean(of_table, axis=0)
        paid.append(mean)
        told = " ".join(f"{each:8.3f}" for each in mean)
        print(f"{name:18}cost as trained, estimated, true frequencies: {told}", flush=True)
    print()
    for (what, n), found in sorted(monitored.items()):
        print(f"{what:16}{n:6} rows  alarms {100 * np.mean(found):5.1f} % of {len(found)}")
    as_trained, estimated, true = np.array(paid).T
    print(
        f"\nestimated frequencies cost less on {np.sum(estimated < as_trained)} of {len(paid)} tables"
    )
    for title, cost in (("estimated", estimated), ("true", true)):
        ratio = np.exp(np.mean(np.log(cost / as_trained)))
        print(f"cost with {title} frequencies, geometric mean: {ratio:.3f} of that as trained")


def trained(name: str, split: int) -> tuple[Any, np.ndarray, Rest]:
    """A classifier, its costs, and the rows that it has not seen."""
    parts = load(name, 0, MOST_ROWS)
    X, y = pd.concat(parts[:2], ignore_index=True), np.concatenate(parts[2:])
    kept = np.bincount(y)[y] >= FEWEST_OF_CLASS
    X, y = X[kept].reset_index(drop=True), np.unique(y[kept], return_inverse=True)[1]
    rng = np.random.default_rng(split)
    order = rng.permutation(len(y))
    n_trained = min(MOST_TRAINED, len(y) // 2)
    rows, rest = order[:n_trained], order[n_trained:]
    n_classes = len(np.unique(y))
    costs = np.exp(np.random.default_rng(0).normal(size=(n_classes, n_classes)))
    np.fill_diagonal(costs, 0)
    clf = RebelClassifier("tree", n_rounds=60, costs=costs, random_state=split, n_jobs=1)
    clf.fit(X.iloc[rows], y[rows])
    return clf, costs, (X.iloc[rest], y[rest])


def alarms(
    clf: Any, rest: Rest, rng: np.random.Generator, n_draws: int
) -> Iterator[tuple[tuple[str, int], bool]]:
    """What `monitor` says of rows as they are, and after each shift."""
    X, y = rest
    numbers = [X.dtypes.iloc[f].kind in "fi" for f in range(X.shape[1])]
    most = X.columns[int(np.argmax(np.where(numbers, clf.feature_importances_, -1.0)))]
    has_numbers = any(numbers)
    commonest = int(np.bincount(y).argmax())
    weight = np.where(y == commonest, 0.5, 1.0)
    for n in SIZES:
        if n > len(y) // 2:
            continue
        for draw in range(n_draws):
            rows = rng.choice(len(y), n, replace=False)
            yield ("no change", n), clf.monitor(X.iloc[rows], alarm=ALARM).has_drifted
            if draw > 0:
                continue
            if has_numbers:
                moved, lost = X.iloc[rows].copy(), X.iloc[rows].copy()
                moved[most] = moved[most] + 0.5 * X[most].std()
                yield ("column moved", n), clf.monitor(moved).has_drifted
                lost.loc[rng.random(n) < 0.2, most] = np.nan
                yield ("values lost", n), clf.monitor(lost).has_drifted
            others = rng.choice(len(y), n, replace=False, p=weight / weight.sum())
            yield ("class halved", n), clf.monitor(X.iloc[others]).has_drifted


def prior_costs(clf: Any, costs: np.ndarray, rest: Rest, rng: np.random.Generator) -> np.ndarray:
    """Mean cost as trained, with estimated and with true frequencies, over five draws of frequencies."""
    X, y = rest
    found = []
    for _ in range(5):
        shares = rng.dirichlet(np.ones(len(clf.classes_)))
        drawn = rng.choice(len(clf.classes_), 500, p=shares)
        rows = np.array([rng.choice(np.flatnonzero(y == k)) for k in drawn])
        shares = np.maximum(shares, 1e-3)
        models = (clf, clf.with_priors("estimate", X.iloc[rows]), clf.with_priors(shares))
        decided = [model.predict(X.iloc[rows]) for model in models]
        found.append([mean_cost(y[rows], each, costs, labels=clf.classes_) for each in decided])
    return np.mean(found, axis=0)


if __name__ == "__main__":
    main()
