"""The published methods by name: a table of name → weak learner, parameters and citation.

Each is an ordinary estimator whose parameters are the published ones: a single fit, decided at argmax, trained
on the costs, without shrinkage, subsampling or early stopping. `paper_of` recognises it by its parameters, so
clones, pickles and model files know their citation too.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from rebelboost.learners.base import WeakLearner
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree


class Paper(NamedTuple):
    """A published method."""

    citation: str
    learner: Callable[[int | None], WeakLearner]
    """Makes the weak learner; the depth is None if nobody gave one."""
    rounds: int
    """Rounds if nobody gives a number. The texts give none, or another one for each experiment."""
    parameters: Mapping[str, Any]
    """What this method sets, beside `SINGLE_FIT`."""


def even_stumps(depth: int | None) -> WeakLearner:
    """200 evenly spaced bins [THESIS, Sec. 4.4]."""
    if depth is None:
        return Stump(bins=200, binning="even")
    return Tree(depth, "tree", bins=200, binning="even")


def shallow_trees(depth: int | None) -> WeakLearner:
    """The same as trees, grown layer by layer [REBEL, Sec. 4]."""
    return even_stumps(2 if depth is None else depth)


def exact_stumps(depth: int | None) -> WeakLearner:
    """Thresholds between any two values [ADA, Alg. 3.1]; trees are exact up to 255 values of a feature."""
    return Stump(binning="exact", search="exhaustive") if depth is None else Tree(depth, "tree")


def pruned_trees(depth: int | None) -> WeakLearner:
    """QuickBoost's search in 20 equal steps after 90 % of the mass, on linear bins [QUICK, Secs. 3 and 4]."""
    return Tree(
        1 if depth is None else depth,
        "tree",
        bins=255,
        binning="even",
        criterion="error",
        search="pruned",
        first_subset=0.9,
        subset_steps=20,
    )


def pruned_regression_trees(depth: int | None) -> WeakLearner:
    """The same by variance [THESIS, Sec. 7.2]."""
    return replace(pruned_trees(depth), criterion="variance")  # type: ignore[type-var]


def similarities(response: Any) -> Callable[[int | None], WeakLearner]:
    """Localized similarities of unscaled values."""

    def of(depth: int | None) -> WeakLearner:
        if depth is not None:
            raise ValueError(
                f"depth={depth!r} does not apply to similarities, which are no trees: remove it"
            )
        return Similarity("none", search="exact", response=response)

    return of


SINGLE_FIT: Mapping[str, Any] = {
    "cross_fit": None,
    "shrinkage": 1.0,
    "subsample": 1.0,
    "feature_subsample": 1.0,
    "early_stopping": False,
    "time_budget": None,
}
"""What no paper does, of classes and of numbers."""
AS_PUBLISHED: Mapping[str, Any] = {
    **SINGLE_FIT,
    "decision": "argmax",
    "training": "costs",
    "weight_trimming": None,
    "reject_cost": None,
}
"""The same, and what the papers decide and train on."""
REBEL_CITATION = "[REBEL, Secs. 3 and 4; THESIS, Secs. 4.3 and 4.4]"
EXPONENTIAL = {"loss": "exponential", "tol": 0, "subcosts": "thesis"}

CLASS_PAPERS: Mapping[str, Paper] = {
    "local": Paper(
        "[LOCAL, Sec. 5.2; THESIS, Sec. 5.4]",
        similarities("real"),
        6000,
        EXPONENTIAL | {"tol": "papers"},
    ),
    "local_sign": Paper(
        "[LOCAL, Secs. 3 and 5.2, responses of ±1; THESIS, Sec. 5.4]",
        similarities("sign"),
        6000,
        EXPONENTIAL | {"tol": "papers"},
    ),
    "rebel": Paper(REBEL_CITATION, even_stumps, 200, EXPONENTIAL | {"subcosts": "rebel"}),
    "rebel_trees": Paper(
        REBEL_CITATION,
        shallow_trees,
        200,
        EXPONENTIAL | {"subcosts": "rebel"},
    ),
    "quickboost": Paper("[QUICK, Secs. 3 and 4; THESIS, Ch. 3]", pruned_trees, 1000, EXPONENTIAL),
    "adaboost": Paper("[ADA, Secs. 3.1 and 3.4.2]", exact_stumps, 200, EXPONENTIAL),
    "logitboost": Paper(
        "[THESIS, Sec. 7.3; REBEL, S.8]",
        exact_stumps,
        200,
        {"loss": "logistic", "tol": 0, "subcosts": "rebel"},
    ),
    "l2boost": Paper(
        "[THESIS, Sec. 7.3; REBEL, S.8]",
        exact_stumps,
        200,
        {"loss": "squared", "tol": 0, "subcosts": "rebel"},
    ),
}
NUMBER_PAPERS: Mapping[str, Paper] = {
    "quickboost": Paper(
        "[QUICK, Sec. 2; THESIS, Sec. 7.2]",
        pruned_regression_trees,
        1000,
        {"loss": "squared", "tol": 0},
    ),
}

FREE_OPTIONS = {
    "depth",
    "criterion",
    "search",
    "first_subset",
    "subset_steps",
    "categorical",
    "categories",
    "modes",
    "scale",
}
"""Options of learners that the texts leave open, or try several values of."""
FREE_PARAMETERS = {
    "class_weight",
    "warm_start",
    "callbacks",
    "verbose",
    "n_jobs",
    "random_state",
}
"""Parameters of estimators that are no part of a method."""


def papers_for(kind: type) -> Mapping[str, Paper]:
    """The methods for classes, or for numbers."""
    return CLASS_PAPERS if hasattr(kind, "predict_proba") else NUMBER_PAPERS


def published(
    kind: Any,
    name: str,
    *,
    depth: int | None = None,
    n_rounds: int | None = None,
    costs: Any = None,
    **options: Any,
) -> Any:
    """An estimator set to a published method; `options` are those of its learner, or `FREE_PARAMETERS`."""
    known = papers_for(kind)
    if name not in known:
        raise ValueError(
            f"{kind.__name__} has no published method {name!r}: choose one of {', '.join(known)}"
        )
    paper = known[name]
    learner = paper.learner(depth)
    own = {field.name for field in fields(learner)} & FREE_OPTIONS - {"depth"}  # type: ignore[arg-type]
    for option in options:
        if option not in own | FREE_PARAMETERS:
            raise ValueError(
                f"the published method {name!r} has no option {option!r}: it has "
                f"{', '.join(sorted(own | FREE_PARAMETERS))}; others can be changed with set_params"
            )
    changed = {option: value for option, value in options.items() if option in own}
    others = {option: value for option, value in options.items() if option not in own}
    learner = replace(learner, **changed)  # type: ignore[type-var]
    if costs is not None:
        others["costs"] = costs
    rounds = paper.rounds if n_rounds is None else n_rounds
    return kind(learner, n_rounds=rounds, **_fixed(kind, paper), **others)


def paper_of(estimator: Any) -> Paper | None:
    """The published method that an estimator's parameters are; None if they are none's."""
    given = estimator.get_params(deep=False)
    for paper in papers_for(type(estimator)).values():
        fixed = _fixed(type(estimator), paper)
        same = all(_equal(given[name], value) for name, value in fixed.items())
        if same and _is_learner_of(paper, given["learner"]):
            return paper
    return None


def _fixed(kind: Any, paper: Paper) -> dict[str, Any]:
    shared = AS_PUBLISHED if papers_for(kind) is CLASS_PAPERS else SINGLE_FIT
    return {**shared, **paper.parameters}


def _is_learner_of(paper: Paper, learner: Any) -> bool:
    for depth in (None, getattr(learner, "depth", None)):
        try:
            like = paper.learner(depth)
        except ValueError:
            continue
        if type(like) is type(learner) and all(
            getattr(like, field.name) == getattr(learner, field.name)
            for field in fields(like)  # type: ignore[arg-type]
            if field.name not in FREE_OPTIONS
        ):
            return True
    return False


def _equal(given: Any, value: Any) -> bool:
    return type(given) in {type(value), int, float} and bool(given == value)
