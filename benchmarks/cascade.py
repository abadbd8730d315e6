"""Soft cascades: rows per second of the full model and of its cascade, and how often both agree.

python benchmarks/cascade.py [SET ...] [--learner tree] [--agreement 0.995] [--json FILE]

The thresholds come from the held-out samples of the cross-fit; speed and agreement are of test rows. Times are
processor seconds of one thread, each the least of several runs in turn.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import data
from measuring import describe_machine, machine, markdown
from rebelboost import RebelClassifier
from rebelboost.evaluation import evaluate_cascade

SETS = ("kr_vs_kp", "dna", "landsat", "segment", "pendigits", "letter")
"""2, 3, 6, 7, 10 and 26 classes."""
LEAST_ROWS = 5000
"""Fewer test rows are repeated, so that what a call costs by itself does not count."""
REPEATS = 5


def trial(name: str, learner: str, agreement: float) -> dict[str, Any]:
    """Train on one set, and compare its cascade with the full model on the test rows."""
    split = data.load(name)
    classifier = RebelClassifier(learner).fit(split.X_train, split.y_train)
    cascade = classifier.cascade(agreement=agreement)
    found = evaluate_cascade(cascade, split.X_test)
    agreed, *ends = (100 * (1 - share) for share in found.disagreement)
    rows = np.tile(split.X_test, (-(-LEAST_ROWS // len(split.X_test)), 1))
    full, early = least_seconds([lambda: classifier.predict(rows), lambda: cascade.predict(rows)])
    wrong = [np.mean(each.predict(split.X_test) != split.y_test) for each in (classifier, cascade)]
    return {
        "set": name,
        "classes": len(classifier.classes_),
        "test rows": len(split.X_test),
        "full model, rows per second": len(rows) / full,
        "cascade, rows per second": len(rows) / early,
        "times faster": full / early,
        "times fewer terms": found.times_fewer,
        "agreement, %": agreed,
        "95 % interval": f"{min(ends):.2f} to {max(ends):.2f}",
        "wrong: full, %": 100 * wrong[0],
        "wrong: cascade, %": 100 * wrong[1],
    }


def least_seconds(calls: list[Callable[[], Any]]) -> list[float]:
    """Processor seconds of each call: the least of several runs, in turn."""
    seconds = []
    for _ in range(REPEATS):
        seconds.append([])
        for call in calls:
            began = time.process_time()
            call()
            seconds[-1].append(time.process_time() - began)
    return np.min(seconds, axis=0).tolist()


def shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--learner", default="auto")
    parser.add_argument("--agreement", type=float, default=0.995)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    print(describe_machine(machine(), 1), flush=True)
    rows = []
    for name in given.sets:
        rows.append(trial(name, given.learner, given.agreement))
        print({key: shown(value) for key, value in rows[-1].items()}, flush=True)
    print("\n" + markdown(list(rows[0]), [[shown(v) for v in row.values()] for row in rows]))
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
