"""Distances and comparisons: compiled = reference, and both say what the formulas say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.base.arrays import COMPARISONS
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.kernels import reference

n_points = st.sampled_from([1, 2, 3, 4, 5, 8, 11])
n_rows = st.sampled_from([1, 2, 15, 16, 17, 33, 120])
n_classes = st.integers(1, 30)
n_rivals = st.sampled_from([1, 2, 8, 30])
kinds = st.sampled_from(list(COMPARISONS.values()))
kinds_of_pairs = st.sampled_from([COMPARISONS["two_points"], COMPARISONS["nearer"]])

UNIT = 2.0**-24
"""A float32 is rounded by at most this share of itself."""
LEAST = 2.0**-149
"""Its smallest step."""


# ---- distances


@given(builders.rngs, n_rows, n_points, builders.n_features, builders.spreads)
def test_compiled_distances_equal_reference(compiled, rng, n_rows, n_points, width, spread):
    X = builders.random_points(rng, n_rows, width, spread)
    points = builders.random_points(rng, n_points, width, spread)
    case = (builders.blocks_of(X), points, n_rows)
    assert_same(calls.squared_distances(compiled, *case), calls.squared_distances(reference, *case))


@given(builders.rngs, n_rows, n_points, builders.n_features, builders.spreads)
def test_distances_are_those_of_double_precision(either, rng, n_rows, n_points, width, spread):
    X = builders.random_points(rng, n_rows, width, spread)
    points = builders.random_points(rng, n_points, width, spread)
    found = calls.squared_distances(either, builders.blocks_of(X), points, n_rows)
    apart = points[:, np.newaxis].astype(np.float64) - X.astype(np.float64)
    # A difference is rounded once and counts twice in its square, which is rounded too; then there
    # are d − 1 additions. All summands are positive, so the shares do not grow: (d + 2) units,
    # one more for terms of higher order. Below the normal range a square is off by half a step.
    allowed = {"rtol": (width + 3) * UNIT, "atol": width * LEAST}
    np.testing.assert_allclose(found, (apart * apart).sum(axis=2), **allowed)


@given(builders.rngs, n_rows, builders.n_features, builders.spreads)
def test_a_point_is_at_no_distance_from_itself_and_as_far_either_way(
    either, rng, n_rows, width, spread
):
    X = builders.random_points(rng, n_rows, width, spread)
    found = calls.squared_distances(either, builders.blocks_of(X), X, n_rows)
    assert not np.diag(found).any()
    np.testing.assert_array_equal(found, found.T)


# ---- levels of responses


@given(builders.rngs, n_rows, kinds)
def test_compiled_levels_equal_reference(compiled, rng, n_rows, kind):
    anchor, rival = builders.random_distances(rng, 2, n_rows)
    case = (anchor, rival, kind, float(builders.random_apart(rng)))
    assert_same(calls.compare(compiled, *case), calls.compare(reference, *case))


def response(r_i, r_j, kind, apart):
    """METHODS, Sec. 5: D = r_ij/4, ‖x − m‖² = (r_i + r_j)/2 − D, c = 4(4/3)^¾."""
    r_i, r_j = r_i.astype(np.longdouble), r_j.astype(np.longdouble)
    if kind == COMPARISONS["two_points"]:
        D = np.longdouble(apart) / 4
        from_middle = np.maximum((r_i + r_j) / 2 - D, 0)
        c = 4 * (np.longdouble(4) / 3) ** 0.75
        return c * D * (r_j - r_i) / 4 / (4 * D**2 + from_middle**2)
    if kind == COMPARISONS["one_point"]:
        return (apart - r_i) / (apart + r_i)
    nearer = r_j > r_i if kind == COMPARISONS["nearer"] else r_i < apart
    return np.where(nearer, 1.0, -1.0)


@given(builders.rngs, n_rows, kinds)
def test_a_level_is_near_the_response_that_it_stands_for(either, rng, n_rows, kind):
    anchor, rival = builders.random_distances(rng, 2, n_rows)
    apart = float(builders.random_apart(rng))
    found = LEVELS[calls.compare(either, anchor, rival, kind, apart)]
    f = response(anchor, rival, kind, apart).astype(np.float64)
    size = np.abs(f)
    # An octave has 16 levels, and a level is in the middle of what it stands for: 1/32 of the
    # octave's lower end at most. On the way to a float32 responses are rounded by a unit, so that
    # they may cross to the next level. Below 2⁻⁸ all is 0.
    slack = 4 * UNIT
    near = np.abs(found - f) <= size * (1 / 32 + slack)
    assert (near | (size < 2.0**-8 * (1 + slack))).all()
    assert (found[size < 2.0**-8 * (1 - slack)] == 0).all()
    assert (np.abs(found[size >= 1]) == 1).all()


def test_levels_rise_from_minus_one_to_one_and_mirror_one_another():
    assert (np.diff(LEVELS) > 0).all()
    assert LEVELS[0] == -1
    assert LEVELS[-1] == 1
    np.testing.assert_array_equal(LEVELS, -LEVELS[::-1])


@pytest.mark.parametrize(("kind", "far"), [("one_point", -1.0), ("inside", -1.0), ("nearer", -1.0)])
def test_the_anchor_is_on_its_own_side_and_what_is_far_on_the_other(either, kind, far):
    at_anchor = np.array([0.0, 3e38], dtype=np.float32)
    at_rival = np.array([2.0, 0.0], dtype=np.float32)
    levels = calls.compare(either, at_anchor, at_rival, COMPARISONS[kind], 2.0)
    assert LEVELS[levels].tolist() == [1.0, far]


@given(builders.rngs, n_rows)
def test_the_anchor_and_the_rival_trade_places_with_the_sign(either, rng, n_rows):
    anchor, rival = builders.random_distances(rng, 2, n_rows)
    apart = float(builders.random_apart(rng))
    kind = COMPARISONS["two_points"]
    there = LEVELS[calls.compare(either, anchor, rival, kind, apart)]
    np.testing.assert_array_equal(-there, LEVELS[calls.compare(either, rival, anchor, kind, apart)])


@given(builders.rngs, st.integers(1, 5))
def test_the_largest_response_of_two_points_is_one(either, rng, width):
    # On the line through both, at any distance; elsewhere no response is larger. [LOCAL, Sec. 5]
    x_i, x_j = rng.standard_normal((2, width))
    X = x_j + rng.uniform(-2, 3, (2000, 1)) * (x_i - x_j)
    X[::2] += 0.1 * rng.standard_normal((1000, width))
    r_i, r_j = (((X - x) ** 2).sum(axis=1).astype(np.float32) for x in (x_i, x_j))
    apart = float(((x_i - x_j) ** 2).sum())
    kind = COMPARISONS["two_points"]
    exact = np.abs(response(r_i, r_j, kind, apart))
    # Distances are rounded; near the maximum 2,000 draws miss it by a small share.
    assert 0.99 < exact.max() < 1 + 1e-5
    levels = calls.compare(either, r_i, r_j, kind, apart)
    assert np.abs(LEVELS[levels]).max() >= 31 / 32


@given(builders.rngs, n_rows, builders.n_features, kinds)
def test_levels_by_points_are_those_by_distances(either, rng, n_rows, width, kind):
    X = builders.random_points(rng, n_rows, width, 1.0)
    n_points = 2 if kind in {COMPARISONS["two_points"], COMPARISONS["nearer"]} else 1
    points = builders.random_points(rng, n_points, width, 1.0)
    blocks, apart = builders.blocks_of(X), float(rng.exponential()) + 0.01
    distances = calls.squared_distances(reference, blocks, points, n_rows)
    expected = calls.compare(reference, distances[0], distances[-1], kind, apart)
    assert_same(calls.compare_points(either, blocks, points, kind, apart, n_rows), expected)


# ---- sums over samples


def random_pairs_case(rng, n_rows, n_points, n_classes, kind):
    from_anchors = builders.random_distances(rng, n_points, n_rows)
    from_rivals = builders.random_distances(rng, 3, n_rows)
    pairs = builders.random_pair_list(rng, int(rng.integers(1, 7)), n_points, 3)
    values = builders.random_pair_values(rng, n_classes, n_rows)
    return from_anchors, from_rivals, pairs, kind, values


pair_cases = st.builds(
    random_pairs_case, builders.rngs, n_rows, n_points, n_classes, kinds_of_pairs
)


@given(pair_cases)
def test_compiled_sums_of_pairs_equal_reference(compiled, case):
    assert_same(calls.pair_sums(compiled, *case), calls.pair_sums(reference, *case))


@given(pair_cases)
def test_sums_of_pairs_are_those_of_rounded_responses(either, case):
    from_anchors, from_rivals, pairs, kind, (signed, mass) = case
    found = calls.pair_sums(either, *case)
    for i, (a, b, apart) in enumerate(zip(*pairs, strict=True)):
        f = response(from_anchors[a], from_rivals[b], kind, float(apart)).astype(np.float64) * 1024
        # Rounded by ½ to an integer of at most 1028, |f| being at most 1.004; a whole unit where
        # double precision is on the other side of a half.
        off = 0.5 + 1e-9
        assert (np.abs(found[i, 0] - signed @ f) <= off * np.abs(signed).sum(axis=1)).all()
        assert (np.abs(found[i, 1] - mass @ f) <= off * mass.sum(axis=1)).all()
        squares = (2 * off * np.abs(f) + off**2) @ mass.T
        assert (np.abs(found[i, 2] - mass @ (f * f)) <= squares).all()


@pytest.mark.parametrize("kind", ["one_point", "inside"])
def test_pairs_have_two_points(compiled, kind):
    case = random_pairs_case(np.random.default_rng(0), 20, 2, 3, COMPARISONS[kind])
    with pytest.raises(ValueError, match="kind"):
        calls.pair_sums(compiled, *case)


# ---- scores


@given(builders.rngs, n_rows, n_points, n_classes)
def test_compiled_scores_by_comparisons_equal_reference(compiled, rng, n_rows, n_points, n_classes):
    distances = builders.random_distances(rng, n_points, n_rows)
    comparisons = builders.random_comparisons(rng, 6, n_points, n_classes)
    first, last = sorted(rng.integers(0, 7, 2).tolist())
    case = (distances, comparisons, LEVELS, first, last)
    assert_same(calls.add_comparisons(compiled, *case), calls.add_comparisons(reference, *case))


@given(builders.rngs, n_rows, n_points, n_classes)
def test_scores_by_comparisons_are_those_of_their_levels(either, rng, n_rows, n_points, n_classes):
    distances = builders.random_distances(rng, n_points, n_rows)
    terms = builders.random_comparisons(rng, 3, n_points, n_classes)
    expected = calls.rubbish((n_rows, n_classes), np.float64)
    for anchor, rival, kind, apart, a, b in zip(*terms, strict=True):
        levels = calls.compare(either, distances[anchor], distances[rival], int(kind), float(apart))
        expected += LEVELS[levels][:, np.newaxis] * a + b
    found = calls.add_comparisons(either, distances, terms, LEVELS, 0, 3)
    np.testing.assert_array_equal(found, expected)


@given(builders.rngs, n_rows, n_points, n_classes)
def test_compiled_scores_by_similarities_equal_reference(
    compiled, rng, n_rows, n_points, n_classes
):
    distances = builders.random_distances(rng, n_points, n_rows)
    outputs, offset = rng.normal(size=(n_points, n_classes)), rng.normal(size=n_classes)
    case = (distances, float(rng.exponential()) + 0.01, outputs, offset)
    assert_same(calls.add_similarities(compiled, *case), calls.add_similarities(reference, *case))


def test_scores_by_similarities_by_hand(either):
    distances = np.array([[0, 1, 3], [1, 0, 1]], dtype=np.float32)
    outputs, offset = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([10.0, 0.0])
    added = np.array([[11.0, 0.0], [10.0, 2.0], [9.5, 0.0]])
    expected = calls.rubbish((3, 2), np.float64) + added
    found = calls.add_similarities(either, distances, 1.0, outputs, offset)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def random_sides(rng, n_anchors, n_rows):
    """Distances with ties, zeros and infinite ones; values of which some are 0."""
    distances = builders.random_distances(rng, n_anchors, n_rows)
    if rng.random() < 0.5:
        distances = rng.choice(np.array([0, 1, 2, np.inf], dtype=np.float32), (n_anchors, n_rows))
    return distances, rng.integers(-1, 2, n_anchors), rng.integers(-1, 2, n_rows)


@given(builders.rngs, st.integers(1, 4), builders.n_samples, n_rivals)
def test_compiled_rivals_equal_reference(compiled, rng, n_anchors, n_rows, n_rivals):
    case = (*random_sides(rng, n_anchors, n_rows), n_rivals)
    assert_same(calls.nearest_rivals(compiled, *case), calls.nearest_rivals(reference, *case))


@given(builders.rngs, builders.n_samples, n_rivals)
def test_rivals_are_the_nearest_on_the_other_side(either, rng, n_rows, n_rivals):
    distances, (own,), values = random_sides(rng, 1, n_rows)
    (found,) = calls.nearest_rivals(either, distances, np.array([own]), values, n_rivals)
    (row,) = distances
    rivals = [n for n in range(n_rows) if own * values[n] < 0 and 0 < row[n] < np.inf]
    rivals.sort(key=lambda n: row[n])
    assert found.tolist() == (rivals + [-1] * n_rivals)[:n_rivals]


@given(builders.rngs, builders.n_planes, builders.n_samples, builders.n_classes)
def test_the_best_isolated_sample_has_the_lowest_loss(either, rng, planes, n_rows, n_labels):
    weights = builders.random_weights(rng, planes, n_rows, n_labels)
    totals, signed_totals = np.abs(weights).sum(axis=(0, 1)), weights.sum(axis=(0, 1))
    case = (weights, totals, signed_totals)
    sample, loss = calls.best_isolated(either, *case)
    assert (sample, loss) == calls.best_isolated(reference, *case)
    P = 2 * weights.sum(axis=0) - signed_totals
    left = np.sqrt(np.maximum(totals**2 - P**2, 0)).sum(axis=1)
    # Sums of up to 30 positive numbers, in another order.
    allowed = 30 * 2.0**-53
    np.testing.assert_allclose(loss, left.min(), rtol=allowed)
    np.testing.assert_allclose(left[sample], left.min(), rtol=2 * allowed)
