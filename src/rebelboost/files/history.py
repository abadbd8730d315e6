"""Storage of a training history in a model file: rounds are columns on both sides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Ints
from rebelboost.base.cached import cached_property
from rebelboost.base.checks import TensorReader, require
from rebelboost.boosting.rounds import (
    CUT,
    NUMBERS,
    WHOLE,
    ColumnBatch,
    Described,
    History,
    RoundColumns,
)
from rebelboost.files.texts import take_texts, text_arrays
from rebelboost.model.ensemble import Ensemble


@dataclass(frozen=True)
class CutTerm:
    """Description of a term that was dropped."""

    text: str

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe it in one line."""
        del names
        return self.text


@dataclass(frozen=True, eq=False)
class StoredBatch(ColumnBatch):
    """All rounds of a file."""

    stored: RoundColumns
    terms: Ints
    """(R,) number of the round's term in the ensemble; −1 if it was dropped."""
    cut: list[str]
    """Descriptions of the terms that were dropped."""
    ensemble: Ensemble

    @property
    def columns(self) -> RoundColumns:
        """The rounds."""
        return self.stored

    def __len__(self) -> int:
        return len(self.terms)

    def hypothesis(self, i: int) -> Described:
        """The term of a round, or the description of a dropped one."""
        term = int(self.terms[i])
        return CutTerm(self.cut[self._places_of_cut[i]]) if term == CUT else self.ensemble[term]

    @cached_property
    def _places_of_cut(self) -> Ints:
        """(R,) place of each dropped term among these."""
        return np.cumsum(self.terms == CUT) - 1


def history_arrays(history: History) -> dict[str, NDArray[Any]]:
    """Arrays of all rounds: terms by number, and dropped terms by description."""
    arrays: dict[str, NDArray[Any]] = {
        f"history.{name}": array for name, array in history.columns()._asdict().items()
    }
    arrays["history.terms"] = np.array(history.terms, dtype=np.int64)
    return arrays | text_arrays("history.cut", _dropped(history))


def _dropped(history: History) -> list[str]:
    """Descriptions of the terms that were dropped."""
    numbered = zip(history.hypotheses(), history.terms, strict=True)
    return [hypothesis.describe() for hypothesis, term in numbered if term == CUT]


def take_history(reader: TensorReader, ensemble: Ensemble) -> History:
    """Read the history, and check that its terms exist."""
    numbers = reader.take("history.numbers", np.float64, None, 8)
    n = len(numbers)
    columns = RoundColumns(
        numbers,
        reader.take("history.counts", np.int64, n, 5),
        reader.take("history.held", np.float64, n, 3),
        reader.flags("history.has_held", n),
    )
    terms = reader.take("history.terms", np.int64, n)
    inside = (terms >= CUT).all() and (terms < len(ensemble)).all()
    require(inside, "a history of terms that do not exist")
    require((columns.counts >= 0).all(), "a history with negative counts")
    n_cut = int(np.count_nonzero(terms == CUT))
    cut = take_texts(reader, "history.cut", n_cut)
    history = History()
    history.on_rounds(StoredBatch(columns, terms, cut, ensemble))
    history.number_stored(terms.tolist())
    return history


def without_work(history: History, ensemble: Ensemble) -> History:
    """The same rounds without the seconds and the visits that they took, which differ from run to run."""
    columns = history.columns()
    numbers, counts = columns.numbers.copy(), columns.counts.copy()
    numbers[:, NUMBERS.index("seconds") :] = 0.0
    counts[:, len(WHOLE) :] = 0
    same = History()
    same.on_rounds(
        StoredBatch(
            columns._replace(numbers=numbers, counts=counts),
            np.array(history.terms, dtype=np.int64),
            _dropped(history),
            ensemble,
        )
    )
    same.number_stored(list(history.terms))
    return same
