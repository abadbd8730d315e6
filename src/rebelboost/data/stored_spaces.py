"""Reading the spaces of a model file."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Indices, Points
from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.data.exact_space import EXACT, ExactSpace, take_exact
from rebelboost.data.measured import METRIC, PRECOMPUTED, Precomputed, take_measured
from rebelboost.data.spaces import FAR, SCALED, Embedding, Space

POINT_TYPES = {"float32": np.float32, "float64": np.float64}


def space_from_tensors(
    reader: TensorReader,
    name: str,
    fields: Fields,
    n_features: int,
    levels: dict[int, int],
    points_of: Callable[[Embedding, Indices, str], Points],
) -> tuple[Space, NDArray[Any], Indices]:
    """Read a space, its points and their rows from a model file.

    `levels`: categorical feature → number of categories. `points_of` computes points that are not stored.
    """
    kind = fields.word("kind", (SCALED, EXACT, METRIC, PRECOMPUTED))
    most = n_features if kind == PRECOMPUTED else 2**31 - 1
    rows = reader.indices(f"{name}.rows", most, None)
    if kind == PRECOMPUTED:
        return Precomputed(), np.empty((len(rows), 0)), rows
    if kind == METRIC:
        metric = take_measured(reader, name, fields, n_features)
        dtype = POINT_TYPES[fields.word("type", POINT_TYPES)]
        return metric, reader.take(f"{name}.points", dtype, len(rows), n_features), rows
    turned = fields.any("turned")
    require(isinstance(turned, bool), f"{name} with a field 'turned' that is not true or false")
    space = _take_embedding(reader, name, n_features, levels, turned=turned)
    if kind == EXACT:
        return ExactSpace(space), take_exact(reader, name, space, len(rows)), rows
    if reader.has(f"{name}.points"):
        points = reader.take(f"{name}.points", np.float32, len(rows), len(space.offset))
    else:
        points = points_of(space, rows, name)
    require((np.abs(points) <= FAR).all(), f"{name} with a point beyond {FAR:g}")
    return space, points, rows


def _take_embedding(
    reader: TensorReader, name: str, n_features: int, known: dict[int, int], *, turned: bool
) -> Embedding:
    level_features = reader.indices(f"{name}.level_features", n_features, None)
    counts = reader.indices(f"{name}.level_counts", 256, len(level_features))
    levels = dict(zip(level_features.tolist(), counts.tolist(), strict=True))
    require(
        list(levels) == sorted(known) and len(levels) == len(counts),
        f"{name} with other categorical features than the model",
    )
    require(
        all(n <= known[f] for f, n in levels.items()),
        f"{name} with more categories of a feature than the model",
    )
    indicated = reader.indices(f"{name}.indicated", n_features, None)
    rising = (np.diff(indicated) > 0).all() and not known.keys() & set(indicated.tolist())
    require(rising, f"{name} with missing indicators of features that are not numeric")
    width = n_features - len(levels) + len(indicated) + sum(levels.values())
    return Embedding(
        reader.numbers(f"{name}.fill", n_features),
        indicated.astype(np.int64),
        levels,
        reader.numbers(f"{name}.offset", width),
        reader.numbers(f"{name}.factor", width),
        reader.numbers(f"{name}.turn", width, width) if turned else None,
    )
