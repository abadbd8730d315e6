"""Training on files that are larger than memory: parts of the rows on disk, read by one machine."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rebelboost.distributed.collections import files_of, split_columns
from rebelboost.distributed.parts import Raw, RowPart
from rebelboost.distributed.seam import InMemory
from rebelboost.distributed.training import SpreadInput, fit_spread
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.inputs import threads_of
from rebelboost.exceptions import TableError

ROWS_AT_ONCE = 1_000_000
"""Rows of a part: so many are in memory at a time, for each thread."""


def fit_files(
    estimator: RebelClassifier,
    paths: str | Path | Sequence[str | Path],
    target: str,
    *,
    sample_weight: str | None = None,
    folder: str | Path | None = None,
) -> RebelClassifier:
    """Fit a classifier to Parquet or CSV files that together may be larger than memory.

    The model is the one that all rows in memory would give, to the last bit.

    Parameters
    ----------
    estimator : RebelClassifier
        The classifier to fit. Its learner must be trees with leaf outputs, which "auto" and "tree" are;
        there is one fit, without cross-fitting. `n_jobs` threads read and train.
    paths : str, path or list
        Files, a folder, or patterns such as ``"folder/*.parquet"``.
    target : str
        Column of class labels.
    sample_weight : str, default=None
        Column of sample weights.
    folder : str or path, default=None
        Folder for temporary files, which take about 9 bytes per value and 16 bytes per row and class; by
        default the system's. They are deleted at the end.

    Returns
    -------
    RebelClassifier : the estimator, fitted.
    """
    with tempfile.TemporaryDirectory(prefix="rebelboost-", dir=folder) as scratch:
        here = Path(scratch)
        sources = _sources(files_of(paths), target, sample_weight, here)
        parts = [RowPart(i, source, folder=here) for i, source in enumerate(sources)]
        spread = InMemory(parts, threads_of(estimator.n_jobs))
        try:
            return fit_spread(
                estimator, spread, SpreadInput(sample_weight is not None, by_sample=False)
            )
        finally:
            spread.close()


def _sources(
    files: Sequence[Path], target: str, weight: str | None, scratch: Path
) -> list[partial[Raw]]:
    """What reads each part; CSV files are first copied as Parquet, which can be read in pieces."""
    import polars as pl

    found = []
    for i, file in enumerate(files):
        try:
            readable = file
            if file.suffix == ".csv":
                readable = scratch / f"table-{i}.parquet"
                pl.scan_csv(file, infer_schema_length=100_000).sink_parquet(readable)
            n_rows = int(pl.scan_parquet(readable).select(pl.len()).collect().item())
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = str(error).strip().split("\n")[0]
            raise TableError(f"{file} cannot be read as a table: {reason}") from error
        firsts = range(0, max(n_rows, 1), ROWS_AT_ONCE)
        found += [partial(read_slice, readable, first, target, weight) for first in firsts]
    return found


def read_slice(path: Path, first: int, target: str, weight: str | None) -> Raw:
    """Read some rows of a Parquet file."""
    import polars as pl

    table: Any = pl.scan_parquet(path).slice(first, ROWS_AT_ONCE).collect()
    return split_columns(table, target, weight)
