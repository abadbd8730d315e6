"""A round of similarities: compiled = reference, and its term is the one that it promises."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kernels import builders, calls, pair_calls
from kernels.calls import assert_same
from rebelboost.base.arrays import COMPARISONS
from rebelboost.base.kernel_arrays import AFFINE, LEVELS, SIGN, SLOPE, PairOptions, PairSpace
from rebelboost.kernels import reference

UNKNOWN = np.empty((0, 0), dtype=np.float32)
CONSTANT_KIND = len(COMPARISONS)


def random_case(rng, planes, n_rows, n_labels):
    """Weights, points whose distances are known or not, some or all samples, and options."""
    weights, totals = builders.balanced_weights(rng, planes, n_rows, n_labels)
    X = builders.random_points(rng, n_rows, int(rng.integers(1, 5)), 1.0)
    blocks = builders.blocks_of(X)
    known = UNKNOWN
    if rng.random() < 0.5:
        known = calls.squared_distances(reference, blocks, X, n_rows)
    samples = np.arange(n_rows, dtype=np.int32)
    if rng.random() < 0.3:
        samples = np.sort(builders.random_samples(rng, n_rows))
    real = rng.random() < 0.7
    options = PairOptions(
        COMPARISONS["two_points" if real else "nearer"],
        int(rng.choice([AFFINE, SLOPE if real else SIGN])),
        int(rng.choice([1, 3, 8])),
        int(rng.choice([1, 2, 8])),
        int(rng.choice([1, 5, 2048])),
    )
    key = int(rng.integers(2**63))
    return weights, totals, PairSpace(blocks, X, known), samples, options, key


cases = st.builds(
    random_case, builders.rngs, builders.n_planes, builders.n_samples, builders.n_classes
)


@given(cases)
def test_compiled_rounds_equal_reference(compiled, case):
    ours, theirs = (pair_calls.propose_pair(m, *case, n_rounds=3) for m in (compiled, reference))
    assert_same(ours, theirs)


@given(cases)
def test_known_distances_change_nothing(compiled, case):
    weights, totals, space, *rest = case
    distances = calls.squared_distances(reference, space.blocks, space.points, len(space.points))
    found = [
        pair_calls.propose_pair(compiled, weights, totals, space._replace(distances=each), *rest)[0]
        for each in (UNKNOWN, distances)
    ]
    assert_same(found[0][:-1], found[1][:-1])  # but for the rows that wait


@given(cases)
def test_no_constant_and_no_isolating_learner_has_a_lower_loss(compiled, case):
    weights, totals, space, *_ = case
    ((_, plus, minus, (a, b), *_),) = pair_calls.propose_pair(compiled, *case)
    assume(len(np.unique(space.points, axis=0)) == len(space.points))  # no others can be isolated
    grown = np.exp(LEVELS[:, np.newaxis] * a + b)
    loss = (plus * grown + minus / grown).sum()
    up, down = plus.sum(axis=0), minus.sum(axis=0)
    of_constant = 2 * np.sqrt(up * down).sum()
    _, isolated = calls.best_isolated(compiled, weights, totals, up - down)
    # The output of a ±1 response is smoothed by 1e-8 of the mass: see tests/properties.
    allowed = (np.sqrt(2e-8) + 2e-8) * totals.sum()
    assert loss <= min(of_constant, isolated) + allowed


@given(cases)
def test_a_pair_is_of_samples_on_different_sides(compiled, case):
    weights, totals, space, samples, *_ = case
    ((*_, (kind, anchor, rival, apart, _), _, _, _),) = pair_calls.propose_pair(compiled, *case)
    if kind == CONSTANT_KIND:
        assert (anchor, rival) == (-1, -1)
        return
    if kind == COMPARISONS["inside"]:
        assert rival == -1
        return
    assert {anchor, rival} <= set(samples.tolist())
    sides = pair_calls.binarize(compiled, weights, totals) >> 32
    assert sides[anchor] * sides[rival] < 0
    difference = space.points[anchor].astype(np.float64) - space.points[rival]
    np.testing.assert_allclose(apart, (difference**2).sum(), rtol=1e-5)
    assert apart > 0
