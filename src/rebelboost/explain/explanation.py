"""Reasons of decisions: which features, training rows and rules spoke for a class, and which against."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Values
from rebelboost.base.names import printed
from rebelboost.base.text import Table, framed
from rebelboost.explain.reasons import Reason, Speaker, Voices

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FeatureShare(NamedTuple):
    """What the value of a feature added to the scores."""

    name: str
    value: Any
    """As the user calls it; None where it is missing."""
    by_class: ByClass
    shown: str
    """Such as "petal length = 4.7"."""


class ExampleShare(NamedTuple):
    """How a training row pulled."""

    row: int
    """Its number in the table that the model was fitted to."""
    label: Any
    """What the index of that table calls it."""
    of_class: Any
    """Its class; None where that is not known."""
    by_class: ByClass
    shown: str


class ForAndAgainst(NamedTuple):
    """What spoke for a class, and what against it, the strongest first."""

    for_: tuple[Reason, ...]
    against: tuple[Reason, ...]


class Verdict(NamedTuple):
    """What was decided of a sample, and how that reads."""

    decision: Any
    headline: str
    scores: ByClass
    """(K,) H(x); of a regression, what is predicted."""
    probabilities: ByClass | None = None
    expected_costs: ByClass | None = None
    decided: int | None = None
    """Code of the decided class (of the cheapest one, where the decision was to abstain)."""
    rival: int | None = None
    """Code of the class with the highest score but that one: what reasons weigh it against."""


@dataclass(frozen=True)
class Explanation:
    """Why a sample was decided as it was. `baseline`, `features`, `examples` and `others` sum to the scores."""

    verdict: Verdict
    sample: int
    label: Any
    """What the index of the table calls the sample, else its number."""
    x: Values
    """(d,) values, categories as codes."""
    classes: tuple[Any, ...] | None
    """None in a regression."""
    speaker: Speaker
    top: int

    @property
    def decision(self) -> Any:
        """What `predict` returns."""
        return self.verdict.decision

    @property
    def scores(self) -> ByClass:
        """(K,) H(x); of a regression, the prediction."""
        return self.verdict.scores

    @property
    def probabilities(self) -> ByClass | None:
        """(K,), where the scores can be decoded."""
        return self.verdict.probabilities

    @property
    def expected_costs(self) -> ByClass | None:
        """(K,) of each decision."""
        return self.verdict.expected_costs

    @property
    def baseline(self) -> ByClass:
        """(K,) what the model says of every sample; in a regression, of an average one."""
        return self.speaker.said.baseline

    @cached_property
    def features(self) -> tuple[FeatureShare, ...]:
        """What each feature added, the strongest first; those that added nothing are left out."""
        shares = self.speaker.said.features[self.sample]
        wording = self.speaker.wording
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
        """How each training row pulled, the strongest first."""
        pulls, rows = self.speaker.said.pulls[self.sample], self.speaker.rows
        return tuple(
            ExampleShare(
                row, rows.label(row), rows.classes.get(row), pulls[e], f"near {rows.name(row)}"
            )
            for e in self._strongest(pulls)
            for row in [int(self.speaker.said.rows[e])]
        )

    @cached_property
    def others(self) -> tuple[Reason, ...]:
        """What classifiers of other libraries added."""
        return tuple(
            self._voices.reason(i) for i, kind in enumerate(self._voices.kinds) if kind == "other"
        )

    @cached_property
    def rules(self) -> tuple[Reason, ...]:
        """The `top` rules of trees that the sample passed and that weighed most; equal ones as one."""
        return self._of_kind("rule")

    @cached_property
    def comparisons(self) -> tuple[Reason, ...]:
        """The `top` comparisons of two training rows that weighed most."""
        return self._of_kind("comparison")

    @cached_property
    def terms(self) -> dict[Any, ForAndAgainst]:
        """For each class (in a regression, for None) the `top` terms for and against it.

        What a term adds to all classes alike decides nothing: for a class speaks what it adds to
        that one beyond the mean of the others.
        """
        said = self._voices.by_class
        names = self.classes if self.classes is not None else (None,)
        found = {}
        for k, name in enumerate(names):
            rest = said.sum(axis=1) - said[:, k]
            beyond = said[:, k] - rest / max(1, len(names) - 1)
            order = np.argsort(-np.abs(beyond), kind="stable")
            spoke = [i for i in order.tolist() if beyond[i] > 0][: self.top]
            against = [i for i in order.tolist() if beyond[i] < 0][: self.top]
            found[name] = ForAndAgainst(
                tuple(map(self._voices.reason, spoke)), tuple(map(self._voices.reason, against))
            )
        return found

    def toward(self, by_class: NDArray[Any]) -> Any:
        """How much something adds to the lead of the decided class over the next best; (…, K) → (…)."""
        decided, rival = self.verdict.decided or 0, self.verdict.rival
        return by_class[..., decided] - (0.0 if rival is None else by_class[..., rival])

    def text(self) -> str:
        """The reasons as a person wants to read them."""
        from rebelboost.explain.text import explanation_text

        return explanation_text(self)

    __str__ = text

    def table(self) -> Table:
        """Columns by name: every part of the scores, which its columns "for …" sum to."""
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
        """The table as a pandas data frame, where pandas is installed."""
        return framed(self.table())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Bars of what spoke for the decision (right) and for the next best class (left)."""
        from rebelboost.explain.plots import plot_explanation

        return plot_explanation(self, ax)

    @property
    def class_names(self) -> list[str]:
        """Classes as text; of a regression, "the prediction"."""
        return ["the prediction"] if self.classes is None else [printed(c) for c in self.classes]

    @cached_property
    def _voices(self) -> Voices:
        return self.speaker.voices(self.sample)

    def _strongest(self, shares: NDArray[Any]) -> list[int]:
        there = np.flatnonzero(shares.any(axis=1))
        return there[np.argsort(-np.abs(self.toward(shares[there])), kind="stable")].tolist()

    def _of_kind(self, kind: str) -> tuple[Reason, ...]:
        chosen = np.flatnonzero([each == kind for each in self._voices.kinds])
        strength = np.abs(self.toward(self._voices.by_class[chosen]))
        order = np.argsort(-strength, kind="stable")[: self.top]
        return tuple(self._voices.reason(int(i)) for i in chosen[order])


class Explanations(Sequence[Explanation]):
    """One explanation for each sample."""

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
        return f"Explanations({len(self)} samples; print(…) reads them, frame() has the numbers)"

    def text(self) -> str:
        """All of them, one after the other."""
        return "\n\n".join(f"Sample {printed(each.label)}. {each.text()}" for each in self)

    def __str__(self) -> str:
        return self.text()

    def table(self) -> Table:
        """All tables as one, with the sample in the first column."""
        tables = [each.table() for each in self]
        columns: Table = {
            "sample": [e.label for e, t in zip(self, tables, strict=True) for _ in t["kind"]]
        }
        for name in tables[0] if tables else ():
            columns[name] = [value for table in tables for value in table[name]]
        return columns

    def frame(self) -> Any:
        """The table as a pandas data frame, where pandas is installed."""
        return framed(self.table())
