"""Cascades ↔ the arrays of a file: the plan of one, and the held-out scores that others are calibrated on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, Shelf, require
from rebelboost.cascade.checks import KINDS
from rebelboost.cascade.plan import CascadePlan
from rebelboost.files.terms import LARGEST_SCORE
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.average import Staged

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]
THRESHOLDS = ("low", "high", "risk_temperatures", "temperatures")
MOST_STAGES = 256


def cascade_arrays(plan: CascadePlan | None, staged: Staged | None) -> Parts:
    """Arrays, and an object of JSON; nothing where there is neither."""
    if plan is None and staged is None:
        return {}, {}
    arrays: dict[str, NDArray[Any]] = {}
    if staged is not None:
        arrays["staged.stages"] = staged.stage_of_term.astype(np.uint8)
        arrays["staged.scores"] = staged.scores
        arrays["staged.rows"] = staged.rows.astype(np.int64)
        if staged.costs is not None:
            arrays["staged.costs"] = staged.costs
    if plan is None:
        return arrays, {"cascade": None}
    arrays["cascade.stages"] = plan.stage_of_term.astype(np.uint8)
    arrays["cascade.left"] = plan.left.astype(np.int64)
    arrays |= {f"cascade.{name}": getattr(plan, name) for name in THRESHOLDS}
    said = {
        "agreement": plan.agreement,
        "kind": plan.kind,
        "n_wrong": plan.n_wrong,
        "n_wrong_held_out": plan.n_wrong_held_out,
        "source": plan.source,
        "by_sample": plan.by_sample,
    }
    return arrays, {"cascade": said}


def take_cascade(
    shelf: Shelf, fields: Fields, model: FittedClassifier
) -> tuple[CascadePlan | None, Staged | None]:
    """What a file says of them, checked."""
    staged = _take_staged(shelf, model) if shelf.has("staged.stages") else None
    said = fields.any("cascade")
    plan = None if said is None else _take_plan(shelf, Fields(said, "'cascade'"), model)
    return plan, staged


def _take_stages(shelf: Shelf, name: str, model: FittedClassifier, n_stages: int) -> NDArray[Any]:
    stages = shelf.take(name, np.uint8, len(model.ensemble)).astype(np.int64)
    inside = 1 <= n_stages <= MOST_STAGES and int(stages.max(initial=0)) == n_stages - 1
    require(inside, f"{name!r} with stages that do not exist")
    return stages


def _take_staged(shelf: Shelf, model: FittedClassifier) -> Staged:
    n_classes = len(model.classes)
    scores = shelf.take("staged.scores", np.float32, None, None, n_classes)
    require((np.abs(scores) <= LARGEST_SCORE).all(), "held-out scores that are huge or not finite")
    stages = _take_stages(shelf, "staged.stages", model, len(scores))
    rows = shelf.take("staged.rows", np.int64, scores.shape[1])
    require((rows >= 0).all(), "negative row numbers of held-out scores")
    costs = None
    if shelf.has("staged.costs"):
        costs = shelf.take("staged.costs", np.float32, len(rows), n_classes, n_classes)
        require((np.isfinite(costs) & (costs >= 0)).all(), "held-out costs below 0")
    return Staged(stages, scores, rows, costs)


def _take_plan(shelf: Shelf, said: Fields, model: FittedClassifier) -> CascadePlan:
    left = shelf.take("cascade.left", np.int64, None)
    require(len(left) > 0 and (left >= 0).all() and left.sum() > 0, "a cascade without samples")
    n_checks = len(left) - 1
    found = {name: shelf.take(f"cascade.{name}", np.float64, n_checks) for name in THRESHOLDS}
    require(not any(np.isnan(own).any() for own in found.values()), "a threshold that is no number")
    warm = all((found[name] > 0).all() for name in ("risk_temperatures", "temperatures"))
    require(warm and (found["temperatures"] < 1e9).all(), "a cascade with invalid temperatures")
    n = int(left.sum())
    by_sample, source = said.any("by_sample"), said.any("source")
    require(type(by_sample) is bool and isinstance(source, str), "a cascade of unknown origin")
    plan = CascadePlan(
        agreement=said.number("agreement", 1e-300, 1.0),
        kind=said.word("kind", KINDS),
        stage_of_term=_take_stages(shelf, "cascade.stages", model, n_checks + 1),
        left=left,
        n_wrong=said.whole("n_wrong", 0, n),
        n_wrong_held_out=said.whole("n_wrong_held_out", 0, n),
        source=source,
        by_sample=by_sample,
        **found,
    )
    said.end()
    return plan
