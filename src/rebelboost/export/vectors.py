"""Samples that try every part of a model: both sides of thresholds, missing and extreme values, random ones.

They are computed from the model, always the same ones, and so need not be stored.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rebelboost.base.arrays import Floats, Values
from rebelboost.data.spaces import Embedding
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, FittedTerms
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.model.trees import Trees

MOST_NODES = 4000
"""Number of nodes of trees whose sides are tried."""
EXTREMES = (0.0, -0.0, 1e-300, 1.0, -1.0, 1e18, -1e18, 1e300, -1e300)
"""Values that any feature may have."""
MISSING_SHARE, WHOLE_SHARE = 0.02, 0.2
"""Of the cells of random rows: missing ones, and whole numbers."""
SPREADS = (0.5, 1.0, 3.0, 1000.0)
"""Random values lie around the mean, at so many standard deviations."""


def samples_for(model: FittedTerms, n_random: int = 1000, seed: int = 0) -> Values:
    """(N, d) encoded samples.

    First, every feature takes all its values, in an order of its own. Then follow random rows, rows that reach
    the nodes of trees and stand on each side of their splits, and the training rows that the model keeps. A
    cost that a column holds is never missing.
    """
    rng = np.random.default_rng(seed)
    pools = [_pool(model, f) for f in range(model.n_features)]
    n_pooled = max(map(len, pools))
    pooled = np.column_stack([_repeated(pool, n_pooled, rng) for pool in pools])
    random = np.column_stack(
        [_random(model, pool, f, n_random, rng) for f, pool in enumerate(pools)]
    )
    rows = [pooled, random, *_at_nodes(model, random)]
    stored = model.provenance.example_values
    if stored is not None:
        rows.append(stored.astype(np.float64))
    X: Floats = np.concatenate(rows)
    if isinstance(model, FittedClassifier) and model.columns is not None:
        for cell in model.columns.cells:
            X[:, cell.feature] = rng.uniform(0.01, 100, len(X))
    return X


def _pool(model: FittedTerms, feature: int) -> Floats:
    """Values of a feature that are tried: codes of categories, or numbers around thresholds."""
    levels = model.encoder.levels.get(feature)
    if levels is not None:
        return np.append(np.arange(len(levels), dtype=np.float64), np.nan)
    at = np.unique(np.concatenate([np.empty(0), *_thresholds(model.ensemble, feature)]))
    at = at[np.isfinite(at)]
    around = [np.nextafter(at, -np.inf), at, np.nextafter(at, np.inf)]
    return np.concatenate([*around, EXTREMES, [np.nan]])


def _thresholds(ensemble: Ensemble, feature: int) -> Iterator[Floats]:
    for _, trees in ensemble.of_kind(Trees):
        yield trees.thresholds[trees.features == feature]


def _repeated(pool: Floats, n: int, rng: np.random.Generator) -> Floats:
    rounds = -(-n // len(pool))
    return np.concatenate([rng.permutation(pool) for _ in range(rounds)])[:n]


def _random(
    model: FittedTerms, pool: Floats, feature: int, n: int, rng: np.random.Generator
) -> Floats:
    """Values around those of the training: between thresholds, and where distances are measured."""
    if feature in model.encoder.levels:
        return rng.choice(pool, n)
    middle, width = _location(model.ensemble, feature, pool)
    values = middle + width * rng.choice(SPREADS, n) * rng.standard_normal(n)
    values = np.where(rng.random(n) < WHOLE_SHARE, np.rint(values), values)
    values[rng.random(n) < MISSING_SHARE] = np.nan
    return values


def _at_nodes(model: FittedTerms, random: Values) -> Iterator[Values]:
    """Rows on both sides of the splits of nodes, and in other features like random rows."""
    if len(random) == 0:
        return
    n_levels = {f: len(levels) for f, levels in model.encoder.levels.items()}
    for _, trees in model.ensemble.of_kind(Trees):
        splits = np.flatnonzero(trees.features >= 0)
        chosen = splits[:: len(splits) // MOST_NODES + 1]
        found: list[Floats] = []
        for i, node in enumerate(chosen.tolist()):
            tree = int(np.searchsorted(trees.node_offsets, node, side="right")) - 1
            row = random[i % len(random)]
            found += _sides(trees, int(trees.node_offsets[tree]), node, row, n_levels)
        if found:
            yield np.array(found)


def _sides(
    trees: Trees, root: int, node: int, row: Floats, n_levels: Mapping[int, int]
) -> Iterator[Floats]:
    """A row for each side of a node, unless the node cannot be reached with this side."""
    for right in (False, True):
        allowed = [(node, right)]
        place = node - root
        while place:
            allowed.append((root + (place - 1) // 2, place % 2 == 0))
            place = (place - 1) // 2
        found = row.copy()
        if all(
            _moved(trees, allowed, f, found, n_levels)
            for f in {*trees.features[[i for i, _ in allowed]]}
        ):
            yield found


def _moved(
    trees: Trees,
    path: Sequence[tuple[int, bool]],
    feature: int,
    row: Floats,
    n_levels: Mapping[int, int],
) -> bool:
    """Let a row take a path, as far as the nodes of one feature go; the first node is tested most closely."""
    own = [(node, right) for node, right in path if trees.features[node] == feature]
    if feature < 0:
        return not any(right for _, right in own)
    if feature in n_levels:
        fits = np.ones(n_levels[feature], dtype=bool)
        for node, right in own:
            if trees.is_crossed(node):  # left to chance: it depends on another feature too
                continue
            fits &= trees.codes_right(node, np.arange(len(fits), dtype=np.float64)) == right
        if fits.any():
            row[feature] = np.flatnonzero(fits)[0]
        return bool(fits.any())
    low = max([-np.inf, *(trees.thresholds[node] for node, right in own if right)])
    high = min([np.inf, *(trees.thresholds[node] for node, right in own if not right)])
    node, right = own[0]
    at = trees.thresholds[node]
    row[feature] = np.nextafter(at, np.inf) if right else at
    return bool(low < row[feature] <= high) and np.isfinite(row[feature])


def _location(ensemble: Ensemble, feature: int, pool: Floats) -> tuple[float, float]:
    """A typical value of a feature, and how far values lie from it."""
    inside = pool[np.abs(pool) < 1e9]
    middle, width = float(np.median(inside)), float(inside.std())
    for space in _spaces(ensemble):
        columns = space.feature_of_column == feature
        factor = space.factor[columns][0]
        middle, width = float(space.fill[feature]), 1 / factor if factor > 0 else 1.0
    return middle, width


def _spaces(ensemble: Ensemble) -> Iterator[Embedding]:
    for _, table in ensemble.of_kind(Comparisons):
        if isinstance(table.space, Embedding):
            yield table.space
    for _, smooth in ensemble.of_kind(SmoothSimilarities):
        for function in smooth.functions:
            yield function.space
