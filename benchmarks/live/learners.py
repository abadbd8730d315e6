"""Learners that take one label at a time: ours, River's, scikit-learn's, and LightGBM continued."""

import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from live.streams import Row

CHECKPOINTS = (20, 50, 100, 500)
"""Numbers of labels after which errors are reported."""


class Run:
    """The mistakes of a learner on a stream, in order, and the seconds."""

    def __init__(self, wrong: Sequence[bool], seconds: float) -> None:
        self.wrong, self.seconds = np.array(wrong, dtype=float), seconds

    def errors(self) -> list[float]:
        """Share of mistakes among the first 20, 50, 100, 500 labels, in percent."""
        return [100 * float(self.wrong[:n].mean()) for n in CHECKPOINTS]


def one_by_one(make: Callable[[list[str]], Any]) -> Callable[[list[Row], list[str]], Run]:
    """Predict a row, then learn its label."""

    def run(rows: list[Row], classes: list[str]) -> Run:
        learner, wrong = make(classes), []
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for x, y in rows:
                wrong.append(learner.predict(x) != y)
                learner.learn(x, y)
        return Run(wrong, time.process_time() - began)

    return run


# ---- ours


def ours(rows: list[Row], classes: list[str]) -> Run:
    """`Project.follow`, which is told nothing of the classes to come."""
    from rebelboost.live import Project

    del classes
    began, wrong = time.process_time(), []
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.create(Path(folder) / "p.rebel", None, "label") as project,
    ):
        project.follow(
            ({**x, "label": y} for x, y in rows),
            at_once=1,
            on_batch=lambda so_far: wrong.append(so_far.n_wrong),
        )
    before = np.diff([0, *wrong]) > 0
    before[0] = True  # nothing was predicted
    return Run(before.tolist(), time.process_time() - began)


# ---- rivals


class River:
    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, x: dict[str, Any]) -> Any:
        return self.model.predict_one(x)

    def learn(self, x: dict[str, Any], y: str) -> None:
        self.model.learn_one(x, y)


class Encoded:
    """Numbers as they are; each text gets a code when it is first seen; columns in order of appearance."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.codes: dict[str, dict[Any, int]] = {}

    def __call__(self, x: dict[str, Any], width: int) -> np.ndarray:
        out = np.zeros(width)
        for name, value in x.items():
            place = self.columns.setdefault(name, len(self.columns))
            known = self.codes.setdefault(name, {})
            code = known.setdefault(value, len(known)) if isinstance(value, str) else value
            if place < width:
                out[place] = float(code)
        return out


class PartialFit:
    """A learner of scikit-learn, behind a scaler; it is told all classes beforehand."""

    def __init__(self, model: Any, classes: list[str], width: int) -> None:
        from sklearn.preprocessing import StandardScaler

        self.model, self.classes, self.width = model, np.array(classes), width
        self.scaler, self.encoded, self.begun = StandardScaler(), Encoded(), False

    def predict(self, x: dict[str, Any]) -> Any:
        if not self.begun:
            return None
        return self.model.predict(self.scaler.transform([self.encoded(x, self.width)]))[0]

    def learn(self, x: dict[str, Any], y: str) -> None:
        row = [self.encoded(x, self.width)]
        self.scaler.partial_fit(row)
        self.model.partial_fit(self.scaler.transform(row), [y], classes=self.classes)
        self.begun = True


class Continued:
    """LightGBM with init_model: a few trees more for each ten labels; it is told all classes beforehand."""

    STEP, TREES = 10, 10

    def __init__(self, classes: list[str], width: int) -> None:
        self.classes, self.width, self.encoded = classes, width, Encoded()
        self.X: list[np.ndarray] = []
        self.y: list[int] = []
        self.booster: Any = None

    def predict(self, x: dict[str, Any]) -> Any:
        if self.booster is None:
            return None
        return self.classes[int(np.argmax(self.booster.predict([self.encoded(x, self.width)])))]

    def learn(self, x: dict[str, Any], y: str) -> None:
        import lightgbm

        self.X.append(self.encoded(x, self.width))
        self.y.append(self.classes.index(y))
        if len(self.y) % self.STEP:
            return
        settings = {
            "objective": "multiclass", "num_class": len(self.classes), "verbosity": -1,
            "min_data_in_leaf": 2, "num_threads": 1, "seed": 0,
        }  # fmt: skip
        made = lightgbm.Dataset(np.array(self.X), self.y)
        self.booster = lightgbm.train(settings, made, self.TREES, init_model=self.booster)


def rivals() -> dict[str, Callable[[list[Row], list[str]], Run]]:
    """Name → run."""
    from river import compose, forest, naive_bayes, neighbors, preprocessing, tree
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier

    def scaled(model: Any) -> Any:
        numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
        texts = compose.SelectType(str) | preprocessing.OneHotEncoder()
        return compose.Pipeline(compose.TransformerUnion(numbers, texts), model)

    def river(make: Callable[[], Any]) -> Callable[[list[Row], list[str]], Run]:
        return one_by_one(lambda _: River(make()))

    def partial(make: Callable[[], Any]) -> Callable[[list[Row], list[str]], Run]:
        def run(rows: list[Row], classes: list[str]) -> Run:
            width = len({name for x, _ in rows for name in x})
            return one_by_one(lambda known: PartialFit(make(), known, width))(rows, classes)

        return run

    def continued(rows: list[Row], classes: list[str]) -> Run:
        width = len({name for x, _ in rows for name in x})
        return one_by_one(lambda known: Continued(known, width))(rows, classes)

    return {
        "River AMF": river(lambda: forest.AMFClassifier(n_estimators=10, seed=0)),
        "River ARF": river(lambda: forest.ARFClassifier(n_models=10, seed=0)),
        "River Hoeffding adaptive tree": river(
            lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)
        ),
        "River 5-NN, scaled": river(lambda: scaled(neighbors.KNNClassifier(n_neighbors=5))),
        "River naive Bayes": river(naive_bayes.GaussianNB),
        "SGD, partial_fit": partial(lambda: SGDClassifier(loss="log_loss", random_state=0)),
        "GaussianNB, partial_fit": partial(GaussianNB),
        "MLP, partial_fit": partial(lambda: MLPClassifier(random_state=0)),
        "LightGBM, init_model": continued,
    }
