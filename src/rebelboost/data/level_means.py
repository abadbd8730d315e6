"""Mean targets of the levels of a category: numbers by which trees split categories of many values.

Subsets of many levels fit the noise of their few rows. A mean over *other* rows does not contain a row's own
target: a row that is trained on has the mean over the rows of other folds, and a new row the mean over all
rows of the fit. Means of rare levels are shrunk towards the mean of all rows [Micci-Barreca 2001], which is the
same for all folds: otherwise it would tell the folds apart. Sums are exact, so that neither the order of the
rows nor threads change a bit.

Two categories of many values may say more together than each alone, as a role within a department does. Pairs
whose means tell more of the rows of other folds than those of both categories have means of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.checks import TensorReader, require
from rebelboost.base.fixed_point import exact_sum, fine_scales, fixed_weights
from rebelboost.data.encoder import MOST_CODES
from rebelboost.data.folds import numbered
from rebelboost.data.samples import Samples

FEWEST_LEVELS = 16
"""Trees split categories with more levels than this by their means, and others into subsets of levels."""
N_FOLDS = 5
"""With 20 folds, differences between the folds of a level give away its rows' targets."""
SMOOTHING = 5.0
"""Means are shrunk as if a level had this many more rows, of average weight, with the mean of all rows."""
MOST_CLASSES = 8
"""Maximum number of classes, the most frequent ones, whose rates are columns."""
GRID = 2.0**20
"""Rates are multiples of 1/GRID, which single precision represents."""
TARGET, COUNT = -1, -2
"""Values of `LevelMeans.of` that stand for no class."""
MOST_CROSSED, MOST_PAIRS = 8, 5
"""Maximum number of categories whose pairs are compared, those that tell most alone; and of pairs."""
SIDE = 65_536
"""The key of a pair of codes is `SIDE` times the first plus the second."""


@dataclass(frozen=True, eq=False)
class Crossing:
    """Pairs of levels of two categories, of which several rows have each."""

    other: int
    """The second categorical feature."""
    keys: NDArray[np.uint32]
    """(n,) the pairs, sorted."""

    @cached_property
    def key(self) -> tuple[int, bytes]:
        """Equal crossings of a feature have equal keys."""
        return self.other, self.keys.tobytes()

    def places(self, first: Values, second: Values) -> Ints:
        """(N,) place of each pair among the keys; n for others, and where a value is missing."""
        return _places_among(self.keys.astype(np.int64), _pair_keys(first, second))


def _pair_keys(first: Values, second: Values) -> Ints:
    """(N,) keys of pairs of codes; −1 where a value is missing."""
    keys = np.where(np.isnan(first) | np.isnan(second), -1, first * SIDE + second)
    return keys.astype(np.int64)


def _places_among(keys: Ints, found: Ints) -> Ints:
    place = np.searchsorted(keys, found)
    inside = np.minimum(place, len(keys) - 1)
    return np.where((len(keys) > 0) & (keys[inside] == found), inside, len(keys))


@dataclass(frozen=True, eq=False)
class LevelMeans:
    """A number for each level of a categorical feature, or for each pair of levels of two."""

    feature: int
    """The categorical feature."""
    of: int
    """The class whose rate it is, by code. `TARGET`: the mean target of a regression. `COUNT`: log₂(1 + n) for
    the n rows with the level, of average weight."""
    values: Floats
    """(levels + 2,) of each code; of codes that are not among the rows; and of missing values. Of pairs:
    (n + 1,) of each pair, and of all others."""
    crossing: Crossing | None = None
    """The pairs, of which `feature` is the first; None: the levels of the feature alone."""

    @cached_property
    def key(self) -> tuple[int, int, bytes, tuple[int, bytes] | None]:
        """Equal numbers of the same levels have equal keys."""
        pairs = None if self.crossing is None else self.crossing.key
        return self.feature, self.of, self.values.tobytes(), pairs

    @property
    def features(self) -> tuple[int, ...]:
        """The features whose levels have numbers: one, or two."""
        return (self.feature,) if self.crossing is None else (self.feature, self.crossing.other)

    def column(self, X: Values) -> BySample:
        """(N,) the numbers of samples that they were not computed from."""
        if self.crossing is not None:
            return self.values[self.crossing.places(*(X[:, f] for f in self.features))]
        return self.of_codes(X[:, self.feature])

    def of_codes(self, codes: Values) -> BySample:
        """(n,) the numbers of codes of a feature alone; NaN is missing."""
        assert self.crossing is None
        return self.values[_places(codes, len(self.values) - 2)]

    def words(self, names: Sequence[str], classes: Sequence[str] = ()) -> str:
        """What the numbers are: "rate of yes by town", or "by role × department", given all features' names."""
        feature = " × ".join(names[f] for f in self.features)
        if self.of == COUNT:
            return f"rows by {feature}"
        if self.of == TARGET:
            return f"mean target less baseline by {feature}"
        return f"rate of {classes[self.of] if classes else f'class {self.of}'} by {feature}"

    def shown(self, value: float) -> str:
        """A value as text, for `words`."""
        return f"{2.0 ** min(value, 1000.0) - 1 if self.of == COUNT else value:.4g}"


def _places(codes: Values, n_levels: int) -> Ints:
    """(N,) where the number of each code is among the values."""
    missing = np.isnan(codes)
    known = np.minimum(np.where(missing, 0, codes), n_levels).astype(np.int64)
    return np.where(missing, n_levels + 1, known)


class Columns(NamedTuple):
    """The columns that trees split on: features, and means of levels in place of features with many levels."""

    feature: NDArray[np.int32]
    """(D,) the feature of each column."""
    place: NDArray[np.int32]
    """(D,) the means that the column holds, as a place in `means`; −1: the values of the feature."""
    means: tuple[LevelMeans, ...]
    n_features: int
    """Number of features, d."""

    def of(self, X: Values) -> Values:
        """(N, D) columns of samples that the means were not computed from."""
        return self.filled(X, [means.column(X) for means in self.means])

    def filled(self, X: Values, means: Sequence[BySample]) -> Values:
        """(N, D) columns, given the means of each sample."""
        found: Values = X[:, self.feature].copy(order="C")
        for column in np.flatnonzero(self.place >= 0).tolist():
            found[:, column] = means[self.place[column]]
        return found


class OutOfFold(NamedTuple):
    """Samples whose columns are means over the rows of other folds."""

    samples: Samples
    """The samples, with these columns."""
    columns: Columns
    means: tuple[BySample, ...]
    """(N,) the samples' values of each of the columns' means."""


def with_level_means(samples: Samples, *, crossed: bool = True) -> OutOfFold | None:
    """Replace categories of many levels by means; None if there is no such category.

    `crossed`: pairs of them may have means too.
    """
    n_levels = {f: _n_levels(samples.X[:, f]) for f in np.flatnonzero(samples.categories).tolist()}
    wide = [f for f, n in n_levels.items() if n > FEWEST_LEVELS]
    if not wide:
        return None
    rows = _Rows(samples)
    levels = [rows.levels_of(f, n_levels[f]) for f in wide]
    pairs = rows.pairs(levels) if crossed else []
    found = [each for own in (*levels, *pairs) for each in rows.numbers(own)]
    n_features = samples.X.shape[1]
    kept = [f for f in range(n_features) if f not in wide]
    means = tuple(each for each, _ in found)
    columns = Columns(
        np.array([*kept, *(each.feature for each in means)], dtype=np.int32),
        np.array([*[-1] * len(kept), *range(len(means))], dtype=np.int32),
        means,
        n_features,
    )
    own = tuple(values for _, values in found)
    categorical = samples.categories[columns.feature] * (columns.place < 0)
    widened = replace(
        samples, X=columns.filled(samples.X, own), categorical=categorical.astype(np.uint8)
    )
    return OutOfFold(widened, columns, own)


def _n_levels(codes: Values) -> int:
    return int(np.nanmax(codes, initial=-1)) + 1


class _Levels(NamedTuple):
    """What has a number each: levels of a feature, or pairs of levels."""

    feature: int
    place: Ints
    """(N,) where the number of each row is among the values."""
    n: int
    """Number of values."""
    crossing: Crossing | None = None


class _Rows:
    """The rows of a fit: their targets, weights and folds."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self.fold = numbered(samples, N_FOLDS, 0)
        weight = fixed_weights(samples.weight)
        self.mass = np.ones(len(samples)) if weight is None else weight.astype(np.float64)
        self.average = float(self.mass.sum()) / max(1, int(np.count_nonzero(self.mass)))
        self.targets = dict(self._targets())

    def _targets(self) -> list[tuple[int, BySample]]:
        samples = self.samples
        if samples.target is not None:
            return [(TARGET, samples.target)]
        counts = np.bincount(samples.labels, minlength=samples.n_classes)
        classes = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
        if samples.n_classes == 2:
            classes = classes[1:]
        return [(k, (samples.labels == k).astype(np.float64)) for k in classes.tolist()]

    def levels_of(self, feature: int, n_levels: int) -> _Levels:
        """The levels of a feature."""
        return _Levels(feature, _places(self.samples.X[:, feature], n_levels), n_levels + 2)

    # ---- pairs

    def pairs(self, levels: Sequence[_Levels]) -> list[_Levels]:
        """The pairs whose means tell more of other rows than those of both features do, the best ones."""
        gains = {own.feature: self._gain(own) for own in levels}
        best = sorted(gains, key=lambda feature: -gains[feature])[:MOST_CROSSED]
        found = [self._crossed(*pair) for pair in combinations(sorted(best), 2)]
        told = [(self._gain(own), own) for own in found]
        more = [
            (gain, own)
            for gain, own in told
            if own.crossing and gain > max(0.0, gains[own.feature], gains[own.crossing.other])
        ]
        return [own for _, own in sorted(more, key=lambda each: -each[0])[:MOST_PAIRS]]

    def _crossed(self, feature: int, other: int) -> _Levels:
        first, second = (self.samples.X[:, f] for f in (feature, other))
        keys, counts = np.unique(_pair_keys(first, second), return_counts=True)
        several = keys[(counts > 1) & (keys >= 0)]
        crossing = Crossing(other, several.astype(np.uint32))
        return _Levels(feature, crossing.places(first, second), len(several) + 1, crossing)

    def _gain(self, levels: _Levels) -> float:
        """How much less the squared errors are of means over other rows than those of the mean of all."""
        total = 0.0
        for of, target in self.targets.items():
            _, own, of_all = self._means(levels, of, target)
            before, after = self.mass * (target - of_all) ** 2, self.mass * (target - own) ** 2
            total += float(np.subtract(*exact_sum(np.stack([before, after], axis=1))))
        return total

    # ---- numbers

    def _mass(self, levels: _Levels) -> BySample:
        """(N,) weights of the rows; 0 for those without a pair, whose number is the mean of all."""
        known = levels.crossing is None or levels.place < levels.n - 1
        return self.mass * known

    def numbers(self, levels: _Levels) -> list[tuple[LevelMeans, BySample]]:
        """The numbers of levels, and those of each row."""
        feature, place, n, crossing = levels
        masses: Floats = np.bincount(place, self._mass(levels), n).astype(np.float64)
        counts = _single(np.log2(1 + masses / self.average))
        found = [(LevelMeans(feature, COUNT, counts, crossing), counts[place])]
        for of, target in self.targets.items():
            values, own, _ = self._means(levels, of, target)
            found.append((LevelMeans(feature, of, values, crossing), own))
        return found

    def _means(self, levels: _Levels, of: int, target: BySample) -> tuple[Floats, BySample, float]:
        """Shrunk means of levels, those over the rows of other folds of each row, and the mean of all rows."""
        place, n, mass = levels.place, levels.n, self._mass(levels)
        masses: Floats = np.bincount(place, mass, n).astype(np.float64)
        cell = self.fold * n + place
        others = masses[place] - np.bincount(cell, mass, N_FOLDS * n)[cell]
        weighed, scale = self._in_units(target)
        shrunk = self._shrinking(weighed, scale, _single if of == TARGET else _on_grid)
        weighed = np.where(mass > 0, weighed, 0.0)
        sums: Floats = np.bincount(place, weighed, n).astype(np.float64)
        own = np.bincount(cell, weighed, N_FOLDS * n)[cell]
        of_all = float(shrunk(np.zeros(1), np.zeros(1))[0])
        return shrunk(sums, masses), shrunk(sums[place] - own, others), of_all

    def _in_units(self, target: BySample) -> tuple[BySample, float]:
        """Targets times weights as whole numbers, whose sums are exact, and how many of them 1 is."""
        weighed = target * self.mass
        largest = float(np.abs(weighed).max(initial=0.0)) * len(weighed)
        scale = float(fine_scales(np.array([largest]))[0])
        return np.rint(weighed * scale), scale

    def _shrinking(
        self, weighed: BySample, scale: float, rounded: Callable[[Floats], Floats]
    ) -> Callable[[BySample, BySample], BySample]:
        more = SMOOTHING * self.average
        of_all = float(weighed.sum()) / max(float(self.mass.sum()), 1.0)
        return lambda sums, masses: rounded((sums + more * of_all) / (masses + more) / scale)


def _single(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)


def _on_grid(rates: Floats) -> Floats:
    return np.rint(rates * GRID) / GRID


# ---- splits of trees


class MeanSplits(NamedTuple):
    """Nodes of trees that split on means of levels."""

    place: NDArray[np.int32]
    """(nodes,) the means, as a place in `means`; −1: the node splits on the feature itself."""
    means: tuple[LevelMeans, ...]
    n_features: int
    """Number of features, d."""

    @property
    def added(self) -> NDArray[np.int32]:
        """(nodes,) column of the means, beside the features; −1: none."""
        return np.where(self.place >= 0, self.n_features + self.place, -1).astype(np.int32)

    def take(self, nodes: Ints) -> "MeanSplits | None":
        """Select nodes, with the means that they refer to; None if none does."""
        return self._replace(place=self.place[nodes]).in_order()

    def in_order(self) -> "MeanSplits | None":
        """The same nodes, with means in the order in which nodes refer to them."""
        used, first = np.unique(self.place[self.place >= 0], return_index=True)
        if not len(used):
            return None
        order = used[np.argsort(first, kind="stable")]
        new = np.full(len(self.means) + 1, -1, dtype=np.int32)  # the last is that of no means
        new[order] = np.arange(len(order))
        means = tuple(self.means[i] for i in order.tolist())
        return self._replace(place=new[self.place], means=means)

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """Arrays of a model file."""
        nodes = np.flatnonzero(self.place >= 0)
        return self._crossings_to_tensors() | {
            "mean_nodes": nodes,
            "mean_places": self.place[nodes],
            "mean_features": np.array([each.feature for each in self.means], dtype=np.int32),
            "mean_classes": np.array([each.of for each in self.means], dtype=np.int32),
            "mean_counts": np.array([len(each.values) for each in self.means], dtype=np.int32),
            "mean_values": np.concatenate([each.values for each in self.means]),
        }

    def _crossings_to_tensors(self) -> dict[str, NDArray[Any]]:
        crossings = {(e.feature, e.crossing.key): e.crossing for e in self.means if e.crossing}
        if not crossings:
            return {}
        number = {key: i for i, key in enumerate(crossings)}
        of_means = [
            number[each.feature, each.crossing.key] if each.crossing else -1 for each in self.means
        ]
        found = crossings.values()
        return {
            "mean_crossings": np.array(of_means, dtype=np.int32),
            "crossing_features": np.array([each.other for each in found], dtype=np.int32),
            "crossing_counts": np.array([len(each.keys) for each in found], dtype=np.int32),
            "crossing_keys": np.concatenate([each.keys for each in found]),
        }

    @classmethod
    def from_tensors(
        cls,
        reader: TensorReader,
        name: str,
        features: NDArray[np.int32],
        categorical: NDArray[np.bool_],
        n_classes: int,
    ) -> "MeanSplits | None":
        """Read and check what `features` (nodes,) of trees split on; None if they have no such splits."""
        if not reader.has(f"{name}.mean_nodes"):
            return None
        nodes = reader.take(f"{name}.mean_nodes", np.int64, None)
        rising = (np.diff(nodes) > 0).all() and ((nodes >= 0) & (nodes < len(features))).all()
        require(rising, "splits on means of levels at unknown nodes")
        given = reader.indices(f"{name}.mean_features", len(categorical), None)
        require(categorical[given].all(), "means of levels of a feature without levels")
        places = reader.indices(f"{name}.mean_places", len(given), len(nodes))
        require((features[nodes] == given[places]).all(), "splits on means of another feature")
        of = reader.indices(f"{name}.mean_classes", n_classes, len(given), least=COUNT)
        crossings = _read_crossings(reader, name, categorical, len(given))
        most = max([MOST_CODES + 2, *(len(each.keys) + 1 for each in crossings if each)])
        counts = reader.indices(f"{name}.mean_counts", most + 1, len(given), least=1)
        for count, each in zip(counts.tolist(), crossings, strict=True):
            fits = count >= 2 if each is None else count == len(each.keys) + 1
            require(fits, "means of another number of levels")
        values = reader.numbers(f"{name}.mean_values", int(counts.sum(dtype=np.int64)))
        parts = np.split(values, np.cumsum(counts)[:-1])
        kept = zip(given.tolist(), of.tolist(), parts, crossings, strict=True)
        place = np.full(len(features), -1, dtype=np.int32)
        place[nodes] = places
        return cls(place, tuple(LevelMeans(*each) for each in kept), len(categorical))


def _read_crossings(
    reader: TensorReader, name: str, categorical: NDArray[np.bool_], n_means: int
) -> list[Crossing | None]:
    """The pairs of each of the means in a model file, checked; None for those of one feature."""
    if not reader.has(f"{name}.mean_crossings"):
        return [None] * n_means
    others = reader.indices(f"{name}.crossing_features", len(categorical), None)
    require(categorical[others].all(), "means of pairs of a feature without levels")
    counts = reader.indices(f"{name}.crossing_counts", np.iinfo(np.int32).max, len(others))
    keys = reader.take(f"{name}.crossing_keys", np.uint32, int(counts.sum(dtype=np.int64)))
    found = []
    for other, own in zip(others.tolist(), np.split(keys, np.cumsum(counts)[:-1]), strict=True):
        require((own[1:] > own[:-1]).all(), "pairs of levels that are not in order")
        found.append(Crossing(other, own))
    places = reader.indices(f"{name}.mean_crossings", len(found), n_means, least=-1)
    return [found[place] if place >= 0 else None for place in places.tolist()]


def joined(parts: Sequence[MeanSplits | None], n_nodes: Sequence[int]) -> MeanSplits | None:
    """Nodes of all parts, which have so many nodes. Means that several refer to are there once."""
    given = [part for part in parts if part is not None]
    if not given:
        return None
    means = {means.key: means for part in given for means in part.means}
    number = {key: i for i, key in enumerate(means)}
    place = []
    for part, n in zip(parts, n_nodes, strict=True):
        own = np.full(n, -1) if part is None else part.place
        new = [*(number[each.key] for each in part.means), -1] if part is not None else [-1]
        place.append(np.array(new, dtype=np.int32)[own])
    whole = MeanSplits(np.concatenate(place), tuple(means.values()), given[0].n_features)
    return whole.in_order()
