"""What is recorded of a fitted model, through the public interface alone."""

import datetime as dt
import tempfile
import warnings
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from rebelboost import load
from rebelboost.evaluation import evaluate, left_out
from rebelboost.metrics import cost_report, mean_cost
from rebelboost.report import write_report
from sameness.cases import Case
from sameness.digests import Notes, note_file
from sameness.samples import Samples, head, samples

EXPLAINED = 3
TABLES_OF_A_SUMMARY = ("features", "examples", "rules", "pairs")


def record(case: Case) -> Notes:
    """Fit the case's model, and note all that it says of its samples."""
    notes, given = Notes(), samples(case.samples)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = case.fit(clone(case.estimator), given)
        if is_classifier(model):
            note_decisions(notes, model, given)
            note_evaluation(notes, model, given)
        else:
            notes.number("predict", lambda: model.predict(given.asked))
            notes.number("staged", lambda: last(model.staged_predict(given.asked)))
            notes.number("score", lambda: model.score(given.X, given.y))
        note_reasons(notes, model, given)
        note_history(notes, model)
        notes.number("to_dict", model.to_dict)
        note_saved(notes, model, given)
        if case.reported:
            note_report(notes, model, given)
    kinds = sorted({warning.category.__name__ for warning in caught})
    notes.number("kinds of warnings", lambda: kinds)
    notes.word("warnings", lambda: [str(warning.message) for warning in caught])
    return notes


def last(stages: Any) -> Any:
    """The last of them; None where a model has no terms."""
    return next(iter(deque(stages, maxlen=1)), None)


def note_decisions(notes: Notes, model: Any, given: Samples) -> None:
    for name in ("decision_function", "predict", "predict_proba", "expected_cost"):
        notes.number(name, lambda name=name: getattr(model, name)(given.asked))
    notes.number("training scores", lambda: model.decision_function(given.X))
    notes.number("staged", lambda: last(model.staged_decision_function(given.asked)))
    notes.number("staged decisions", lambda: last(model.staged_predict(given.asked)))
    notes.number("classes_", lambda: model.classes_)
    notes.number("costs_", lambda: model.costs_)
    other = other_costs(len(model.classes_))
    notes.number("with_costs", lambda: model.with_costs(other).predict(given.asked))
    notes.number("its expected_cost", lambda: model.with_costs(other).expected_cost(given.asked))
    notes.word("selection_", lambda: str(model.selection_))


def other_costs(n_classes: int) -> np.ndarray:
    drawn = np.random.default_rng(n_classes).uniform(0.2, 6, size=(n_classes, n_classes))
    return np.round(drawn, 2) * (1 - np.eye(n_classes))


def note_evaluation(notes: Notes, model: Any, given: Samples) -> None:
    notes.both("evaluate", lambda: evaluate(model, given.X, given.y).to_dict())
    notes.word("evaluate: text", lambda: str(evaluate(model, given.X, given.y)))
    notes.both("left_out", lambda: _dict(left_out(model, given.y)))
    costs = {"labels": list(model.classes_)}
    if model.reject_cost is not None:
        costs |= {"reject_cost": model.reject_cost, "reject_label": model.reject_label}
    decided = model.predict(given.X)
    notes.number("mean_cost", lambda: mean_cost(given.y, decided, model.costs_, **costs))
    notes.word("cost_report", lambda: str(cost_report(given.y, decided, model.costs_, **costs)))


def _dict(found: Any) -> Any:
    return None if found is None else found.to_dict()


def note_reasons(notes: Notes, model: Any, given: Samples) -> None:
    asked = head(given.asked, EXPLAINED)
    notes.both("explain", lambda: model.explain(asked).table())
    notes.both("explain: terms", lambda: [terms_of(each) for each in model.explain(asked)])
    notes.number("explain: whose", lambda: [whose(each) for each in model.explain(asked)])
    notes.word("explain: text", lambda: str(model.explain(asked)))
    for of in TABLES_OF_A_SUMMARY:
        notes.both(f"summary: {of}", lambda of=of: model.summary().table(of))
    notes.number("summary: whose", lambda: whose(model.summary()))
    notes.word("summary: text", lambda: str(model.summary()))
    notes.number("feature_importances_", lambda: model.feature_importances_)
    if is_classifier(model):
        notes.number("guarantee_", lambda: bounds(model.guarantee_))
        notes.word("guarantee_: text", lambda: str(model.guarantee_))


def bounds(guarantee: Any) -> dict[str, Any]:
    stated = {"bound": guarantee.bound, "achieved": guarantee.achieved}
    return guarantee.to_dict() | stated | {"certified": guarantee.certified}


def whose(reasons: Any) -> list[Any]:
    """The user's own names beside the numbers: features with their values, rows with their classes."""
    features = [
        (each.name, [getattr(each, field, None) for field in ("value", "by_class", "importance")])
        for each in reasons.features
    ]
    rows = [(each.row, each.label, each.of_class, each.by_class) for each in reasons.examples]
    return [features, rows]


def terms_of(explanation: Any) -> Any:
    """Rules and comparisons that weighed most, and what is for and against each class."""
    found = {"rules": explanation.rules, "comparisons": explanation.comparisons}
    return {**found, "terms": explanation.terms}


def note_history(notes: Notes, model: Any) -> None:
    """Every column but the seconds."""
    table = model.history_.table()
    table.pop("seconds", None)
    described = table.pop("hypothesis", None)
    notes.each("history_", lambda: table)
    notes.word("history_: hypotheses", lambda: described)


def note_saved(notes: Notes, model: Any, given: Samples) -> None:
    """The file, what the model says that is read from it, and what that one saves."""
    with tempfile.TemporaryDirectory() as folder:
        first, again = Path(folder, "first.safetensors"), Path(folder, "again.safetensors")
        notes.number("save", lambda: model.save(first))
        if not first.exists():  # a kind of model that files cannot hold
            return
        note_file(notes, first)
        notes.number("loaded: predict", lambda: load(first).predict(given.asked))
        notes.both("loaded: explain", lambda: load(first).explain(head(given.asked, 1)).table())
        load(first).save(again)
        notes.number("saved again alike", lambda: first.read_bytes() == again.read_bytes())


def note_report(notes: Notes, model: Any, given: Samples) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        write_report(
            model,
            given.X,
            given.y,
            path,
            evaluation=left_out(model, given.y),
            date=dt.date(2020, 1, 1),
        )
        notes.word("report", lambda: path.read_text(encoding="utf-8"))
