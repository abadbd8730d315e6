"""Each published method beside a version of its own, written from the text: the largest difference.

python benchmarks/letter.py [--each] [--readings]

The independent versions stand in tests/reference and share nothing with the package. --each prints every round.
--readings compares three readings of LOCAL's step 5, whose Eq. 5 is no loss of responses between −1 and 1.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_blobs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import data
import measuring
from rebelboost import RebelClassifier, RebelRegressor
from rebelboost.data.point_set import place_samples
from rebelboost.data.samples import Samples
from reference import local, rebel, test_classic_boosting

Scores = NDArray[np.float64]
ROUNDS = {"local": 200, "local_sign": 200}
FEW = 20


class Compared(NamedTuple):
    """Scores on the training samples after each round, by the package and by the independent version."""

    beside: str
    ours: list[Scores]
    theirs: list[Scores]


def noisy_blobs(n_classes: int) -> tuple[Scores, NDArray[np.int64]]:
    """Few values of each feature, so that evenly spaced bins separate all of them."""
    X, y = make_blobs(120, 4, centers=n_classes, cluster_std=6.0, random_state=n_classes)
    return np.round(X), y


def staged(clf: Any, X: Scores) -> list[Scores]:
    return list(clf.ensemble_.staged_scores(X))


def costs_for(n_classes: int) -> Scores:
    rng = np.random.default_rng(n_classes)
    costs: Scores = rng.uniform(0.2, 3, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))
    return costs


def similarities(name: str) -> Compared:
    """LOCAL, steps 0 to 6, with costs."""
    X, y = load_iris(return_X_y=True)
    costs = costs_for(3)
    clf = (
        RebelClassifier.papers(name, n_rounds=ROUNDS[name], costs=costs).set_params(tol=0).fit(X, y)
    )
    samples = Samples(X, np.zeros(len(X), dtype=np.int32), np.zeros((1, 1)))
    order = np.argsort(
        place_samples(samples, "sqeuclidean", "none", 1, exact=True).place, kind="stable"
    )
    response = "sign" if name == "local_sign" else "real"
    chosen, found = local.boost(
        X[order], costs[y[order]], y[order], np.ones(len(y)), ROUNDS[name], response=response
    )
    points = X[order][chosen]
    each = [local.scores(points, [term], X, response) for term, _ in found]
    return Compared("reference/local.py", staged(clf, X), list(np.cumsum(each, axis=0)))


def layered(name: str, depth: int) -> Compared:
    """REBEL's stumps and trees, with costs."""
    X, y = noisy_blobs(3)
    costs = costs_for(3)
    clf = RebelClassifier.papers(name, depth=depth, n_rounds=FEW, costs=costs).fit(X, y)
    return Compared("reference/rebel.py", staged(clf, X), _reference(X, y, costs, "rebel", depth))


def _reference(
    X: Scores, y: NDArray[np.int64], costs: Scores, subcosts: str, depth: int
) -> list[Scores]:
    initial = rebel.SUBCOSTS[subcosts](costs[y], y)

    def propose(t: int, plus: Scores, minus: Scores) -> Any:
        del t
        return rebel.one_output(X, plus, minus, depth)

    terms = rebel.boost(X, initial, propose, FEW)
    each = [term.outputs[rebel.regions_of(X, term.questions)] for term in terms]
    return list(np.cumsum(each, axis=0))


def stumps_of_two_classes() -> Compared:
    """AdaBoost is REBEL's stumps of two classes; ADA's own updates: tests/reference/test_adaboost.py."""
    X, y = noisy_blobs(2)
    clf = RebelClassifier.papers("adaboost", n_rounds=FEW).fit(X, y)
    return Compared(
        "reference/rebel.py", staged(clf, X), _reference(X, y, 1 - np.eye(2), "thesis", 1)
    )


def classic(loss: str) -> Compared:
    """LogitBoost and L₂Boost, with outputs that are smoothed by CAP of the mass, as ours are."""
    X, y, _ = test_classic_boosting.noisy(0)
    name = {"logistic": "logitboost", "squared": "l2boost"}[loss]
    clf = RebelClassifier.papers(name, n_rounds=FEW).fit(X, y)
    slopes, response = test_classic_boosting.SLOPES[loss], test_classic_boosting.one_output
    weight = np.ones(len(y))
    textbook = test_classic_boosting.boost(X, y, weight, slopes, response, FEW, local.CAP)
    ours = [scores[:, 1:] for scores in staged(clf, X)]
    return Compared(
        "reference/test_classic_boosting.py", ours, [F[:, np.newaxis] for F in textbook]
    )


def pruned(*, regression: bool) -> Compared:
    """QuickBoost's trees, beside those of the independent version or, without it, the exhaustive search."""
    X, y = noisy_blobs(2)
    kind: Any = RebelRegressor if regression else RebelClassifier
    target = X[:, 0] * X[:, 1] if regression else y
    model = kind.papers("quickboost", depth=3, n_rounds=FEW).fit(X, target)
    beside = _layered_trees()
    if beside is not None and not regression:
        return Compared("reference/layered_trees.py", staged(model, X), beside(X, y, FEW))
    full = kind.papers("quickboost", depth=3, n_rounds=FEW, search="exhaustive").fit(X, target)
    return Compared("the exhaustive search", staged(model, X), staged(full, X))


def _layered_trees() -> Callable[..., list[Scores]] | None:
    """`staged_scores(X, y, rounds)` of trees by weighted error, if tests/reference has them."""
    try:
        module = importlib.import_module("reference.layered_trees")
    except ModuleNotFoundError:
        return None
    found: Callable[..., list[Scores]] | None = getattr(module, "staged_scores", None)
    return found


METHODS: dict[str, Callable[[], Compared]] = {
    "local": lambda: similarities("local"),
    "local_sign": lambda: similarities("local_sign"),
    "rebel": lambda: layered("rebel", 1),
    "rebel_trees": lambda: layered("rebel_trees", 2),
    "rebel_trees, depth 4": lambda: layered("rebel_trees", 4),
    "quickboost": lambda: pruned(regression=False),
    "quickboost, regression": lambda: pruned(regression=True),
    "adaboost": stumps_of_two_classes,
    "logitboost": lambda: classic("logistic"),
    "l2boost": lambda: classic("squared"),
}


def differences(of: Compared) -> list[float]:
    """The largest difference of the scores after each round."""
    pairs = zip(of.ours, of.theirs, strict=True)
    return [float(np.abs(ours - theirs).max()) for ours, theirs in pairs]


def table(*, each: bool) -> Iterator[str]:
    rows = []
    for name, compare in METHODS.items():
        found = compare()
        by_round = differences(found)
        rows.append([name, found.beside, str(len(by_round)), f"{max(by_round):.1e}"])
        if each:
            yield f"{name}: " + " ".join(f"{value:.1e}" for value in by_round)
    yield measuring.markdown(["method", "beside", "rounds", "largest difference of scores"], rows)


def readings() -> Iterator[str]:
    """LOCAL's step 5, read in three ways, each solved by the minimum of Eq. 3."""
    rows = []
    for name in ("glass", "vowel"):
        X, y = _pooled(name)
        order = np.random.default_rng(0).permutation(len(y))[:600]
        held, own = order[: len(order) // 3], order[len(order) // 3 :]
        K = int(y.max()) + 1
        for ranking in local.RANKINGS:
            chosen, found = local.boost(
                X[own], (1 - np.eye(K))[y[own]], y[own], np.ones(len(own)), 200, ranking=ranking
            )
            terms = [term for term, _ in found]
            wrong = local.scores(X[own][chosen], terms, X[held]).argmax(axis=1) != y[held]
            n_pairs = sum(term.kind == "two" for term in terms)
            row = [
                name,
                ranking,
                f"{np.log10(found[-1][1]):.2f}",
                f"{100 * wrong.mean():.1f}",
                str(n_pairs),
            ]
            rows.append(row)
    head = [
        "set",
        "step 5 ranks by",
        "log₁₀ loss, 200 rounds",
        "test error, %",
        "terms of two points",
    ]
    yield measuring.markdown(head, rows)


def _pooled(name: str) -> tuple[Scores, NDArray[np.int64]]:
    with np.load(data.path(name)) as arrays:
        X = np.concatenate([arrays[key] for key in ("X", "X_train", "X_test") if key in arrays])
        y = np.concatenate([arrays[key] for key in ("y", "y_train", "y_test") if key in arrays])
    return X.astype(np.float64), np.unique(y, return_inverse=True)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", action="store_true", help="print every round")
    parser.add_argument(
        "--readings", action="store_true", help="compare readings of LOCAL's step 5"
    )
    options = parser.parse_args()
    for text in readings() if options.readings else table(each=options.each):
        print(text, flush=True)


if __name__ == "__main__":
    main()
