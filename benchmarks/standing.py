"""How libraries stand beside one another: errors and log-losses by set, their ranks, and tables of both.

What `auto.py` has measured, without what it takes to measure it: kept as JSON, so that the tables of
README.md and docs/libraries.md can be written, and checked by a test, anywhere.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

SUMMARY = [
    "library",
    "mean rank",
    "won",
    "rebelboost better – worse",
    "mean error, %",
    "log-loss: mean rank",
    "rebelboost better – worse",
    "seconds per fit",
]
DIGITS = 4
MEASURES = ("errors", "log_losses", "seconds", "wall")

Column = list[float | None]
"""A figure of each library; None where it was not run, or gives no probabilities."""


class Duel(NamedTuple):
    """Ours and another library, on the sets that both were run on."""

    n_sets: int
    errors: tuple[int, int]
    """On how many sets ours has the lower error, and on how many the higher."""
    log_losses: tuple[int, int]
    mean_errors: tuple[float, float]
    """Ours, theirs."""
    mean_log_losses: tuple[float, float]
    seconds: tuple[float, float]
    """The processor's, of a fit on average: ours, theirs."""
    wall: tuple[float, float]


@dataclass(frozen=True)
class Standing:
    """Results of libraries on sets: means of a set's seeds, in the order of the names."""

    names: list[str]
    ours: int
    """Which of the names is ours."""
    automatic: list[str]
    """The names that search among several libraries; the others are single ones."""
    seeds: int
    rows: int
    """Of a set, at most."""
    errors: dict[str, Column]
    """Set → test errors in %."""
    log_losses: dict[str, Column]
    seconds: dict[str, Column]
    """Processor seconds of a fit with its predictions."""
    wall: dict[str, Column]
    """The same on the clock."""

    @classmethod
    def read(cls, file: Path) -> "Standing":
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        """One set a line, so that a change shows which ones have moved."""
        kept = asdict(self)
        blocks = []
        for measure in MEASURES:
            rounded = {name: _rounded(row) for name, row in kept.pop(measure).items()}
            blocks.append(f'"{measure}": {{\n{lines_of(rounded)}\n}}')
        text = ",\n".join([lines_of(kept), *blocks])
        file.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")

    # ---- parts

    def among(self, names: Collection[str], sets: Collection[str]) -> "Standing":
        """The same for some libraries, on those of the sets that all of them were run on."""
        places = [r for r, name in enumerate(self.names) if name in names]
        shared = [
            s for s in self.sets if s in sets and all(self.errors[s][r] is not None for r in places)
        ]
        chosen = {
            measure: {s: [getattr(self, measure)[s][r] for r in places] for s in shared}
            for measure in MEASURES
        }
        kept = [self.names[r] for r in places]
        return replace(
            self,
            names=kept,
            ours=kept.index(self.names[self.ours]),
            automatic=[name for name in self.automatic if name in kept],
            **chosen,
        )

    def complete(self, sets: Sequence[str]) -> "Standing":
        """The same on these sets, for the libraries that were run on all of them."""
        kept = [
            name
            for r, name in enumerate(self.names)
            if all(self.errors[s][r] is not None for s in sets)
        ]
        return self.among(kept, sets)

    @property
    def sets(self) -> list[str]:
        return list(self.errors)

    @property
    def others(self) -> list[int]:
        return [r for r in range(len(self.names)) if r != self.ours]

    @property
    def singles(self) -> list[int]:
        """The others that are single libraries."""
        return [r for r in self.others if self.names[r] not in self.automatic]

    # ---- ranks

    @cached_property
    def table(self) -> np.ndarray:
        """(sets, libraries) errors, NaN where one was not run.

        Equal ones are equal, whatever the rounding of their means.
        """
        return np.round(np.array(list(self.errors.values()), dtype=float), DIGITS)

    @cached_property
    def loss_table(self) -> np.ndarray:
        """(sets, libraries) log-losses: NaN for who gives no probabilities, ∞ where a fit failed."""
        found = np.round(np.array(list(self.log_losses.values()), dtype=float), DIGITS)
        gives = ~np.isnan(found).all(axis=0)
        found[:, gives] = np.where(np.isnan(found[:, gives]), np.inf, found[:, gives])
        return found

    @cached_property
    def ranks(self) -> np.ndarray:
        """(sets, libraries): 1 for the lowest error; who ties shares the mean of the places."""
        return _ranks(self.table)

    @property
    def mean_ranks(self) -> np.ndarray:
        return self.ranks.mean(axis=0)

    @property
    def mean_loss_ranks(self) -> np.ndarray:
        """By log-loss, among those that give probabilities; NaN for the others."""
        gives = ~np.isnan(self.loss_table).any(axis=0)
        ranks = np.full(len(self.names), np.nan)
        ranks[gives] = _ranks(self.loss_table[:, gives]).mean(axis=0)
        return ranks

    @property
    def order(self) -> np.ndarray:
        """The libraries, best first."""
        return np.argsort(self.mean_ranks, kind="stable")

    @property
    def lead(self) -> float:
        """Mean ranks from ours to the best single library; negative where ours is behind."""
        return float(self.mean_ranks[self.singles].min() - self.mean_ranks[self.ours])

    @property
    def loss_lead(self) -> float:
        """The same by log-loss."""
        return float(
            np.nanmin(self.mean_loss_ranks[self.singles]) - self.mean_loss_ranks[self.ours]
        )

    @property
    def critical_difference(self) -> float:
        """Nemenyi's, at 5 %: mean ranks further apart than this differ beyond chance (Demšar 2006)."""
        from scipy.stats import studentized_range

        n_sets, n_rivals = self.table.shape
        q = studentized_range.ppf(0.95, n_rivals, np.inf) / np.sqrt(2)
        return float(q * np.sqrt(n_rivals * (n_rivals + 1) / (6 * n_sets)))

    @property
    def seconds_per_fit(self) -> np.ndarray:
        """(libraries,) the processor's, on average."""
        return np.array(list(self.seconds.values()), dtype=float).mean(axis=0)

    def summary(self) -> list[list[str]]:
        """A line for each library, best first; its columns are SUMMARY."""
        return [
            [
                self.names[r],
                f"{self.mean_ranks[r]:.2f}",
                f"{(self.ranks[:, r] < 2).sum()}",
                _score(self.table, self.ours, int(r)),
                f"{self.table[:, r].mean():.2f}",
                _or_none(self.mean_loss_ranks[r]),
                _score(self.loss_table, self.ours, int(r)),
                f"{self.seconds_per_fit[r]:.2g}",
            ]
            for r in self.order
        ]

    # ---- ours and others

    def losses(self) -> list[tuple[str, float, str, float]]:
        """Sets on which a single library is best: name, our error, who, theirs; the widest gap first."""
        best = np.array(self.singles)[np.nanargmin(self.table[:, self.singles], axis=1)]
        own, theirs = self.table[:, self.ours], self.table[np.arange(len(self.sets)), best]
        lost = [i for i in np.argsort(theirs - own, kind="stable") if theirs[i] < own[i]]
        return [(self.sets[i], own[i], self.names[best[i]], theirs[i]) for i in lost]

    def duel(self, name: str) -> Duel:
        """Ours and one other, on the sets that both were run on."""
        both = self.among({self.names[self.ours], name}, self.sets)
        own, theirs = both.ours, 1 - both.ours

        def pair(table: np.ndarray) -> tuple[float, float]:
            means = table.mean(axis=0)
            return float(means[own]), float(means[theirs])

        def count(table: np.ndarray) -> tuple[int, int]:
            lead = table[:, theirs] - table[:, own]
            return int((lead > 0).sum()), int((lead < 0).sum())

        return Duel(
            len(both.sets),
            count(both.table),
            count(both.loss_table),
            pair(both.table),
            pair(both.loss_table),
            pair(np.array(list(both.seconds.values()), dtype=float)),
            pair(np.array(list(both.wall.values()), dtype=float)),
        )


def _ranks(table: np.ndarray) -> np.ndarray:
    below = (table[:, np.newaxis, :] < table[:, :, np.newaxis]).sum(axis=2)
    equal = (table[:, np.newaxis, :] == table[:, :, np.newaxis]).sum(axis=2)
    return below + (equal + 1) / 2


def _score(table: np.ndarray, ours: int, theirs: int) -> str:
    if theirs == ours or np.isnan(table[:, theirs]).any():
        return ""
    below, above = table[:, theirs] > table[:, ours], table[:, theirs] < table[:, ours]
    return f"{below.sum()} – {above.sum()}"


def _or_none(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _rounded(row: Column) -> Column:
    return [None if each is None else round(each, DIGITS) for each in row]


def lines_of(entries: dict[str, object]) -> str:
    """JSON, one entry a line."""
    return ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in entries.items()
    )
