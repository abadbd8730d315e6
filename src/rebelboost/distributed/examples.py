"""Training rows that a model of similarities compares samples with, fetched from the parts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rebelboost.base.arrays import Ints, Labels, Values
from rebelboost.base.hashing import Keys, hash_rows
from rebelboost.distributed.agreement import SpreadTable
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.parts import RowPart
from rebelboost.distributed.rows import Encode
from rebelboost.distributed.seam import Merge, SpreadRows, all_items
from rebelboost.estimators.inputs import index_labels


class Example(NamedTuple):
    """Some rows of a part."""

    number: int
    values: Values
    labels: Labels
    names: dict[int, Any]
    """Row of the part → its label in the table's index."""


@dataclass(frozen=True)
class FetchRows:
    """Read some rows again."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    encode: Encode
    rows: dict[int, Ints]
    """Part → numbers of its rows."""

    def obey(self, part: RowPart) -> list[Example]:
        """Answer them."""
        wanted = self.rows.get(part.number)
        if wanted is None:
            return []
        raw = part.source()
        rows = self.encode.encoded(raw).take(wanted)
        names = index_labels(raw.X, wanted.tolist())
        return [Example(part.number, in_memory(rows.X), rows.labels, names)]


@dataclass(frozen=True)
class DistinctKeys:
    """Hash the rows."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    most: int | None = None
    """Number of hashes that are enough; None: all."""

    def obey(self, part: RowPart) -> list[Keys]:
        """Answer the distinct hashes."""
        return [np.unique(hash_rows(in_memory(part.scored(held=False).rows.X), 0))[: self.most]]


def count_distinct(spread: SpreadRows) -> int:
    """Number of rows, equal ones counted once."""
    return len(np.unique(np.concatenate(spread.ask(DistinctKeys()))))


def has_few_rows(spread: SpreadRows, few: int) -> bool:
    """Whether there are fewer rows than this, equal ones counted once."""
    return len(np.unique(np.concatenate(spread.ask(DistinctKeys(few))))) < few


class Examples(NamedTuple):
    """What a model keeps of them; see `rebelboost.model.fitted.Provenance`."""

    row_labels: dict[int, Any]
    classes: dict[int, int]
    values: Values | None


def found_examples(spread: SpreadRows, table: SpreadTable, rows: Iterable[int]) -> Examples:
    """The rows of these numbers, counted through all parts."""
    numbers = np.array(list(rows), dtype=np.int64)
    if len(numbers) == 0:
        return Examples({}, {}, None)
    starts = np.append(0, np.cumsum(table.n_rows))
    part = np.searchsorted(starts, numbers, side="right") - 1
    wanted = {int(p): numbers[part == p] - starts[p] for p in np.unique(part)}
    encode = Encode(table.encoder, table.classes, table.weight_shift, table.narrow)
    found: list[Example] = spread.ask(FetchRows(encode, wanted))
    found.sort(key=lambda own: own.number)
    names = {
        int(starts[own.number]) + row: name for own in found for row, name in own.names.items()
    }
    labels = np.concatenate([own.labels for own in found])
    return Examples(
        {row: names[row] for row in numbers.tolist() if row in names},
        dict(zip(numbers.tolist(), labels.tolist(), strict=True)),
        np.concatenate([own.values for own in found]),
    )
