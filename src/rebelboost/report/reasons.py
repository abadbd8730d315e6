"""The sections on reasons: important features and training rows, and ten explained decisions."""

from typing import Any

import numpy as np

from rebelboost.base.names import printed
from rebelboost.base.text import amount, percent, signed
from rebelboost.report.cases import Picked, pick
from rebelboost.report.markup import (
    Html,
    bar,
    join_html,
    lean,
    more,
    name,
    note,
    section,
    table,
    tag,
)
from rebelboost.report.subject import Subject

MOST_COLUMNS = 8
"""Maximum number of columns shown of training rows."""
MOST_USED = 15
"""Maximum number of features, of training rows and of rules listed."""
LONGEST_RULE = 160
N_REASONS = 6
SEEN = "The model was trained on these rows. It is more confident and more accurate here than on new rows."


def learned(subject: Subject) -> Html | None:
    """Return the section on important features, training rows and rules."""
    if not hasattr(subject.clf, "summary") or len(subject.classes) < 2:
        return None
    found = subject.clf.summary()
    parts = [_features(found), _examples(subject, found), _rules(subject, found)]
    if not any(part is not None for part in parts):
        return None
    return section("What are the decisions based on?", *parts, lead=f"{found.heading}.")


def _features(found: Any) -> Html | None:
    if not found.features:
        return None
    most = found.features[0].importance or 1.0
    rows = [
        [
            name(each.name),
            percent(each.importance),
            bar(each.importance / most),
            f"{each.n_terms:,}",
        ]
        for each in found.features[:MOST_USED]
    ]
    head = ["feature", "importance", "", "trees"]
    return join_html(
        [
            tag("h3", "Most important features"),
            note(
                "Importance: how much splits on the feature change the scores, as a share of all features. "
                "Trees: number of trees that use it."
            ),
            table(head, rows),
            _rest(len(found.features), "feature"),
        ]
    )


def _rest(n_all: int, what: str) -> Html | None:
    n_more = n_all - MOST_USED
    return note(f"And {n_more:,} more {what}{'s' if n_more > 1 else ''}.") if n_more > 0 else None


def _examples(subject: Subject, found: Any) -> Html | None:
    if not found.examples:
        return None
    most = found.examples[0].pull or 1.0
    rows = [
        [
            name(f"row {printed(each.label)}"),
            "" if each.of_class is None else name(printed(each.of_class)),
            f"{each.pull:.2f}",
            bar(each.pull / most),
            f"{each.n_terms:,}",
        ]
        for each in found.examples[:MOST_USED]
    ]
    head = ["training row", "class", "influence", "", "comparisons"]
    return join_html(
        [
            tag("h3", "Most influential training rows"),
            note("Influence: how strongly the comparisons with the row change the scores."),
            table(head, rows, left=2),
            _rest(len(found.examples), "training row"),
            _values(subject, found) if subject.is_of_training else None,
        ]
    )


def _values(subject: Subject, found: Any) -> Html | None:
    """Return the values of these rows, in the first columns."""
    if subject.is_precomputed:
        return None
    used = found.examples[:MOST_USED]
    columns = subject.columns[:MOST_COLUMNS]
    cells = subject.cells([each.row for each in used], len(columns))
    rows = [
        [name(f"row {printed(each.label)}"), *(name(cell, 24) for cell in row)]
        for each, row in zip(used, cells, strict=True)
    ]
    rest = len(subject.columns) - len(columns)
    told = note(f"And {rest:,} more columns.") if rest else None
    return more("Values of these rows", table(["", *(name(c, 24) for c in columns)], rows), told)


def _rules(subject: Subject, found: Any) -> Html | None:
    if not found.rules:
        return None
    rows = [
        [
            name(each.what, LONGEST_RULE),
            name(subject.classes[int(np.argmax(each.by_class))], 24),
            percent(each.share),
            f"{each.weight:.3g}",
        ]
        for each in found.rules[:MOST_USED]
    ]
    head = ["rule", "in favour of", "share of samples", "weight"]
    return more("Most important rules", table(head, rows, left=2, class_="rules"))


# ---- ten decisions


def decisions(subject: Subject) -> Html | None:
    """Return the section on ten decisions and their reasons."""
    if not hasattr(subject.clf, "explain") or len(subject.classes) < 2:
        return None
    picked = pick(subject)
    if not picked:
        return None
    why = subject.clf.explain(subject.rows(np.array([each.row for each in picked])), top=N_REASONS)
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
        "probabilities are computed.",
    )


def _number(n: int) -> str:
    words = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"]
    return words[n - 1] if n <= len(words) else str(n)


def _decision(subject: Subject, picked: Picked, why: Any) -> Html:
    from rebelboost.explain.text import parts

    said = parts(why)
    largest = max((abs(size) for size, _ in said), default=0.0) or 1.0
    rows = [[name(what, 90), signed(size), lean(size / largest)] for size, what in said]
    weighed = [*why.comparisons, *why.rules]
    listed = [
        [name(each.what, LONGEST_RULE), signed(float(why.toward(each.by_class)))]
        for each in weighed
    ]
    kinds = ["comparisons"] * bool(why.comparisons) + ["rules"] * bool(why.rules)
    return tag(
        "div",
        tag(
            "h4",
            "Row " if subject.is_of_training else "Test row ",
            name(subject.row_name(picked.row)),
            ": ",
            *_outcome(subject, picked),
        ),
        _differs(subject, picked, why),
        *(note(line) for line in why.verdict.headline.split("\n")),
        table([], rows),
        more(f"{' and '.join(kinds)} with the largest effect".capitalize(), table([], listed))
        if listed
        else None,
        class_="decision",
    )


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
