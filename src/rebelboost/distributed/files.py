"""Training on files that are larger than memory: parts of the rows on disk, read by one machine."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rebelboost.distributed.collections import files_of, split_columns
from rebelboost.distributed.reading import Describe, Encode
from rebelboost.distributed.training import AnyRebel, GivenRows, fit_rows
from rebelboost.estimators.validation import threads_of
from rebelboost.exceptions import TableError
from rebelboost.rows.base import MemoryRows, Operation
from rebelboost.rows.block import ROWS_AT_ONCE, Block, Raw
from rebelboost.rows.quantiles import BinRows, Sort


def fit_files(
    estimator: AnyRebel,
    paths: str | Path | Sequence[str | Path],
    target: str,
    *,
    sample_weight: str | None = None,
    folder: str | Path | None = None,
) -> AnyRebel:
    """Fit a classifier or a regressor to Parquet or CSV files that together may be larger than memory.

    The model is the one that all rows in memory would give, to the last bit.

    Parameters
    ----------
    estimator : RebelClassifier or RebelRegressor
        The estimator to fit. There is one fit, without cross-fitting. `n_jobs` threads read and train.
    paths : str, path or list
        Files, a folder, or patterns such as ``"folder/*.parquet"``.
    target : str
        Column of class labels, or of numbers.
    sample_weight : str, default=None
        Column of sample weights.
    folder : str or path, default=None
        Folder for temporary files, which take about a byte per value, 16 bytes per row and class, and 8
        bytes per row while bins are chosen; by default the system's. They are deleted at the end.

    Returns
    -------
    RebelClassifier or RebelRegressor : the estimator, fitted.
    """
    with tempfile.TemporaryDirectory(prefix="rebelboost-", dir=folder) as scratch:
        here = Path(scratch)
        slices = _slices(files_of(paths), target, sample_weight, here)
        return fit_pieces(estimator, slices, here, weighted=sample_weight is not None)


class Piece(Protocol):
    """Some rows of a file, and how they are read."""

    @property
    def name(self) -> str:
        """The file as the user knows it."""

    def read(self) -> Raw:
        """Read the rows."""

    def columns(self, features: Sequence[int] | None) -> Any:
        """Read some features, or all, as a data frame."""


STEPS = {
    Describe: "checking the rows",
    Encode: "encoding the rows as numbers",
    Sort: "choosing bins",
    BinRows: "binning the rows",
}
"""What is told of the steps before the first round."""


class Told(MemoryRows):
    """Blocks whose steps are told."""

    def __init__(self, blocks: Sequence[Block], n_threads: int, tell: Callable[[str], None]):
        super().__init__(blocks, n_threads)
        self._tell, self._untold = tell, dict(STEPS)

    def ask(self, operation: Operation) -> Any:
        """Let all blocks apply it; return their merged answers."""
        step = self._untold.pop(type(operation), None)
        if step is not None:
            self._tell(step)
        return super().ask(operation)


def fit_pieces(
    estimator: AnyRebel,
    pieces: Sequence[Piece],
    folder: Path,
    tell: Callable[[str], None] = lambda _: None,
    *,
    weighted: bool = False,
    validation: Any = None,
) -> AnyRebel:
    """Fit an estimator to the rows of all pieces; `folder` is for temporary files, `tell` hears of steps."""
    blocks = [
        Block(i, piece.read, folder=folder, name=piece.name, columns=piece.columns)
        for i, piece in enumerate(pieces)
    ]
    rows = Told(blocks, threads_of(estimator.n_jobs), tell)
    try:
        return fit_rows(estimator, GivenRows(rows, weighted), validation)
    finally:
        rows.close()


@dataclass(frozen=True)
class Slice:
    """Some rows of a Parquet file, from `first` on."""

    name: str
    path: Path
    first: int
    target: str
    weight: str | None

    def read(self) -> Raw:
        """Read the rows."""
        return split_columns(self._scanned().collect(), self.target, self.weight)

    def columns(self, features: Sequence[int] | None) -> Any:
        """Read some features, or all, as a data frame."""
        scanned = self._scanned()
        names = [n for n in scanned.collect_schema().names() if n not in {self.target, self.weight}]
        wanted = names if features is None else [names[f] for f in features]
        return scanned.select(wanted).collect()

    def _scanned(self) -> Any:
        import polars as pl

        return pl.scan_parquet(self.path, glob=False).slice(self.first, ROWS_AT_ONCE)


def _slices(files: Sequence[Path], target: str, weight: str | None, scratch: Path) -> list[Slice]:
    """Divide the files; CSV files are first copied as Parquet, which can be read in pieces."""
    import polars as pl

    found = []
    for i, file in enumerate(files):
        try:
            readable = file
            if file.suffix == ".csv":
                readable = scratch / f"table-{i}.parquet"
                pl.scan_csv(file, infer_schema_length=100_000, glob=False).sink_parquet(readable)
            n_rows = int(pl.scan_parquet(readable, glob=False).select(pl.len()).collect().item())
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = str(error).strip().split("\n")[0]
            raise TableError(f"{file} cannot be read as a table: {reason}") from error
        firsts = range(0, max(n_rows, 1), ROWS_AT_ONCE)
        found += [Slice(str(file), readable, first, target, weight) for first in firsts]
    return found
