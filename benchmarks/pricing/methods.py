"""What is compared: ours, at its default and in named variants, and the rivals.

A method is told the costs of mistakes and decides for the test samples. One whose posterior does
not depend on the costs is fitted once and decides under every matrix by least expected cost.
Every method has one thread; the benchmark runs two at a time.
"""

import ast
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

import compare
import rebelboost
from pricing.trials import Task
from rebelboost import RebelClassifier
from rebelboost.costs.matrix import is_uniform

N_FOLDS = 5
SMALL = {"n_estimators": 30, "num_leaves": 15, "n_jobs": 1, "verbosity": -1}
# Reading and drawing, not learning: a change there leaves the results as they are.
NOT_LEARNING = {"plots", "metrics", "callbacks", "report"}

Decided = tuple[list[np.ndarray], np.ndarray | None]
"""A decision for every test sample under each matrix; the posterior, if there is one for all."""


@dataclass(frozen=True)
class Method:
    title: str
    decide: Callable[[Task], Decided]
    version: str
    """Results are kept as long as this stays the same."""
    parts: str = "abcd"
    most_classes: int = sys.maxsize
    why_not: str = ""
    """Why it is left out for more classes."""
    is_calibrated_rival: bool = False


# ---- ours


def ours(
    title: str, parts: str = "abcd", most_classes: int = sys.maxsize, **options: Any
) -> Method:
    """A fit for each matrix; or for all, where the first one shows that training saw no costs."""

    def decide(task: Task) -> Decided:
        split, decided = task.split, []
        fitted = None
        for costs in task.matrices():
            if fitted is not None and is_uniform(fitted.decoder_.costs):
                fitted = fitted.with_costs(costs)
            else:
                fitted = RebelClassifier(costs=costs, n_jobs=1, **options)
                fitted.fit(split.X_train, split.y_train)
            decided.append(fitted.predict(split.X_test))
        return decided, None

    return Method(title, decide, _our_version(options), parts, most_classes, SLOW_DECODING)


def ours_neutral(title: str, parts: str = "abcd", **options: Any) -> Method:
    """One fit that knows no costs, and its own decoding; the decisions alone see the matrices."""
    options = {"training": "neutral", **options}

    def decide(task: Task) -> Decided:
        split, matrices = task.split, task.matrices()
        neutral = RebelClassifier(costs=matrices[0], n_jobs=1, **options)
        neutral.fit(split.X_train, split.y_train)
        decided = [neutral.with_costs(costs).predict(split.X_test) for costs in matrices]
        return decided, neutral.predict_proba(split.X_test)

    return Method(title, decide, _our_version(options) + ", one for all matrices", parts)


def ours_blind(title: str, parts: str = "abcd", **options: Any) -> Method:
    """One fit that knows no costs, and decisions that do not either: the highest score."""
    options = {"training": "neutral", "decision": "argmax", **options}

    def decide(task: Task) -> Decided:
        blind = RebelClassifier(n_jobs=1, **options).fit(task.split.X_train, task.split.y_train)
        return [blind.predict(task.split.X_test)] * len(task.matrices()), None

    return Method(title, decide, _our_version(options) + ", blind to costs", parts)


def _our_version(options: dict[str, Any]) -> str:
    """The options in full, so that one spelt out is the same as the default; and the code."""
    return f"{RebelClassifier(**options).get_params()}, {our_code()}"


def made_by(package: str, *other_names: str) -> str:
    """What the results of a package depend on: its version or, if it is this one, its code."""
    if package == "rebelboost":
        return our_code()
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        if not other_names:
            raise
        return made_by(*other_names)


@cache
def our_code() -> str:
    root = Path(rebelboost.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.stem not in NOT_LEARNING:
            digest.update(_without_docstrings(path).encode())
    for path in sorted((root.parents[1] / "cpp").glob("*pp")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _without_docstrings(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# ---- rivals


def calibrated(title: str, package: str, make: Callable[[], Any], **limits: Any) -> Method:
    """Isotonic calibration in 5 folds, then posterior × costs.

    scikit-learn refuses 5 folds where a class has fewer than 5 samples. Given the folds as a list
    it takes them: then the fold that holds a class's only sample is calibrated without that class.
    """

    def decide(task: Task) -> Decided:
        X, y = task.split.X_train, task.split.y_train
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
        classifier = CalibratedClassifierCV(make(), method="isotonic", cv=list(folds))
        posterior = classifier.fit(X, y).predict_proba(task.split.X_test)
        decided = [np.argmin(posterior @ costs, axis=1) for costs in task.matrices()]
        return decided, posterior

    title = f"{title}, calibrated × costs"
    return Method(title, decide, _version(package), is_calibrated_rival=True, **limits)


def weighted_by_row_sums(task: Task) -> Decided:
    from lightgbm import LGBMClassifier

    decided = []
    for costs in task.matrices():
        by_class = dict(enumerate(costs.sum(axis=1)))
        classifier = LGBMClassifier(class_weight=by_class, n_jobs=1, verbosity=-1)
        classifier.fit(task.split.X_train, task.split.y_train)
        decided.append(classifier.predict(task.split.X_test))
    return decided, None


def reduced(make: Callable[[], Any]) -> Callable[[Task], Decided]:
    """One of the `costsensitive` package's reductions; it takes a row of costs for each sample."""

    def decide(task: Task) -> Decided:
        split = task.split
        decided = [
            np.asarray(make().fit(split.X_train, costs[split.y_train]).predict(split.X_test), int)
            for costs in task.matrices()
        ]
        return decided, None

    return decide


def _all_pairs() -> Any:
    from costsensitive import WeightedAllPairs
    from lightgbm import LGBMClassifier

    return WeightedAllPairs(LGBMClassifier(**SMALL), njobs=1)


def _cost_regression() -> Any:
    from costsensitive import RegressionOneVsRest
    from lightgbm import LGBMRegressor

    return RegressionOneVsRest(LGBMRegressor(**SMALL), njobs=1)


def resampled_by_cost(task: Task) -> Decided:
    """The package's way for two classes, which its other reductions refuse.

    Its own `predict` fails in 0.1.2.13 (it asks for `nsamples`); what it would do is done here.
    """
    from costsensitive import CostProportionateClassifier
    from lightgbm import LGBMClassifier

    split, decided = task.split, []
    for costs in task.matrices():
        reduction = CostProportionateClassifier(LGBMClassifier(**SMALL), njobs=1, random_state=0)
        reduction.fit(split.X_train, split.y_train, costs.sum(axis=1)[split.y_train])
        votes = [each.predict_proba(split.X_test)[:, 1] for each in reduction.classifiers]
        decided.append((np.mean(votes, axis=0) >= 0.5).astype(int))
    return decided, None


def _version(*packages: str) -> str:
    known = {each.metadata["Name"].lower() for each in metadata.distributions()}
    named = (p for p in (*packages, "scikit-learn") if p.lower() in known)
    return ", ".join(f"{package} {metadata.version(package)}" for package in named)


OURS = "ours"
TRAINED = "ours, trained on costs"
NEUTRAL = "ours, neutral × costs"
PLAIN = "ours, neutral, not cross-fitted"
STUMPS_ARGMAX = "100 stumps: costs, argmax (REBEL)"
STUMPS_EQ_2 = "100 stumps: costs by Eq. 2, argmax"
STUMPS_BLIND = "100 stumps: no costs, argmax"
STUMPS_NEUTRAL = "100 stumps: neutral × costs (two-step)"
LIGHTGBM = "LightGBM, calibrated × costs"
STUMPS: dict[str, Any] = {"learner": "stump", "n_rounds": 100, "cross_fit": None}
SLOW_DECODING = "decoding costs K² a sample, at 48 stages: more than half an hour, by estimate"
TOO_SLOW = "a tree for every class and round: it would take more than half an hour"

METHODS = {
    method.title: method
    for method in (
        ours(OURS),
        ours(TRAINED, most_classes=50, training="costs"),
        ours_neutral(NEUTRAL),
        ours_neutral(PLAIN, cross_fit=None),
        ours(
            "ours, papers' way: costs, argmax",
            training="costs",
            decision="argmax",
            cross_fit=None,
        ),
        ours(STUMPS_ARGMAX, "a", training="costs", decision="argmax", **STUMPS),
        ours("100 stumps: costs, decoded", "a", training="costs", **STUMPS),
        ours(STUMPS_EQ_2, "a", training="costs", decision="argmax", subcosts="rebel", **STUMPS),
        ours_blind(STUMPS_BLIND, "a", **STUMPS),
        ours_neutral(STUMPS_NEUTRAL, "a", **STUMPS),
        calibrated(
            "random forest",
            "scikit-learn",
            lambda: RandomForestClassifier(n_jobs=1, random_state=0),
        ),
        calibrated(
            "LightGBM",
            "lightgbm",
            lambda: compare.load("lightgbm").make(1),
            most_classes=100,
            why_not=TOO_SLOW,
        ),
        calibrated(
            "HistGradientBoosting",
            "scikit-learn",
            lambda: compare.load("hist_gradient_boosting").make(1),
            most_classes=50,
            why_not=TOO_SLOW,
        ),
        Method(
            "LightGBM, class_weight by row sums",
            weighted_by_row_sums,
            _version("lightgbm"),
            most_classes=100,
            why_not=TOO_SLOW,
        ),
        Method(
            "costsensitive: WeightedAllPairs",
            reduced(_all_pairs),
            _version("costsensitive", "lightgbm"),
            "acd",
            most_classes=12,
            why_not="a classifier for every pair of classes",
        ),
        Method(
            "costsensitive: RegressionOneVsRest",
            reduced(_cost_regression),
            _version("costsensitive", "lightgbm"),
            "acd",
        ),
        Method(
            "costsensitive: CostProportionateClassifier",
            resampled_by_cost,
            _version("costsensitive", "lightgbm"),
            "b",
        ),
    )
}
