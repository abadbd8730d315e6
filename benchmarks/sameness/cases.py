"""The table of cases: every learner, loss, form of costs, option and kind of input."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import canberra
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from rebelboost import Binary, RebelClassifier, RebelRegressor, Similarity, Stump, Taxonomy, Tree
from sameness.samples import Samples

Fit = Callable[[Any, Samples], Any]


def plain_fit(estimator: Any, given: Samples) -> Any:
    return estimator.fit(given.X, given.y)


@dataclass(frozen=True)
class Case:
    name: str
    samples: str
    estimator: Any
    fit: Fit = plain_fit
    reported: bool = False


def classifier(learner: Any = "tree", n_rounds: int = 25, **options: Any) -> RebelClassifier:
    return RebelClassifier(learner, n_rounds=n_rounds, **options)


MATRIX = np.array([[0, 1, 5], [2, 0, 1], [0.5, 3, 0]])
TWO = np.array([[0, 4], [1, 0]])
NAMES = ["bad", "fair", "good"]
FORMS = {  # for classes 0, 1 and 2
    "matrix": MATRIX,
    "integer matrix": np.array([[0, 1, 5], [2, 0, 1], [1, 3, 0]]),
    "nested list": MATRIX.tolist(),
    "frame": pd.DataFrame(MATRIX, index=[2, 0, 1], columns=[2, 0, 1]),
    "dict": {(0, 1): 5, (2, 0): 3.0},
    "balanced": "balanced",
    "taxonomy": Taxonomy({0: "a/x", 1: "a/y", 2: "b"}),
    "taxonomy by height": Taxonomy({0: "a/b/x", 1: "a/y", 2: "z"}, distance="height"),
    "diagonal": MATRIX + np.diag([0.5, 0, 0.1]),
    "uniform": 3 * (1 - np.eye(3)),
}
BY_NAME = {
    "frame": pd.DataFrame(MATRIX, index=NAMES, columns=NAMES),
    "dict": {("bad", "good"): 8},
    "taxonomy": Taxonomy({"good": "fine/good", "fair": "fine/fair", "bad": "bad"}),
}
LEARNERS = {
    "leaf": Tree(depth=3),
    "one output": Tree(depth=2, outputs="tree"),
    "stump": Stump(),
    "similarity": Similarity(scale="standard"),
}
TREES = {name: learner for name, learner in LEARNERS.items() if name != "similarity"}

# ---- other ways to fit


def weighted(estimator: Any, given: Samples) -> Any:
    """Sample weights, some of them zero."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.2, 3, size=len(given.y)) * (rng.random(len(given.y)) > 0.1)
    return estimator.fit(given.X, given.y, sample_weight=weight)


def by_sample(estimator: Any, given: Samples) -> Any:
    """A row of costs for each sample."""
    classes, codes = np.unique(given.y, return_inverse=True)
    rows = np.random.default_rng(1).uniform(0.1, 4, size=(len(codes), len(classes)))
    rows[np.arange(len(codes)), codes] = 0
    return estimator.fit(given.X, given.y, costs=rows)


def validated(estimator: Any, given: Samples) -> Any:
    return estimator.fit(given.X[::2], given.y[::2], validation=(given.X[1::2], given.y[1::2]))


def continued(**then: Any) -> Fit:
    """Two fits, the second of which goes on from the first with other parameters."""

    def fit(estimator: Any, given: Samples) -> Any:
        estimator.fit(given.X, given.y)
        return estimator.set_params(**then).fit(given.X, given.y)

    return fit


# ---- the groups


def of_trees() -> Iterator[Case]:
    for depth in (1, 3, 6):
        yield Case(f"leaf, depth {depth}", "wine", classifier(Tree(depth)))
    for depth, search in product((1, 2, 4), ("auto", "pruned", "exhaustive")):
        learner = Tree(depth, outputs="tree", search=search)
        yield Case(f"one output, depth {depth}, {search}", "digits", classifier(learner))
    for criterion in ("risk", "error", "gini", "entropy", "gain_ratio", "variance"):
        learner = Tree(3, outputs="tree", criterion=criterion)
        yield Case(f"criterion {criterion}", "blobs", classifier(learner))
        yield Case(f"criterion {criterion}, two classes", "cancer", classifier(learner))
    for binning in ("quantile", "even", "exact"):
        yield Case(f"leaf, {binning} bins", "iris", classifier(Tree(3, binning=binning, bins=9)))
    steps = Tree(3, outputs="tree", search="pruned", first_subset=0.6, subset_steps=4)
    yield Case("pruned in 4 steps", "many", classifier(steps))
    yield Case("no smoothing", "blobs", classifier(Tree(4, smoothing=0.0)))
    yield Case("least mass", "many", classifier(Tree(5, least_mass=0.05)))
    yield Case("tree by name", "many", classifier("tree"))


def of_stumps() -> Iterator[Case]:
    for binning in ("quantile", "even", "exact"):
        yield Case(f"stump, {binning}", "many", classifier(Stump(binning=binning)))
    for categories in ("one", "split"):
        learner = Stump(categorical=[1], categories=categories)
        yield Case(f"stump, categories {categories}", "coded", classifier(learner))
    for search in ("pruned", "exhaustive"):
        yield Case(f"stump, {search}", "digits", classifier(Stump(search=search), 20))
    both = Stump(categorical=[1], categories="split", binning="exact")
    yield Case("stump, exact and split", "coded", classifier(both))
    yield Case("stump, few bins", "wine", classifier(Stump(bins=3)))


def of_similarities() -> Iterator[Case]:
    for scale, search in product(("auto", "none", "standard", "whitened"), ("drawn", "best")):
        yield Case(
            f"similarity, {scale}, {search}", "iris", classifier(Similarity(scale, search=search))
        )
    for response, modes, offset in product(("real", "sign"), ("both", "one"), (True, False)):
        learner = Similarity("none", response=response, modes=modes, offset=offset)
        name = f"similarity, {response}, {modes}{', offset' if offset else ''}"
        yield Case(name, "blobs", classifier(learner))
    for metric in ("cityblock", "canberra", canberra):
        name = metric if isinstance(metric, str) else "a function"
        yield Case(f"similarity, {name}", "blobs", classifier(Similarity(metric=metric)))
    precomputed = Similarity(metric="precomputed")
    yield Case("similarity, precomputed", "distances", classifier(precomputed))
    for anchors, rivals in ((1, 3), (3, 8), (8, 1)):
        learner = Similarity("standard", anchors=anchors, rivals=rivals)
        yield Case(f"similarity, {anchors} anchors, {rivals} rivals", "wine", classifier(learner))
    subset = Similarity("whitened", subset=64)
    yield Case("similarity, on a subset", "many", classifier(subset))
    yield Case("similarity, thousands", "thousands", classifier(Similarity("standard"), 16))
    yield Case("similarity, categories", "coded", classifier(Similarity(categorical=[1])))
    yield Case("similarity to the end", "iris", RebelClassifier("similarity", n_rounds=400))


def of_binary() -> Iterator[Case]:
    for estimator, by in (
        (LogisticRegression(max_iter=300), "weight"),
        (DecisionTreeClassifier(max_depth=2, random_state=0), "auto"),
        (KNeighborsClassifier(3), "resampling"),
        (GaussianNB(), "auto"),
    ):
        name = f"binary, {type(estimator).__name__}, {by}"
        yield Case(name, "blobs", classifier(Binary(estimator, by=by), 6))


def of_losses() -> Iterator[Case]:
    for (name, learner), loss in product(TREES.items(), ("logistic", "squared")):
        for samples in ("blobs", "two classes"):
            yield Case(f"{loss}, {name}, {samples}", samples, classifier(learner, loss=loss))
        costly = classifier(learner, loss=loss, costs=MATRIX)
        yield Case(f"{loss}, {name}, costs", "blobs", costly)
    for loss in ("logistic", "squared"):
        crossed = classifier(Tree(2), loss=loss, cross_fit=3)
        yield Case(f"{loss}, cross-fit", "rare", crossed)
        neutral = classifier("stump", loss=loss, costs=MATRIX, training="neutral")
        yield Case(f"{loss}, neutral", "blobs", neutral)


def of_costs() -> Iterator[Case]:
    for form, costs in FORMS.items():
        yield Case(f"costs: {form}", "blobs", classifier(Tree(2), 8, costs=costs))
    for form, costs in BY_NAME.items():
        estimator = classifier("stump", costs=costs, cross_fit=None)
        yield Case(f"costs by name: {form}", "pandas", estimator)
    for name, learner in LEARNERS.items():
        alone = classifier(learner, costs=MATRIX, cross_fit=None)
        yield Case(f"costs, {name}", "ties", alone)
        rows = classifier(learner, 8, cross_fit=None)
        yield Case(f"costs by sample, {name}", "blobs", rows, by_sample)
    rows = classifier(Tree(2), 8)
    yield Case("costs by sample, cross-fit", "blobs", rows, by_sample)
    for subcosts, decision in product(("thesis", "rebel"), ("min_risk", "argmax")):
        options = {"subcosts": subcosts, "decision": decision, "cross_fit": None}
        name = f"{subcosts}, {decision}"
        yield Case(name, "blobs", classifier(Tree(2), costs=MATRIX, **options))
        yield Case(f"{name}, two classes", "cancer", classifier("stump", costs=TWO, **options))
    for training, cross_fit in product(("costs", "neutral"), (None, 3)):
        options = {"training": training, "cross_fit": cross_fit}
        estimator = classifier(Tree(2), 8, costs=MATRIX, **options)
        yield Case(f"training on {training}, {cross_fit} parts", "blobs", estimator)


def of_options() -> Iterator[Case]:
    for label, samples in (("ask", "names"), (-1, "blobs"), ("ask", "blobs")):
        rejecting = classifier(Tree(2), reject_cost=0.3, reject_label=label)
        yield Case(f"reject {label!r}, {samples}", samples, rejecting)
    rejecting = classifier(Tree(2), 8, costs=MATRIX, reject_cost=0.6, reject_label=-1)
    yield Case("reject with costs", "blobs", rejecting)
    for name, learner in LEARNERS.items():
        yield Case(f"weights, {name}", "blobs", classifier(learner), weighted)
        yield Case(f"cross-fit, {name}", "rare", classifier(learner, 8, cross_fit=3))
        yield Case(f"two threads, {name}", "many", classifier(learner, n_jobs=2))
        yield Case(f"subsample, {name}", "many", classifier(learner, subsample=0.4))
        yield Case(f"trimming, {name}", "many", classifier(learner, weight_trimming=0.8))
        patient = {"early_stopping": True, "n_rounds_no_change": 4}
        yield Case(f"early stopping, {name}", "ties", classifier(learner, 40, **patient))
    for name, learner in TREES.items():
        drawn = classifier(learner, feature_subsample=0.4, random_state=3)
        yield Case(f"features drawn, {name}", "wine", drawn)
    yield Case("weights and costs", "blobs", classifier("stump", costs=MATRIX), weighted)
    yield Case("validation", "wine", classifier(Tree(2), early_stopping=True), validated)
    yield Case("shrinkage and tol", "iris", classifier(Tree(2), 40, shrinkage=1, tol=1e-3))
    yield Case("all drawn", "many", classifier(Tree(4), subsample=0.5, feature_subsample=0.5))
    yield Case("single split", "one feature", classifier("tree"))


def of_warm_starts() -> Iterator[Case]:
    going = {"warm_start": True, "cross_fit": None}
    for name, learner in LEARNERS.items():
        estimator = classifier(learner, 5, **going)
        yield Case(f"warm start, {name}", "blobs", estimator, continued(n_rounds=11))
    other = continued(learner=Similarity("standard", anchors=2), n_rounds=10)
    yield Case("warm start, two kinds", "blobs", classifier("stump", 4, **going), other)
    logistic = classifier(Tree(2), 5, loss="logistic", **going)
    yield Case("warm start, logistic", "blobs", logistic, continued(n_rounds=9))
    numbers = RebelRegressor(n_rounds=6, warm_start=True)
    yield Case("warm start, numbers", "diabetes", numbers, continued(n_rounds=12))


def of_the_race() -> Iterator[Case]:
    for samples in ("iris", "two classes", "few", "holed", "pandas", "rare"):
        race = RebelClassifier(n_rounds=6, cross_fit=2)
        yield Case(f"race, {samples}", samples, race, reported=samples in {"iris", "pandas"})
    for samples in ("few", "blobs", "iris"):
        yield Case(f"all defaults, {samples}", samples, RebelClassifier())
    yield Case("all defaults, numbers", "friedman", RebelRegressor())
    yield Case("race, costs", "blobs", RebelClassifier(n_rounds=5, cross_fit=2, costs=MATRIX))
    yield Case("race, two threads", "wine", RebelClassifier(n_rounds=6, cross_fit=2, n_jobs=2))
    yield Case("race, weights", "ties", RebelClassifier(n_rounds=5, cross_fit=2), weighted)
    yield Case("race called off", "blobs", RebelClassifier(n_rounds=8, cross_fit=None))


def of_inputs() -> Iterator[Case]:
    for samples in ("pandas", "polars", "pyarrow", "float32 frame", "named rows"):
        for name, learner in LEARNERS.items():
            yield Case(f"{samples}, {name}", samples, classifier(learner))
    for name, learner in LEARNERS.items():
        yield Case(f"missing, {name}", "holed", classifier(learner))
        yield Case(f"float32, {name}", "float32", classifier(learner))
    for samples in ("names", "negative", "floats", "truths", "objects", "listed"):
        yield Case(f"labels: {samples}", samples, classifier(Tree(2)))
    for learner in ("auto", "stump"):
        yield Case(f"one class, {learner}", "one class", RebelClassifier(learner))
    yield Case("six classes", "six classes", classifier(Tree(3)))
    yield Case("categories by index", "coded", classifier(Tree(3, categorical=[1])))
    categorical = ["count", "colour", "grade", "sold"]
    yield Case("categories by name", "pandas", classifier(Tree(3, categorical=categorical)))
    yield Case("digits", "digits", classifier("tree", 20), reported=True)


def of_numbers() -> Iterator[Case]:
    for loss, learner in product(("squared", "absolute", "huber"), ("auto", "stump")):
        if loss == "absolute" and learner == "stump":
            continue  # medians are of leaves, which stumps have not
        estimator = RebelRegressor(learner, loss=loss, n_rounds=15)
        yield Case(f"numbers, {loss}, {learner}", "diabetes", estimator)
        yield Case(f"numbers, {loss}, {learner}, weights", "friedman", estimator, weighted)
    for name, options in {
        "one output": {"learner": Tree(3, outputs="tree")},
        "huber delta": {"loss": "huber", "huber_delta": 0.5},
        "all samples": {"subsample": 1.0, "feature_subsample": 0.5, "random_state": 1},
        "early stopping": {"early_stopping": True, "n_rounds_no_change": 3, "shrinkage": 0.5},
        "two threads": {"n_jobs": 2},
    }.items():
        yield Case(f"numbers, {name}", "friedman", RebelRegressor(**{"n_rounds": 15, **options}))
    yield Case("numbers of a table", "numbers of a table", RebelRegressor(n_rounds=15))


GROUPS = (
    of_trees,
    of_stumps,
    of_similarities,
    of_binary,
    of_losses,
    of_costs,
    of_options,
    of_warm_starts,
    of_the_race,
    of_inputs,
    of_numbers,
)


def all_cases() -> list[Case]:
    """In order, each with a name of its own."""
    found = [case for group in GROUPS for case in group()]
    names = [case.name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two cases are named {', '.join(sorted(twice))}: rename one")
    return found
