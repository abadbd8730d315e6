"""The units of LOCAL Fig. 8 and REBEL Fig. 4: one method on one random split."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from rebelboost import RebelClassifier, Similarity, Tree
from reproduce.local import pooled
from rivals import RIVALS

ROUNDS = 200
STUMPS, ONE_POINT, TWO_POINTS = "REBEL, stumps", "REBEL, one-point only", "REBEL, similarities"


def ours(learner: Any) -> RebelClassifier:
    return RebelClassifier(
        learner, n_rounds=ROUNDS, tol=0.0, decision="argmax", cross_fit=None, n_jobs=1
    )


METHODS: dict[str, Callable[[], Any]] = {
    **{title: lambda rival=rival: rival(n_rounds=ROUNDS) for title, rival in RIVALS.items()},
    STUMPS: lambda: ours("stump"),
    ONE_POINT: lambda: ours(Similarity(modes="one", scale="none", search="best", offset=False)),
    TWO_POINTS: lambda: ours(Similarity()),
    **{f"REBEL, depth {d}": lambda d=d: ours(Tree(depth=d, outputs="tree")) for d in (2, 3, 4)},
}


def error(set_name: str, method: str, seed: int) -> dict[str, float]:
    X, y = pooled(set_name)
    X_train, rest, y_train, other = train_test_split(X, y, train_size=0.5, random_state=seed)
    _, X_test, _, y_test = train_test_split(rest, other, test_size=0.5, random_state=seed)
    model = METHODS[method]()
    began = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - began
    return {"error": 100 * float(np.mean(model.predict(X_test) != y_test)), "seconds": seconds}
