"""Reading rows in blocks: check and describe them, agree on columns and classes, and encode them as numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats, Ints
from rebelboost.base.fixed_point import counting_unit, in_units
from rebelboost.base.hashing import drawn_by, hash_rows
from rebelboost.costs.by_sample import CostColumns, rows_of_cube
from rebelboost.costs.judge import weighed
from rebelboost.costs.matrix import cost_rows
from rebelboost.data.encoder import FeatureEncoder, as_frame, count_levels, encoder_of
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.validation import (
    checked_table,
    checked_weight,
    encode_labels,
    encode_target,
    encoded_table,
)
from rebelboost.exceptions import PartitionError
from rebelboost.rows.base import Merge, added, all_items
from rebelboost.rows.block import Block, EncodedRows, FileColumns, Raw, ScoredRows, in_memory

MOST_SHORT = 256
"""Number of classes whose codes fit into a byte."""


class Description(NamedTuple):
    """What a part says of its rows before training."""

    number: int
    where: str
    """What messages call the part."""
    n_rows: int
    n_features: int
    names: tuple[str, ...] | None
    kinds: tuple[str, ...]
    """Of the columns of a data frame: "categories" or "numbers"; empty for an array."""
    narrow: bool
    """Whether all values are 32-bit floats."""
    levels: dict[int, Counter[Any]]
    """Categorical feature → how often each category occurs."""
    classes: NDArray[Any]
    largest_weight: float


@contextmanager
def _named(block: Block) -> Iterator[None]:
    """Name the part in errors about its rows."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if isinstance(error, PartitionError):
            raise
        raise PartitionError(f"{block.where}: {error}") from None


@dataclass(frozen=True)
class Describe:
    """Check the rows, and describe them."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    categorical: Any
    numbers: bool = False
    """Whether y holds the targets of a regression."""

    def apply(self, block: Block) -> list[Description]:
        """Answer the description."""
        with _named(block):
            return [self._described(block, block.source())]

    def _described(self, block: Block, raw: Raw) -> Description:
        frame, n_rows = as_frame(raw.X), len(raw.X)
        array = None
        if frame is None and n_rows == 0:
            array = np.asarray(raw.X)
        elif n_rows > 0:
            array, frame = checked_table(RebelClassifier(), raw.X, reset=True)
        n_features, levels = count_levels(array, frame, self.categorical)
        weight = None
        if raw.sample_weight is not None and n_rows > 0:
            weight = np.asarray(raw.sample_weight, dtype=np.float64)
            checked_weight(np.append(weight, 1.0), np.empty((n_rows + 1, 1)))
        classes = np.empty(0)
        if n_rows > 0 and self.numbers:
            encode_target(raw.y, n_rows)
        elif n_rows > 0:
            classes, _ = encode_labels(raw.y, n_rows)
        return Description(
            block.number,
            block.where,
            n_rows,
            n_features,
            None if frame is None else tuple(map(str, frame.columns)),
            tuple("categories" if f in levels else "numbers" for f in range(n_features)),
            _is_narrow(array, frame),
            levels,
            classes,
            1.0 if weight is None else float(weight.max()),
        )


def _is_narrow(array: Any, frame: Any) -> bool:
    if frame is None:
        return bool(array.dtype == np.float32)
    return all(str(column.dtype) == "Float32" for column in frame.iter_columns())


class Summary(NamedTuple):
    """What a part says of its encoded rows."""

    n_rows: int
    largest_weight: float
    largest_costs: ByClass
    """(K,) costs by sample, by decision; 0 without them."""
    largest_paid: ByClass
    """(K,) the same times the samples' weights."""
    lightest: ByClass
    """(K,) the smallest positive weight of each class; ∞ without samples."""
    least_paid: float
    """The smallest positive cost by sample times weight; ∞ without them."""
    missing: NDArray[np.bool_]
    """(d,) features with missing values."""


@dataclass(frozen=True)
class Encode:
    """Read the rows again, and encode them as numbers."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = True
    encoder: FeatureEncoder
    classes: NDArray[Any]
    weight_shift: int
    """Weights are divided by two to this power."""
    narrow: bool
    with_keys: bool = False
    """Whether samples will be drawn by value."""
    numbers: bool = False
    """Whether y holds the targets of a regression."""

    def apply(self, block: Block) -> list[Summary]:
        """Answer the summary of the rows with a positive weight."""
        with _named(block):
            rows = self.encoded(block.source())
        positive = None if rows.weight is None or rows.weight.all() else rows.weight > 0
        if block.columns is not None:
            in_file = FileColumns(block.columns, self.encoder, rows.X.dtype, len(rows))
        if positive is not None:
            rows = rows.take(positive)
        if self.with_keys:
            rows.keys = hash_rows(in_memory(rows.X), 0)
        summary = _summary(rows, 1 if self.numbers else len(self.classes))
        if block.columns is not None and len(rows):
            rows.X = in_file if positive is None else in_file[positive]
        block.train = ScoredRows(rows)
        return [summary]

    def encoded(self, raw: Raw) -> EncodedRows:
        """The rows as numbers."""
        n_rows, dtype = len(raw.X), np.float32 if self.narrow else np.float64
        X: Any = np.empty((n_rows, self.encoder.n_features), dtype)
        if n_rows:
            checked = encoded_table(
                self.encoder, *checked_table(RebelClassifier(), raw.X, reset=True)
            )
            X = np.ascontiguousarray(checked, dtype=dtype)
        kind = np.uint8 if len(self.classes) <= MOST_SHORT else np.int32
        labels: Any = np.zeros(n_rows, dtype=kind)
        costs, target = None, None
        if self.numbers:
            target = encode_target(raw.y, n_rows) if n_rows else np.empty(0)
        elif n_rows:
            own, codes = encode_labels(raw.y, n_rows)
            places = np.searchsorted(self.classes, own.astype(self.classes.dtype))
            labels = places.astype(kind)[codes]
            if raw.costs is not None:
                names = list(self.classes)
                costs = cost_rows(raw.costs, labels, len(names), names)
        elif raw.costs is not None:
            costs = np.empty((0, len(self.classes)))
        weight = None
        if raw.sample_weight is not None:
            weight = np.ldexp(np.asarray(raw.sample_weight, np.float64), -self.weight_shift)
        return EncodedRows(X, labels, weight, costs, target=target)


def _summary(rows: EncodedRows, n_classes: int) -> Summary:
    lightest, none = np.full(n_classes, np.inf), np.zeros(n_classes)
    np.minimum.at(lightest, rows.labels, 1.0 if rows.weight is None else rows.weight)
    paid = none[np.newaxis][:0] if rows.costs is None else weighed(rows.costs, rows.weight)
    return Summary(
        len(rows),
        1.0 if rows.weight is None else float(rows.weight.max(initial=0.0)),
        none if rows.costs is None else rows.costs.max(axis=0, initial=0.0),
        paid.max(axis=0, initial=0.0),
        lightest,
        float(np.min(paid, initial=np.inf, where=paid > 0)),
        np.array(np.isnan(in_memory(rows.X)).any(axis=0)),
    )


@dataclass(frozen=True)
class Price:
    """Take costs by sample from columns of the table."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = True
    columns: CostColumns
    matrix: Floats
    """(K, K) costs that no column holds."""
    names: tuple[str, ...]

    def apply(self, block: Block) -> list[Summary]:
        """Answer the summary of the rows, with their costs."""
        rows = block.scored(held=False).rows
        with _named(block):
            cube = self.columns.applied(self.matrix, in_memory(rows.X), self.names)
        rows.cube = block.kept("cube", cube)
        rows.costs = block.kept("costs", rows_of_cube(cube, rows.labels))
        return [_summary(rows, len(self.matrix))]


@dataclass(frozen=True)
class HoldOut:
    """Hold out some rows, drawn by their values, for early stopping."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    share: float
    number: int
    spared: tuple[int, ...]
    """Classes that training cannot do without."""
    n_classes: int

    def apply(self, block: Block) -> tuple[Ints, Ints]:
        """Answer the numbers of rows kept, by class, and the number of those held out."""
        assert block.train is not None
        rows = block.train.rows
        if block.held is not None:  # another try
            rows = rows.joined(block.held.rows)
        keys = hash_rows(in_memory(rows.X), self.number % 2**32)
        out = drawn_by(keys, self.share, self.number)
        out &= ~np.isin(rows.labels, self.spared)
        block.train, block.held = ScoredRows(rows.take(~out)), ScoredRows(rows.take(out))
        kept = np.bincount(block.train.rows.labels, minlength=self.n_classes)
        return kept, np.array(len(block.held.rows))


@dataclass(frozen=True)
class Weigh:
    """Sum the weights, and the costs by sample, of each class."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    n_classes: int
    weight_unit: float
    paid_units: ByClass

    def apply(self, block: Block) -> tuple[Ints, Ints, Ints]:
        """Answer (K,) numbers of rows, (K,) counted weights and (K, K) counted costs."""
        rows = block.scored(held=False).rows
        counts = None if rows.weight is None else in_units(rows.weight, self.weight_unit)
        weight = np.bincount(rows.labels, counts, self.n_classes).astype(np.int64)
        paid = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        if rows.costs is not None:
            units = np.rint(weighed(rows.costs, rows.weight) / self.paid_units)
            np.add.at(paid, rows.labels, units.astype(np.int64))
        return np.bincount(rows.labels, minlength=self.n_classes), weight, paid


@dataclass(frozen=True)
class SmallestKeys:
    """Find the rows with the smallest hashes: the same rows, however they are divided into parts."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    n_rows: int
    seed: int

    def apply(self, block: Block) -> list[tuple[NDArray[np.uint64], EncodedRows]]:
        """Answer the hashes and the rows."""
        assert block.train is not None
        rows = block.train.rows
        X = identity = in_memory(rows.X)
        if rows.target is not None:
            identity = np.column_stack([X, rows.target]).astype(np.float64)
        keys = hash_rows(identity, self.seed, rows.labels)
        order = np.sort(np.argsort(keys, kind="stable")[: self.n_rows]).astype(np.int64)
        return [(keys[order], replace(rows, X=X).take(order))]


@dataclass(frozen=True)
class DistinctKeys:
    """Hash the rows."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    most: int
    """Number of hashes that are enough."""

    def apply(self, block: Block) -> list[NDArray[np.uint64]]:
        """Answer the smallest distinct hashes."""
        return [np.unique(hash_rows(in_memory(block.scored(held=False).rows.X), 0))[: self.most]]


# ---- what the descriptions of all blocks must agree on, and what follows from them


def check_agreeing(described: Sequence[Description]) -> None:
    """Raise an error if a part has other columns, or other types, than the first that has rows."""
    filled = [each for each in described if each.n_rows > 0]
    if not filled:
        raise ValueError(f"all {len(described)} parts of the rows are empty: give at least one row")
    first = filled[0]
    for each in filled[1:]:
        where = each.where
        if each.names != first.names:
            raise PartitionError(f"{where}: {_other_names(each, first)}")
        if each.n_features != first.n_features:
            raise PartitionError(
                f"{where} has {each.n_features} columns, but {first.where} has "
                f"{first.n_features}: give all of them the same columns"
            )
        for f, (mine, theirs) in enumerate(zip(each.kinds, first.kinds, strict=True)):
            if mine != theirs:
                name = repr(first.names[f]) if first.names else f
                raise PartitionError(
                    f"{where}: column {name} holds {mine}, but {theirs} in {first.where}: "
                    "convert it to one type"
                )
        if _kind(each.classes) != _kind(first.classes):
            raise PartitionError(
                f"{where}: y has labels such as {each.classes.tolist()[0]!r}, but "
                f"{first.where} such as {first.classes.tolist()[0]!r}: convert them to one type"
            )


def _other_names(each: Description, first: Description) -> str:
    mine, theirs = each.names or (), first.names or ()
    odd = [name for name in mine if name not in theirs]
    lacking = [name for name in theirs if name not in mine]
    if odd:
        what = f"column {odd[0]!r} is not in {first.where}"
    elif lacking:
        what = f"column {lacking[0]!r} of {first.where} is not there"
    else:
        what = f"the columns are in another order than in {first.where}"
    return f"{what}: give all of them the same columns"


def _kind(classes: NDArray[Any]) -> str:
    """Text, whole numbers of any width, or else the kind of NumPy: True is not 1, and 1.0 not either."""
    kind = classes.dtype.kind
    return next((alike for alike in ("OUST", "iu") if kind in alike), kind)


@dataclass(frozen=True)
class CommonTable:
    """What all parts together are."""

    encoder: FeatureEncoder
    names: NDArray[Any] | None
    classes: NDArray[Any]
    weight_shift: int
    narrow: bool
    n_rows: Ints
    """(parts,) number of rows of each."""


def table_of(described: Sequence[Description]) -> CommonTable:
    """Merge the descriptions of parts that agree."""
    check_agreeing(described)
    filled = [each for each in described if each.n_rows > 0]
    levels: dict[int, Counter[Any]] = {f: Counter() for f in filled[0].levels}
    for each in filled:
        for f, counts in each.levels.items():
            levels[f].update(counts)
    heaviest = max(each.largest_weight for each in filled)
    if not heaviest > 0:
        raise ValueError("every sample_weight is 0: at least one must be positive")
    names = filled[0].names
    return CommonTable(
        encoder_of(filled[0].n_features, levels),
        None if names is None else np.array(names, dtype=object),
        np.unique(np.concatenate([each.classes for each in filled])),
        int(np.frexp(heaviest)[1]),
        all(each.narrow for each in filled),
        np.array([each.n_rows for each in sorted(described, key=lambda each: each.number)]),
    )


@dataclass(frozen=True)
class Units:
    """Units in which weights, and costs by sample times weights, are counted."""

    weight: float
    paid: float


@dataclass(frozen=True)
class Sizes:
    """Numbers and extremes of the rows of all parts."""

    n_rows: int
    weighted: bool
    """Whether samples have weights."""
    largest_weight: float
    largest_cost: float
    """Of costs by sample."""
    units: Units
    paid_units: Floats
    """(K,) units of costs by sample, by decision."""
    lightest: ByClass
    least_paid: float
    missing: list[int]


def sizes_of(summaries: Sequence[Summary], *, weighted: bool) -> Sizes:
    """Merge the summaries of all parts."""
    n_rows = sum(each.n_rows for each in summaries)
    weight = max(each.largest_weight for each in summaries)
    paid = np.max([each.largest_paid for each in summaries], axis=0)
    missing = np.any([each.missing for each in summaries], axis=0)
    return Sizes(
        n_rows,
        weighted,
        weight,
        float(np.max([each.largest_costs for each in summaries])),
        Units(
            counting_unit(weight, n_rows) if weighted else 1.0,
            counting_unit(float(paid.max()), n_rows),
        ),
        np.array([counting_unit(most, n_rows) for most in paid.tolist()]),
        np.min([each.lightest for each in summaries], axis=0),
        min(each.least_paid for each in summaries),
        [int(f) for f in np.flatnonzero(missing)],
    )
