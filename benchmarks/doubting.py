"""Wrong labels among the first rows that are doubted, beside cleanlab and a random order.

python benchmarks/doubting.py [--tables 10] [--seeds 2]

A twentieth of the labels of each table, at most 1,000 rows, are replaced by another class. `doubt` sorts the
rows by what acting on the label would cost; `probability` by the probability that it is wrong; cleanlab (if it
is installed) ranks them by its two methods, from the same held-out probabilities. Printed are the share of the
wrong labels found among the first n rows, where n of them are wrong, and the share of what they cost.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from rebelboost import RebelClassifier
from rebelboost.evaluation import left_out
from rebelboost.evaluation.doubt import doubts_in
from trial import load

TABLES = (
    "abalone",
    "adult",
    "breast_w",
    "car",
    "dry_bean",
    "german_credit",
    "landsat",
    "segment",
    "vehicle",
    "waveform40",
)
MOST_ROWS, WRONG = 1000, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=len(TABLES))
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[float, float]]] = {}
    for name in TABLES[: options.tables]:
        for seed in range(options.seeds):
            for order, shares in measured(name, seed).items():
                found.setdefault(order, []).append(shares)
        told = {key: np.mean(each[-options.seeds :], axis=0) for key, each in found.items()}
        print(
            name,
            {key: [round(float(x), 2) for x in each] for key, each in told.items()},
            flush=True,
        )
    print()
    for order, shares in found.items():
        labels, money = 100 * np.mean(shares, axis=0)
        print(f"{order:28}{labels:6.1f} % of the wrong labels, {money:5.1f} % of their cost")


def measured(name: str, seed: int) -> dict[str, tuple[float, float]]:
    """For each order, the shares of the wrong labels and of their cost among the first n rows."""
    X, X_rest, y, y_rest = load(name, seed, MOST_ROWS)
    X = pd.concat([X, X_rest], ignore_index=True)
    true = np.unique(np.concatenate([y, y_rest]), return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    n_classes, n_wrong = int(true.max()) + 1, max(1, int(WRONG * len(true)))
    wrong = rng.choice(len(true), n_wrong, replace=False)
    label = true.copy()
    label[wrong] = (true[wrong] + rng.integers(1, n_classes, n_wrong)) % n_classes
    costs = np.exp(1.5 * np.random.default_rng(0).normal(size=(n_classes, n_classes)))
    np.fill_diagonal(costs, 0)
    clf = RebelClassifier("auto_trees", costs=costs, random_state=seed, n_jobs=1, n_rounds=100)
    judged = left_out(clf.fit(X, label), label).judged
    posterior, given = judged.posterior, judged.true
    is_wrong = np.isin(judged.rows, wrong)
    price = np.where(is_wrong, costs[true[judged.rows], given], 0.0)

    def shares(score: np.ndarray) -> tuple[float, float]:
        first = np.argsort(-score, kind="stable")[: is_wrong.sum()]
        return float(is_wrong[first].mean()), float(price[first].sum() / price.sum())

    own = posterior[np.arange(len(given)), given]
    orders = {
        "doubt (by cost)": doubts_in(posterior, costs, given)[1],
        "probability": 1 - own,
        "random": rng.random(len(given)),
    }
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        print("cleanlab is not installed: pip install cleanlab")
    else:
        for method in ("self_confidence", "normalized_margin"):
            quality = get_label_quality_scores(given, posterior, method=method)
            orders[f"cleanlab, {method}"] = -quality
    return {order: shares(score) for order, score in orders.items()}


if __name__ == "__main__":
    main()
