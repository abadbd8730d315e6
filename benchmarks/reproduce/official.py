"""The official splits of THESIS Table 1.1, and the methods that are fitted to them.

The page about them is in `local_official`, so that a change of its words keeps what was measured.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import data
from rebelboost import RebelClassifier, Similarity
from reproduce.papers import paper

PAPERS, OURS = "LOCAL", "ours, similarities"
MOST_ROUNDS, MOST_EPOCHS = 20_000, 1000
ARCHITECTURES: dict[str, Callable[[int, int], tuple[int, ...]]] = {
    "d–4d–K": lambda d, K: (4 * d,),  # noqa: ARG005
    "d–4K–K": lambda d, K: (4 * K,),  # noqa: ARG005
    "d–2d–d–K": lambda d, K: (2 * d, d),  # noqa: ARG005
    "d–4K–2K–K": lambda d, K: (4 * K, 2 * K),  # noqa: ARG005
}
FEW_RIVALS = 20
"""With many rows, step 6 ends after so many rivals, to save time."""
DRAWS = {"glass": 8, "vowel": 8}
"""Small sets, where a single draw decides: of the split, where there is none, and of the random seed."""
MANY_ROWS = 50_000
"""With more, LOCAL's rivals are limited, and the SVM's grid is computed by pairs of classes."""
LARGE = ("mnist",)
"""Sets with so many rows to train on."""
Drawn = tuple[float, float]
"""Error in %, and processor seconds."""


def official_split(name: str, seed: int = 0) -> data.Split:
    if name != "glass":
        return data.load(name)
    with np.load(data.path(name)) as arrays:  # Table 1.1: 53 rows to train on
        X, y = arrays["X"].astype(np.float32), arrays["y"]
    parts = train_test_split(X, y, train_size=53, stratify=y, random_state=seed)
    return data.Split(parts[0], parts[2], parts[1], parts[3])


def tested(fit: Callable[[], Any], split: data.Split) -> Drawn:
    """Error on the test rows, and seconds of the fit and the predictions."""
    began = time.process_time()
    wrong = fit().predict(split.X_test) != split.y_test
    return 100 * float(np.mean(wrong)), time.process_time() - began


# ---- methods


def papers(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """Until the loss, K/2 at first, is below 1/N."""
    tol = 2 / (len(np.unique(y)) * len(y))
    model = paper("local", MOST_ROUNDS, tol=tol, random_state=seed)
    if len(y) > MANY_ROWS:
        few = {"search": "best", "offset": False, "rivals": FEW_RIVALS}
        model.set_params(learner=replace(model.learner, **few))
    return model.fit(X, y)


def lightgbm(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed).fit(X, y)


def network(architecture: str) -> Callable[[np.ndarray, np.ndarray, int], Any]:
    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        layers = ARCHITECTURES[architecture](X.shape[1], len(np.unique(y)))
        model = MLPClassifier(layers, max_iter=MOST_EPOCHS, random_state=seed)
        return make_pipeline(StandardScaler(), model).fit(X, y)

    return fit


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], Any]] = {
    PAPERS: papers,
    OURS: lambda X, y, seed: RebelClassifier(Similarity(), n_jobs=1, random_state=seed).fit(X, y),
    **{name: network(name) for name in ARCHITECTURES},
    "LightGBM": lightgbm,
    "forest": lambda X, y, seed: RandomForestClassifier(random_state=seed).fit(X, y),
    "5-NN": lambda X, y, seed: KNeighborsClassifier().fit(X, y),  # noqa: ARG005
}
AT_HAND = [m for m in METHODS if m != "LightGBM" or find_spec("lightgbm")]
PACKAGES = {PAPERS: "rebelboost", OURS: "rebelboost", "LightGBM": "lightgbm"}
"""Of methods that are not scikit-learn's."""


def fit_and_test(name: str, method: str, seed: int, maker: str) -> Drawn:
    del maker  # part of the unit's name, so that other code or versions are measured anew
    split = official_split(name, seed)
    return tested(lambda: METHODS[method](split.X_train, split.y_train, seed), split)
