"""boosting.rounds."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from rebelboost.base.arrays import NO_WORK, Work
from rebelboost.model.trees import Hypothesis


class Held(NamedTuple):
    """How the scores do on held-out samples."""

    log_loss: float
    error: float
    cost: float


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
    hypothesis: Hypothesis
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
    """Keeps all records; a table of them, by column."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []

    def on_round(self, record: Round) -> bool:
        """Keep the record."""
        self.rounds.append(record)
        return False

    def on_end(self) -> None:
        """Nothing to tidy up."""

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
        names = dict.fromkeys(
            name for row in rows for name in row
        )  # fits may differ in what they hold out
        return {name: [row.get(name) for row in rows] for name in names}
