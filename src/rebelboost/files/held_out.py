"""Storage of what held-out samples showed: a cross-fit, and the cascade that is calibrated on its scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.boosting.rounds import History
from rebelboost.cascade.checks import KINDS
from rebelboost.cascade.plan import BY_HAND, CascadePlan
from rebelboost.files.terms import LARGEST_NUMBER, LARGEST_SCORE
from rebelboost.files.texts import take_texts, text_arrays
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from rebelboost.selection.result import CrossFit, Staged, Standing

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays, and a JSON object."""
STANDING = ("rounds", "share", "log_loss", "cost", "n_parts", "shrinkage")
"""Numbers stored for each candidate."""
THRESHOLDS = ("low", "high", "risk_temperatures", "temperatures")
MOST_STAGES = 256


# ---- cross-fits


def cross_fit_arrays(found: CrossFit) -> dict[str, NDArray[Any]]:
    """Arrays of a cross-fit: results of the candidates, and scores of the held-out samples."""
    numbers = [[getattr(each, name) for name in STANDING] for each in found.standings]
    return {
        "cross_fit.standings": np.array(numbers, dtype=np.float64).reshape(-1, len(STANDING)),
        "cross_fit.runs": np.array(found.runs, dtype=np.int64),
        "cross_fit.found": np.array([found.log_loss, found.cost], dtype=np.float64),
        "cross_fit.left_out": found.left_out,
        "cross_fit.rows": found.rows.astype(np.int64),
        **text_arrays("cross_fit.names", [each.name for each in found.standings]),
    }


def take_cross_fit(
    reader: TensorReader, model: FittedClassifier | FittedRegressor, history: History
) -> CrossFit:
    """Read the cross-fit of a model."""
    numbers = reader.take("cross_fit.standings", np.float64, None, len(STANDING))
    names = take_texts(reader, "cross_fit.names", len(numbers))
    runs = reader.take("cross_fit.runs", np.int64, None)
    known = len(numbers) > 0 and ((runs >= 0) & (runs < len(numbers))).all()
    require(known, "fits of candidates that do not exist")
    log_loss, cost = reader.take("cross_fit.found", np.float64, 2).tolist()
    left_out = reader.numbers("cross_fit.left_out", None, model.ensemble.n_classes)
    most = LARGEST_SCORE if isinstance(model, FittedClassifier) else LARGEST_NUMBER
    require((np.abs(left_out) <= most).all(), "huge scores of held-out samples")
    rows = reader.take("cross_fit.rows", np.int64, len(left_out))
    require((rows >= 0).all(), "negative row numbers of held-out samples")
    return CrossFit(
        model.ensemble,
        model.decoder.temperature if isinstance(model, FittedClassifier) else 1.0,
        history,
        tuple(map(_standing, names, numbers.tolist())),
        tuple(runs.tolist()),
        log_loss,
        cost,
        left_out,
        rows,
    )


def _standing(name: str, numbers: list[float]) -> Standing:
    rounds, share, log_loss, cost, n_parts, shrinkage = numbers
    counted = all(0 <= n < 2**31 and n.is_integer() for n in (rounds, n_parts))
    require(counted and 0 <= share <= 1, "a cross-fit with invalid counts or shares")
    require(0 < shrinkage <= 1, "a cross-fit with an invalid shrinkage")
    return Standing(name, int(rounds), share, log_loss, cost, int(n_parts), shrinkage)


# ---- cascades


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
    reader: TensorReader, fields: Fields, model: FittedClassifier
) -> tuple[CascadePlan | None, Staged | None]:
    """What a file says of them, checked."""
    staged = _take_staged(reader, model) if reader.has("staged.stages") else None
    said = fields.any("cascade")
    plan = None if said is None else _take_plan(reader, Fields(said, "'cascade'"), model)
    return plan, staged


def _take_stages(
    reader: TensorReader, name: str, model: FittedClassifier, n_stages: int
) -> NDArray[Any]:
    stages = reader.take(name, np.uint8, len(model.ensemble)).astype(np.int64)
    inside = 1 <= n_stages <= MOST_STAGES and int(stages.max(initial=0)) == n_stages - 1
    require(inside, f"{name!r} with stages that do not exist")
    return stages


def _take_staged(reader: TensorReader, model: FittedClassifier) -> Staged:
    n_classes = len(model.classes)
    scores = reader.take("staged.scores", np.float32, None, None, n_classes)
    require((np.abs(scores) <= LARGEST_SCORE).all(), "held-out scores that are huge or not finite")
    stages = _take_stages(reader, "staged.stages", model, len(scores))
    rows = reader.take("staged.rows", np.int64, scores.shape[1])
    require((rows >= 0).all(), "negative row numbers of held-out scores")
    costs = None
    if reader.has("staged.costs"):
        costs = reader.take("staged.costs", np.float32, len(rows), n_classes, n_classes)
        require((np.isfinite(costs) & (costs >= 0)).all(), "held-out costs below 0")
    return Staged(stages, scores, rows, costs)


def _take_plan(reader: TensorReader, said: Fields, model: FittedClassifier) -> CascadePlan:
    left = reader.take("cascade.left", np.int64, None)
    by_sample, source = said.any("by_sample"), said.any("source")
    require(type(by_sample) is bool and isinstance(source, str), "a cascade of unknown origin")
    known = left.sum() > 0 or source == BY_HAND
    require(len(left) > 0 and (left >= 0).all() and known, "a cascade without samples")
    n_checks = len(left) - 1
    found = {name: reader.take(f"cascade.{name}", np.float64, n_checks) for name in THRESHOLDS}
    require(not any(np.isnan(own).any() for own in found.values()), "a threshold that is no number")
    warm = all((found[name] > 0).all() for name in ("risk_temperatures", "temperatures"))
    require(warm and (found["temperatures"] < 1e9).all(), "a cascade with invalid temperatures")
    n = int(left.sum())
    plan = CascadePlan(
        agreement=said.number("agreement", 1e-300, 1.0),
        kind=said.word("kind", KINDS),
        stage_of_term=_take_stages(reader, "cascade.stages", model, n_checks + 1),
        left=left,
        n_wrong=said.whole("n_wrong", 0, n),
        n_wrong_held_out=said.whole("n_wrong_held_out", 0, n),
        source=source,
        by_sample=by_sample,
        **found,
    )
    said.end()
    return plan
