"""THESIS Table 4.1: REBEL with trees of depths 1 to 4 under taxonomic costs, beside the rivals.

SUN's and CUB200's features are not available: other sets with a taxonomy take their place. A quarter of
the training rows chooses the number of rounds. Costs are scaled as in the papers, so that guessing costs the
same everywhere. The rivals know no costs in training, and have stumps.
"""

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from pricing.trials import Problem, Task, load
from rebelboost import RebelClassifier, Tree
from reproduce import quotes
from reproduce.harness import Report, Table, code_of, judged, measure_all, several
from reproduce.papers import paper
from rivals import RIVALS

TITLE = "THESIS Table 4.1: taxonomic costs, trees of depths 1 to 4"
SETS = {"zoo": 5, "imclef07a": 1, "newsgroups20_lsa100": 1, "diatoms": 1}
"""Name → number of splits."""
QUICK_SETS = {"zoo": 2}
ROUNDS = 200
DEPTHS = (1, 2, 3, 4)
REBEL = {f"REBEL, depth {depth}": depth for depth in DEPTHS}
OURS = "ours, trees"
METHODS = (*RIVALS, *REBEL, OURS)
MEASURES = ("error", "cost")


class Parts(NamedTuple):
    """Rows to train on, among them each class, and rows to choose the number of rounds by."""

    X: np.ndarray
    y: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray


def parts(task: Task, seed: int) -> Parts:
    X, y = task.split.X_train, task.split.y_train
    fit, valid = train_test_split(np.arange(len(y)), test_size=0.25, random_state=seed)
    lost = np.isin(y[valid], np.setdiff1d(y, y[fit]))  # classes that would not be trained on
    fit, valid = np.append(fit, valid[lost]), valid[~lost]
    return Parts(X[fit], y[fit], X[valid], y[valid])


def measure(name: str, method: str, measure_by: str, split: int) -> float:
    """Error in % or mean cost on the test rows."""
    task = load(Problem("c", name, split))
    (costs,) = task.matrices()
    told = costs if measure_by == "cost" else 1.0 - np.eye(len(costs))
    decide = _ours if method == OURS else _best_rounds
    decided = task.known[decide(task, method, told, split)]
    truth = task.split.y_test
    if measure_by == "cost":
        return float(task.costs[0][truth, decided].mean())
    return 100 * float(np.mean(decided != truth))


def _best_rounds(task: Task, method: str, costs: np.ndarray, seed: int) -> np.ndarray:
    """Decisions after the number of rounds that costs least on the validation rows."""
    given = parts(task, seed)
    model = _model(method, costs).fit(given.X, given.y)
    staged = model.staged_predict(given.X_valid)
    best = int(np.argmin([costs[given.y_valid, decided].mean() for decided in staged]))
    return next(islice(model.staged_predict(task.split.X_test), best, None))


def _model(method: str, costs: np.ndarray) -> Any:
    if method in RIVALS:
        return RIVALS[method](n_rounds=ROUNDS)
    return paper("rebel_trees", ROUNDS, depth=REBEL[method], costs=costs)


def _ours(task: Task, method: str, costs: np.ndarray, seed: int) -> np.ndarray:
    """Our trees at their defaults, decided by expected cost; a single fit to all training rows."""
    del method
    model = RebelClassifier(Tree(), costs=costs, cross_fit=None, training="neutral", n_jobs=1)
    model.set_params(random_state=seed).fit(task.split.X_train, task.split.y_train)
    return model.predict(task.split.X_test)


Found = dict[tuple[str, str, str], list[float]]
"""(set, method, measure) → a value for each split."""


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    n_splits = {name: SETS[name] for name in sets} if sets else QUICK_SETS if quick else SETS
    found: Found = {}
    for rivals in (True, False):
        methods = [m for m in METHODS if (m in RIVALS) == rivals]
        units = [
            (name, method, by, split)
            for name, n in n_splits.items()
            for method in methods
            for by in MEASURES
            for split in range(n)
        ]
        made_by = code_of("rivals") if rivals else None
        for (name, method, by, _), result in measure_all(measure, units, made_by).items():
            found.setdefault((name, method, by), []).append(result)
    return Report(
        lines=[_deeper(found, n_splits, by) for by in MEASURES]
        + [_first(found, n_splits, by) for by in MEASURES],
        tables=[_table(found, n_splits)],
        notes=[
            (
                "The printed table has lower errors of stumps than of depths 3 and 4, beside the words quoted: "
                f"{quotes.SUN_TABLE}. Up to {ROUNDS} rounds, chosen by a quarter of the training rows. Rivals "
                "have stumps, and do not see the costs in training."
            )
        ],
    )


def _deeper(found: Found, sets: dict[str, int], by: str) -> Any:
    """Whether all depths from 2 on have lower values than stumps, on each set."""
    mean = {(s, m): float(np.mean(found[s, m, by])) for s in sets for m in REBEL}
    stumps, *deeper = REBEL
    better = sum(mean[s, m] < mean[s, stumps] for s in sets for m in deeper)
    of_all = len(sets) * len(deeper)
    what = f"in place of SUN and CUB200: pairs of a set and a depth from 2 on with a lower {by} than stumps"
    return judged(what, quotes.DEEPER, f"{better} of {of_all}", good=better == of_all)


def _first(found: Found, sets: dict[str, int], by: str) -> Any:
    """Whether REBEL, at its best depth, has the lowest value of all."""

    def least(methods: Any, name: str) -> float:
        return min(float(np.mean(found[name, m, by])) for m in methods)

    firsts = [s for s in sets if least(REBEL, s) < least(RIVALS, s)]
    with_ours = [s for s in sets if least([OURS], s) < least(RIVALS, s)]
    return judged(
        f"in place of CUB200: sets on which REBEL at its best depth has the lowest {by}",
        quotes.CUB,
        f"{len(firsts)} of {len(sets)}",
        good=len(firsts) == len(sets),
        ours=f"{len(with_ours)} of {len(sets)}",
    )


def _table(found: Found, sets: dict[str, int]) -> Table:
    columns = [(name, by) for name in sets for by in MEASURES]
    rows = [
        [method, *(several(found[s, method, by], 1 if by == "error" else 3) for s, by in columns)]
        for method in METHODS
    ]
    header = ["", *(f"{s}, {'error %' if by == 'error' else 'cost'}" for s, by in columns)]
    return Table("Error %, trained without costs, and mean cost, trained on them", header, rows)
