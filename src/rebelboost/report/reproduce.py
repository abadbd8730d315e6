"""The section on reproducing the model: command, versions, parameters, costs."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from rebelboost.base.markup import Html, join_html, more, name, section, table, tag
from rebelboost.base.text import amount
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.report import MOST_TABLED
from rebelboost.report.subject import Subject

PACKAGES = ("rebelboost", "numpy", "scipy", "scikit-learn", "narwhals")
IRRELEVANT = {"n_jobs", "verbose", "callbacks"}
"""Parameters that do not change the model."""
LONGEST_VALUE, LONGEST_IN_CALL = 300, 80


def reproduction(subject: Subject) -> Html:
    """Return the section on everything that the model depends on, except the data."""
    params = subject.clf.get_params(deep=False)
    pairs: list[tuple[str, str]] = [
        ("versions", ", ".join(f"{package} {package_version(package)}" for package in PACKAGES)),
        (
            "Python",
            f"{platform.python_version()} on {platform.system()} ({platform.machine()})",
        ),
        ("seed", _seed(params.get("random_state"))),
    ]
    if subject.is_of_training:
        n_rows, n_columns = len(subject.y), subject.clf.n_features_in_
        pairs.append(("data", f"{n_rows:,} rows, {n_columns:,} columns"))
    rows = [[key, tag("code", _shown(value))] for key, value in params.items()]
    return section(
        "Reproduce this model",
        tag("pre", subject.command, class_="wrap") if subject.command else None,
        tag("pre", written_call(subject.clf), class_="wrap"),
        tag(
            "dl",
            *(join_html([tag("dt", key), tag("dd", value)]) for key, value in pairs),
            class_="pairs",
        ),
        _costs(subject),
        more("All parameters", table(["parameter", "value"], rows, left=2)),
        lead="The same data, versions and parameters give the same model, with any number of threads.",
    )


def written_call(clf: Any) -> str:
    """The call that trains a model like this one."""
    params = clf.get_params(deep=False)
    defaults = type(clf)().get_params(deep=False)
    told = [
        f"{key}={_shown(value) if _is_short(value) else key}"
        for key, value in params.items()
        if key not in IRRELEVANT and not _is_same(value, defaults[key])
    ]
    return f"{type(clf).__name__}({', '.join(told)}).fit(X, y)"


def _is_same(value: Any, default: Any) -> bool:
    if type(value) is not type(default):
        return False
    try:
        return bool(np.all(value == default))
    except (TypeError, ValueError):
        return False


def _is_short(value: Any) -> bool:
    """Whether the value fits into the call; otherwise its name is shown instead."""
    return "\n" not in repr(value) and len(repr(value)) <= LONGEST_IN_CALL


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def package_version(package: str) -> str:
    """The installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def _seed(random_state: Any) -> str:
    if random_state is None:
        return "built-in (random_state=None uses a fixed seed)"
    return f"random_state={_shown(random_state)}"


def _costs(subject: Subject) -> Html | None:
    costs = getattr(subject.clf, "costs_", None)  # regressors have none
    if costs is None or is_uniform(costs) or len(costs) > MOST_TABLED:
        return None
    head = [
        tag("th", "true ↓ · decided →", class_="corner"),
        *(name(c, 24) for c in subject.classes),
    ]
    rows = [
        [tag("th", name(c, 32)), *(tag("td", amount(float(cost))) for cost in row)]
        for c, row in zip(subject.classes, costs, strict=True)
    ]
    return join_html([tag("h3", "Cost matrix"), table(head, rows, class_="matrix")])
