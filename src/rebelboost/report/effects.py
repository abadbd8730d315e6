"""The section on curves: how the probabilities change with the leading features."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rebelboost.base.markup import Html, bar, join_html, name, note, quoted, section, table, tag
from rebelboost.base.text import counted, number, whole_percent
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.validation import threads_of
from rebelboost.explain.curves import Curve, curve, leading_features
from rebelboost.explain.explain import wording_of
from rebelboost.explain.rules import SHOWN_AS
from rebelboost.report.charts import Axis, Chart, across, upward
from rebelboost.report.subject import Subject

N_CURVES = 6
MOST_CLASSES = 5
"""Maximum number of classes in a chart: those whose probability changes most."""
MOST_LEVELS = 12
"""Maximum number of categories listed: the most frequent ones."""
COLOURS = ("one", "two", "three", "four", "five")
EARLIEST_YEAR, LATEST_YEAR = 1800, 2100
"""Numbers that all lie between these are taken for years."""
MEANING = (
    " if every row had the value on the horizontal axis and kept its other values. Grey bars: number of rows "
    "with such values; where there are few, the curve is uncertain. The curves describe the model. They do "
    "not prove that changing a value would change the outcome."
)


def effects(subject: Subject) -> Html | None:
    """Return the section on curves, or None if there is nothing to draw."""
    model = subject.clf.model_
    if subject.is_precomputed or subject.is_constant or len(model.ensemble) == 0:
        return None
    X = np.asarray(encode_table(subject.clf, subject.X), dtype=np.float64)
    n_threads = threads_of(subject.clf.n_jobs)
    wording = wording_of(model, subject.clf.metadata_)
    features = _helping(subject) or leading_features(model, X, N_CURVES, n_threads)
    curves = [curve(model, X, f, wording, n_threads) for f in features]
    curves = [each for each in curves if len(each.values) > 1]
    if not curves:
        return None
    drawer = _Drawer(subject, curves, wording.kinds)
    return section(
        "How does each feature change the result?",
        tag("div", *map(drawer.draw, curves), class_="figures"),
        note(_exactness(curves)),
        lead=_lead(subject),
    )


def _helping(subject: Subject) -> list[int]:
    """The features that help most on held-out rows; none if this is unknown."""
    places = {each: f for f, each in enumerate(subject.clf.model_.shown_names)}
    helpful = [each.name for each in subject.importance or () if each.helps]
    return [places[each] for each in helpful if each in places][:N_CURVES]


def _lead(subject: Subject) -> Html:
    if subject.predicts_numbers:
        target = subject.data.get("target")
        said: list[Any] = ["prediction of ", name(target)] if target else ["prediction"]
        return join_html(["The average ", *said, MEANING])
    code = subject.positive
    what: list[Any] = ["average probability of each class"]
    if code is not None:
        what = ["average probability of ", quoted(subject.classes[code])]
        target = subject.data.get("target")
        what += [" (", name(target), ")"] if target else []
    return join_html(["The ", *what, MEANING])


def _exactness(curves: Sequence[Curve]) -> str:
    additive = [each.name for each in curves if each.exact]
    if len(additive) == len(curves):
        return (
            "These features act independently of each other in this model: each adds the same to the "
            "score of every row, so the shape of the curves is exact."
        )
    text = (
        "The curves are averages (partial dependence): in this model, the effect of a feature depends "
        "on the other features, so it differs from row to row."
    )
    if additive:
        text += f" Exact, because they act on their own: {', '.join(additive)}."
    return text


class _Drawer:
    """Draws curves with the same vertical axis, so that effects can be compared."""

    def __init__(self, subject: Subject, curves: Sequence[Curve], kinds: Any) -> None:
        self.classes = subject.classes
        self.code = 0 if subject.predicts_numbers else subject.positive
        self.told: Callable[[float], str] = _number if subject.predicts_numbers else whole_percent
        self.kinds = kinds
        self.x_texts: dict[int, Callable[[float], str]] = {
            f: SHOWN_AS[kind] for f, kind in kinds.items()
        }
        # The same classes in every chart, so that each has one colour.
        changes = np.sum([np.ptp(each.outcome, axis=0) for each in curves], axis=0)
        self.codes = np.sort(np.argsort(-changes, kind="stable")[:MOST_CLASSES])
        if self.code is not None:
            self.codes = np.array([self.code])
        drawn = np.concatenate([each.outcome[:, self.codes].ravel() for each in curves])
        low, high = float(drawn.min()), float(drawn.max())
        if subject.predicts_numbers:
            low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
        else:
            low, high = np.floor(10 * low - 0.01) / 10, np.ceil(10 * high + 0.01) / 10
            low, high = max(0.0, low), min(1.0, high)
        self.y: Axis = upward(low, high)
        self.floor = low if subject.predicts_numbers else 0.0
        """Where the bars of categories begin."""

    def draw(self, each: Curve) -> Html:
        return self._levels(each) if each.is_category else self._line(each)

    def _missing(self, each: Curve) -> str:
        if each.missing is None:
            return ""
        said = ", ".join(
            (f"{self.classes[k]} " if self.code is None else "") + self.told(each.missing[k])
            for k in self.codes.tolist()
        )
        return f"Missing in {counted(each.n_missing, 'row')}: {said}."

    def _line(self, each: Curve) -> Html:
        x = across(float(each.values[0]), float(each.values[-1]))
        chart = Chart(x, self.y, self._missing(each), f"Average outcome by {each.name}")
        edges, counts = each.edges, each.counts
        if edges is None:
            # Bars around the values, as wide as the smallest gap allows.
            half = 0.3 * float(np.diff(each.values).min())
            edges = np.stack([each.values - half, each.values + half], axis=1).ravel()
            counts = np.stack([counts, np.zeros_like(counts)], axis=1).ravel()[:-1]
        chart.bars(edges.tolist(), counts.tolist(), [f"{n:,} rows" for n in counts.tolist()])
        for colour, k in zip(COLOURS, self.codes.tolist(), strict=False):
            label = self.classes[k] if self.code is None else None
            chart.line(each.values, each.outcome[:, k], colour, label)
            if each.exact and each.edges is not None:
                continue  # steps need no dots
            for value, shown, outcome in zip(
                each.values, each.labels, each.outcome[:, k].tolist(), strict=True
            ):
                hint = f"{shown}: {self.told(outcome)}"
                chart.point(float(value), outcome, colour, 3.2 if each.edges is None else 2, hint)
        default = _year if _is_year(x) else partial(number, digits=4)
        x_text = self.x_texts.get(each.feature, default)
        drawn = chart.draw("", "", self.told, x_text)
        return tag("div", tag("h4", name(each.name)), drawn, class_="effect")

    def _levels(self, each: Curve) -> Html:
        order = np.argsort(-each.counts, kind="stable")[:MOST_LEVELS]
        chosen = self.codes.tolist()
        if self.code is not None:  # by probability: easier to read than by name
            order = order[np.argsort(-each.outcome[order, self.code], kind="stable")]
        low, length = self.floor, self.y.high - self.floor

        def row(i: int) -> list[Any]:
            said = [self.told(each.outcome[i, k]) for k in chosen]
            bars = [bar((each.outcome[i, chosen[0]] - low) / length)] * (self.code is not None)
            return [name(each.labels[i]), *said, *bars, f"{each.counts[i]:,}"]

        heads: list[Any] = [name(self.classes[k]) for k in chosen] if self.classes else ["mean"]
        heads += [""] if self.code is not None else []
        rest = len(each.values) - len(order)
        return tag(
            "div",
            tag("h4", name(each.name)),
            table(["", *heads, "rows"], [row(i) for i in order.tolist()]),
            note(f"And {rest:,} rarer categories.") if rest else None,
            note(self._missing(each)) if each.missing is not None else None,
            class_="effect",
        )


def _is_year(x: Axis) -> bool:
    """Whether the values look like years, which have no separator of thousands."""
    return x.low >= EARLIEST_YEAR and x.high <= LATEST_YEAR


def _year(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else ""


def _number(value: float) -> str:
    return number(value, 3)
