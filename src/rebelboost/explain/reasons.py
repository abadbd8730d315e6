"""Terms that say the same of a sample, taken together: equal rules, and comparisons of the same rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Outputs
from rebelboost.base.names import printed
from rebelboost.explain.rules import RuleHashes, Wording, rule, rule_hashes
from rebelboost.explain.shares import Contributions
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.shares import ComparisonVotes, RuleVotes


class Reason(NamedTuple):
    """Something that spoke for some classes and against others."""

    what: str
    by_class: ByClass
    """(K,) what it adds to the scores."""
    n_terms: int
    """Terms of the model that say so."""
    kind: str
    """"rule", "comparison" or "other"."""


@dataclass(frozen=True)
class Voices:
    """All reasons of a sample as arrays; they are put into words when asked for."""

    by_class: Outputs
    """(V, K)"""
    n_terms: Ints
    kinds: tuple[str, ...]
    words: tuple[Callable[[], str], ...]

    def reason(self, i: int) -> Reason:
        """The i-th in words."""
        return Reason(self.words[i](), self.by_class[i], int(self.n_terms[i]), self.kinds[i])


@dataclass(frozen=True)
class Rows:
    """How training rows are called."""

    labels: dict[int, Any]
    """Row → what the user's index calls it; the rest are called by their numbers."""
    classes: dict[int, Any]
    """Row → its class."""

    def label(self, row: int) -> Any:
        """What the user calls the row."""
        return self.labels.get(row, row)

    def name(self, row: int) -> str:
        """Such as "row 57 (versicolor)"."""
        name = f"row {printed(self.label(row))}"
        return f"{name} ({printed(self.classes[row])})" if row in self.classes else name


@dataclass(frozen=True)
class Speaker:
    """Puts what the terms of an ensemble say of a sample into words."""

    ensemble: Ensemble
    said: Contributions
    wording: Wording
    rows: Rows

    def voices(self, sample: int) -> Voices:
        """All that was said of a sample."""
        parts = []
        if self.said.comparisons:
            parts.append(self._of_comparisons(self.said.comparisons, sample))
        if self.said.rules is not None:
            parts.append(self._of_rules(self.said.rules, sample))
        parts += [
            Voices(scores[[sample]], np.array([self._n_others(name)]), ("other",), (name.__str__,))
            for name, scores in self.said.others.items()
        ]
        if not parts:
            return Voices(np.empty((0, self.ensemble.n_classes)), np.empty(0, np.int64), (), ())
        return Voices(
            np.concatenate([part.by_class for part in parts]),
            np.concatenate([part.n_terms for part in parts]),
            tuple(kind for part in parts for kind in part.kinds),
            tuple(words for part in parts for words in part.words),
        )

    def _n_others(self, name: str) -> int:
        return sum(term.describe() == name for term in self.ensemble)

    @cached_property
    def _hashes(self) -> RuleHashes | None:
        votes = self.said.rules
        return None if votes is None else rule_hashes(votes.trees, self.wording)

    def _of_rules(self, votes: RuleVotes, sample: int) -> Voices:
        assert self._hashes is not None
        leaves = votes.leaves[sample]
        keys = self._hashes.of(np.arange(len(leaves)), leaves)
        first, sums, counts = summed(keys, votes.said(sample))

        def words(t: int) -> Callable[[], str]:
            return lambda: rule(votes.trees, t, int(leaves[t]), self.wording)

        said = (keys[first] != 0) & sums.any(axis=1)  # a rule without conditions is baseline
        chosen = first[said].tolist()
        return Voices(
            sums[said], counts[said], ("rule",) * len(chosen), tuple(words(t) for t in chosen)
        )

    def _of_comparisons(self, votes: Sequence[ComparisonVotes], sample: int) -> Voices:
        """Those that say the same, whichever fit they come from and whoever is the anchor."""
        pairs = np.concatenate([each.pairs(sample) for each in votes])
        keys = pairs[:, 0] * (pairs.max() + 2) + pairs[:, 1] + 1
        first, sums, counts = summed(keys, np.concatenate([each.said(sample) for each in votes]))

        def words(nearer: int, other: int) -> Callable[[], str]:
            if other < 0:
                return lambda: f"near {self.rows.name(nearer)}"
            return lambda: f"more like {self.rows.name(nearer)} than {self.rows.name(other)}"

        there = sums.any(axis=1)
        said = tuple(words(nearer, other) for nearer, other in pairs[first[there]].tolist())
        return Voices(sums[there], counts[there], ("comparison",) * len(said), said)


def summed(keys: Any, said: Outputs) -> tuple[Ints, Floats, Ints]:
    """Of each group of equal keys: its first member, the sum of what is said, how many there are."""
    _, first, group, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.empty((len(first), said.shape[1]))
    for k, column in enumerate(said.T):
        sums[:, k] = np.bincount(group, column, len(first))
    return first.astype(np.int64), sums, counts.astype(np.int64)
