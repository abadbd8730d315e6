"""Random inputs for the kernels, of sizes at which ties, empty bins and empty nodes are common."""

import numpy as np
from hypothesis import strategies as st

from rebelboost.base.arrays import (
    COMPARISONS,
    CRITERIA,
    Bins,
    ComparisonArrays,
    Focus,
    JudgedLabels,
    Layer,
    LogisticLine,
    Nodes,
    PairList,
    Projection,
    RectangleArrays,
    SearchOptions,
    Step,
    TreeArrays,
    TreeData,
)

COARSE = 2**30
"""What the fixed-point values of a tree search may sum to."""
PAIRS = ("ties", "zeros", "massless", "large", "one heavy", "labels")

rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
n_samples = st.sampled_from([1, 2, 3, 10, 40, 120])
n_features = st.sampled_from([1, 2, 5, 16, 17, 33])
n_classes = st.integers(2, 30)
n_planes = st.integers(1, 2)


def search_options(criterion, least_mass):
    return SearchOptions(CRITERIA[criterion], least_mass)


options = st.one_of(
    # `variance` divides by the mass of each side.
    st.builds(search_options, st.just("variance"), st.sampled_from([1, 3, 10**6])),
    st.builds(search_options, st.just("error"), st.sampled_from([0, 1, 3])),
    st.builds(search_options, st.sampled_from(["entropy", "gain_ratio"]), st.sampled_from([1, 3])),
)


# ---- bins


def bins_of(columns, n_bins, categorical):
    """Lay out (N, d) bins; n_bins (d,) counts the one for missing values, which is the last."""
    n_rows, width = columns.shape
    blocks = np.zeros((-(-width // 16), n_rows, 16), dtype=np.uint8)
    for f in range(width):
        blocks[f // 16, :, f % 16] = columns[:, f]
    offsets = np.cumsum([0, *n_bins], dtype=np.int32)
    return Bins(blocks, offsets, np.asarray(categorical, dtype=np.uint8))


def random_bins(rng, n_rows, width):
    """Columns with 1 to 255 bins, with gaps, missing values (or nothing else), and copies."""
    columns = np.empty((n_rows, width), dtype=np.uint8)
    n_bins = np.empty(width, dtype=np.int32)
    for f in range(width):
        if f > 0 and rng.random() < 0.2:
            source = rng.integers(f)
            columns[:, f], n_bins[f] = columns[:, source], n_bins[source]
        else:
            columns[:, f], n_bins[f] = _random_column(rng, n_rows)
    return bins_of(columns, n_bins, rng.random(width) < 0.3)


def _random_column(rng, n_rows):
    n_own = int(rng.choice([1, 2, 3, 7, 40, 255]))
    occurring = rng.permutation(n_own)[: rng.choice([1, 3, 255])]
    column = rng.choice(occurring, n_rows)
    column[rng.random(n_rows) < rng.choice([0.0, 0.0, 0.3, 1.0])] = n_own
    return column, n_own + 1


def random_allowed(rng, width):
    return (rng.random(width) < rng.choice([0.5, 1.0])).astype(np.uint8)


# ---- samples and fixed-point values


def random_samples(rng, n_rows):
    """A shuffled share of all samples, at times none."""
    share = rng.choice([0.0, 0.5, 1.0], p=[0.1, 0.3, 0.6])
    return rng.permutation(n_rows)[: int(np.ceil(share * n_rows))].astype(np.int32)


def one_node(samples, rng=None):
    """One node of all samples; with `rng`, in subsets, which make no difference to a search."""
    inner = [] if rng is None else np.sort(rng.integers(0, len(samples) + 1, rng.integers(0, 3)))
    return Nodes(samples, np.array([[0, *inner, len(samples)]], dtype=np.int32))


def random_nodes(rng, samples, n_nodes):
    """Neighbouring stretches of samples, some of them empty."""
    inner = np.sort(rng.integers(0, len(samples) + 1, n_nodes - 1))
    starts = np.array([0, *inner, len(samples)], dtype=np.int32)
    return Nodes(samples, np.stack([starts[:-1], starts[1:]], axis=1))


def random_pairs(rng, n_rows, kind):
    """Pairs signed · 2³² + mass. "massless": so light that most masses are rounded to 0."""
    most = max(1, COARSE // n_rows)
    if kind == "large":
        signed = rng.integers(-most, most + 1, n_rows)
        mass = rng.integers(0, most + 1, n_rows)
    else:
        signed = rng.integers(-2, 3, n_rows)
        mass = rng.integers(0, 2 if kind == "massless" else 4, n_rows)
    if kind == "labels":  # ±1 with weights over many orders of magnitude
        signed = np.rint(rng.choice([-1, 1], n_rows) * most * 0.5 ** rng.exponential(4, n_rows))
        signed = signed.astype(np.int64)
        mass = np.abs(signed)
    if kind == "zeros":
        weightless = rng.random(n_rows) < 0.8
        signed[weightless] = mass[weightless] = 0
    if kind == "one heavy":
        heavy = rng.integers(n_rows)
        signed[heavy], mass[heavy] = rng.choice([-1, 1]) * (COARSE - n_rows), COARSE - n_rows
    return signed * 2**32 + mass


def random_vectors(rng, n_rows, n_labels, samples):
    """Signed values (N, K padded to a multiple of 8) and the samples' total masses (K,)."""
    most = rng.choice([1, 3, max(1, COARSE // n_rows)])
    mass = rng.integers(0, most + 1, (n_rows, n_labels))
    signed = np.zeros((n_rows, -(-n_labels // 8) * 8), dtype=np.int32)
    signed[:, :n_labels] = rng.integers(-mass, mass + 1)
    return signed, mass[samples].sum(axis=0, dtype=np.int64)


# ---- trees


def random_layers(rng, bins, n_nodes):
    """Nodes that ask any feature or none, and send any bins right."""
    width = len(bins.categorical)
    features = rng.integers(-1, width, n_nodes).astype(np.int32)
    return Layer(features, rng.choice([0, 0, 1, 255], (n_nodes, 256)).astype(np.uint8))


def random_values(rng, n_rows, width, dtype=np.float64):
    """Small numbers, often equal to thresholds and valid as categories; unknown ones; NaN; ±∞."""
    X = rng.integers(-2, 6, (n_rows, width)) / 2
    odd = rng.random(X.shape) < 0.2
    X[odd] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 255.0, 256.0, 1e9], np.count_nonzero(odd))
    return X.astype(dtype)


def random_trees(rng, depths, width, n_labels, *, categories):
    depths = np.asarray(depths, dtype=np.int32)
    n_nodes, n_leaves = 2 ** depths.astype(np.int64) - 1, 2 ** depths.astype(np.int64)
    total = int(n_nodes.sum())
    category = np.full(total, -1, dtype=np.int32)
    asks = np.flatnonzero(rng.random(total) < (0.4 if categories else 0.0))
    category[asks] = rng.permutation(len(asks))
    thresholds = rng.integers(-2, 6, total) / 2
    thresholds[rng.random(total) < 0.1] = np.inf
    return TreeArrays(
        depths,
        np.cumsum(n_nodes) - n_nodes,
        np.cumsum(n_leaves) - n_leaves,
        rng.integers(0, width, total).astype(np.int32),
        thresholds,
        rng.integers(0, 2, total).astype(np.uint8),
        category,
        rng.integers(0, 2, (len(asks), 256)).astype(np.uint8),
        rng.standard_normal((int(n_leaves.sum()), n_labels)),
    )


# ---- windows of images


def random_images(rng, n, height, width):
    """Images with flat parts, edges, and extreme values."""
    images = rng.integers(0, 256, (n, height, width), dtype=np.uint8)
    images[:, : height // 2] = rng.choice([0, 7, 255], (n, 1, width))
    images[rng.random(n) < 0.2] = 99
    return images


def random_rectangles(rng, n, n_planes, height, width):
    corners = np.empty((n, 12), dtype=np.int32)
    for first, last, side in ((0, 2, height), (1, 3, width)):
        ends = np.sort(rng.integers(0, side + 1, (n, 3, 2)), axis=2)
        corners[:, first::4], corners[:, last::4] = ends[..., 0], ends[..., 1]
    planes = rng.integers(1, n_planes, n).astype(np.int32)
    return RectangleArrays(planes, corners, rng.integers(-3, 4, (n, 3)).astype(np.int32))


def random_detector(rng, depths, n_rectangles):
    """Trees on rectangles, and floors that leave some windows early."""
    trees = random_trees(rng, depths, n_rectangles, 1, categories=False)
    thresholds = rng.standard_normal(len(trees.thresholds)) / 5
    thresholds[rng.random(len(thresholds)) < 0.1] = np.inf
    trees = trees._replace(thresholds=thresholds, right=np.zeros((1, 256), dtype=np.uint8))
    return trees, rng.choice([-np.inf, -1.0, 0.0], len(depths))


# ---- weights


def random_weights(rng, planes, n_rows, n_labels):
    """Weights over many orders of magnitude, with zeros, and with halves to be rounded."""
    shape = (planes, n_rows, n_labels)
    weights = rng.standard_normal(shape) * 2.0 ** rng.integers(-60, 1, shape)
    odd = rng.random(shape) < 0.3
    weights[odd] = rng.choice(
        [0.0, -0.0, 0.5, -1.5, 2.0**-880, -(2.0**-899)], np.count_nonzero(odd)
    )
    return weights


def balanced_weights(rng, planes, n_rows, n_labels):
    """Weights of samples that each have a class, as in training, and their totals."""
    weights = rng.exponential(1.0, (planes, n_rows, n_labels)) ** rng.choice([1, 6])
    labels = rng.integers(n_labels, size=n_rows)
    weights[0, np.arange(n_rows), labels] *= -1
    if planes == 2:
        weights[1] *= -1
    weights[:, rng.random(n_rows) < rng.choice([0.0, 0.3])] = 0.0
    if rng.random() < 0.2:
        weights[..., rng.integers(n_labels)] = 0.0
    weights /= max(1.0, np.abs(weights).sum(axis=(0, 1)).max())
    return weights, np.abs(weights).sum(axis=(0, 1))


def random_projection(rng, weights):
    """Scales that bring the sums near 2³⁰, as `Weights.project` does."""
    direction = rng.choice([0.0, 1.0, -1.0, rng.standard_normal()], weights.shape[2])
    squares = direction**2
    return Projection(direction, squares, *_scales(weights, np.abs(direction), squares))


def _scales(weights, *factors):
    sums = [np.abs(weights * factor).sum() for factor in factors]
    return [float(2.0 ** np.floor(np.log2(COARSE / s))) if s > 0 else 1.0 for s in sums]


def fine_scales(weights):
    """Powers of two that bring the sums of each class to at most 2⁵⁰."""
    totals = np.abs(weights).sum(axis=(0, 1))
    return np.where(totals > 0, 2.0 ** np.floor(50 - np.log2(np.maximum(totals, 1e-250))), 1.0)


def random_regions(rng, n_rows, n_regions):
    return rng.integers(0, n_regions, n_rows).astype(np.uint16)


def random_line(rng, subcosts, n_regions):
    """Odds from none to infinite, and outputs that multiply them."""
    odds = np.exp(rng.choice([-800.0, -3.0, 0.0, 2.0, 700.0], subcosts.shape))
    outputs = rng.integers(-3, 4, (n_regions, subcosts.shape[2])) * rng.choice([0.5, 200.0])
    scales = fine_scales(subcosts)
    return LogisticLine(subcosts, odds, np.exp(outputs), np.exp(-outputs), scales)


def random_step(rng, weights, n_regions):
    """A step in which some scores tie, and some weights vanish."""
    outputs = rng.integers(-3, 4, (n_regions, weights.shape[2])) / 2
    up, down = np.exp(outputs), np.exp(-outputs)
    largest = np.maximum(up, down).max(axis=0)
    return Step(outputs, up, down, fine_scales(weights * largest))


def random_judged(rng, n_rows, n_labels, *, merged=False):
    """Labels, whole weights, and costs; if `merged`, of samples that are decided on in another order."""
    labels = rng.integers(0, n_labels, n_rows).astype(np.int32)
    counts = rng.choice([0.0, 1.0, 7.0, 2.0**40], n_rows)
    costs = rng.choice([0.0, 1.0, 0.3], (n_labels, n_labels))
    return JudgedLabels(labels, counts, costs, rng.permutation(n_rows if merged else 0))


def tree_data(rng, order, bins):
    """Edges that fit the bins, and weights."""
    n_edges = np.diff(bins.offsets) - 2
    offsets = np.cumsum([0, *n_edges], dtype=np.int32)
    edges = rng.standard_normal(offsets[-1])
    return TreeData(order, edges, offsets, rng.integers(0, 5, order.shape[1]) * 1.0, 0.25)


def random_focus(rng, bins):
    n_rows, width = bins.blocks.shape[1], len(bins.categorical)
    return Focus(random_samples(rng, n_rows), random_allowed(rng, width))


# ---- similarities

LARGEST = 1e17
"""Of coordinates: the squares of their differences, hundreds of them summed, fit a float32."""

spreads = st.sampled_from([1e-22, 1e-3, 1.0, 1e9, LARGEST])


def random_points(rng, n_points, width, spread):
    """Points on a coarse grid, many of them coincident, or anywhere; at times apart by factors."""
    points = rng.integers(-3, 4, (n_points, width)) / 2
    if rng.random() < 0.5:
        points = points + rng.standard_normal(points.shape)
    if rng.random() < 0.3:
        points = points * 2.0 ** rng.integers(-40, 1, (n_points, 1))
    return (points * (spread / 8)).astype(np.float32)


def blocks_of(points):
    """Lay (N, d) points out, 16 side by side, rubbish in the last block's padding."""
    n_points, width = points.shape
    padded = np.full((-(-n_points // 16) * 16, width), 7.0, dtype=np.float32)
    padded[:n_points] = points
    return np.ascontiguousarray(padded.reshape(-1, 16, width).transpose(0, 2, 1))


def random_distances(rng, n_points, n_rows):
    """Squared distances over all of float32's range, with zeros and equal ones; never infinite."""
    kind = rng.choice(["near", "grid", "any"])
    shape = (n_points, n_rows)
    if kind == "grid":
        return (rng.integers(0, 4, shape) / 2).astype(np.float32)
    if kind == "near":
        return rng.chisquare(2, shape).astype(np.float32)
    distances = np.exp2(rng.uniform(-149, 127.9, shape)).astype(np.float32)
    distances[rng.random(shape) < 0.2] = 0.0
    return distances


def random_apart(rng, size=None):
    """Positive floats of single precision, from the least to nearly the largest."""
    apart = np.exp2(rng.choice([rng.uniform(-4, 4, size), rng.uniform(-149, 127.9, size)]))
    return apart.astype(np.float32).astype(np.float64)


def random_pair_list(rng, n_pairs, n_anchors, n_rivals):
    return PairList(
        rng.integers(0, n_anchors, n_pairs).astype(np.int32),
        rng.integers(0, n_rivals, n_pairs).astype(np.int32),
        random_apart(rng, n_pairs),
    )


def random_pair_values(rng, n_labels, n_rows):
    """Signed values and masses, (K, n) integers; the masses of a class sum to at most 2³⁰."""
    most = rng.choice([1, 3, COARSE // n_rows])
    mass = rng.integers(0, most + 1, (n_labels, n_rows))
    signed = rng.integers(-mass, mass + 1)
    return signed.astype(np.float64), mass.astype(np.float64)


def random_comparisons(rng, n_terms, n_points, n_labels):
    return ComparisonArrays(
        rng.integers(0, n_points, n_terms).astype(np.int32),
        rng.integers(0, n_points, n_terms).astype(np.int32),
        rng.integers(0, len(COMPARISONS), n_terms).astype(np.int32),
        random_apart(rng, n_terms),
        rng.standard_normal((n_terms, n_labels)),
        rng.standard_normal((n_terms, n_labels)) * rng.integers(0, 2),
    )
