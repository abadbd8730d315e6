"""Rules: the path from the root of a tree to a leaf, in words, and hashes that identify equal rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints
from rebelboost.base.cached import cached_property
from rebelboost.base.names import printed
from rebelboost.base.text import calendar_date, time_of_day
from rebelboost.data.encoder import MOST_LEVELS as WITH_BIN
from rebelboost.data.level_means import LevelMeans
from rebelboost.model.trees import Trees

Hashes = NDArray[np.uint64]
MOST_LEVELS = 6
"""Maximum number of categories listed in a rule. The rest are counted."""


SHOWN_AS: dict[str, Callable[[float], str]] = {"date": calendar_date, "time": time_of_day}
"""Kinds of columns that the model treats as numbers → how their values are printed."""


@dataclass(frozen=True)
class Wording:
    """Names of features and of their values."""

    names: tuple[str, ...]
    """(d,) names of the features."""
    levels: dict[int, tuple[Any, ...]]
    """Categorical feature → its levels, in the order of their codes."""
    missing: frozenset[int] | None = None
    """Features with missing training values; None if unknown, so that any may have some."""
    kinds: Mapping[int, str] = field(default_factory=dict)
    """Feature → its kind, for dates and times of day."""
    classes: tuple[str, ...] = ()
    """Names of the classes, for rates of a class by level; none in a regression."""

    def may_miss(self, feature: int) -> bool:
        """Whether rules mention missing values of a feature."""
        return self.missing is None or feature in self.missing

    def value(self, feature: int, x: float) -> Any:
        """A value as in the user's table; None if it is missing or unknown."""
        if np.isnan(x):
            return None
        levels = self.levels.get(feature)
        return float(x) if levels is None else levels[int(x)]

    def number(self, feature: int, x: float) -> str:
        """A value or threshold of a feature as text: "4.7", or "2024-03-01" for a date."""
        kind = self.kinds.get(feature)
        return f"{x:.6g}" if kind is None else SHOWN_AS[kind](x)

    def cell(self, feature: int, x: float) -> str:
        """A value as text, with a dash if it is missing."""
        value = self.value(feature, x)
        if value is None:
            return "–"
        return printed(value) if feature in self.levels else self.number(feature, x)

    def shown(self, feature: int, x: float) -> str:
        """A feature with its value: "petal length = 4.7"."""
        if self.value(feature, x) is None:
            return f"{self.names[feature]} is missing"
        return f"{self.names[feature]} = {self.cell(feature, x)}"


def date_kinds(metadata: Mapping[str, Any], names: Sequence[str]) -> dict[int, str]:
    """Kinds of the features that are dates or times, from the schema that `rebel train` stores."""
    table = metadata.get("table")
    columns = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(columns, list):
        return {}
    told = [column for column in columns if isinstance(column, Mapping)]
    kinds = {str(column.get("name")): str(column.get("kind")) for column in told}
    return {f: kinds[name] for f, name in enumerate(names) if kinds.get(name) in SHOWN_AS}


@dataclass
class _Condition:
    """All conditions of a path on one feature."""

    low: float = -np.inf
    high: float = np.inf
    codes: Bytes = field(default_factory=lambda: np.ones(256, dtype=np.uint8))
    missing: bool = True


def rule(trees: Trees, tree: int, leaf: int, wording: Wording) -> str:
    """The conditions of a leaf in words: "petal length > 4.9 and (colour in {red, green} or missing)"."""
    tested: dict[int, _Condition] = {}
    categorical = set()
    means = trees.mean_of_column
    depth, first = int(trees.depths[tree]), int(trees.node_offsets[tree])
    for layer in range(depth):
        node = first + 2**layer - 1 + (leaf >> (depth - layer))
        right = leaf >> (depth - layer - 1) & 1
        feature = int(trees.columns[node])
        if feature < 0:
            continue
        condition = tested.setdefault(feature, _Condition(missing=feature not in means))
        condition.missing &= bool(trees.missing_right[node]) == bool(right)
        if trees.category[node] >= 0:
            categorical.add(feature)
            condition.codes &= (trees.right[trees.category[node]] != 0) == right
        elif right:
            condition.low = max(condition.low, float(trees.thresholds[node]))
        else:
            condition.high = min(condition.high, float(trees.thresholds[node]))
    parts = [
        _of_means(means[feature], condition, wording)
        if feature in means
        else (_of_levels if feature in categorical else _of_numbers)(feature, condition, wording)
        for feature, condition in tested.items()
    ]
    if len(parts) > 1:
        parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
    return " and ".join(parts) if parts else "always"


def _of_numbers(feature: int, condition: _Condition, wording: Wording) -> str:
    name, low, high = wording.names[feature], condition.low, condition.high
    if low >= high:  # no number satisfies both
        return f"{name} is missing"
    if low == -np.inf and high == np.inf:
        return f"{name} is known" if not condition.missing else f"any {name}"
    text = _between(condition, name, lambda x: wording.number(feature, x))
    return _or_missing(text, feature, condition, wording)


def _of_means(means: LevelMeans, condition: _Condition, wording: Wording) -> str:
    name = means.words(wording.names, wording.classes)
    return _between(condition, name, means.shown)


def _between(condition: _Condition, name: str, number: Callable[[float], str]) -> str:
    low, high = condition.low, condition.high
    if low == -np.inf:
        return f"{name} ≤ {number(high)}"
    if high == np.inf:
        return f"{name} > {number(low)}"
    return f"{number(low)} < {name} ≤ {number(high)}"


def _of_levels(feature: int, condition: _Condition, wording: Wording) -> str:
    name, levels = wording.names[feature], wording.levels[feature][:WITH_BIN]
    inside = [level for code, level in enumerate(levels) if condition.codes[code]]
    outside = [level for code, level in enumerate(levels) if not condition.codes[code]]
    if not inside:
        return f"{name} is missing" if condition.missing else f"{name} is none of its categories"
    if len(inside) == 1:
        text = f"{name} = {printed(inside[0])}"
    elif len(inside) <= max(MOST_LEVELS, len(outside)):
        text = f"{name} in {{{_listed(inside)}}}"
    else:
        text = f"{name} not in {{{_listed(outside)}}}"
    return _or_missing(text, feature, condition, wording)


def _or_missing(text: str, feature: int, condition: _Condition, wording: Wording) -> str:
    return f"{text} or missing" if condition.missing and wording.may_miss(feature) else text


def _listed(levels: Sequence[Any]) -> str:
    some = ", ".join(map(printed, levels[:MOST_LEVELS]))
    more = len(levels) - MOST_LEVELS
    return f"{some} and {more} more" if more > 0 else some


# ---- identifying equal rules


class _Question(NamedTuple):
    """One split on each of m paths, with the side taken."""

    feature: Ints
    """(m,) feature of the split; −1: none."""
    threshold: Floats
    right: NDArray[np.bool_]
    """(m,) whether the path goes right."""
    categorical: NDArray[np.bool_]
    levels: Hashes
    """(m, 4): a bit for each category that takes this side."""
    without_missing: NDArray[np.bool_]
    """(m,) whether missing values take the other side."""

    def same(self, other: "_Question") -> NDArray[np.bool_]:
        """Whether both split on the same feature."""
        return (self.feature == other.feature) & (self.feature >= 0)

    def implied_by(self, other: "_Question", *, later: bool) -> NDArray[np.bool_]:
        """Whether another threshold, later or earlier on the path, makes this one redundant."""
        tighter = np.where(
            self.right, other.threshold > self.threshold, other.threshold < self.threshold
        )
        if not later:  # of two equal thresholds, the first is kept
            tighter |= other.threshold == self.threshold
        return self.same(other) & (self.right == other.right) & tighter


@dataclass(frozen=True)
class RuleHashes:
    """Computes hashes of rules. They do not depend on the order or repetition of conditions."""

    trees: Trees
    may_miss: NDArray[np.bool_]
    """(features,) whether rules mention missing values."""
    n_levels: Ints
    """(features,) number of categories; 0 for numeric features."""

    def of(self, tree: Ints, leaf: Ints) -> Hashes:
        """(m,) hashes of the given leaves of the given trees."""
        depth = self.trees.depths[tree].astype(np.int64)
        layers = range(int(depth.max(initial=0)))
        path = [self._question(tree, leaf, depth, layer) for layer in layers]
        found = np.zeros(len(tree), dtype=np.uint64)
        for i in layers:
            found += _numeric_hash(path, i) + _level_hash(path, i) + _missing_hash(path, i)
        return found

    def _question(self, tree: Ints, leaf: Ints, depth: Ints, layer: int) -> _Question:
        trees = self.trees
        below = np.maximum(depth - layer, 1)
        node = trees.node_offsets[tree] + 2**layer - 1 + (leaf >> below)
        node = np.where(depth > layer, node, 0)
        asks = (depth > layer) & (trees.columns[node] >= 0)
        feature = np.where(asks, trees.columns[node], -1).astype(np.int64)
        right = (leaf >> (below - 1) & 1) == 1
        table = trees.category[node]
        return _Question(
            feature,
            trees.thresholds[node],
            right,
            asks & (table >= 0),
            self._levels[table, right.astype(np.int64)],
            asks
            & ((trees.missing_right[node] != 0) != right)
            & self.may_miss[trees.features[node]]
            & (feature < len(self.may_miss)),
        )

    @cached_property
    def _levels(self) -> Hashes:
        """(categorical nodes + 1, 2, 4): bits of the categories that each node sends left, or right."""
        trees = self.trees
        features = np.zeros(len(trees.right), dtype=np.int64)
        asking = np.flatnonzero(trees.category >= 0)
        features[trees.category[asking]] = trees.features[asking]
        known = np.arange(256) < self.n_levels[features][:, np.newaxis]
        goes = trees.right != 0
        bits = np.packbits(np.stack([known & ~goes, known & goes], axis=1), axis=2)
        words = np.ascontiguousarray(bits).view(np.uint64)
        return np.append(words, np.zeros((1, 2, 4), dtype=np.uint64), axis=0)


def _numeric_hash(path: Sequence[_Question], i: int) -> Hashes:
    """Hash of a threshold, unless another one on the path is tighter.

    If no number satisfies two thresholds, only missing values pass, and the thresholds do not matter.
    """
    own = path[i]
    stays = (own.feature >= 0) & ~own.categorical
    none_passes = own.right & (own.threshold == np.inf)
    for j, other in enumerate(path):
        if i != j:
            stays &= ~own.implied_by(other, later=j > i)
            low = np.where(own.right, own.threshold, other.threshold)
            high = np.where(own.right, other.threshold, own.threshold)
            none_passes |= own.same(other) & (own.right != other.right) & (low >= high)
    stays &= own.right | (own.threshold < np.inf)  # x ≤ ∞ is no condition on numbers
    key = _mixed(np.ascontiguousarray(own.threshold).view(np.uint64)) + own.right
    key = np.where(none_passes, np.uint64(3), key)
    stays &= own.right | ~none_passes
    return np.where(stays, _mixed(_mixed(own.feature) + key), np.uint64(0))


def _level_hash(path: Sequence[_Question], i: int) -> Hashes:
    """Hash of the categories that satisfy all splits on a feature, at its first split on the path."""
    own = path[i]
    first, levels = own.categorical.copy(), own.levels.copy()
    if not first.any():
        return np.zeros(len(first), dtype=np.uint64)
    for j, other in enumerate(path):
        same = own.same(other)
        if j < i:
            first &= ~same
        levels[same] &= other.levels[same]
    key = _mixed(own.feature)
    for word in levels.T:
        key = _mixed(key + word)
    return np.where(first, key, np.uint64(0))


def _missing_hash(path: Sequence[_Question], i: int) -> Hashes:
    """Hash of a feature that must not be missing, at the first split that requires it."""
    own = path[i]
    first = own.without_missing.copy()
    for other in path[:i]:
        first &= ~(own.same(other) & other.without_missing)
    return np.where(first, _mixed(_mixed(own.feature) + np.uint64(2)), np.uint64(0))


def rule_hashes(trees: Trees, wording: Wording) -> RuleHashes:
    """Prepare the hashing of the rules of trees."""
    may_miss = np.array([wording.may_miss(f) for f in range(len(wording.names))], dtype=bool)
    n_levels = np.zeros(len(wording.names), dtype=np.int64)
    for feature, levels in wording.levels.items():
        n_levels[feature] = len(levels)
    return RuleHashes(trees, may_miss, n_levels)


def _mixed(x: NDArray[Any]) -> Hashes:
    """Mix the bits of a hash [Steele, Lea and Flood 2014, splitmix64]."""
    x = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
