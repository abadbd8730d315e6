"""Summary of a model: the features, rules and training rows it uses most, and the classes it separates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass
from rebelboost.base.cached import cached_property
from rebelboost.base.distinct import distinct
from rebelboost.base.names import printed
from rebelboost.base.text import Table, counted, framed, joined, percent, whole_percent
from rebelboost.explain.reasons import Rows
from rebelboost.explain.rules import Wording, rule, rule_hashes
from rebelboost.explain.usage import importances, n_testing, pair_use, row_use, rule_use
from rebelboost.model.ensemble import Ensemble, headings
from rebelboost.model.trees import Trees

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class UsedFeature(NamedTuple):
    """A feature that trees split on."""

    name: str
    importance: float
    """Its share of all changes of the scores by splits, averaged over the training samples."""
    n_terms: int
    """Number of trees that split on it."""


class UsedRow(NamedTuple):
    """A training row that samples are compared with."""

    row: int
    """Its number in the training table."""
    label: Any
    """Its label in the index of the training table."""
    of_class: Any
    """Its class."""
    pull: float
    """Summed size of its outputs: its influence on a sample at the same place."""
    by_class: ByClass
    """(K,) sum of its outputs."""
    n_terms: int
    """Number of terms that use it."""


class UsedRule(NamedTuple):
    """The conditions of a leaf."""

    what: str
    """The conditions in words."""
    weight: float
    """Summed size of its outputs, times the share of the training samples that satisfy it."""
    share: float
    """Share of the training samples that satisfy it."""
    by_class: ByClass
    """(K,) sum of its outputs."""
    n_terms: int
    """Number of trees with this rule."""


class Separation(NamedTuple):
    """Two classes that some rounds separate."""

    first_round: int
    last_round: int
    classes: tuple[Any, Any]
    share: float
    """Share of the separation in these rounds. Each round counts for the pair it separates most."""


@dataclass(frozen=True)
class ModelSummary:
    """Summary of a model. Print it, or use `frame` or `table` for numbers and `plot` for a picture."""

    heading: str
    features: tuple[UsedFeature, ...]
    examples: tuple[UsedRow, ...]
    find_rules: Callable[[], tuple[UsedRule, ...]] = field(repr=False)
    """Finds the rules, which takes long for large trees; `rules` does so once, when asked."""
    pairs: tuple[Separation, ...]
    classes: tuple[Any, ...] | None
    rows: Rows
    wording: Wording
    top: int

    @cached_property
    def rules(self) -> tuple[UsedRule, ...]:
        """The rules with the largest outputs, over the rows that satisfy them."""
        return self.find_rules()

    def text(self) -> str:
        """The most used features, rows and rules as text."""
        lines = [self.heading]
        if self.features:
            lines.append("Features, by their use in the model:")
            lines += [
                f"{percent(each.importance):>8}  {each.name}" for each in self.features[: self.top]
            ]
            lines += _and_more(self.features, self.top, "feature")
        if self.examples:
            lines.append("Training rows, by their influence on samples at the same place:")
            lines += [
                f"{each.pull:8.2f}  {self.rows.name(each.row)}{_in_terms(each.n_terms)}"
                for each in self.examples[: self.top]
            ]
            lines += _and_more(self.examples, self.top, "row")
        if self.rules:
            lines.append(
                "Rules, by their outputs times the share of training rows that satisfy them:"
            )
            lines += [
                f"{each.weight:8.3g}  {each.what}{self._speaks(each.by_class)}"
                f" ({whole_percent(each.share)} of rows{_in_terms(each.n_terms, ', ')})"
                for each in self.rules[: self.top]
            ]
        if self.pairs and self.classes is not None and len(self.classes) > 2:
            lines.append("Pairs of classes separated, by round:")
            lines += [self._told_apart(span) for span in self._spans()]
        return "\n".join(lines)

    __str__ = text

    def __repr__(self) -> str:
        return f"ModelSummary({self.heading})"

    def _repr_html_(self) -> str:
        from rebelboost.base.markup import card, tag
        from rebelboost.explain.cards import summary_parts

        return card(tag("h3", self.heading), *summary_parts(self))

    def table(self, of: str = "features") -> Table:
        """Columns by name.

        Parameters
        ----------
        of : {"features", "examples", "rules", "pairs"}, default="features"
            Which table to return.
        """
        tables: dict[str, tuple[Any, tuple[Any, ...]]] = {
            "features": (UsedFeature, self.features),
            "examples": (UsedRow, self.examples),
            "rules": (UsedRule, self.rules),
            "pairs": (Separation, self.pairs),
        }
        if of not in tables:
            raise ValueError(f"there is no table of {of!r}: use one of {', '.join(tables)}")
        kind, records = tables[of]
        names = kind._fields
        columns: Table = {
            name: [getattr(each, name) for each in records] for name in names if name != "by_class"
        }
        if "by_class" in names:
            for k, name in enumerate(self._class_names()):
                columns[f"for {name}"] = [float(each.by_class[k]) for each in records]
        return columns

    def frame(self, of: str = "features") -> Any:
        """The table as a pandas data frame; without pandas, the table itself."""
        return framed(self.table(of))

    def plot(self) -> "list[Axes]":
        """Bar charts of the most used features, training rows and rules, each on its own axes."""
        from rebelboost.explain.plots import plot_summary

        return plot_summary(self)

    def _class_names(self) -> list[str]:
        return ["the prediction"] if self.classes is None else [printed(c) for c in self.classes]

    def _speaks(self, by_class: ByClass) -> str:
        if self.classes is None:
            return " → more" if by_class[0] > 0 else " → less"
        return f" → {self._class_names()[int(np.argmax(by_class))]}"

    def _spans(self) -> list[tuple[int, int]]:
        return sorted({(each.first_round, each.last_round) for each in self.pairs})

    def _told_apart(self, span: tuple[int, int]) -> str:
        said = [
            f"{' | '.join(map(printed, each.classes))} {whole_percent(each.share)}"
            for each in self.pairs
            if (each.first_round, each.last_round) == span
        ]
        shown = ", ".join(said[:3]) + (f", {len(said) - 3} more" if len(said) > 3 else "")
        return f"  {span[0]}–{span[1]}: {shown}"


def _and_more(found: tuple[Any, ...], top: int, what: str) -> list[str]:
    more = len(found) - top
    return [f"          and {more} more {what}{'s' if more > 1 else ''}"] if more > 0 else []


def _in_terms(n_terms: int, before: str = "  in ") -> str:
    return f"{before}{n_terms} terms" if n_terms > 1 else ""


def summarise(
    ensemble: Ensemble, wording: Wording, rows: Rows, classes: tuple[Any, ...] | None, top: int
) -> ModelSummary:
    """Summarise all terms of an ensemble."""
    return ModelSummary(
        _heading(ensemble, classes),
        _features(ensemble, wording),
        _examples(ensemble, rows),
        partial(_rules, ensemble, wording, 10 * top),
        _pairs(ensemble, classes),
        classes,
        rows,
        wording,
        top,
    )


def _heading(ensemble: Ensemble, classes: tuple[Any, ...] | None) -> str:
    parts = headings(ensemble)
    what = "regression" if classes is None else counted(len(classes), "class")
    return f"{joined(parts) if parts else 'No terms'}; {what}"


def _features(ensemble: Ensemble, wording: Wording) -> tuple[UsedFeature, ...]:
    sizes = importances(ensemble, len(wording.names))
    testing = n_testing(ensemble, len(wording.names))
    total = sizes.sum() or 1.0
    order = np.argsort(-sizes, kind="stable")
    return tuple(
        UsedFeature(wording.names[f], float(sizes[f] / total), int(testing[f]))
        for f in order.tolist()
        if testing[f] or sizes[f] > 0
    )


def _examples(ensemble: Ensemble, rows: Rows) -> tuple[UsedRow, ...]:
    used = row_use(ensemble)
    return tuple(
        UsedRow(
            int(used.rows[e]),
            rows.label(int(used.rows[e])),
            rows.classes.get(int(used.rows[e])),
            float(used.sizes[e]),
            used.by_class[e],
            int(used.n_terms[e]),
        )
        for e in np.argsort(-used.sizes, kind="stable").tolist()
    )


def _rules(ensemble: Ensemble, wording: Wording, most: int) -> tuple[UsedRule, ...]:
    for positions, trees in ensemble.of_kind(Trees):
        used = rule_use(trees, positions, rule_hashes(trees, wording))
        place = np.searchsorted(positions, used.terms)
        return tuple(
            UsedRule(
                rule(trees, int(place[r]), int(used.leaves[r]), wording),
                float(used.sizes[r]),
                float(used.shares[r]),
                used.by_class[r],
                int(used.n_terms[r]),
            )
            for r in np.argsort(-used.sizes, kind="stable")[:most].tolist()
        )
    return ()


def _pairs(ensemble: Ensemble, classes: tuple[Any, ...] | None) -> tuple[Separation, ...]:
    """Shares of the class pairs in rounds 1–10, 11–100, 101–1,000 and so on."""
    used = pair_use(ensemble)
    found = []
    first, last = 0, 10
    while classes is not None and first < len(ensemble):
        span = slice(first, min(last, len(ensemble)))
        keys = used.first[span] * len(classes) + used.second[span]
        total = used.distance[span].sum() or 1.0
        own = {
            int(key): used.distance[span][keys == key].sum() / total
            for key in distinct(keys[used.distance[span] > 0])
        }
        found += [
            Separation(
                first + 1,
                span.stop,
                (classes[key // len(classes)], classes[key % len(classes)]),
                float(share),
            )
            for key, share in sorted(own.items(), key=lambda item: -item[1])
        ]
        first, last = last, 10 * last
    return tuple(found)
