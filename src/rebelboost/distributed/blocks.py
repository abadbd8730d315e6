"""Predictions on the blocks of Dask arrays and data frames, when they are asked for."""

from functools import partial
from typing import Any

import numpy as np


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
