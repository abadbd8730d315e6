"""The sections on reasons: important features and training rows, and ten explained decisions."""

from dataclasses import replace
from typing import Any

import numpy as np

from rebelboost.base.findings import Cell, Column, Table, as_html
from rebelboost.base.markup import Html, name, note, section, tag
from rebelboost.base.names import printed
from rebelboost.base.text import amount, percent, signed
from rebelboost.evaluation.importance import HeldOutImportance
from rebelboost.explain.documents import USE, decision_card, summary_document
from rebelboost.report.cases import Picked, pick
from rebelboost.report.subject import Subject

MOST_USED = 15
"""Maximum number of features, of training rows and of rules listed."""
N_TERMS = 6
"""Maximum number of rules and of comparisons listed for a decision."""
SEEN = "The model was trained on these rows. It is more confident and more accurate here than on new rows."


def learned(subject: Subject) -> Html | None:
    """Return the section on important features, training rows and rules."""
    if not hasattr(subject.clf, "summary") or subject.is_constant:
        return None
    found = subject.clf.summary(top=MOST_USED)
    if not subject.shows_rows:
        found = replace(found, examples=())
    held_out = subject.importance
    used = as_html(summary_document(found if held_out is None else replace(found, features=())))
    parts = [used] if held_out is None else [_helping(subject, held_out), used]
    if not any(parts):
        return None
    what = "predictions" if subject.predicts_numbers else "decisions"
    return section(f"What are the {what} based on?", *parts, lead=f"{found.heading}.")


def _helping(subject: Subject, held_out: list[HeldOutImportance]) -> Html:
    """Return the table of features: those that help on held-out rows first, then the others."""
    use = {each.name: each.importance for each in subject.clf.summary().features}
    most = max((each.rise for each in held_out if each.helps), default=1.0)
    what = "squared error" if subject.predicts_numbers else "log-loss"
    unit = " (1: the variance)" if subject.predicts_numbers else ""

    def help_of(each: HeldOutImportance) -> Cell:
        return Cell(signed(each.rise)) if each.helps else Cell("no clear help", "n quiet")

    columns = [
        Column("feature", [each.name for each in held_out]),
        Column("help", held_out, help_of, kind="number"),
        Column(
            "bar",
            [each.rise / most if each.helps else None for each in held_out],
            head="",
            kind="bar",
        ),
    ]
    if any(use.values()):  # similarities compare all features at once
        used = [use.get(each.name, 0.0) for each in held_out]
        columns.append(Column("use", used, percent, kind="number"))
    table = Table(
        columns,
        title="Which features help?",
        n_shown=MOST_USED,
        noun="feature",
        remark=f"Help: the rise of the {what}{unit} on held-out rows if the values of the feature are "
        f"shuffled. “No clear help”: the rise is within chance.{f' {USE}' if any(use.values()) else ''}",
    )
    return as_html([table])


# ---- ten decisions


def decisions(subject: Subject) -> Html | None:
    """Return the section on ten decisions and their reasons."""
    if not hasattr(subject.clf, "explain") or subject.is_constant or not subject.shows_rows:
        return None
    picked = pick(subject)
    if not picked:
        return None
    why = subject.clf.explain(subject.rows(np.array([each.row for each in picked])), top=N_TERMS)
    kinds = list(dict.fromkeys(each.kind for each in picked))
    parts: list[Any] = []
    for kind in kinds:
        parts.append(tag("h3", kind))
        cards = [
            _decision(subject, each, reasons)
            for each, reasons in zip(picked, why, strict=True)
            if each.kind == kind
        ]
        parts.append(tag("div", *cards, class_="cards"))
    named = not subject.is_of_training and any(each.examples for each in why)
    return section(
        f"{_number(len(picked))} decisions explained",
        note(SEEN) if subject.is_of_training and not picked[0].is_left_out else None,
        note("Rows named next to the bars are rows of the training table.") if named else None,
        *parts,
        lead="Bars to the right support the decision; bars to the left support the next best class. "
        "The numbers add up to the difference of the two classes' scores, from which the "
        "probabilities are computed. Similar training rows are shown beside the case; marked values "
        "differ from it: another category, or a number more than half a standard deviation away.",
    )


def _number(n: int) -> str:
    words = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"]
    return words[n - 1] if n <= len(words) else str(n)


def _decision(subject: Subject, picked: Picked, why: Any) -> Html:
    heading = [
        "Row " if subject.is_of_training else "Test row ",
        name(subject.row_name(picked.row)),
        ": ",
        *_outcome(subject, picked),
    ]
    return decision_card(why, heading, _differs(subject, picked, why))


def _outcome(subject: Subject, picked: Picked) -> list[Any]:
    decided = [*subject.classes, printed(subject.clf.reject_label)][picked.decided]
    if picked.decided == len(subject.classes):
        return [name(decided), " (abstained); true class ", name(subject.classes[picked.true])]
    if picked.decided == picked.true:
        return [name(decided), tag("span", "correct", class_="tag fine")]
    costs = f"wrong, cost {amount(picked.cost)}" if picked.has_costs else "wrong"
    return [
        "decided ",
        name(decided),
        ", true class ",
        name(subject.classes[picked.true]),
        tag("span", costs, class_="tag wrong"),
    ]


def _differs(subject: Subject, picked: Picked, why: Any) -> Html | None:
    """Return a note if the final model, which was trained on the row, decides differently."""
    if not picked.is_left_out:
        return None
    names = [*subject.classes, printed(subject.clf.reject_label)]
    now = printed(why.decision)
    if now == names[picked.decided]:
        return None
    return note(
        "This is the decision of the fits that did not see this row. The final model, which was trained "
        "on it, decides ",
        name(now),
        " for these reasons:",
    )
