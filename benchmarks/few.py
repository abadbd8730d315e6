"""Very few samples: the default's race beside `Tree()` fitted once, test error and log-loss.

python benchmarks/few.py [--rows 70,30] [--seeds 3]

`.benchmarks/reproduce/few.json` has the figures; `readme_table.py` puts them into docs/learners.md.
"""

import argparse
import json
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from few_table import few_samples
from rebelboost import RebelClassifier
from reproduce.harness import FOLDER, measure_all
from trial import load

SETS = """
iris wine glass hepatitis lymph seeds new_thyroid heart_h vehicle vote german_credit
balance_scale ecoli breast_w
""".split()  # noqa: SIM905
MOST_ROWS = 1200
WAYS: dict[str, dict[str, Any]] = {"race": {}, "one fit": {"cross_fit": None}}


def measure(name: str, seed: int, n_rows: int, way: str) -> tuple[float, float]:
    """Error in % and log-loss, by a model of so many samples; of classes that are among them."""
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = load(name, seed, MOST_ROWS)
    some = np.random.default_rng(seed).permutation(len(y_train))[:n_rows]
    X_train, y_train = X_train.iloc[some], y_train[some]
    known = np.isin(y_test, y_train)
    model = RebelClassifier(n_jobs=1, **WAYS[way]).fit(X_train, y_train)
    wrong = model.predict(X_test) != y_test
    probabilities = model.predict_proba(X_test)[known]
    loss = log_loss(y_test[known], probabilities, labels=model.classes_)
    return 100 * float(wrong.mean()), float(loss)


def figures(rows: list[int], seeds: int) -> dict[str, Any]:
    """Means over sets and seeds, and on how many sets the race errs less."""
    units = [
        (name, seed, n, way) for n in rows for name in SETS for seed in range(seeds) for way in WAYS
    ]
    found = measure_all(measure, units)
    by_rows = {}
    for n in rows:
        means = np.array(
            [
                [np.mean([found[s, i, n, w] for i in range(seeds)], axis=0) for w in WAYS]
                for s in SETS
            ]
        )  # (sets, ways, error and log-loss)
        by_rows[n] = {
            "means": dict(zip(WAYS, means.mean(axis=0).tolist(), strict=True)),
            "lower": int((means[:, 0, 0] < means[:, 1, 0]).sum()),
        }
    return {"sets": len(SETS), "seeds": seeds, "by_rows": by_rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", default="70,30")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    found = figures([int(n) for n in options.rows.split(",")], options.seeds)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "few.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(few_samples(json.loads(json.dumps(found))))


if __name__ == "__main__":
    main()
