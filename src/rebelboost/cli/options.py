"""Types of options and arguments, and options that several modules read."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON record per line.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="Show the traceback of an error.")]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file written by `rebel train`.")
]
Data = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA", help="CSV, Excel or Parquet file; or several files or a folder of them."
    ),
]
Costs = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Decide by the costs in this CSV file instead."),
]

Threads = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Number of threads. Default: all cores.")
]
SkipRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="Number of lines above the names of columns. Default: titles and footnotes are detected.",
    ),
]
SheetName = Annotated[
    str, typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel file. Default: the first.")
]
TrueColumn = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Column of true classes. Default: as in training."
    ),
]
Agreement = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Stop early on easy rows: faster, and about this share of the decisions, such as 0.995, is the "
        "same as without stopping.",
    ),
]
Ignored = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Ignore this column, or several: a,b,c."),
]
Kept = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Use this column, or several, even if they look uninformative, such as identifiers.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Treat the numbers in this column, or several, as categories."
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Use the words of the text in this column, or several."),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="Of two classes, the one whose sensitivity, predictive value and calibration are given. "
        "Default: the class that costs more to miss or, if both cost the same, the rarer one.",
    ),
]
By = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="Also give the results by group of rows: by the values of this column, such as a region.",
    ),
]


Budget = Annotated[
    float | None,
    typer.Option(
        "--reject-budget",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Abstain on at most this share of the rows, such as 0.1: those with the highest expected cost. "
        "The share is met on the rows that the fits of the training left out.",
    ),
]


class TrainingOptions(NamedTuple):
    """Options of the training; None stands for the estimator's default."""

    learner: str = "auto"
    rounds: int | None = None
    time_budget: float | None = None
    seed: int | None = None
    threads: int | None = None
    positive: str | None = None
    """Of two classes, the one that figures are about."""
    papers: str | None = None
    """Name of a published method, and three options of such methods."""
    depth: int | None = None
    criterion: str | None = None
    search: str | None = None
    monotone: str | None = None
    """Columns with which scores rise or fall: income=+1,age=-1."""
    reject_budget: float | None = None
    """Share of the rows on which the model may abstain."""

    def metadata(self) -> dict[str, Any]:
        """What the model keeps of these options."""
        return {} if self.positive is None else {"positive": self.positive}

    @property
    def directions(self) -> dict[str, int] | None:
        """Column → +1 or −1; None if none is named."""
        if self.monotone is None:
            return None
        found = {}
        for part in self.monotone.split(","):
            name, _, sign = part.rpartition("=")
            if not name.strip() or sign.strip() not in {"1", "+1", "-1"}:
                raise ValueError(
                    f"--monotone is {self.monotone!r}: give columns with +1 or -1, such as income=+1,age=-1"
                )
            found[name.strip()] = int(sign)
        return found
