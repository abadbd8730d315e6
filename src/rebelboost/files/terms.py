"""Flat terms ↔ the arrays of a file; on the way back, every rule that prediction relies on is checked."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.data.spaces import FAR, Embedding, Measured, Precomputed, Space
from rebelboost.exceptions import ModelFileError
from rebelboost.files.checks import Fields, Shelf, require
from rebelboost.learners.tree import MOST_DEPTH
from rebelboost.model.flattening import (
    KINDS,
    NONE,
    SIMILARITY,
    TREE,
    Examples,
    FlatSimilarities,
    FlatTerms,
    FlatTrees,
)

SCALED, METRIC, PRECOMPUTED = "scaled", "metric", "precomputed"
POINT_TYPES = {"float32": np.float32, "float64": np.float64}
CONSTANT = KINDS.index("constant")
AT_ONCE = 1024
"""Leaves that are looked at together, to keep copies small."""
PAIRS = [KINDS.index("two_points"), KINDS.index("nearer")]


class Features(NamedTuple):
    """What terms may ask."""

    n: int
    levels: dict[int, int]
    """Categorical feature → number of levels."""

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """(d,)."""
        flags = np.zeros(self.n, dtype=bool)
        flags[list(self.levels)] = True
        return flags


# ---- to a file


def term_arrays(flat: FlatTerms) -> dict[str, NDArray[Any]]:
    """All arrays, by name."""
    arrays: dict[str, NDArray[Any]] = {"terms": flat.kinds}
    trees = flat.trees._asdict().items()
    arrays |= {f"trees.{name}": array for name, array in trees if array is not None}
    arrays |= {f"similarities.{name}": a for name, a in flat.similarities._asdict().items()}
    for i, examples in enumerate(flat.spaces):
        arrays |= {f"spaces.{i}.{name}": a for name, a in _space_arrays(examples).items()}
    return arrays


def _space_arrays(examples: Examples) -> dict[str, NDArray[Any]]:
    space = examples.space
    arrays: dict[str, NDArray[Any]] = {"rows": examples.rows}
    if not isinstance(space, Precomputed):
        arrays["points"] = examples.points
    if isinstance(space, Embedding):
        arrays |= {
            "fill": space.fill,
            "indicated": space.indicated.astype(np.int32),
            "level_features": np.array(list(space.levels), dtype=np.int32),
            "level_counts": np.array(list(space.levels.values()), dtype=np.int32),
            "offset": space.offset,
            "factor": space.factor,
        }
        if space.turn is not None:
            arrays["turn"] = space.turn
    return arrays


def space_fields(examples: Examples) -> dict[str, Any]:
    """What is not an array of a space."""
    space = examples.space
    if isinstance(space, Embedding):
        return {"kind": SCALED, "turned": space.turn is not None}
    if isinstance(space, Precomputed):
        return {"kind": PRECOMPUTED}
    if isinstance(space, Measured) and isinstance(space.metric, str):
        return {"kind": METRIC, "metric": space.metric, "type": str(examples.points.dtype)}
    metric = getattr(getattr(space, "metric", space), "__name__", type(space).__name__)
    raise ModelFileError(
        f"distances are measured by the function {metric}, which a file cannot hold: compute them "
        "beforehand and train with Similarity(metric='precomputed'), name one of SciPy's metrics, "
        "or keep the model with pickle"
    )


# ---- from a file


def take_terms(shelf: Shelf, spaces: list[Any], features: Features, n_classes: int) -> FlatTerms:
    """The terms, all of whose numbers are in their ranges."""
    kinds = shelf.take("terms", np.uint8, None)
    require((kinds <= SIMILARITY).all(), "terms of an unknown kind")
    n_trees, n_compared = (int(np.count_nonzero(kinds == kind)) for kind in (TREE, SIMILARITY))
    trees = _take_trees(shelf, n_trees, features, n_classes)
    kept = tuple(
        _take_space(shelf, i, Fields(f, "a space"), features) for i, f in enumerate(spaces)
    )
    similarities = _take_similarities(shelf, n_compared, kept, n_classes)
    return FlatTerms(kinds, trees, similarities, kept)


def _take_trees(shelf: Shelf, n_trees: int, features: Features, n_classes: int) -> FlatTrees:
    depths = shelf.take("trees.depths", np.uint8, n_trees)
    require((depths <= MOST_DEPTH).all(), f"a tree deeper than {MOST_DEPTH} layers")
    n_nodes = int(((1 << depths.astype(np.int64)) - 1).sum())
    signed = shelf.flags("trees.signed", n_trees)
    n_signs = int((1 << depths[signed == 1].astype(np.int64)).sum())
    table_nodes = shelf.take("trees.table_nodes", np.int64, None)
    trees = FlatTrees(
        depths,
        signed,
        shelf.indices("trees.features", features.n, n_nodes, least=NONE),
        shelf.take("trees.thresholds", np.float64, n_nodes),
        shelf.flags("trees.missing_right", n_nodes),
        table_nodes,
        shelf.take("trees.tables", np.uint8, len(table_nodes), 32),
        shelf.take("trees.signs", np.int8, n_signs),
        shelf.numbers("trees.outputs", n_nodes + n_trees, n_classes),
        shelf.numbers("trees.cover", n_nodes + n_trees) if shelf.has("trees.cover") else None,
    )
    if trees.cover is not None:
        fine = (trees.cover >= 0).all() and (trees.cover < 1e300).all()
        require(fine, "leaves with a negative or huge weight of samples")
    _check_nodes(trees, features)
    require((np.abs(trees.signs) == 1).all(), "signs of leaves that are neither 1 nor −1")
    _check_signs(trees)
    return trees


def _check_nodes(trees: FlatTrees, features: Features) -> None:
    asks = trees.features != NONE
    require((trees.thresholds > -np.inf).all(), "a threshold that is no number")  # NaN is not
    of_categories = asks & features.categorical[trees.features]
    require(
        np.array_equal(np.flatnonzero(of_categories), trees.table_nodes),
        "tables that are not those of the nodes with categorical features",
    )
    endless = np.isposinf(trees.thresholds)
    require(endless[of_categories].all(), "a threshold at a categorical feature")
    idle = endless[~asks].all() and not trees.missing_right[~asks].any()
    require(idle, "a node that asks nothing and sends samples right")


def _check_signs(trees: FlatTrees) -> None:
    """Leaves with signs share one output vector."""
    sizes = trees.nodes + 1
    leaves = np.flatnonzero(np.repeat(trees.signed, sizes))
    own = sizes[trees.signed == 1]
    first = np.repeat(np.cumsum(own) - own, own)
    for some in np.array_split(np.arange(len(leaves)), len(leaves) // AT_ONCE + 1):
        turned = trees.signs[some] * trees.signs[first[some]]
        shared = turned[:, np.newaxis] * trees.outputs[leaves[first[some]]]
        alike = np.array_equal(trees.outputs[leaves[some]], shared)
        require(alike, "a tree whose leaves do not share the output that their signs say")


def _take_similarities(
    shelf: Shelf, n: int, spaces: tuple[Examples, ...], n_classes: int
) -> FlatSimilarities:
    kinds = shelf.take("similarities.kinds", np.uint8, n)
    require((kinds < len(KINDS)).all(), "a similarity of an unknown kind")
    of_space = shelf.indices("similarities.spaces", len(spaces), n, least=NONE)
    n_examples = np.array([*(len(each.rows) for each in spaces), 0])
    found = FlatSimilarities(
        kinds,
        of_space,
        shelf.indices("similarities.anchors", 2**31 - 1, n, least=NONE),
        shelf.indices("similarities.rivals", 2**31 - 1, n, least=NONE),
        shelf.numbers("similarities.apart", n),
        shelf.numbers("similarities.outputs", n, 2, n_classes),
    )
    constant = kinds == CONSTANT
    named = np.array_equal(constant, of_space == NONE) and np.array_equal(
        constant, found.anchors == NONE
    )
    require(named, "a similarity without an anchor, or a constant with one")
    most = n_examples[of_space]
    known = (found.anchors < np.maximum(most, 1)).all() and (
        found.rivals < np.maximum(most, 1)
    ).all()
    require(known and (most[~constant] > 0).all(), "a similarity to an example that is not there")
    pairs = np.isin(kinds, PAIRS)
    require(
        np.array_equal(pairs, found.rivals != NONE), "a pair without rival, or a rival too many"
    )
    require((found.rivals != found.anchors)[pairs].all(), "a similarity with its anchor as rival")
    require((found.apart > 0).all(), "a distance that is not positive")
    return found


def _take_space(shelf: Shelf, i: int, fields: Fields, features: Features) -> Examples:
    kind = fields.word("kind", (SCALED, METRIC, PRECOMPUTED))
    name = f"spaces.{i}"
    most = features.n if kind == PRECOMPUTED else 2**31 - 1
    rows = shelf.indices(f"{name}.rows", most, None)
    require(len(np.unique(rows)) == len(rows), f"a row twice among the examples of {name}")
    space: Space
    if kind == PRECOMPUTED:
        space, points = Precomputed(), np.empty((len(rows), 0))
    elif kind == METRIC:
        space = _metric(fields)
        dtype = POINT_TYPES[fields.word("type", POINT_TYPES)]
        points = shelf.take(f"{name}.points", dtype, len(rows), features.n)
    else:
        turned = fields.any("turned")
        require(isinstance(turned, bool), f"{name} that is neither turned nor not")
        space = _take_embedding(shelf, name, features, turned=turned)
        points = shelf.take(f"{name}.points", np.float32, len(rows), len(space.offset))
        require((np.abs(points) <= FAR).all(), f"{name} with a point that is too far away")
    fields.end()
    require(np.isfinite(points).all(), f"{name} with a point that is not finite")
    return Examples(space, rows, points)


def _metric(fields: Fields) -> Measured:
    from scipy.spatial.distance import cdist  # takes time that most users need not spend

    name = fields.any("metric")
    require(isinstance(name, str), "a metric that has no name")
    try:
        cdist(np.eye(2), np.eye(2), name)
    except ValueError as error:
        # Some need more points than two, but an unknown name is one that no points will help.
        require("nknown" not in str(error), f"the metric {name[:40]!r}, which SciPy does not know")
    return Measured(name)


def _take_embedding(shelf: Shelf, name: str, features: Features, *, turned: bool) -> Embedding:
    level_features = shelf.indices(f"{name}.level_features", features.n, None)
    counts = shelf.indices(f"{name}.level_counts", 256, len(level_features))
    levels = dict(zip(level_features.tolist(), counts.tolist(), strict=True))
    require(
        list(levels) == sorted(features.levels) and len(levels) == len(counts),
        f"{name} with other categorical features than the model",
    )
    require(
        all(n <= features.levels[f] for f, n in levels.items()),
        f"{name} with more levels of a feature than the model knows",
    )
    indicated = shelf.indices(f"{name}.indicated", features.n, None)
    rising = (np.diff(indicated) > 0).all() and not features.categorical[indicated].any()
    require(rising, f"{name} with missing values of features that are not numeric")
    width = features.n - len(levels) + len(indicated) + sum(levels.values())
    return Embedding(
        shelf.numbers(f"{name}.fill", features.n),
        indicated.astype(np.int64),
        levels,
        shelf.numbers(f"{name}.offset", width),
        shelf.numbers(f"{name}.factor", width),
        shelf.numbers(f"{name}.turn", width, width) if turned else None,
    )
