"""The papers' algorithms by name, as the experiments run them."""

from dataclasses import replace
from typing import Any

from rebelboost import RebelClassifier
from rebelboost.vision import Detector

TO_THE_END: dict[str, Any] = {"tol": 0.0, "n_jobs": 1}
"""Experiments have a fixed number of rounds, where they do not say otherwise."""

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {"one_point": ("local", {"modes": "isolating"})}
"""Published methods with an option."""
FIRST_SUBSET, STEPS = 0.9, 20
"""QUICK's schedule [Sec. 4.1]."""


def paper(
    name: str,
    n_rounds: int,
    *,
    depth: int | None = None,
    costs: Any = None,
    **changed: Any,
) -> RebelClassifier:
    """The published method, with all rounds, and what else an experiment changes, such as the search."""
    asked = {"n_rounds": n_rounds, "depth": depth, "costs": costs}
    given = {key: value for key, value in asked.items() if value is not None}
    name, options = VARIANTS.get(name, (name, {}))
    made = RebelClassifier.papers(name, **given, **options)
    return made.set_params(**TO_THE_END | changed)


def quickboost(n_rounds: int, depth: int, search: str, **changed: Any) -> RebelClassifier:
    """AdaBoost of trees, searched as QUICK has it ("pruned"), in full ("exhaustive"), or as ours ("auto")."""
    made = paper("quickboost", n_rounds, depth=depth, **changed)
    learner = {"search": search, "subset_steps": "auto" if search == "auto" else STEPS}
    return made.set_params(learner=replace(made.learner, first_subset=FIRST_SUBSET, **learner))


def viola_jones(window: tuple[int, int], **changed: Any) -> Detector:
    """AdaBoost on stumps of Haar features [ADA, Sec. 3.4.3]."""
    return Detector.papers("viola_jones").set_params(window=window, **changed)
