"""Reasons: terms with the same statement, merged. These are equal rules, and comparisons of the same rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Outputs, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.names import printed
from rebelboost.explain.rules import RuleHashes, Wording, rule, rule_hashes
from rebelboost.explain.shares import Contributions
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.shares import FAR, ComparisonVotes, RowVotes, RuleVotes


class Reason(NamedTuple):
    """A rule, comparison or wrapped classifier, and its contribution to the scores."""

    what: str
    """The statement in words."""
    by_class: ByClass
    """(K,) contribution to the scores."""
    n_terms: int
    """Number of terms with this statement."""
    kind: str
    """One of "rule", "comparison" and "other"."""


@dataclass(frozen=True)
class Reasons:
    """All reasons of a sample as arrays. Their texts are made on demand."""

    by_class: Outputs
    """(V, K) contributions."""
    n_terms: Ints
    """(V,) number of terms of each reason."""
    kinds: tuple[str, ...]
    """Kind of each reason."""
    words: tuple[Callable[[], str], ...]
    """Function that returns the text of each reason."""

    def reason(self, i: int) -> Reason:
        """The i-th reason, with its text."""
        return Reason(self.words[i](), self.by_class[i], int(self.n_terms[i]), self.kinds[i])


@dataclass(frozen=True)
class Rows:
    """Names and classes of training rows."""

    labels: Mapping[int, Any]
    """Row → label in the user's index. Other rows are called by their numbers."""
    classes: Mapping[int, Any]
    """Row → its class."""
    values: Mapping[int, Values] = field(default_factory=dict)
    """Row → (d,) its encoded values, if the model keeps them."""

    def label(self, row: int) -> Any:
        """Label of a row, or its number."""
        return self.labels.get(row, row)

    def name(self, row: int) -> str:
        """Name such as "row 57 (versicolor)"."""
        name = f"row {printed(self.label(row))}"
        return f"{name} ({printed(self.classes[row])})" if row in self.classes else name


@dataclass(frozen=True)
class ReasonBuilder:
    """Creates the reasons of each sample from the contributions of the terms."""

    ensemble: Ensemble
    said: Contributions
    wording: Wording
    rows: Rows

    def reasons(self, sample: int) -> Reasons:
        """All reasons of a sample."""
        parts = []
        if self.said.comparisons:
            parts.append(self._of_comparisons(self.said.comparisons, sample))
        if self.said.rules is not None:
            parts.append(self._of_rules(self.said.rules, sample))
        undivided = {"other": self.said.others, "function": self.said.functions}
        parts += [
            Reasons(scores[[sample]], np.array([self._n_others(name)]), (kind,), (name.__str__,))
            for kind, named in undivided.items()
            for name, scores in named.items()
        ]
        if not parts:
            return Reasons(np.empty((0, self.ensemble.n_classes)), np.empty(0, np.int64), (), ())
        return Reasons(
            np.concatenate([part.by_class for part in parts]),
            np.concatenate([part.n_terms for part in parts]),
            tuple(kind for part in parts for kind in part.kinds),
            tuple(words for part in parts for words in part.words),
        )

    def _n_others(self, name: str) -> int:
        return sum(
            terms.take(np.array([t])).describe() == name
            for _, terms in self.ensemble.groups
            if not terms.makes_statements
            for t in range(len(terms))
        )

    @cached_property
    def _hashes(self) -> RuleHashes | None:
        votes = self.said.rules
        return None if votes is None else rule_hashes(votes.trees, self.wording)

    def _of_rules(self, votes: RuleVotes, sample: int) -> Reasons:
        assert self._hashes is not None
        leaves = votes.leaves[sample]
        keys = self._hashes.of(np.arange(len(leaves)), leaves)
        first, sums, counts = summed(keys, votes.said(sample))

        def words(t: int) -> Callable[[], str]:
            return lambda: rule(votes.trees, t, int(leaves[t]), self.wording)

        said = (keys[first] != 0) & sums.any(
            axis=1
        )  # without conditions it is part of the baseline
        chosen = first[said].tolist()
        return Reasons(
            sums[said], counts[said], ("rule",) * len(chosen), tuple(words(t) for t in chosen)
        )

    def _of_comparisons(self, votes: Sequence[ComparisonVotes | RowVotes], sample: int) -> Reasons:
        """Comparisons of the same rows are merged across fits, whichever row is the anchor."""
        pairs = np.concatenate([each.pairs(sample) for each in votes])
        keys = pairs[:, 0] * (pairs.max() + 3) + pairs[:, 1] + 2
        first, sums, counts = summed(keys, np.concatenate([each.said(sample) for each in votes]))

        def words(nearer: int, other: int) -> Callable[[], str]:
            if other < 0:
                where = "far from" if other == FAR else "near"
                return lambda: f"{where} {self.rows.name(nearer)}"
            return lambda: f"more like {self.rows.name(nearer)} than {self.rows.name(other)}"

        there = sums.any(axis=1)
        said = tuple(words(nearer, other) for nearer, other in pairs[first[there]].tolist())
        return Reasons(sums[there], counts[there], ("comparison",) * len(said), said)


def summed(keys: Any, said: Outputs) -> tuple[Ints, Floats, Ints]:
    """For each group of equal keys: its first member, the sum of its contributions, and its size."""
    _, first, group, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.empty((len(first), said.shape[1]))
    for k, column in enumerate(said.T):
        sums[:, k] = np.bincount(group, column, len(first))
    return first.astype(np.int64), sums, counts.astype(np.int64)
