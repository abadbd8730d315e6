"""Explanations of decisions: contributions of features, training rows and rules to the scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.findings import Described, Document
from rebelboost.base.names import printed
from rebelboost.base.text import Table, framed
from rebelboost.explain.documents import cards_of, explanation_document
from rebelboost.explain.reasons import Reason, ReasonBuilder, Reasons

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FeatureShare(NamedTuple):
    """Contribution of a feature's value to the scores."""

    name: str
    """Name of the feature."""
    value: Any
    """Its value in the user's table; None if missing."""
    by_class: ByClass
    """(K,) contribution to each class's score."""
    shown: str
    """Text such as "petal length = 4.7"."""


class ExampleShare(NamedTuple):
    """Contribution of a training row to the scores."""

    row: int
    """Its number in the training table."""
    label: Any
    """Its label in the index of the training table."""
    of_class: Any
    """Its class; None if unknown."""
    by_class: ByClass
    """(K,) contribution to each class's score."""
    shown: str
    """Text such as "near row 57 (versicolor)"."""


class ForAndAgainst(NamedTuple):
    """Reasons for and against a class, strongest first."""

    for_: tuple[Reason, ...]
    against: tuple[Reason, ...]


class Priced(NamedTuple):
    """The closed interval of each price over which a decision holds, while the others stay as they are."""

    price: Floats
    """(K, K) present price of deciding b if a is true, price[a, b]."""
    low: Floats
    """(K, K) lowest price; NaN on the diagonal."""
    high: Floats
    """(K, K) highest price; infinite where there is none."""
    reject_cost: float | None = None
    """Price of abstaining; None: the model never abstains."""
    abstaining: tuple[float, float] = (0.0, np.inf)
    """Interval of the price of abstaining."""


class Verdict(NamedTuple):
    """The decision on a sample, and its description."""

    decision: Any
    """Predicted label or number."""
    headline: str
    """Description of the decision."""
    scores: ByClass
    """(K,) H(x); in a regression, the prediction."""
    probabilities: ByClass | None = None
    """(K,) posterior, or None."""
    expected_costs: ByClass | None = None
    """(K,) expected cost of each decision, or None."""
    decided: int | None = None
    """Code of the decided class; if the model abstained, of the cheapest class."""
    rival: int | None = None
    """Code of the other class with the highest score. Reasons compare the decided class with it."""
    prices: Priced | None = None
    """Over which prices the decision holds; None if it does not depend on prices."""


@dataclass(frozen=True, repr=False)
class Explanation(Described):
    """Explanation of the decision on one sample.

    `baseline`, `features`, `examples` and `others` sum to the scores.
    """

    verdict: Verdict
    sample: int
    """Position of the sample in `X`."""
    label: Any
    """Label of the sample in the table's index, or its position."""
    x: Values
    """(d,) values; categories as codes."""
    classes: tuple[Any, ...] | None
    """Class labels; None in a regression."""
    builder: ReasonBuilder
    top: int
    """Number of reasons shown."""

    @property
    def decision(self) -> Any:
        """What `predict` returns."""
        return self.verdict.decision

    @property
    def scores(self) -> ByClass:
        """(K,) H(x); in a regression, the prediction."""
        return self.verdict.scores

    @property
    def probabilities(self) -> ByClass | None:
        """(K,) class probabilities, or None if the scores have none."""
        return self.verdict.probabilities

    @property
    def expected_costs(self) -> ByClass | None:
        """(K,) expected cost of each decision, or None."""
        return self.verdict.expected_costs

    @property
    def prices(self) -> Priced | None:
        """Over which prices the decision holds, or None if it does not depend on prices."""
        return self.verdict.prices

    @property
    def baseline(self) -> ByClass:
        """(K,) part of the scores that is the same for every sample."""
        return self.builder.said.baseline

    @cached_property
    def features(self) -> tuple[FeatureShare, ...]:
        """Contribution of each feature, strongest first; features that contribute nothing are omitted."""
        shares = self.builder.said.features[self.sample]
        wording = self.builder.wording
        return tuple(
            FeatureShare(
                wording.names[f],
                wording.value(f, float(self.x[f])),
                shares[f],
                wording.shown(f, float(self.x[f])),
            )
            for f in self._strongest(shares)
        )

    @cached_property
    def examples(self) -> tuple[ExampleShare, ...]:
        """Contribution of each training row, strongest first."""
        pulls, rows = self.builder.said.pulls[self.sample], self.builder.rows
        return tuple(
            ExampleShare(
                row, rows.label(row), rows.classes.get(row), pulls[e], f"near {rows.name(row)}"
            )
            for e in self._strongest(pulls)
            for row in [int(self.builder.said.rows[e])]
        )

    @cached_property
    def similar(self) -> tuple[ExampleShare, ...]:
        """Training rows that a smooth function compares with, the most similar first.

        They have no contributions of their own: the function's outputs for near rows cancel one another.
        """
        rows, near = self.builder.rows, self.builder.said.near
        found = [np.stack([own, each[self.sample]], axis=1) for own, each in near]
        ranked = sorted(np.concatenate(found).tolist(), key=lambda pair: -pair[1]) if near else []
        nothing = np.zeros_like(self.baseline)
        return tuple(
            ExampleShare(
                row, rows.label(row), rows.classes.get(row), nothing, f"near {rows.name(row)}"
            )
            for row in dict.fromkeys(int(pair[0]) for pair in ranked)
        )

    @cached_property
    def others(self) -> tuple[Reason, ...]:
        """Contributions of wrapped classifiers."""
        return tuple(
            self.reasons.reason(i) for i, kind in enumerate(self.reasons.kinds) if kind == "other"
        )

    @cached_property
    def rules(self) -> tuple[Reason, ...]:
        """The `top` rules of trees with the largest contributions; equal rules are merged."""
        return self._of_kind("rule")

    @cached_property
    def comparisons(self) -> tuple[Reason, ...]:
        """The `top` comparisons with training rows with the largest contributions."""
        return self._of_kind("comparison")

    @cached_property
    def terms(self) -> dict[Any, ForAndAgainst]:
        """For each class (None in a regression), the `top` terms for and against it.

        Adding the same number to all classes decides nothing. The strength of a term for a class is
        therefore what it adds to that class minus the mean of what it adds to the others.
        """
        said = self.reasons.by_class
        names = self.classes if self.classes is not None else (None,)
        found = {}
        for k, name in enumerate(names):
            rest = said.sum(axis=1) - said[:, k]
            beyond = said[:, k] - rest / max(1, len(names) - 1)
            order = np.argsort(-np.abs(beyond), kind="stable")
            spoke = [i for i in order.tolist() if beyond[i] > 0][: self.top]
            against = [i for i in order.tolist() if beyond[i] < 0][: self.top]
            found[name] = ForAndAgainst(
                tuple(map(self.reasons.reason, spoke)), tuple(map(self.reasons.reason, against))
            )
        return found

    def toward(self, by_class: NDArray[Any]) -> Any:
        """Contribution to the lead of the decided class over the next best; (…, K) → (…)."""
        decided, rival = self.verdict.decided or 0, self.verdict.rival
        return by_class[..., decided] - (0.0 if rival is None else by_class[..., rival])

    def document(self) -> Document:
        """The explanation as a document, which `rebelboost.base.findings` renders."""
        return explanation_document(self)

    def __repr__(self) -> str:
        told = self.verdict.headline.split("\n", maxsplit=1)[0]
        return f"Explanation(sample {printed(self.label)}: {told}; print() shows the reasons)"

    def _repr_html_(self) -> str:
        return cards_of([self])

    def table(self) -> Table:
        """All parts of the scores as columns; the columns "for …" sum to the scores."""
        parts: list[tuple[str, str, Any, ByClass]] = [
            ("baseline", "every sample", None, self.baseline)
        ]
        parts += [("feature", each.name, each.value, each.by_class) for each in self.features]
        parts += [
            ("example", f"row {printed(each.label)}", each.of_class, each.by_class)
            for each in self.examples
        ]
        parts += [("other", each.what, None, each.by_class) for each in self.others]
        columns: Table = {
            "kind": [kind for kind, *_ in parts],
            "name": [name for _, name, *_ in parts],
            "value": [value for _, _, value, _ in parts],
        }
        for k, name in enumerate(self.class_names):
            columns[f"for {name}"] = [float(by_class[k]) for *_, by_class in parts]
        return columns

    def frame(self) -> Any:
        """The table as a pandas data frame; without pandas, the table itself."""
        return framed(self.table())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Bar chart of the contributions to the decided class (right) and the next best class (left)."""
        from rebelboost.explain.plots import plot_explanation

        return plot_explanation(self, ax)

    @property
    def class_names(self) -> list[str]:
        """Class labels as text; in a regression, "the prediction"."""
        return ["the prediction"] if self.classes is None else [printed(c) for c in self.classes]

    @cached_property
    def reasons(self) -> Reasons:
        """All rules, comparisons and wrapped classifiers, merged, as arrays."""
        return self.builder.reasons(self.sample)

    def _strongest(self, shares: NDArray[Any]) -> list[int]:
        there = np.flatnonzero(shares.any(axis=1))
        return there[np.argsort(-np.abs(self.toward(shares[there])), kind="stable")].tolist()

    def _of_kind(self, kind: str) -> tuple[Reason, ...]:
        chosen = np.flatnonzero([each == kind for each in self.reasons.kinds])
        strength = np.abs(self.toward(self.reasons.by_class[chosen]))
        order = np.argsort(-strength, kind="stable")[: self.top]
        return tuple(self.reasons.reason(int(i)) for i in chosen[order])


class Explanations(Sequence[Explanation]):
    """Explanations of several samples, as a sequence."""

    def __init__(self, each: Sequence[Explanation]) -> None:
        self._each = tuple(each)

    def __len__(self) -> int:
        return len(self._each)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> "Explanations": ...
    def __getitem__(self, index: int | slice) -> "Explanation | Explanations":
        if isinstance(index, slice):
            return Explanations(self._each[index])
        return self._each[index]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self._each)

    def __repr__(self) -> str:
        return f"Explanations({len(self)} samples; print() shows them, frame() has the numbers)"

    def _repr_html_(self) -> str:
        return cards_of(self)

    def text(self) -> str:
        """All explanations as text, one after the other."""
        return "\n\n".join(f"Sample {printed(each.label)}. {each.text()}" for each in self)

    def __str__(self) -> str:
        return self.text()

    def table(self) -> Table:
        """All tables in one; the first column is the sample."""
        tables = [each.table() for each in self]
        columns: Table = {
            "sample": [e.label for e, t in zip(self, tables, strict=True) for _ in t["kind"]]
        }
        for name in tables[0] if tables else ():
            columns[name] = [value for table in tables for value in table[name]]
        return columns

    def frame(self) -> Any:
        """The table as a pandas data frame; without pandas, the table itself."""
        return framed(self.table())
