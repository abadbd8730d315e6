"""Explanations and summaries as documents, from which text, HTML and JSON are rendered."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rebelboost.base.findings import (
    IN_DATA,
    IN_TEXT,
    ON_PAGE,
    Block,
    Cell,
    Column,
    Document,
    Halves,
    Only,
    Sentence,
    Table,
    as_html,
)
from rebelboost.base.markup import Html, card, name, note, tag
from rebelboost.base.names import printed
from rebelboost.base.text import number, percent, signed, whole_percent
from rebelboost.costs.matrix import is_uniform
from rebelboost.explain.parts import Beside, Compared, Summands, beside, parts_of
from rebelboost.explain.reasons import Reason

if TYPE_CHECKING:
    from rebelboost.explain.explanation import Explanation
    from rebelboost.explain.summary import ModelSummary, UsedRule

PEOPLE = ON_PAGE | IN_TEXT
MOST_CARDS = 5
"""Maximum number of explanations shown at once in a notebook."""
FEWEST, MOST = 5, 10
"""Limits of the number of reasons on a card. Between them, as many are shown as cover 80 %."""
MOST_FEATURES = 6
"""Number of features in which a sample is compared with training rows; the others are collapsed."""
WORTH_A_WORD = 0.02
"""Rules or comparisons are omitted if the largest of them is below this share of the largest of both."""
MOST_VALUES = 6
"""Maximum number of features whose values are shown of training rows."""
USE = (
    "Use: how much the feature changes the scores, as a share of all features. A feature that is used much "
    "need not help on new rows."
)
NOT_IN_TEXT, NOT_ON_PAGE = ON_PAGE | IN_DATA, IN_TEXT | IN_DATA


# ---- explanations


def explanation_document(why: "Explanation", most: int | None = None) -> Document:
    """The decision, its contributions, similar training rows, and the strongest rules and comparisons.

    The `most` largest contributions are shown, `why.top` by default.
    """
    headline = Sentence(why.verdict.headline, "note")
    data = Only(IN_DATA, lambda: [_data(why)])
    if why.classes is not None and len(why.classes) == 1:
        return [headline, data]
    found = parts_of(why, most)
    told = found.coverage()
    coverage = [Sentence(f"({told})", "note")] if told else []
    reasons: list[Block] = [_contributions(why, found), *coverage]
    similar = Only(ON_PAGE, lambda: _similar_rows(why))
    return [headline, Halves(reasons, [similar, *_terms(why), *_prices(why)]), data]


def _prices(why: "Explanation") -> Document:
    """Over which prices the decision holds: people see those with a limit, JSON has all."""
    found = why.verdict.prices
    if found is None:
        return []
    names, n_classes = why.class_names, len(found.price)
    cells = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    rows = [
        (
            names[a],
            names[b],
            float(found.price[a, b]),
            float(found.low[a, b]),
            float(found.high[a, b]),
        )
        for a, b in cells
    ]
    if found.reject_cost is not None:
        rows.append(("any class", "abstain", found.reject_cost, *found.abstaining))
    limited = [row for row in rows if row[3] > 0 or math.isfinite(row[4])]
    weighs = found.reject_cost is not None or not is_uniform(found.price)
    shown = [_price_table(limited, "")] if limited and weighs else []
    return [Only(PEOPLE, shown), Only(IN_DATA, [_price_table(rows, "prices")])]


def _price_table(rows: Sequence[tuple[str, str, float, float, float]], key: str) -> Table:
    """A high end of infinity is None."""
    true, decided, price, low, high = (list(values) for values in zip(*rows, strict=True))
    highs = [end if math.isfinite(end) else None for end in high]
    columns = [
        Column("true", true, head="true class"),
        Column("decided", decided, head="decided as"),
        Column("price", price, number, "price now", "number"),
        Column("low", low, number, "from", "number"),
        Column("high", highs, lambda end: "any" if end is None else number(end), "to", "number"),
    ]
    title = "Prices over which this decision holds, changed one at a time"
    return Table(columns, key, title, is_folded=True)


def _data(why: "Explanation") -> Table:
    """All parts of the scores."""
    return Table([Column(key, values) for key, values in why.table().items()], "parts")


def _contributions(why: "Explanation", found: Summands) -> Table:
    listed = found.listed()
    sizes = [part.size for part in listed]
    largest = max(map(abs, sizes), default=0.0) or 1.0
    columns = [
        Column("what", [part.what for part in listed], head=""),
        Column("size", sizes, signed, "", "number"),
        Column("lean", [size / largest for size in sizes], head="", kind="lean", voices=ON_PAGE),
    ]
    return Table(columns, title=_opening(why), level=5, is_ranking=True, style="reasons")


def _opening(why: "Explanation") -> str:
    total = signed(float(why.toward(why.scores)))
    decided, rival = why.verdict.decided, why.verdict.rival
    if why.classes is None or decided is None or rival is None:
        return "Contributions"
    names = why.class_names
    return f"Contributions for {names[decided]} (+) and {names[rival]} (−), total {total}"


def _terms(why: "Explanation") -> list[Block]:
    """The rules and comparisons with the largest contributions."""
    named = {"Comparisons": why.comparisons, "Rules": why.rules}
    heaviest = max((abs(_size(why, r)) for of in named.values() for r in of), default=0.0)
    return [
        _strongest(why, f"{title} with the largest contributions", reasons)
        for title, reasons in named.items()
        if any(abs(_size(why, reason)) >= WORTH_A_WORD * heaviest for reason in reasons)
    ]


def _strongest(why: "Explanation", title: str, reasons: Sequence[Reason]) -> Table:
    columns = [
        Column("what", [each.what for each in reasons], head=""),
        Column("size", [_size(why, each) for each in reasons], signed, "", "number"),
        Column(
            "n_terms", [each.n_terms for each in reasons], _in_terms("({} terms)"), "", "number"
        ),
    ]
    return Table(columns, title=title, is_ranking=True, is_folded=True)


def _size(why: "Explanation", reason: Reason) -> float:
    return float(why.toward(reason.by_class))


def _in_terms(words: str) -> Callable[[int], str]:
    return lambda n: words.format(n) if n > 1 else ""


def _similar_rows(why: "Explanation") -> list[Table]:
    """The sample beside the training rows that it resembles, with differences marked."""
    found = beside(why)
    if found is None:
        return []
    tables = [_beside(found, found.features[:MOST_FEATURES], "Similar training rows")]
    if len(found.features) > MOST_FEATURES:
        title = f"All {len(found.features):,} columns"
        tables.append(_beside(found, found.features, title, is_folded=True))
    return tables


def _beside(
    found: Beside, features: Sequence[Compared], title: str, *, is_folded: bool = False
) -> Table:
    columns = [
        Column("name", [each.name for each in features], head=""),
        Column("own", [each.own for each in features], _value, "this case"),
    ]
    for i, example in enumerate(found.examples):
        values = [each.others[i] for each in features]
        of_class = _class(example.of_class)
        columns.append(Column(str(i), values, _compared, _row(example.label), below=of_class))
    return Table(columns, title=title, level=5, is_folded=is_folded, style="beside")


def _value(text: str) -> str:
    return text or "(empty)"


def _compared(value: tuple[str, bool]) -> Cell:
    text, differs = value
    return Cell(_value(text), "differs" if differs else "same")


def decision_card(why: "Explanation", heading: Sequence[Any], *before: Any) -> Html:
    """Return the card of a decision, with as many reasons as cover most of it."""
    most = min(max(FEWEST, parts_of(why).n_needed), MOST)
    said = as_html(explanation_document(why, most))
    return tag("div", tag("h4", *heading), *before, said, class_="decision")


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


# ---- summaries


def summary_document(found: "ModelSummary") -> Document:
    """The most used features, training rows and rules, and the classes that rounds separate."""
    tables = [features_table(found), examples_table(found), rules_table(found)]
    return [*tables, *_separations(found)]


def features_table(found: "ModelSummary") -> Table:
    """The features, by their use."""
    shares = [each.importance for each in found.features]
    most = max(shares, default=0.0) or 1.0
    columns = [
        Column("name", [each.name for each in found.features], head="feature"),
        Column("importance", shares, percent, "use", "number"),
        Column("bar", [share / most for share in shares], head="", kind="bar", voices=ON_PAGE),
        Column("n_terms", [each.n_terms for each in found.features], str, voices=IN_DATA),
    ]
    return Table(
        columns,
        "features",
        "Features, by their use in the model",
        width=8,
        is_ranking=True,
        n_shown=found.top,
        noun="feature",
        remark=USE,
    )


def examples_table(found: "ModelSummary") -> Table:
    """The training rows that samples are compared with, by their influence."""
    used, wording = found.examples, found.wording
    pulls = [each.pull for each in used]
    most = max(pulls, default=0.0) or 1.0
    rows = [each.row for each in used]
    columns = [
        Column("row", rows, found.rows.name, voices=NOT_ON_PAGE),
        Column("label", [each.label for each in used], _row, "training row", voices=NOT_IN_TEXT),
        Column("of_class", [each.of_class for each in used], _class, "class", voices=NOT_IN_TEXT),
        Column("pull", pulls, "{:.2f}".format, "influence", "number", NOT_ON_PAGE),
        Column(
            "bar", [pull / most for pull in pulls], head="influence", kind="bar", voices=ON_PAGE
        ),
        Column(
            "n_terms", [each.n_terms for each in used], _in_terms("in {} terms"), voices=NOT_ON_PAGE
        ),
        *_by_class(found, [each.by_class for each in used]),
    ]
    chosen = _telling(found)

    def value(f: int) -> Callable[[int], str]:
        values = found.rows.values
        return lambda row: _value(wording.cell(f, float(values[row][f]))) if row in values else ""

    columns += [Column(str(f), rows, value(f), wording.names[f], voices=ON_PAGE) for f in chosen]
    told = (
        "New cases are compared with these rows. Influence: how strongly that changes the scores."
    )
    if 0 < len(chosen) < len(wording.names):
        told += f" Shown are {len(chosen)} of {len(wording.names):,} columns."
    return Table(
        columns,
        "examples",
        "Training rows, by their influence on samples at the same place",
        width=8,
        is_ranking=True,
        n_shown=found.top,
        noun="training row",
        style="examples",
        remark=told,
    )


def _row(label: Any) -> str:
    return f"row {printed(label)}"


def _class(of_class: Any) -> str:
    return "" if of_class is None else printed(of_class)


def _by_class(found: "ModelSummary", outputs: Sequence[Any]) -> list[Column]:
    return [
        Column(f"for {each}", [float(own[k]) for own in outputs], str, voices=IN_DATA)
        for k, each in enumerate(found.class_names)
    ]


def _telling(found: "ModelSummary") -> list[int]:
    """Features whose values are shown: the most important ones or, without trees, the first."""
    if not found.rows.values:
        return []
    names = list(found.wording.names)
    ranked = [names.index(each.name) for each in found.features]
    rest = [f for f in range(len(names)) if f not in set(ranked)]
    return [*ranked, *rest][:MOST_VALUES]


def rules_table(found: "ModelSummary") -> Table:
    """The rules of the trees, by their outputs over the rows that satisfy them."""
    rules = found.rules
    columns = [
        Column("said", rules, partial(_rule, found), voices=IN_TEXT),
        Column("what", [each.what for each in rules], head="rule", voices=NOT_IN_TEXT),
        Column(
            "weight", [each.weight for each in rules], "{:.3g}".format, "", "number", NOT_ON_PAGE
        ),
        Column(
            "class",
            [each.by_class for each in rules],
            found.favoured,
            "in favour of",
            voices=ON_PAGE,
        ),
        Column(
            "share", [each.share for each in rules], percent, "share of rows", "number", NOT_IN_TEXT
        ),
        Column("n_terms", [each.n_terms for each in rules], voices=IN_DATA),
        *_by_class(found, [each.by_class for each in rules]),
    ]
    of_trees = "These are rules of the trees, which are only a part of this model."
    return Table(
        columns,
        "rules",
        "Rules, by their outputs times the share of training rows that satisfy them",
        width=8,
        is_ranking=True,
        is_folded=True,
        n_shown=found.top,
        style="rules",
        remark=of_trees if found.examples else "",
    )


def _rule(found: "ModelSummary", rule: "UsedRule") -> str:
    terms = f", {rule.n_terms} terms" if rule.n_terms > 1 else ""
    told = f"{whole_percent(rule.share)} of rows{terms}"
    return f"{rule.what} → {found.favoured(rule.by_class)} ({told})"


def pairs_table(found: "ModelSummary") -> Table:
    """The pairs of classes that rounds separate, as data."""
    names = ("first_round", "last_round", "classes", "share")
    return Table(
        [
            Column(key, [getattr(pair, key) for pair in found.pairs], voices=IN_DATA)
            for key in names
        ],
        "pairs",
    )


def _separations(found: "ModelSummary") -> list[Block]:
    lines: list[Block] = []
    if found.pairs and found.classes is not None and len(found.classes) > 2:
        spans = sorted({(each.first_round, each.last_round) for each in found.pairs})
        lines.append(Sentence("Pairs of classes separated, by round:"))
        lines += [Sentence(_told_apart(found, span), "inset") for span in spans]
    return [Only(IN_TEXT, lines), pairs_table(found)]


def _told_apart(found: "ModelSummary", span: tuple[int, int]) -> str:
    said = [
        f"{' | '.join(map(printed, each.classes))} {whole_percent(each.share)}"
        for each in found.pairs
        if (each.first_round, each.last_round) == span
    ]
    shown = ", ".join(said[:3]) + (f", {len(said) - 3} more" if len(said) > 3 else "")
    return f"{span[0]}–{span[1]}: {shown}"


TABLES: dict[str, Callable[["ModelSummary"], Table]] = {
    "features": features_table,
    "examples": examples_table,
    "rules": rules_table,
    "pairs": pairs_table,
}
"""Tables of a summary, by name."""
