"""Summary of a model: the features, rules and training rows it uses most, and the classes it separates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass
from rebelboost.base.cached import cached_property
from rebelboost.base.findings import Described, Document, Heading, columns_of
from rebelboost.base.hashing import distinct
from rebelboost.base.names import printed
from rebelboost.base.text import Table, counted, framed, joined
from rebelboost.explain.documents import TABLES, summary_document
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
class ModelSummary(Described):
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

    def document(self) -> Document:
        """The summary as a document, which `rebelboost.base.findings` renders."""
        return [Heading(self.heading), *summary_document(self)]

    def __repr__(self) -> str:
        return f"ModelSummary({self.heading})"

    def table(self, of: str = "features") -> Table:
        """Columns by name.

        Parameters
        ----------
        of : {"features", "examples", "rules", "pairs"}, default="features"
            Which table to return.
        """
        if of not in TABLES:
            raise ValueError(f"there is no table of {of!r}: use one of {', '.join(TABLES)}")
        return columns_of(TABLES[of](self))

    def frame(self, of: str = "features") -> Any:
        """The table as a pandas data frame; without pandas, the table itself."""
        return framed(self.table(of))

    def plot(self) -> "list[Axes]":
        """Bar charts of the most used features, training rows and rules, each on its own axes."""
        from rebelboost.explain.plots import plot_summary

        return plot_summary(self)

    @property
    def class_names(self) -> list[str]:
        """Class labels as text; in a regression, "the prediction"."""
        return ["the prediction"] if self.classes is None else [printed(c) for c in self.classes]

    def favoured(self, by_class: ByClass) -> str:
        """The class that outputs speak for; in a regression "more" or "less"."""
        if self.classes is None:
            return "more" if by_class[0] > 0 else "less"
        return self.class_names[int(np.argmax(by_class))]


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
