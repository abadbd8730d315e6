"""Storage of a training history in a model file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Work
from rebelboost.base.cached import cached_property
from rebelboost.base.checks import TensorReader, require
from rebelboost.boosting.rounds import CUT, Held, History, Round
from rebelboost.files.texts import take_texts, text_arrays
from rebelboost.model.ensemble import Ensemble

NUMBERS = ("log_loss", "loss_ratio", "edge", "bound", "error", "cost", "seconds")
"""Real-valued fields of a round."""
WHOLE = ("index", "part")
"""Integer fields of a round."""
WORK = ("visited", "possible", "dropped")
"""Integer fields of a round's work."""


@dataclass(frozen=True)
class CutTerm:
    """Description of a term that was dropped."""

    text: str

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe it in one line."""
        del names
        return self.text


class Columns(NamedTuple):
    """A history as a table of R rounds."""

    numbers: Floats
    """(R, 7 + 1) `NUMBERS`, and the share of heavy samples."""
    counts: Ints
    """(R, 2 + 3) `WHOLE` and `WORK`."""
    held: Floats
    """(R, 3), NaN if nothing was held out."""
    has_held: NDArray[np.uint8]
    terms: Ints
    """(R,) number of the round's term in the ensemble; −1 if it was dropped."""


def history_arrays(history: History) -> dict[str, NDArray[Any]]:
    """Arrays of all rounds: terms by number, and dropped terms by description."""
    if isinstance(history, StoredHistory) and not history.has_grown:
        columns, cut = history.columns, history.cut
    else:
        columns, cut = _columns(history)
    arrays = {f"history.{name}": array for name, array in columns._asdict().items()}
    return arrays | text_arrays("history.cut", cut)


def _columns(history: History) -> tuple[Columns, list[str]]:
    nothing = Held(np.nan, np.nan, np.nan)
    columns = Columns(
        _table([[*(getattr(r, n) for n in NUMBERS), r.work.heavy] for r in history], 8),
        _table(
            [
                [*(getattr(r, n) for n in WHOLE), *(getattr(r.work, n) for n in WORK)]
                for r in history
            ],
            5,
        ).astype(np.int64),
        _table([r.held or nothing for r in history], 3),
        np.array([r.held is not None for r in history], dtype=np.uint8),
        np.array(history.terms, dtype=np.int64),
    )
    numbered = zip(history, history.terms, strict=True)
    return columns, [r.hypothesis.describe() for r, term in numbered if term == CUT]


def _table(rows: Sequence[Sequence[float]], width: int) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, width)


class StoredHistory(History):
    """A history read from a file. Its records are created on first access."""

    def __init__(self, columns: Columns, cut: list[str], ensemble: Ensemble) -> None:
        self.columns, self.cut, self._ensemble = columns, cut, ensemble
        self.terms = columns.terms.tolist()
        self.n_rounds = [len(self.terms)]

    def on_rounds(self, batch: Sequence[Round]) -> bool:
        """Append the records."""
        self.rounds.extend(batch)
        return False

    @property
    def has_grown(self) -> bool:
        """Whether training has continued since it was read."""
        return "rounds" in self.__dict__ and len(self.rounds) != len(self.columns.terms)

    def __len__(self) -> int:
        return len(self.rounds) if "rounds" in self.__dict__ else len(self.columns.terms)

    @cached_property
    def rounds(self) -> list[Round]:  # made when first asked for
        """All records."""
        cut = iter(self.cut)
        rounds = []
        for numbers, counts, held, has_held, term in zip(*self.columns, strict=True):
            *plain, heavy = numbers.tolist()
            index, part, visited, possible, dropped = counts.tolist()
            rounds.append(
                Round(
                    index=index,
                    part=part,
                    **dict(zip(NUMBERS, plain, strict=True)),
                    held=Held(*held.tolist()) if has_held else None,
                    hypothesis=CutTerm(next(cut)) if term == CUT else self._ensemble[int(term)],
                    work=Work(visited, possible, dropped, heavy),
                )
            )
        return rounds


def take_history(reader: TensorReader, ensemble: Ensemble) -> StoredHistory:
    """Read the history, and check that its terms exist."""
    numbers = reader.take("history.numbers", np.float64, None, 8)
    n = len(numbers)
    columns = Columns(
        numbers,
        reader.take("history.counts", np.int64, n, 5),
        reader.take("history.held", np.float64, n, 3),
        reader.flags("history.has_held", n),
        reader.take("history.terms", np.int64, n),
    )
    inside = (columns.terms >= CUT).all() and (columns.terms < len(ensemble)).all()
    require(inside, "a history of terms that do not exist")
    require((columns.counts >= 0).all(), "a history with negative counts")
    n_cut = int(np.count_nonzero(columns.terms == CUT))
    return StoredHistory(columns, take_texts(reader, "history.cut", n_cut), ensemble)
