"""How libraries stand beside one another: errors by set, their ranks, and tables of both.

What `auto.py` has measured, without what it takes to measure it: kept as JSON, so that the tables of
README.md and docs/libraries.md can be written, and checked by a test, anywhere.
"""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

SUMMARY = ["library", "mean rank", "won", "rebelboost better – worse", "mean error, %", "seconds"]
DIGITS = 4


@dataclass(frozen=True)
class Standing:
    """Mean test errors of libraries on sets, in %, and their seconds over all fits."""

    names: list[str]
    ours: int
    """Which of the names is ours."""
    seconds: list[float]
    seeds: int
    rows: int
    """Of a set, at most."""
    errors: dict[str, list[float]]
    """Set → in the order of the names."""

    @classmethod
    def read(cls, file: Path) -> "Standing":
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        """One set a line, so that a change shows which ones have moved."""
        kept = asdict(self)
        kept["seconds"] = [round(each, 1) for each in self.seconds]
        errors = {
            name: [round(error, DIGITS) for error in row]
            for name, row in kept.pop("errors").items()
        }
        text = _lines(kept) + ',\n"errors": {\n' + _lines(errors) + "\n}"
        file.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")

    @property
    def sets(self) -> list[str]:
        return list(self.errors)

    @cached_property
    def table(self) -> np.ndarray:
        """(sets, libraries) errors; equal ones are equal, whatever the rounding of their means."""
        return np.round(np.array(list(self.errors.values())), DIGITS)

    @cached_property
    def ranks(self) -> np.ndarray:
        """(sets, libraries): 1 for the lowest error; who ties shares the mean of the places."""
        errors = self.table
        below = (errors[:, np.newaxis, :] < errors[:, :, np.newaxis]).sum(axis=2)
        equal = (errors[:, np.newaxis, :] == errors[:, :, np.newaxis]).sum(axis=2)
        return below + (equal + 1) / 2

    @property
    def mean_ranks(self) -> np.ndarray:
        return self.ranks.mean(axis=0)

    @property
    def order(self) -> np.ndarray:
        """The libraries, best first."""
        return np.argsort(self.mean_ranks, kind="stable")

    @property
    def others(self) -> list[int]:
        return [r for r in range(len(self.names)) if r != self.ours]

    @property
    def lead(self) -> float:
        """Mean ranks from ours to the best of the others; negative where ours is behind."""
        return float(self.mean_ranks[self.others].min() - self.mean_ranks[self.ours])

    @property
    def critical_difference(self) -> float:
        """Nemenyi's, at 5 %: mean ranks further apart than this differ beyond chance (Demšar 2006)."""
        from scipy.stats import studentized_range

        n_sets, n_rivals = self.table.shape
        q = studentized_range.ppf(0.95, n_rivals, np.inf) / np.sqrt(2)
        return float(q * np.sqrt(n_rivals * (n_rivals + 1) / (6 * n_sets)))

    def summary(self) -> list[list[str]]:
        """A line for each library, best first; its columns are SUMMARY."""
        return [
            [
                self.names[r],
                f"{self.mean_ranks[r]:.2f}",
                f"{(self.ranks[:, r] < 2).sum()}",
                self._duel(int(r)),
                f"{self.table[:, r].mean():.2f}",
                f"{self.seconds[r]:,.0f}",
            ]
            for r in self.order
        ]

    def _duel(self, theirs: int) -> str:
        if theirs == self.ours:
            return ""
        lead = self.table[:, theirs] - self.table[:, self.ours]
        return f"{(lead > 0).sum()} – {(lead < 0).sum()}"

    def losses(self) -> list[tuple[str, float, str, float]]:
        """Sets on which another is best: name, our error, who, theirs; the widest gap first."""
        best = np.array(self.others)[self.table[:, self.others].argmin(axis=1)]
        own, theirs = self.table[:, self.ours], self.table[np.arange(len(self.sets)), best]
        lost = [i for i in np.argsort(theirs - own, kind="stable") if theirs[i] < own[i]]
        return [(self.sets[i], own[i], self.names[best[i]], theirs[i]) for i in lost]


def _lines(entries: dict[str, object]) -> str:
    return ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in entries.items()
    )
