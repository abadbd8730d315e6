"""Searches by the weights of all classes, and what they find, beside scikit-learn's trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from cases import cases
from kernels import builders, calls
from kernels.calls import assert_same
from kernels.test_pruning import heaviest_first, n_threads, shares
from rebelboost.kernels import reference

n_labels = st.sampled_from([3, 3, 4, 7, 16, 17, 30])


def random_class_weights(rng, n_rows, n_classes):
    """(N, K padded): one positive number a row, at times 0, over many orders of magnitude."""
    most = max(1, builders.COARSE // n_rows)
    sizes = np.rint(rng.choice([3, most]) * 0.5 ** rng.exponential(rng.choice([0.5, 5]), n_rows))
    values = np.zeros((n_rows, -(-n_classes // 8) * 8), dtype=np.int32)
    values[np.arange(n_rows), rng.integers(0, n_classes, n_rows)] = sizes
    return values


def random_case(rng, n_rows, width, n_classes):
    bins = builders.random_bins(rng, n_rows, width)
    allowed = builders.random_allowed(rng, width)
    return bins, allowed, random_class_weights(rng, n_rows, n_classes), n_classes


@cases(300)
@given(
    st.builds(
        random_case,
        builders.rngs,
        st.sampled_from([2, 10, 40, 120, 600]),
        builders.n_features,
        n_labels,
    ),
    builders.rngs,
    builders.options,
    st.integers(1, 5),
    shares,
    n_threads,
)
def test_pruned_searches_by_classes_equal_reference(
    compiled, case, rng, options, n_nodes, shares, n_threads
):
    values = case[2]
    samples = builders.random_samples(rng, len(values))
    nodes = builders.random_nodes(rng, samples, n_nodes)
    whole = calls.prune_classes(reference, *case, nodes, options)
    keys = values.sum(axis=1, dtype=np.int64)
    subsets = heaviest_first(keys, nodes, shares)
    assert_same(calls.prune_classes(compiled, *case, subsets, options, n_threads), whole)
    assert_same(calls.prune_classes(compiled, *case, nodes, options, n_threads), whole)


@cases(100)
@given(
    builders.rngs,
    st.sampled_from([2, 40, 300]),
    builders.n_features,
    n_labels,
    builders.options,
    st.integers(1, 4),
)
def test_sums_and_a_choice_are_a_search_by_classes(
    either, rng, n_rows, width, n_classes, options, n_nodes
):
    bins, allowed, values, _ = random_case(rng, n_rows, width, n_classes)
    allowed[0] = 1  # the mass of a node is read off the bins of some feature
    nodes = builders.random_nodes(rng, builders.random_samples(rng, n_rows), n_nodes)
    whole = calls.prune_classes(reference, bins, allowed, values, n_classes, nodes, options)
    own = [nodes.samples[cut[0] : cut[-1]] for cut in nodes.cuts]
    sums = [calls.class_sums(reference, bins, allowed, values, samples) for samples in own]
    sums = np.ascontiguousarray(np.stack(sums)[:, :, :n_classes].astype(np.int64))
    counts = np.array([len(samples) for samples in own], dtype=np.int64)
    assert_same(calls.choose_by_classes(either, bins, allowed, sums, counts, options, 2), whole)


@pytest.mark.parametrize(("criterion", "theirs"), [("variance", "gini"), ("entropy", "entropy")])
@pytest.mark.parametrize("seed", range(5))
def test_stumps_are_those_of_scikit_learn(either, criterion, theirs, seed):
    rng = np.random.default_rng(seed)
    n_rows, width, n_classes = 300, 6, 5
    columns = rng.integers(0, 12, (n_rows, width))
    bins = builders.bins_of(columns, [13] * width, [0] * width)
    labels = (columns[:, seed % width] // 3 + (rng.random(n_rows) < 0.4)) % n_classes
    weight = rng.integers(1, 1000, n_rows)
    values = np.zeros((n_rows, 8), dtype=np.int32)
    values[np.arange(n_rows), labels] = weight
    nodes = builders.one_node(np.arange(n_rows, dtype=np.int32))
    options = builders.search_options(criterion, 1)
    allowed = np.ones(width, dtype=np.uint8)
    splits = calls.prune_classes(either, bins, allowed, values, n_classes, nodes, options)
    stump = DecisionTreeClassifier(criterion=theirs, max_depth=1, random_state=0)
    tree = stump.fit(columns, labels, sample_weight=weight).tree_
    assert splits.features[0] == tree.feature[0]
    right = splits.right[0, columns[:, splits.features[0]]] > 0
    np.testing.assert_array_equal(right, columns[:, tree.feature[0]] > tree.threshold[0])
    sides = tree.weighted_n_node_samples[1:] * tree.impurity[1:]
    gained = weight.sum() * tree.impurity[0] - sides.sum()
    assert splits.gains[0] == pytest.approx(gained, rel=1e-9)


@pytest.mark.parametrize("criterion", ["error", "variance", "entropy"])
def test_a_clear_winner_among_noise_spares_most_visits(compiled, criterion):
    rng = np.random.default_rng(0)
    n_rows, width = 4000, 64
    columns = rng.integers(0, 20, (n_rows, width))
    bins = builders.bins_of(columns, [21] * width, [0] * width)
    sizes = np.rint(1e5 * 0.5 ** rng.exponential(6, n_rows)).astype(np.int64)
    values = np.zeros((n_rows, 8), dtype=np.int32)
    values[np.arange(n_rows), np.where(columns[:, 5] > 9, rng.integers(0, 2, n_rows), 2)] = sizes
    nodes = heaviest_first(sizes, builders.one_node(np.arange(n_rows, dtype=np.int32)), [0.9, 0.95])
    splits = calls.empty_splits(1)
    options = builders.search_options(criterion, 1)
    allowed = np.ones(width, dtype=np.uint8)
    visited, dropped = compiled.prune_classes(bins, allowed, values, 3, nodes, options, splits, 1)
    assert splits.features[0] == 5
    assert visited < n_rows * width / 2
    assert dropped > width / 2
