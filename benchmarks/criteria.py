"""Criteria of splits on more than two classes: test error and seconds of trees with one output.

python benchmarks/criteria.py [--sets mnist,letter,pendigits] [--rounds 60] [--depth 4] [--rows 5000]

"variance" is Gini on two merged classes; "error", "gini", "entropy" and "gain_ratio" tell all classes apart
[THESIS, 7.2]. Seconds are of the processor, on one thread.
"""

import argparse
import time

import numpy as np

import data
import measuring
from rebelboost import RebelClassifier, Tree

CRITERIA = ("risk", "variance", "error", "gini", "entropy", "gain_ratio")
SEARCHES = ("exhaustive", "pruned")


def measure(name: str, criterion: str, rows: int, rounds: int, depth: int) -> list[str]:
    """Test error in %, and seconds of each search."""
    split = data.load(name)
    X, y = split.X_train[:rows], split.y_train[:rows]
    seconds, wrong = [], 0.0
    for search in SEARCHES:
        learner = Tree(depth, outputs="tree", criterion=criterion, search=search)
        model = RebelClassifier(
            learner, n_rounds=rounds, decision="argmax", cross_fit=None, n_jobs=1, random_state=0
        )
        began = time.process_time()
        model.fit(X, y)
        seconds.append(f"{time.process_time() - began:.1f}")
        wrong = float(np.mean(model.predict(split.X_test) != split.y_test))
    return [name, criterion, f"{100 * wrong:.2f}", *seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="mnist,letter,pendigits")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--rows", type=int, default=5000)
    options = parser.parse_args()
    rows = [
        measure(name, criterion, options.rows, options.rounds, options.depth)
        for name in options.sets.split(",")
        for criterion in CRITERIA
    ]
    header = ["", "criterion", "test error, %", *(f"{search}, s" for search in SEARCHES)]
    print(measuring.markdown(header, rows))


if __name__ == "__main__":
    main()
