"""Raw parts of whatever users hold: Dask arrays and data frames, delayed parts, arrays, files."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rebelboost.exceptions import TableError
from rebelboost.rows.block import Raw

ENDINGS = (".parquet", ".csv")


def is_path(X: Any) -> bool:
    """Whether rows are given as files: a path, a pattern, or a list of them."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(each, str | Path) for each in X)
    return isinstance(X, str | Path)


def files_of(given: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that paths, folders and patterns stand for, each sorted by name."""
    if isinstance(given, str | Path):
        given = [given]
    found: list[Path] = []
    for each in given:
        path = Path(each)
        if path.is_dir():
            found += sorted(p for p in path.iterdir() if p.suffix in ENDINGS)
        else:
            pattern = "*" in path.name
            found += sorted(path.parent.glob(path.name)) if pattern else [path]
    if not found:
        raise TableError(
            f"{given[0]} holds no files that end in {' or '.join(ENDINGS)}: check the path"
        )
    return found


def read_file(path: Path, target: str, weight: str | None = None) -> Raw:
    """Read one file as a part, by polars."""
    import polars as pl

    try:
        table = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TableError(f"{path} cannot be read as a table: {error}") from error
    return split_columns(table, target, weight)


def split_columns(table: Any, target: str, weight: str | None = None) -> Raw:
    """Take the target and the weights out of a table."""
    for name in (target, *([weight] if weight else [])):
        if name not in table.columns:
            raise TableError(
                f"there is no column {name!r}: the columns are {', '.join(map(str, table.columns))}"
            )
    others = [name for name in table.columns if name not in {target, weight}]
    return Raw(
        table[others],
        table[target].to_numpy(),
        None if weight is None else table[weight].to_numpy(),
    )


def delayed_parts(X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> list[Any]:
    """Delayed `Raw` parts of Dask collections, of lists of delayed or other parts, or of files."""
    from dask import delayed

    if is_path(X):
        if not isinstance(y, str):
            raise TypeError(
                "with files, y is the name of the column of labels: fit(paths, 'label')"
            )
        return [delayed(read_file)(path, y, sample_weight) for path in files_of(X)]
    if isinstance(y, str):
        return [delayed(split_columns)(part, y, sample_weight) for part in _blocks(X, None)]
    rows = _blocks(X, None)
    others = [_blocks(each, X) for each in (y, sample_weight, costs)]
    for name, blocks in zip(("y", "sample_weight", "costs"), others, strict=True):
        if blocks is not None and len(blocks) != len(rows):
            raise ValueError(
                f"X has {len(rows)} partitions, but {name} has {len(blocks)}: divide both alike"
            )
    return [
        delayed(Raw)(part, *(None if blocks is None else blocks[i] for blocks in others))
        for i, part in enumerate(rows)
    ]


def _blocks(given: Any, beside: Any) -> Any:
    """The parts of a collection or list; a Dask array is divided by rows, like the one beside it."""
    if given is None or isinstance(given, list | tuple):
        return given
    if hasattr(given, "chunks"):  # an array
        if given.ndim > 1 and given.numblocks[1] > 1:
            given = given.rechunk({1: -1})
        if beside is not None and hasattr(beside, "chunks") and given.chunks[0] != beside.chunks[0]:
            known = all(size == size for size in (*given.chunks[0], *beside.chunks[0]))  # noqa: PLR0124
            given = given.rechunk({0: beside.chunks[0]}) if known else given
        return list(given.to_delayed().ravel())
    if hasattr(given, "to_delayed"):  # a data frame or a series
        return list(given.to_delayed())
    raise TypeError(
        "X, y, sample_weight and costs may be Dask arrays or data frames, lists of delayed parts, or paths "
        f"of files, but not {type(given).__name__}: for rows in memory use the ordinary estimator"
    )


# ---- predictions on the blocks of collections, when they are asked for


def by_block(model: Any, method: str, X: Any, **options: Any) -> Any:
    """A lazy array: what a method of a fitted estimator returns for each block."""
    if not hasattr(X, "to_delayed"):
        raise TypeError(f"X is a {type(X).__name__}: use to_local().{method}(X) for rows in memory")
    predict = partial(getattr(model, method), **options)
    example = predict(_one_row(X, model))
    wide = example.ndim == 2
    if hasattr(X, "chunks"):
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        columns = {"chunks": (X.chunks[0], (example.shape[1],))} if wide else {"drop_axis": 1}
        return X.map_blocks(
            _predicted, predict, example[:0], dtype=example.dtype, meta=example[:0], **columns
        )
    from dask import array, delayed

    # The model is sent once, not with each block.
    shared = delayed(predict, pure=True)
    blocks = [
        array.from_delayed(
            delayed(_predicted)(part, shared, example[:0]),
            (np.nan, *example.shape[1:]),
            dtype=example.dtype,
        )
        for part in X.to_delayed()
    ]
    return array.concatenate(blocks)


def _predicted(block: Any, predict: Any, empty: Any) -> Any:
    return predict(block) if len(block) else empty


def _one_row(X: Any, model: Any) -> Any:
    """A row of missing values, to see the shape and type of predictions."""
    values = np.full((1, model.n_features_in_), np.nan)
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns"):
        return values
    import pandas as pd

    categorical = model.model_.encoder.categorical
    return pd.DataFrame(
        {name: [None] if categorical[f] else [np.nan] for f, name in enumerate(names)}
    )
