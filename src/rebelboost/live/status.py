"""What a project holds: a document for the command, notebooks and reports."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebelboost.base.findings import Column, Described, Document, Sentence, Table
from rebelboost.base.text import counted, percent
from rebelboost.live.exact import Task

MOST_SHOWN = 12


@dataclass(frozen=True, repr=False)
class Status(Described):
    """Counts of rows and labels, and the latest fits."""

    path: str
    target: str
    counts: Mapping[str, int]
    """Class → number of rows; empty for numbers."""
    n_rows: int
    n_labelled: int
    behind: int
    """Labels that the exact model has not seen."""
    fits: tuple[Mapping[str, Any], ...]
    """The latest exact fits, the newest first."""

    @classmethod
    def of(
        cls,
        path: Path,
        task: Task,
        counts: Mapping[str, int],
        n_rows: int,
        fits: Sequence[Sequence[Any]],
        behind: int,
    ) -> "Status":
        """From what the store counts."""
        told = tuple(
            {
                "at": at,
                "hash": hashed,
                "rows": n,
                "seconds": seconds,
                **(json.loads(more).get("left_out") or {}),
            }
            for at, hashed, n, seconds, more in fits
        )
        by_class = {} if task.predicts_numbers else counts
        return cls(str(path), task.target, by_class, n_rows, sum(counts.values()), behind, told)

    def document(self) -> Document:
        """The status as a document, which `rebelboost.base.findings` renders."""
        found: Document = [
            Sentence(
                f"{self.path}: {counted(self.n_rows, 'row')}, {self.n_labelled:,} with a value of "
                f"{self.target!r}."
            )
        ]
        if self.fits:
            seen = "all labels" if not self.behind else f"all but {counted(self.behind, 'label')}"
            found = [
                *found,
                Sentence(f"The latest exact model of {self.fits[0]['at']} has seen {seen}."),
            ]
        else:
            found = [*found, Sentence("There is no model yet.")]
        if self.counts:
            columns = [
                Column("class", list(self.counts)),
                Column("rows", list(self.counts.values()), "{:,}".format, kind="number"),
            ]
            found = [*found, Table(columns, key="counts", n_shown=MOST_SHOWN, noun="class")]
        if self.fits:
            fits = self.fits
            columns = [
                Column("at", [fit["at"] for fit in fits]),
                Column("rows", [fit["rows"] for fit in fits], "{:,}".format, kind="number"),
                Column("seconds", [fit["seconds"] for fit in fits], "{:.2f}".format, kind="number"),
                Column("hash", [fit["hash"][:12] for fit in fits]),
            ]
            if any("accuracy" in fit for fit in fits):
                accuracy = [fit.get("accuracy") for fit in fits]
                columns.append(Column("accuracy", accuracy, _share, "left-out accuracy", "number"))
            if any("error" in fit for fit in fits):
                errors = [fit.get("error") for fit in fits]
                columns.append(Column("error", errors, _number, "left-out mean error", "number"))
            found = [*found, Table(columns, key="fits", title="Exact fits", noun="fit")]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {**vars(self), "counts": dict(self.counts), "fits": [dict(fit) for fit in self.fits]}


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
