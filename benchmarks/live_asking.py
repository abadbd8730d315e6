"""How many labels are needed: `Project.ask` beside random labelling, uncertainty and scikit-activeml.

python benchmarks/live_asking.py [--choosing] [--seeds 1] [--only ask,random] [--tables car,vowel]

A pool of at most 600 rows has no labels. A strategy asks for five at a time, up to 200; after each five, a
project is fitted to the labels, and its decisions on other rows are priced. On every other table, missing the
rarest class costs 5. Printed is the number of labels after which the cost is as low as with 200 random ones,
and stays so on average over the next three looks (the costs are noisy). All strategies choose rows for the
same final model. Needs scikit-activeml (pip install scikit-activeml).
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import data
from measuring import markdown

CHOOSING = ("ionosphere", "vehicle", "balance_scale", "ecoli", "german_credit", "dermatology")
REPORTING = (
    "breast_w", "car", "cmc", "credit_a", "diabetes", "heart_h", "landsat", "segment", "sick", "tic_tac_toe",
    "vowel", "waveform21",
)  # fmt: skip
POOL, TEST, MOST, STEP = 600, 1000, 200, 5
RANDOMS = 3
"""Random orders, whose mean cost at 200 labels is what the others have to reach."""
LOOKS = 3
COSTLY = 5.0


class Task:
    """Rows of a table as cells, their labels, and the costs of mistakes."""

    def __init__(self, name: str, seed: int, *, priced: bool) -> None:
        with np.load(data.path(name)) as arrays:
            if "X" in arrays:
                X, y = arrays["X"], arrays["y"]
            else:
                X, y = arrays["X_train"], arrays["y_train"]
            codes = arrays["categorical"].tolist() if "categorical" in arrays else []
        order = np.random.default_rng(seed).permutation(len(y))[: POOL + TEST]
        n_pool = min(POOL, int(0.6 * len(order)))
        self.X, self.y = X[order].astype(float), np.array([f"class {k}" for k in y[order]])
        if len(codes) == X.shape[1]:
            codes = np.flatnonzero(codes).tolist()
        self.categorical = set(codes)
        self.pool, self.test = np.arange(n_pool), np.arange(n_pool, len(order))
        self.classes = sorted(set(self.y.tolist()))
        counts = [(self.y == k).sum() for k in self.classes]
        rarest = self.classes[int(np.argmin(counts))]
        self.costs = {(rarest, k): COSTLY for k in self.classes if k != rarest} if priced else {}

    def cells(self, i: int) -> dict[str, Any]:
        return {
            f"c{j}": None
            if np.isnan(v)
            else f"value {int(v)}"
            if j in self.categorical
            else float(v)
            for j, v in enumerate(self.X[i])
        }

    def cost(self, decided: np.ndarray) -> float:
        """Mean cost of decisions on the test rows."""
        pairs = zip(self.y[self.test], decided, strict=True)
        return float(np.mean([t != d and self.costs.get((t, d), 1.0) for t, d in pairs]))


def labelled_in_turn(task: Task, choose: Callable[..., list[int]], seed: int) -> list[float]:
    """The cost after each five labels."""
    from rebelboost.live import Project

    rng, found = np.random.default_rng(seed), []
    test = [task.cells(i) for i in task.test]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [task.cells(i) for i in task.pool]
        path = Path(folder) / "p.rebel"
        with Project.create(path, rows, "label", task="classes", costs=task.costs) as project:
            known: list[int] = []
            while len(known) < min(MOST, len(task.pool)):
                new = choose(project, task, known, rng)
                project.label([i + 1 for i in new], [task.y[i] for i in new])
                known += new
                project.models.fit_if_enough()
                found.append(task.cost(project.model.predict(test)))
    return found


# ---- strategies
# ruff: noqa: ARG001  (all strategies have the same arguments)


def by_chance(project: Any, task: Task, known: list[int], rng: Any) -> list[int]:
    """Rows at random."""
    free = np.setdiff1d(task.pool, known)
    return rng.choice(free, min(STEP, len(free)), replace=False).tolist()


def by_asking(project: Any, task: Task, known: list[int], rng: Any) -> list[int]:
    """`Project.ask`."""
    return [number - 1 for number in project.ask(n=STEP).ids]


def by_uncertainty(project: Any, task: Task, known: list[int], rng: Any) -> list[int]:
    """Rows with the least difference of the two highest probabilities; random ones before there is a model."""
    if project.models.latest() is None:
        return by_chance(project, task, known, rng)
    free = np.setdiff1d(task.pool, known)
    p = np.sort(project.model.predict_proba([task.cells(i) for i in free]), axis=1)
    margin = p[:, -1] - (p[:, -2] if p.shape[1] > 1 else 0.0)
    return free[np.argsort(margin, kind="stable")[:STEP]].tolist()


def of_activeml(name: str) -> Callable[..., list[int]]:
    """A strategy of scikit-activeml with a random forest."""

    def choose(project: Any, task: Task, known: list[int], rng: Any) -> list[int]:
        from skactiveml import pool as strategies
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.utils import MISSING_LABEL
        from sklearn.ensemble import RandomForestClassifier

        X = np.nan_to_num(task.X[task.pool])
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
        y = np.full(len(X), MISSING_LABEL)
        y[known] = [task.classes.index(task.y[i]) for i in known]
        codes = list(range(len(task.classes)))
        forest = RandomForestClassifier(100, random_state=0, n_jobs=1)
        classifier = SklearnClassifier(forest, classes=codes, random_state=0)
        seed = int(rng.integers(2**31))
        if name == "QueryByCommittee":
            strategy = strategies.QueryByCommittee(random_state=seed)
            return strategy.query(X, y, ensemble=classifier, batch_size=STEP).tolist()
        strategy = getattr(strategies, name)(random_state=seed)
        if name == "TypiClust":
            return strategy.query(X, y, batch_size=STEP).tolist()
        return strategy.query(X, y, clf=classifier, batch_size=STEP).tolist()

    return choose


STRATEGIES: dict[str, Callable[..., list[int]]] = {
    "ask": by_asking,
    "uncertainty": by_uncertainty,
    "skactiveml UncertaintySampling": of_activeml("UncertaintySampling"),
    "skactiveml QueryByCommittee": of_activeml("QueryByCommittee"),
    "skactiveml BADGE": of_activeml("Badge"),
}


def labels_needed(costs: list[float], goal: float) -> int:
    """Labels after which the mean of this look and the next two is at most the goal; 200 if none is."""
    for i in range(len(costs)):
        if np.mean(costs[i : i + LOOKS]) <= goal:
            return STEP * (i + 1)
    return STEP * len(costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choosing", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--tables", default="")
    given = parser.parse_args()
    names = CHOOSING if given.choosing else REPORTING
    names = [n for n in names if not given.tables or n in given.tables.split(",")]
    chosen = {k: v for k, v in STRATEGIES.items() if any(w in k for w in given.only.split(","))}
    shares: dict[str, list[float]] = {name: [] for name in chosen}
    rows = []
    for place, name in enumerate(names):
        needed: dict[str, list[int]] = {each: [] for each in chosen}
        goals = []
        for seed in range(given.seeds):
            task = Task(name, seed, priced=place % 2 == 1)
            chance = [labelled_in_turn(task, by_chance, 100 * seed + i) for i in range(RANDOMS)]
            goal = float(np.mean([costs[-LOOKS:] for costs in chance]))
            goals.append(goal)
            n_random = labels_needed(np.mean(chance, axis=0).tolist(), goal)
            for each, choose in chosen.items():
                found = labels_needed(labelled_in_turn(task, choose, seed), goal)
                needed[each].append(found)
                shares[each].append(found / n_random)
        told = [f"{np.mean(needed[each]):.0f}" for each in chosen]
        rows.append([name, f"{np.mean(goals):.3f}", *told])
        print(name, f"goal {np.mean(goals):.3f}", needed, flush=True)
    print(markdown(["", "cost of 200 random labels", *chosen], rows))
    medians = [f"{np.median(found):.2f}" for found in shares.values()]
    print(markdown(["", *chosen], [["labels over random's, median", *medians]]))


if __name__ == "__main__":
    main()
