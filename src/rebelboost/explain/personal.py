"""Reasons for the person concerned: what counted most against the decision they want, and what would change it.

The reasons are contributions to the scores, which are exact: the parts sum to the score. In probability points,
a reason is the difference that it makes alone: the probability of the wanted class if this contribution were
0, which is that of an average training row, less the probability as it is. Points do not sum to the whole
difference, as probabilities are not sums.

Where costs depend on a column, such as an amount, the column also acts through the cost. That is told apart.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Values
from rebelboost.base.findings import (
    IN_DATA,
    IN_TEXT,
    ON_PAGE,
    Column,
    Described,
    Document,
    Only,
    Sentence,
    Table,
)
from rebelboost.base.names import listed, printed
from rebelboost.base.text import joined, number, probability, signed
from rebelboost.explain.explanation import Explanation
from rebelboost.explain.nearest import Moved, Search, crossings, whole_ends
from rebelboost.explain.parts import parts_of
from rebelboost.explain.rules import Wording
from rebelboost.explain.shares import contributions
from rebelboost.model.fitted import FittedClassifier

PEOPLE = ON_PAGE | IN_TEXT
LARGE = 1e6
"""Numbers from here on are written with more digits in changes, so that they are among those that suffice."""
SMALL = 1e-9
"""Contributions to an expected cost below this share of it are rounding errors."""


class Code(NamedTuple):
    """How an organisation calls a column as a reason."""

    code: str
    sentence: str


class PersonalReason(NamedTuple):
    """A reason against the wanted decision."""

    what: str
    """The fact: "income = 2,100"."""
    column: str | None
    """Its column; None for similar training rows and wrapped classifiers."""
    code: Code
    """The organisation's code and sentence; empty if the file has none for the column."""
    score: float
    """What it adds to the lead of the decision over the wanted one, in scores."""
    points: float
    """How much more probable the wanted class would be without it, from −1 to 1."""


class ColumnChange(NamedTuple):
    """A column in a change that leads to another decision."""

    column: str
    before: Any
    """The present value; None if it is missing."""
    after: Any
    """One of the values that lead to the other decision."""
    text: str
    """Such as "income from 2,100 to 2,450 or more"."""


class DecisionChange(NamedTuple):
    """A change of some columns that leads to another decision."""

    columns: tuple[ColumnChange, ...]
    decision: Any
    """The decision that it leads to."""
    distance: float
    """Its size: the sum of the columns' changes, each in units of the column's spread."""
    is_smallest: bool
    """Whether it is known that no change of so many columns is smaller."""

    @property
    def text(self) -> str:
        """The change in words."""
        return joined([each.text for each in self.columns])


@dataclass(frozen=True, repr=False)
class PersonalReasons(Described):
    """Reasons against the decision that a person wants, and the smallest changes that would lead to it."""

    label: Any
    """Label of the sample in the table's index, or its position."""
    decision: Any
    wanted: Any
    """The decision that the reasons are against."""
    probability: float
    """Probability of the wanted class."""
    reasons: tuple[PersonalReason, ...]
    """The principal reasons, strongest first; none if the wanted decision was made."""
    through_costs: tuple[str, ...]
    """What columns do through the costs, in words."""
    changes: tuple[DecisionChange, ...]
    """The smallest change of one column; of two, if that is smaller; and so on."""
    is_made: bool
    """Whether the wanted decision was made."""
    searched: str
    """What was searched for changes, in words; empty: nothing."""

    def document(self) -> Document:
        """The reasons as a document, which `rebelboost.base.findings` renders."""
        wanted = printed(self.wanted)
        told = f"Decided: {printed(self.decision)}. "
        told += f"Probability of {wanted}: {probability(self.probability)}."
        facts = Only(IN_DATA, [_facts(self)])
        if self.is_made:
            return [Sentence(f"{told} This is the decision that was wanted."), facts]
        return [
            Sentence(told),
            _reason_table(self.reasons, wanted),
            *(Sentence(each) for each in self.through_costs),
            *self._told_changes(wanted),
            facts,
        ]

    def _told_changes(self, wanted: str) -> Document:
        if not self.searched:
            return []
        if not self.changes:
            return [Sentence(f"{self.searched} leads to {wanted}.")]
        return [_change_table(self.changes, wanted)]

    def __repr__(self) -> str:
        return (
            f"PersonalReasons(sample {printed(self.label)}: {len(self.reasons)} reasons against "
            f"{printed(self.wanted)}; print() shows them)"
        )


def _facts(found: PersonalReasons) -> Table:
    values = (found.label, found.decision, found.wanted, found.probability)
    named = zip(("label", "decision", "wanted", "probability"), values, strict=True)
    return Table([Column(key, [value]) for key, value in named], "facts")


def _reason_table(reasons: Sequence[PersonalReason], wanted: str) -> Table:
    columns = [
        Column("reason", reasons, _said, voices=PEOPLE),
        Column("code", [each.code.code for each in reasons], voices=IN_DATA),
        Column("sentence", [each.code.sentence for each in reasons], voices=IN_DATA),
        Column("what", [each.what for each in reasons], voices=IN_DATA),
        Column("column", [each.column for each in reasons], voices=IN_DATA),
        Column("score", [each.score for each in reasons], signed, "score", "number"),
        Column("points", [each.points for each in reasons], _points, f"makes {wanted}", "number"),
    ]
    title = f"Principal reasons against {wanted}, and the difference that each makes alone"
    return Table(columns, "reasons", title)


def _said(reason: PersonalReason) -> str:
    code, sentence = reason.code
    said = f"{sentence} ({reason.what})" if sentence else reason.what
    return f"{code}: {said}" if code else said


def _points(points: float) -> str:
    size = f"{abs(100 * points):.1f} points"
    return f"{size} less likely" if points >= 0 else f"{size} more likely"


def _change_table(changes: Sequence[DecisionChange], wanted: str) -> Table:
    columns = [
        Column("text", [each.text for each in changes], head="change"),
        Column("decision", [each.decision for each in changes], head="decision"),
        Column("distance", [each.distance for each in changes], number, "spreads", "number"),
        Column("is_smallest", [each.is_smallest for each in changes], voices=IN_DATA),
    ]
    which = (
        "Smallest changes" if changes[0].is_smallest else "Changes found (smaller ones may exist)"
    )
    return Table(columns, "changes", f"{which} that lead to {wanted}, all else being equal")


# ---- reasons


def personal_reasons(
    model: FittedClassifier,
    why: Explanation,
    wanted: int,
    k: int,
    codes: Mapping[str, Code],
) -> PersonalReasons:
    """The principal reasons against a decision; `why` explains the sample."""
    verdict = why.verdict
    assert verdict.probabilities is not None
    assert verdict.decided is not None
    is_made = verdict.decision == model.class_names[wanted]
    against = verdict.decided
    if against == wanted:  # abstained, or the wanted decision
        against = int(
            np.argmax(np.where(np.arange(len(why.scores)) == wanted, -np.inf, why.scores))
        )
    seen = replace(why, verdict=verdict._replace(decided=against, rival=wanted))
    found = [] if is_made else _strongest(model, seen, wanted, codes)[:k]
    told = (
        ()
        if is_made
        else tuple(_through_columns(model, why) + _through_learned(model, why, wanted))
    )
    return PersonalReasons(
        why.label,
        verdict.decision,
        model.class_names[wanted],
        float(verdict.probabilities[wanted]),
        tuple(found),
        told,
        (),
        is_made,
        "",
    )


def _strongest(
    model: FittedClassifier, why: Explanation, wanted: int, codes: Mapping[str, Code]
) -> list[PersonalReason]:
    """The reasons against a decision, strongest first."""
    none = Code("", "")
    parts: list[tuple[str, str | None, ByClass]] = [
        (each.shown, each.name, each.by_class) for each in why.features
    ]
    rows = [
        part
        for part in parts_of(why, len(why.features) + len(why.examples)).shown
        if part.kind == "rows"
    ]
    parts += [
        (part.what, None, np.sum([e.by_class for e in part.examples], axis=0)) for part in rows
    ]
    parts += [(each.what, None, each.by_class) for each in why.others]
    parts = [part for part in parts if float(why.toward(part[2])) > 0]
    if not parts:
        return []
    without = model.posterior(why.scores - np.array([by_class for *_, by_class in parts]))
    now = float(model.posterior(why.scores[np.newaxis])[0, wanted])
    found = [
        PersonalReason(what, column, codes.get(column or "", none), float(why.toward(by_class)), float(p) - now)
        for (what, column, by_class), p in zip(parts, without[:, wanted], strict=True)
    ]  # fmt: skip
    return sorted(found, key=lambda reason: -reason.score)


def _through_columns(model: FittedClassifier, why: Explanation) -> list[str]:
    """Over which values of each column that holds a cost the decision stays, with these probabilities."""
    if model.columns is None:
        return []
    x, wording = np.asarray(why.x, dtype=np.float64), why.builder.wording
    said = []
    for feature in dict.fromkeys(cell.feature for cell in model.columns.cells):
        low, high = _price_interval(model, x, why.scores, feature)
        if low <= 0 and not math.isfinite(high):
            continue
        ends = [f"below {wording.number(feature, low)}"] if low > 0 else []
        ends += [f"above {wording.number(feature, high)}"] if math.isfinite(high) else []
        said.append(
            f"Through the costs: {wording.shown(feature, float(x[feature]))} is also what a mistake costs. "
            f"With the same probabilities, the decision would be another one {' or '.join(ends)}."
        )
    return said


def _price_interval(
    model: FittedClassifier, x: Values, scores: ByClass, feature: int
) -> tuple[float, float]:
    """The values of a column that holds costs over which the decision stays, at the same probabilities."""
    own = model.costs_of(x[np.newaxis, :])
    ends = [0.0, *(p for p in crossings(model, own[0], scores, feature) if p > 0), math.inf]
    inner = [
        (low + high) / 2 if math.isfinite(high) else 2 * low + 1 for low, high in pairwise(ends)
    ]
    samples: Floats = np.tile(x, (len(inner), 1)).astype(np.float64)
    samples[:, feature] = inner
    many = np.tile(scores, (len(inner), 1))
    costs = model.costs_of(samples)
    labels = model.labels(many, costs)
    at = int(np.clip(np.searchsorted(ends, x[feature], side="right") - 1, 0, len(inner) - 1))
    first = last = at
    while first > 0 and labels[first - 1] == labels[at]:
        first -= 1
    while last + 1 < len(inner) and labels[last + 1] == labels[at]:
        last += 1
    return ends[first], ends[last + 1]


def _through_learned(model: FittedClassifier, why: Explanation, wanted: int) -> list[str]:
    """What columns add to the expected cost of the wanted decision, through costs that were learned."""
    if model.learned is None or why.verdict.expected_costs is None:
        return []
    x, d = np.asarray(why.x, dtype=np.float64)[np.newaxis], model.n_features
    posterior = model.posterior(why.scores[np.newaxis])[0]
    added = np.zeros(d)
    for cell in model.learned.cells:
        parts: Floats = contributions(cell.ensemble, x).features[0, :, 0]
        factor = posterior[cell.true]
        if cell.decided < 0:
            added += factor * model.costs[cell.true, wanted] * parts
        elif cell.decided == wanted:
            added += factor * parts
    wording, whole = why.builder.wording, float(why.verdict.expected_costs[wanted])
    strongest = np.argsort(-added, kind="stable")[:2].tolist()
    name = printed(model.class_names[wanted])
    return [
        f"Through the costs: {wording.shown(f, float(x[0, f]))} adds {number(added[f])} to the expected cost "
        f"of {name}, which is {number(whole)}."
        for f in strongest
        if added[f] > SMALL * max(whole, 1e-300)
    ]


# ---- changes


def decision_changes(
    search: Search, x: Values, wanted: Sequence[int], wording: Wording
) -> tuple[DecisionChange, ...]:
    """The smallest changes of a sample that lead to one of these decisions, in words."""
    names = search.model.class_names
    return tuple(
        DecisionChange(
            tuple(_column_change(search, x, moved, wording) for moved in change.moved),
            names[change.decided],
            change.distance,
            search.is_exact,
        )
        for change in search.changes(x, wanted)
    )


def _column_change(search: Search, x: Values, moved: Moved, wording: Wording) -> ColumnChange:
    f, now = moved.feature, float(x[moved.feature])
    before, after = wording.value(f, now), wording.value(f, moved.value)
    start = "missing" if before is None else wording.cell(f, now)
    text = f"{wording.names[f]} from {start} to {_ends(search, moved, now, wording)}"
    return ColumnChange(wording.names[f], before, after, text)


def _ends(search: Search, moved: Moved, now: float, wording: Wording) -> str:
    """The values that a column can change to: "2,450 or more", "more than 2.5, up to 3"."""
    f, low, high = moved.feature, moved.low, moved.high

    def said(value: float) -> str:
        return wording.number(f, value) if abs(value) < LARGE else f"{value:.12g}"

    if f in wording.levels:
        return wording.cell(f, moved.value)
    is_whole = search.spreads.is_whole(f)
    if is_whole and not math.isnan(low):
        low, high = whole_ends(low, high)
    if math.isnan(low) or low == high:
        return said(moved.value)
    if math.isinf(low) and math.isinf(high):
        return "any number"
    is_up = math.isfinite(low) and (low >= now or math.isnan(now))
    least = f"{said(low)} or more" if is_whole else f"more than {said(low)}"
    if is_up:
        return f"{least}, up to {said(high)}" if math.isfinite(high) else least
    rest = f", down to {said(low)}" if is_whole else f", but more than {said(low)}"
    return f"{said(high)} or less{rest if math.isfinite(low) else ''}"


def searched_words(search: Search, wording: Wording) -> str:
    """What was searched: "No change of one or two columns"."""
    most = min(search.most if search.is_exact else 1, max(1, len(search.free)))
    how_many = ("one column", "one or two columns", "one to three columns")[most - 1]
    fixed = [name for f, name in enumerate(wording.names) if f not in search.free]
    kept = f" (with {listed(fixed)} as it is)" if fixed else ""
    if search.is_exact:
        return f"No change of {how_many}{kept}"
    return f"No change of {how_many}{kept} that was tried"
