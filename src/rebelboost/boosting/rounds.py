"""The record of a round, and the history of all rounds."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any, ClassVar, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import NO_WORK, Floats, Ints, Work

CUT = -1
"""Stands for the number of a term that was dropped."""


class Held(NamedTuple):
    """Loss, error and cost on held-out samples."""

    log_loss: float
    error: float
    cost: float


class Described(Protocol):
    """The term of a round, or the description of a dropped one."""

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe it in one line."""


@dataclass(frozen=True)
class Round:
    """Record of a round. History, early stopping, progress bar and reports read it."""

    index: int
    """Number of the round, from 0."""
    log_loss: float
    """Logarithm of the mean training loss, above its floor, after the round."""
    loss_ratio: float
    """Loss after the round divided by the loss before it."""
    rho: float
    """The weak-learning ratio ρ = ‖P‖₁/ΣS, which is γ in [THESIS, Eq. 4.12]."""
    bound: float
    """√(1 − ρ²) ≥ loss_ratio at shrinkage 1, up to the outputs' smoothing [THESIS 4.5.1]."""
    error: float
    """Weighted share of training samples that argmax gets wrong."""
    cost: float
    """Mean cost of the argmax decisions on the training samples."""
    held: Held | None
    """The same on the validation samples, if there are any."""
    hypothesis: Described
    """The term that was added."""
    seconds: float
    """Time since the fit started."""
    part: int = 0
    """Number of the fit, if several are averaged."""
    work: Work = NO_WORK
    """Work of the search. It may differ between runs that give the same model."""

    @property
    def edge(self) -> float:
        """γ = ρ/2: for two classes, ½ minus the weighted error of a ±1 response [ADA, Sec. 3.1]."""
        return self.rho / 2

    def row(self) -> dict[str, Any]:
        """Values by name, for a table."""
        row = {f.name: getattr(self, f.name) for f in fields(self)} | {"edge": self.edge}
        held = row.pop("held")
        row |= self.work.row()
        del row["work"]
        row["hypothesis"] = self.hypothesis.describe()
        if held is not None:
            row |= {f"validation_{name}": value for name, value in held._asdict().items()}
        return row


NUMBERS = ("log_loss", "loss_ratio", "rho", "bound", "error", "cost", "seconds")
"""Real-valued fields of a round."""
WHOLE = ("index", "part")
"""Integer fields of a round."""
WORK = ("visited", "possible", "dropped")
"""Integer fields of a round's work."""


class RoundColumns(NamedTuple):
    """R rounds as columns."""

    numbers: Floats
    """(R, 7 + 1) `NUMBERS`, and the share of heavy samples."""
    counts: Ints
    """(R, 2 + 3) `WHOLE` and `WORK`."""
    held: Floats
    """(R, 3), NaN if nothing was held out."""
    has_held: NDArray[np.uint8]

    @classmethod
    def of(cls, records: Sequence[Round]) -> "RoundColumns":
        """The columns of records."""
        nothing = Held(np.nan, np.nan, np.nan)
        numbers = [[*(getattr(r, n) for n in NUMBERS), r.work.heavy] for r in records]
        whole = [[getattr(r, n) for n in WHOLE] for r in records]
        work = [[getattr(r.work, n) for n in WORK] for r in records]
        return cls(
            np.array(numbers, dtype=np.float64).reshape(-1, len(NUMBERS) + 1),
            np.hstack([_counts(whole, len(WHOLE)), _counts(work, len(WORK))]),
            np.array([r.held or nothing for r in records], dtype=np.float64).reshape(-1, 3),
            np.array([r.held is not None for r in records], dtype=np.uint8),
        )

    @classmethod
    def joined(cls, parts: Sequence["RoundColumns"]) -> "RoundColumns":
        """The rounds of all parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def record(self, i: int, hypothesis: Described) -> Round:
        """The record of a round."""
        *plain, heavy = self.numbers[i].tolist()
        index, part, visited, possible, dropped = self.counts[i].tolist()
        return Round(
            index=index,
            part=part,
            **dict(zip(NUMBERS, plain, strict=True)),
            held=Held(*self.held[i].tolist()) if self.has_held[i] else None,
            hypothesis=hypothesis,
            work=Work(visited, possible, dropped, heavy),
        )


def _counts(rows: Sequence[Sequence[int]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


class RoundBatch(Sequence[Round]):
    """Rounds after which callbacks are called, at least one."""

    def __init__(self, *records: Round) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, i: int) -> Round: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Round]: ...
    def __getitem__(self, i: int | slice) -> Round | Sequence[Round]:
        return self._records[i]

    @property
    def first_index(self) -> int:
        """Number of the first round."""
        return self[0].index

    @property
    def last(self) -> Round:
        """The last round."""
        return self[-1]

    @property
    def last_log_loss(self) -> float:
        """Logarithm of the mean training loss after the last round."""
        return self.last.log_loss

    @property
    def held(self) -> list[tuple[float, float]] | None:
        """Logarithm of the loss, and mean cost, of held-out samples after each round; None without them."""
        if self.last.held is None:
            return None
        return [(each.held.log_loss, each.held.cost) for each in self if each.held is not None]


class ColumnBatch(RoundBatch):
    """Rounds in columns, whose records are made when somebody asks for them."""

    @property
    @abstractmethod
    def columns(self) -> RoundColumns:
        """The rounds."""

    @abstractmethod
    def hypothesis(self, i: int) -> Described:
        """The term of a round, or its description."""

    @abstractmethod
    def __len__(self) -> int: ...

    @overload
    def __getitem__(self, i: int) -> Round: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Round]: ...
    def __getitem__(self, i: int | slice) -> Round | Sequence[Round]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        place = range(len(self))[i]
        return self.columns.record(place, self.hypothesis(place))

    def __iter__(self) -> Iterator[Round]:
        return (self[i] for i in range(len(self)))


class History:
    """The records of all rounds, of one or several fits. `table` returns them as columns."""

    may_wait: ClassVar[bool] = True

    def __init__(self) -> None:
        self._rounds: list[Round] = []
        self._unread: list[Sequence[Round] | History] = []
        """Later rounds, whose records are made when somebody asks for them."""
        self.terms: list[int] = []
        """Number of each round's term in the ensemble; −1 if the term was dropped."""
        self.n_rounds: list[int] = []
        """Number of rounds of each fit."""

    @property
    def rounds(self) -> list[Round]:
        """All records."""
        for batch in self._unread:
            self._rounds += batch
        self._unread.clear()
        return self._rounds

    def columns(self) -> RoundColumns:
        """All rounds as columns; no records are made."""
        return RoundColumns.joined([RoundColumns.of([]), *map(_columns_of, self.runs())])

    def hypotheses(self) -> Iterator[Described]:
        """The term of each round, or its description; no records are made."""
        for run in self.runs():
            if isinstance(run, ColumnBatch):
                yield from map(run.hypothesis, range(len(run)))
            else:
                yield from (record.hypothesis for record in run)

    def runs(self) -> Iterator[Sequence[Round]]:
        """Yield batches in columns, and lists of the records between them."""
        records = list(self._rounds)
        for batch in self._unread:
            for run in batch.runs() if isinstance(batch, History) else [batch]:
                if isinstance(run, ColumnBatch):
                    yield records
                    records = []
                    yield run
                else:
                    records.extend(run)
        yield records

    def on_rounds(self, batch: Sequence[Round]) -> bool:
        """Append the records."""
        self._unread.append(batch)
        return False

    def append(self, other: "History") -> None:
        """Append the fits of another history."""
        self._unread.append(other)
        self.terms += other.terms
        self.n_rounds += other.n_rounds

    def on_end(self) -> None:
        """Do nothing."""

    def number_terms(self, n_rounds: int, first: int, n_terms: int) -> None:
        """Number the terms of a fit that has ended.

        Its rounds made terms `first`, `first` + 1, …; the ensemble has `n_terms` terms in total.
        """
        interrupted = len(self) - n_rounds - len(self.terms)  # from fits that raised an error
        self.terms += [CUT] * interrupted
        self.n_rounds += [interrupted] if interrupted else []
        numbers = range(first, first + n_rounds)
        self.terms += [number if number < n_terms else CUT for number in numbers]
        self.n_rounds.append(n_rounds)

    def number_stored(self, terms: list[int]) -> None:
        """Number the terms of one fit, as they were numbered before."""
        self.terms += terms
        self.n_rounds.append(len(terms))

    def renumber_terms(self, places: Mapping[int, Sequence[int]]) -> None:
        """Renumber terms after fits were summed: fit → new number of each term; others were dropped."""
        ends = list(accumulate(self.n_rounds, initial=0))
        for fit, (first, last) in enumerate(pairwise(ends)):
            now = places.get(fit, ())
            self.terms[first:last] = [
                now[number] if 0 <= number < len(now) else CUT for number in self.terms[first:last]
            ]

    @property
    def n_fits(self) -> int:
        """Number of fits that have ended."""
        return len(self.n_rounds)

    def __repr__(self) -> str:
        return f"History({len(self)} rounds; table() returns columns)"

    def __len__(self) -> int:
        return len(self._rounds) + sum(map(len, self._unread))

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, index: int) -> Round:
        return self.rounds[index]

    def table(self) -> dict[str, list[Any]]:
        """Columns by name, for any data frame library."""
        rows = [record.row() for record in self.rounds]
        # Only fits with held-out samples have validation columns.
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}


def _columns_of(run: Sequence[Round]) -> RoundColumns:
    return run.columns if isinstance(run, ColumnBatch) else RoundColumns.of(run)
