"""Few labels: the default with and without a cross-fit, and the nearest rows, on 8 streams × 3 seeds.

python benchmarks/live_few.py

Errors on the next 60 rows of the streams that settings were chosen by (`live/streams.py`), in percent. Behind
`FEWEST` in rebelboost/live/first.py and `FEWEST_TO_CROSS_FIT` in rebelboost/tasks/classes.py.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parent))

from live import streams
from measuring import markdown
from rebelboost import RebelClassifier

LABELS, NEXT, SEEDS = (8, 10, 12, 14, 16, 19, 25), 60, 3
CANDIDATES = {
    "a single fit": lambda: RebelClassifier(cross_fit=None, random_state=0),
    "cross-fit, 3 folds": lambda: RebelClassifier(cross_fit=3, random_state=0),
    "cross-fit, 5 folds": lambda: RebelClassifier(cross_fit=5, random_state=0),
    "the nearest row": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
}


def main() -> None:
    warnings.simplefilter("ignore")
    errors: dict[tuple[str, int], list[float]] = {}
    for name in streams.CHOOSING:
        for seed in range(SEEDS):
            rows = streams.stream(name, seed)
            X = pd.DataFrame([x for x, _ in rows])
            X = X.apply(lambda c: c if c.dtype != object else c.astype("category").cat.codes)
            X, y = X.fillna(0).to_numpy(float), np.array([label for _, label in rows])
            for n in LABELS:
                for kind, make in CANDIDATES.items():
                    wrong = make().fit(X[:n], y[:n]).predict(X[n : n + NEXT]) != y[n : n + NEXT]
                    errors.setdefault((kind, n), []).append(100 * float(wrong.mean()))
    rows = [[kind, *(f"{np.mean(errors[kind, n]):.1f}" for n in LABELS)] for kind in CANDIDATES]
    print(markdown(["labels", *map(str, LABELS)], rows))


if __name__ == "__main__":
    main()
