"""`rebel evaluate`: accuracy and cost of a model, or its errors, on rows whose true values are known."""

from pathlib import Path
from typing import Any, NamedTuple

from rebelboost.base.text import percent
from rebelboost.cli.inputs import (
    Labelled,
    cascade_of,
    held_out,
    model_input,
    read_labelled,
    rows_seen,
    tested,
    with_budget,
    with_costs,
    with_positive,
)
from rebelboost.cli.model_files import load_model
from rebelboost.cli.output import Output
from rebelboost.cli.training_summary import how_judged
from rebelboost.evaluation import EarlyEvaluation, Evaluation, evaluate_cascade
from rebelboost.evaluation.evaluate import AnyEvaluation
from rebelboost.tables.files import Source
from rebelboost.tables.schema import stored_schema


class Shown(NamedTuple):
    """What is shown of an evaluation."""

    positive: str | None = None
    """Of two classes, the one that figures are about."""
    by: str = ""
    """A column by which results are given too."""
    agreement: float | None = None
    """Also evaluate a cascade of this agreement."""


SEEN = (
    "the model was trained on this file, so these figures are too optimistic: "
    "use rows that it has not seen, or the held-out figures that `rebel train` printed"
)
LEFT_OUT = (
    "the model was trained on this file, so each row is evaluated by fits that did not see it{}; "
    "`rebel predict` uses the whole model"
)
SEEN_SOME = SEEN.replace("this file", "some of these files")
UNSEEN = "the model was trained on these files, so it is evaluated on the rows of them that training left out"
STORED = "the model was trained on this file, so these are the figures of the rows that `rebel train` held out"


def run_evaluation(
    model: Path,
    data: Source,
    *,
    target: str,
    costs: Path | None,
    budget: float | None,
    shown: Shown,
    output: Output,
) -> None:
    """Print accuracy, cost and confusion matrix, or errors of numbers, and what else is asked for.

    With a `budget`, the model abstains on this share of the rows.
    """
    loaded = with_budget(with_costs(load_model(model), costs), budget)
    classifier = with_positive(loaded, shown.positive)
    with output.waiting(f"reading {data}"):
        given = read_labelled(classifier, data, target, shown.by)
        evaluation, note = _evaluation(classifier, given, data, recosted=costs is not None)
        early = _early(classifier, given, shown.agreement)
    seen = given.was_seen and not given.is_held_out
    told = {**evaluation.to_dict(), "seen_in_training": seen}
    if (again := rows_seen(classifier, given)) is not None:
        told["seen_rows"], note = again
    if isinstance(early, EarlyEvaluation):
        told["early"] = early.to_dict()
    if output.as_json:
        told |= _curves(evaluation)
    output.record("evaluation", told)
    output.text(evaluation.text())
    if early is not None:
        output.text(f"\n{early}")
    output.notes([*given.notes, *([note] if note else [])])


def _curves(evaluation: AnyEvaluation) -> dict[str, Any]:
    """ROC, lift, decision curve and cost curve, where there are any."""
    if not isinstance(evaluation, Evaluation):
        return {}
    curves = {"curves": evaluation.curves(), "cost_curve": evaluation.cost_curve()}
    return {name: curve.to_dict() for name, curve in curves.items() if curve is not None}


def _evaluation(
    classifier: Any, given: Labelled, data: Source, *, recosted: bool
) -> tuple[AnyEvaluation, str]:
    """Evaluate, on left-out rows if the model was trained on the table; and say so."""
    if given.is_held_out:
        return tested(classifier, given, data), UNSEEN
    if given.is_training:
        found = held_out(classifier, given, recosted=recosted)
        if found is not None:
            table = stored_schema(classifier)
            how = "" if table is None else how_judged(table.group, table.time)
            note = LEFT_OUT.format(f" ({how})" if how else "") if found.is_left_out else STORED
            return found, note
    note = SEEN if given.is_training else SEEN_SOME
    return tested(classifier, given, data), note if given.was_seen else ""


def _early(
    classifier: Any, given: Labelled, agreement: float | None
) -> EarlyEvaluation | str | None:
    """What a cascade does on the table; on the rows that it was calibrated on, what is expected of it."""
    cascade = cascade_of(classifier, agreement)
    if cascade is None:
        return None
    if given.is_training:
        return f"Deciding early, agreement {percent(cascade.agreement)}: {cascade}"
    return evaluate_cascade(cascade, model_input(classifier, given.frame))
