"""The record of a round, and the history of all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol

from rebelboost.base.arrays import NO_WORK, Work

CUT = -1
"""In place of the number of a term that was cut."""


class Held(NamedTuple):
    """How the scores do on held-out samples."""

    log_loss: float
    error: float
    cost: float


class Described(Protocol):
    """What a round found: a term, or what is known of one that was cut."""

    def describe(self, names: Sequence[str] | None = None) -> str:
        """In one line."""


@dataclass(frozen=True)
class Round:
    """The one record of a round that history, early stopping, progress and reports read."""

    index: int
    """From 0."""
    log_loss: float
    """ln of the mean training loss, above its floor, after the round."""
    loss_ratio: float
    """Loss after the round over loss before it."""
    edge: float
    """The weak-learning ratio ρ = ‖P‖₁/ΣS [THESIS, Eq. 4.12]; for two classes 2γ."""
    bound: float
    """√(1 − ρ²) ≥ loss_ratio at shrinkage 1, up to the outputs' smoothing [THESIS 4.5.1]."""
    error: float
    """Weighted share of training samples that argmax gets wrong."""
    cost: float
    """Mean cost of the argmax decisions on the training samples."""
    held: Held | None
    """The same on the validation samples, where there are some."""
    hypothesis: Described
    """The term that was added."""
    seconds: float
    """Since the fit began."""
    part: int = 0
    """Which fit, where several are averaged."""
    work: Work = NO_WORK
    """Of the search for the hypothesis. Not part of the promise that runs are alike."""

    def row(self) -> dict[str, Any]:
        """Numbers by name, for a table."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        held = row.pop("held")
        row |= self.work.row()
        del row["work"]
        row["hypothesis"] = self.hypothesis.describe()
        if held is not None:
            row |= {f"validation_{name}": value for name, value in held._asdict().items()}
        return row


class History:
    """Keeps the records of all rounds, of one fit or of several; a table of them, by column."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []
        self.terms: list[int] = []
        """The number of each round's term in the ensemble; −1 where the term was cut."""
        self.n_rounds: list[int] = []
        """Of each fit."""

    def on_round(self, record: Round) -> bool:
        """Keep the record."""
        self.rounds.append(record)
        return False

    def on_end(self) -> None:
        """Nothing to tidy up."""

    def number_terms(self, n_rounds: int, first: int, n_terms: int) -> None:
        """A fit has ended: its rounds made terms `first`, `first` + 1, …, of which `n_terms` were kept."""
        interrupted = len(self.rounds) - n_rounds - len(self.terms)  # rounds of fits that failed
        self.terms += [CUT] * interrupted
        self.n_rounds += [interrupted] if interrupted else []
        numbers = range(first, first + n_rounds)
        self.terms += [number if number < n_terms else CUT for number in numbers]
        self.n_rounds.append(n_rounds)

    def renumber_terms(self, places: Mapping[int, Sequence[int]]) -> None:
        """Fits became parts of one ensemble: fit → where each of its terms is; other terms were cut."""
        ends = list(accumulate(self.n_rounds, initial=0))
        for fit, (first, last) in enumerate(pairwise(ends)):
            now = places.get(fit, ())
            self.terms[first:last] = [
                now[number] if 0 <= number < len(now) else CUT for number in self.terms[first:last]
            ]

    @property
    def n_fits(self) -> int:
        """How many fits have ended."""
        return len(self.n_rounds)

    def __repr__(self) -> str:
        return f"History({len(self)} rounds; table() gives columns)"

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, index: int) -> Round:
        return self.rounds[index]

    def table(self) -> dict[str, list[Any]]:
        """Columns by name: ready for any data frame library."""
        rows = [record.row() for record in self.rounds]
        # Fits may differ in what they hold out.
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}
