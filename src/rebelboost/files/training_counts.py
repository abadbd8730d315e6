"""Storage of the counts of training rows that new rows are compared with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import TensorReader, require
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.model.training_counts import (
    MOST_RANGES,
    N_LEVELS,
    HeldOutCounts,
    TrainingCounts,
    counted_class,
)

MOST_ROWS = 2**31 - 1
MOST_PARTS = 10_000


def training_count_arrays(seen: TrainingCounts | None) -> dict[str, NDArray[Any]]:
    """Arrays; none if nothing was counted."""
    if seen is None or not seen.counts or seen.n_rows > MOST_ROWS:
        return {}
    arrays: dict[str, NDArray[Any]] = {
        "seen.n_edges": np.array([len(each) for each in seen.edges], dtype=np.int32),
        "seen.edges": np.concatenate(seen.edges).astype(np.float64),
        "seen.counts": np.concatenate(seen.counts).astype(np.int32),
    }
    held = seen.held_out
    if held is None:
        return arrays
    return arrays | {
        "seen.held_out.edges": held.edges.astype(np.float64),
        "seen.held_out.counts": held.counts.astype(np.int32),
        "seen.held_out.means": held.means.astype(np.float64),
    }


def take_training_counts(
    reader: TensorReader, encoder: FeatureEncoder, n_classes: int
) -> TrainingCounts | None:
    """Read the counts, and check them; None if the file has none."""
    if not reader.has("seen.n_edges"):
        return None
    n = encoder.n_features
    n_edges = reader.indices("seen.n_edges", MOST_RANGES, n).tolist()
    flat = reader.numbers("seen.edges", sum(n_edges))
    edges = tuple(np.split(flat, np.cumsum(n_edges)[:-1])) if n else ()
    require(
        n > 0 and all((np.diff(each) > 0).all() for each in edges), "ranges that are not sorted"
    )
    categories = all(not (f in encoder.levels and n_edges[f]) for f in range(n))
    require(categories, "ranges of a column of categories")
    sizes = [len(encoder.levels.get(f, range(n_edges[f] + 1))) + 1 for f in range(n)]
    whole = reader.indices("seen.counts", MOST_ROWS, sum(sizes))
    counts = tuple(np.split(whole, np.cumsum(sizes)[:-1]))
    n_rows = int(counts[0].sum())
    require(0 < n_rows <= MOST_ROWS, "counts of no training rows, or of too many")
    require(
        all(each.sum() == n_rows for each in counts), "columns with other numbers of training rows"
    )
    return TrainingCounts(n_rows, edges, counts, _take_held_out(reader, n_classes))


def _take_held_out(reader: TensorReader, n_classes: int) -> HeldOutCounts | None:
    if not reader.has("seen.held_out.edges"):
        return None
    edges = reader.numbers("seen.held_out.edges", None)
    sound = 0 < len(edges) < N_LEVELS and (np.diff(edges) > 0).all()
    require(
        sound and edges[0] >= 0 and edges[-1] <= 1, "ranges of probabilities that are not sorted"
    )
    counts = reader.indices("seen.held_out.counts", MOST_ROWS, None, len(edges) + 1)
    require(0 < len(counts) <= MOST_PARTS, "held-out rows without parts")
    require((counts.sum(axis=1) > 0).all() and counts.sum() <= MOST_ROWS, "parts without rows")
    means = reader.numbers("seen.held_out.means", len(counts), n_classes)
    # Sums of probabilities are 1, up to roundings.
    fits = (means >= 0).all() and (np.abs(means.sum(axis=1) - 1) < 1e-6).all()
    require(fits, "mean probabilities that are none")
    return HeldOutCounts(counted_class(n_classes), edges, counts, means)
