"""Tables that are cut into parts, and fingerprints of the models that come of them."""

import dataclasses
import hashlib

import numpy as np
import pandas as pd

from rebelboost.base.arrays import NO_WORK
from rebelboost.distributed.training import GivenRows, fit_rows
from rebelboost.rows.base import MemoryRows
from rebelboost.rows.block import Block, Raw

N, D = 400, 6
CUTS = [[], [150], [0, 0, 1, 150, 151, N]]
"""One part; two; and uneven ones: empty ones, and one of a single row."""


def fingerprint(model, folder):
    """Digest of the model file, without the seconds that rounds took and the visits that searches made.

    Nor with what is counted of rows in memory only: spreads of columns, and ranges for `monitor`.
    """
    history = model.history_
    history.rounds[:] = [
        dataclasses.replace(record, seconds=0.0, work=NO_WORK) for record in history.rounds
    ]
    kept = model.model_.provenance
    model.model_ = dataclasses.replace(
        model.model_, provenance=dataclasses.replace(kept, spreads=None, seen=None)
    )
    model.save(folder / "model.safetensors")
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def table(seed=0, n_rows=N):
    """Values that repeat, are skewed or missing; labels of three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, D))
    X[:, 2] = np.round(2 * X[:, 2])
    X[:, 3] = np.exp(3 * X[:, 3])
    X[rng.random(X.shape) < 0.05] = np.nan
    known = np.nan_to_num(X)
    y = np.where(known[:, 0] + 0.1 * known[:, 3] > 0.4, "a", np.where(known[:, 1] > 0, "b", "c"))
    return X, y


def frame(seed=0, n_rows=N):
    """The same as a data frame with a categorical column."""
    X, y = table(seed, n_rows)
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(X, columns=[f"f{i}" for i in range(D)])
    data["colour"] = rng.choice(["red", "green", "blue", None], n_rows, p=[0.5, 0.3, 0.1, 0.1])
    return data, y


def cut(X, y, cuts, order=None, **others):
    """Raw parts of a table, whose rows are taken in the given order."""
    order = np.arange(len(y)) if order is None else order

    def some(values, rows):
        return values.iloc[rows] if hasattr(values, "iloc") else values[rows]

    return [
        Raw(some(X, rows), some(y, rows), **{name: v[rows] for name, v in others.items()})
        for rows in np.split(order, cuts)
    ]


def in_memory(raws, n_threads=1):
    return MemoryRows([Block(i, lambda raw=raw: raw) for i, raw in enumerate(raws)], n_threads)


def fit_parts(estimator, raws, n_threads=1, validation=None):
    rows = in_memory(raws, n_threads)
    given = GivenRows(rows, raws[0].sample_weight is not None, raws[0].costs is not None)
    return fit_rows(estimator, given, validation)
