"""Explanations and summaries as HTML, for reports and notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rebelboost.base.markup import Html, bar, card, join_html, lean, more, name, note, table, tag
from rebelboost.base.names import printed
from rebelboost.base.text import percent, signed
from rebelboost.explain.beside import Beside, Compared, beside
from rebelboost.explain.parts import parts_of

if TYPE_CHECKING:
    from rebelboost.explain.explanation import Explanation
    from rebelboost.explain.summary import ModelSummary, UsedRow

MOST_CARDS = 5
"""Maximum number of explanations shown at once in a notebook."""
FEWEST, MOST = 5, 10
"""Limits of the number of reasons on a card. Between them, as many are shown as cover 80 %."""
MOST_FEATURES = 6
"""Number of features in which a sample is compared with training rows; the others are collapsed."""
LONGEST_RULE = 160
MOST_VALUES = 6
"""Maximum number of features whose values are shown of training rows."""


def decision_card(why: "Explanation", heading: Sequence[Any], *before: Any) -> Html:
    """Return the card of a decision: headline, reasons, similar training rows, rules."""
    most = min(max(FEWEST, parts_of(why).n_needed), MOST)
    found = parts_of(why, most)
    listed = found.listed()
    largest = max((abs(part.size) for part in listed), default=0.0) or 1.0
    rows = [[name(part.what), signed(part.size), lean(part.size / largest)] for part in listed]
    coverage = found.coverage()
    reasons = tag(
        "div", table([], rows, class_="reasons"), note(coverage, ".") if coverage else None
    )
    return tag(
        "div",
        tag("h4", *heading),
        *before,
        *(note(line) for line in why.verdict.headline.split("\n")),
        tag("div", reasons, tag("div", similar_rows(why), _terms(why)), class_="halves"),
        class_="decision",
    )


def cards_of(whys: "Sequence[Explanation]") -> str:
    """Return the cards of some explanations, for a notebook."""
    shown = [
        decision_card(why, [f"Sample {printed(why.label)}: ", name(printed(why.decision))])
        for why in whys[:MOST_CARDS]
    ]
    rest = len(whys) - len(shown)
    return card(
        *shown, note(f"And {rest:,} more; index them, as in whys[{MOST_CARDS}].") if rest else None
    )


def _terms(why: "Explanation") -> Html | None:
    kinds = {"rules": why.rules, "comparisons": why.comparisons}
    named = [kind for kind, reasons in kinds.items() if reasons]
    if not named:
        return None
    listed = [
        [name(each.what, LONGEST_RULE), signed(float(why.toward(each.by_class)))]
        for reasons in kinds.values()
        for each in reasons
    ]
    told = f"{' and '.join(named)} with the largest effect".capitalize()
    return more(told, table([], listed))


def similar_rows(why: "Explanation") -> Html | None:
    """Return the sample beside the training rows that it resembles, with differences marked."""
    found = beside(why)
    if found is None:
        return None
    first, others = found.features[:MOST_FEATURES], found.features[MOST_FEATURES:]
    parts: list[Any] = [tag("h5", "Similar training rows"), _compared(found, first)]
    if others:
        n = len(found.features)
        parts.append(more(f"All {n:,} columns", _compared(found, found.features)))
    return join_html(parts)


def _compared(found: Beside, features: Sequence[Compared]) -> Html:
    head: list[Any] = ["", "this case"]
    for each in found.examples:
        of_class = "" if each.of_class is None else tag("small", name(printed(each.of_class)))
        head.append(tag("th", name(f"row {printed(each.label)}"), of_class))
    rows = [
        [
            name(each.name),
            tag("td", name(each.own)),
            *(
                tag("td", name(value), class_="differs" if differs else "same")
                for value, differs in each.others
            ),
        ]
        for each in features
    ]
    return table(head, rows, class_="beside", left=2 + len(found.examples))


USE = (
    "Use: how much the feature changes the scores, as a share of all features. A feature that is used much "
    "need not help on new rows."
)


def summary_parts(found: "ModelSummary") -> list[Html]:
    """Return the most used features, training rows and rules, each as a block, if there are any."""
    parts = [_features(found), _examples(found), _rules(found)]
    return [part for part in parts if part is not None]


def _features(found: "ModelSummary") -> Html | None:
    if not found.features:
        return None
    most = found.features[0].importance or 1.0
    rows = [
        [name(each.name), percent(each.importance), bar(each.importance / most)]
        for each in found.features[: found.top]
    ]
    return join_html(
        [
            tag("h3", "Most used features"),
            note(USE),
            table(["feature", "use", ""], rows),
            _rest(len(found.features) - found.top, "feature"),
        ]
    )


def _rest(n_more: int, what: str) -> Html | None:
    return note(f"And {n_more:,} more {what}{'s' if n_more > 1 else ''}.") if n_more > 0 else None


def _examples(found: "ModelSummary") -> Html | None:
    if not found.examples:
        return None
    used = found.examples[: found.top]
    most = used[0].pull or 1.0
    chosen = _telling(found)
    head = [
        "training row",
        "class",
        "influence",
        *(name(found.wording.names[f]) for f in chosen),
    ]

    def row(each: "UsedRow") -> list[Any]:
        of_class = "" if each.of_class is None else name(printed(each.of_class))
        values = found.rows.values.get(each.row)
        cells = [
            name(found.wording.cell(f, float(values[f]))) if values is not None else ""
            for f in chosen
        ]
        return [name(f"row {printed(each.label)}"), of_class, bar(each.pull / most), *cells]

    n_columns = len(found.wording.names)
    told = (
        "New cases are compared with these rows. Influence: how strongly that changes the scores."
    )
    if len(chosen) < n_columns and chosen:
        told += f" Shown are {len(chosen)} of {n_columns:,} columns."
    return join_html(
        [
            tag("h3", "Most influential training rows"),
            note(told),
            table(head, [row(each) for each in used], left=len(head), class_="examples"),
            _rest(len(found.examples) - found.top, "training row"),
        ]
    )


def _telling(found: "ModelSummary") -> list[int]:
    """Features whose values are shown: the most important ones or, without trees, the first."""
    if not found.rows.values:
        return []
    names = list(found.wording.names)
    ranked = [names.index(each.name) for each in found.features]
    rest = [f for f in range(len(names)) if f not in set(ranked)]
    return [*ranked, *rest][:MOST_VALUES]


def _rules(found: "ModelSummary") -> Html | None:
    if not found.rules:
        return None
    rows = [
        [
            name(each.what, LONGEST_RULE),
            *(
                [name(printed(found.classes[int(np.argmax(each.by_class))]))]
                if found.classes is not None
                else ["more" if each.by_class[0] > 0 else "less"]
            ),
            percent(each.share),
        ]
        for each in found.rules[: found.top]
    ]
    head = ["rule", "in favour of", "share of rows"]
    of_trees = "These are rules of the trees, which are only a part of this model."
    told = note(of_trees) if found.examples else None
    return more("Most important rules", told, table(head, rows, left=2, class_="rules"))
