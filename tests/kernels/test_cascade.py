import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.base.arrays import Checks, ComparedPoints
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.kernels import reference

n_rows = st.sampled_from([0, 1, 17, 33, 300, 600])
n_spaces = st.integers(0, 2)
n_classes = st.sampled_from([2, 3, 7, 16, 26])


def random_case(rng, n, spaces, labels, dtype=np.float64, thresholds=None):
    """Trees, comparisons in some spaces, and checks that let some samples leave."""
    width, n_checks = int(rng.integers(1, 20)), int(rng.integers(1, 6))
    trees = builders.random_trees(
        rng,
        rng.integers(0, 5, int(rng.integers(1, 9))),
        width,
        labels,
        categories=rng.random() < 0.3,
    )
    X = builders.random_values(rng, n, width, dtype)
    compared, n_terms = [], [len(trees.depths)]
    for _ in range(spaces):
        n_points, dim = int(rng.integers(1, 12)), int(rng.integers(1, 9))
        n_terms.append(int(rng.integers(0, 15)))
        placed, points = (builders.random_points(rng, m, dim, 1.0) for m in (n, n_points))
        terms = builders.random_comparisons(rng, n_terms[-1], n_points, labels)
        compared.append(ComparedPoints(placed, points, terms))
    stops = np.sort([rng.integers(0, m + 1, n_checks) for m in n_terms], axis=1).T
    low = -rng.exponential(2.0, n_checks) if labels == 2 else np.full(n_checks, -np.inf)
    high = rng.exponential(2.0, n_checks)
    if thresholds is not None:
        low, high = np.full(n_checks, -thresholds), np.full(n_checks, thresholds)
    return X, trees, compared, LEVELS, Checks(np.ascontiguousarray(stops), low, high)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(builders.rngs, n_rows, n_spaces, n_classes)
def test_compiled_exits_equal_reference(compiled, dtype, rng, n, spaces, labels):
    case = random_case(rng, n, spaces, labels, dtype)
    assert_same(calls.leave_early(compiled, *case), calls.leave_early(reference, *case))


@given(builders.rngs, n_rows, n_spaces, n_classes)
def test_infinite_thresholds_let_no_sample_leave_and_give_the_scores_of_all_terms(
    either, rng, n, spaces, labels
):
    X, trees, compared, values, checks = random_case(rng, n, spaces, labels, thresholds=np.inf)
    checks = checks._replace(
        stops=np.array([[len(trees.depths), *(len(s.comparisons.apart) for s in compared)]]),
        low=checks.low[:1],
        high=checks.high[:1],
    )
    scores, stage = calls.leave_early(either, X, trees, compared, values, checks)
    assert (stage == 1).all()
    expected = calls.predict(reference, X, trees, 0, len(trees.depths))
    for placed, points, terms in compared:
        distances = calls.squared_distances(either, builders.blocks_of(placed), points, n)
        either.add_comparisons(distances, terms, values, 0, len(terms.apart), expected, 1)
    assert_same(scores, expected)


@given(builders.rngs, n_classes)
def test_a_sample_leaves_alone_as_it_does_among_others(either, rng, labels):
    X, trees, compared, values, checks = random_case(rng, 40, 2, labels)
    scores, stage = calls.leave_early(either, X, trees, compared, values, checks)
    for n in (0, 17, 39):
        alone = [s._replace(placed=s.placed[n : n + 1]) for s in compared]
        one = calls.leave_early(either, X[n : n + 1], trees, alone, values, checks)
        assert_same(one, (scores[n : n + 1], stage[n : n + 1]))


@pytest.mark.parametrize("spaces", [0, 2])
def test_threads_do_not_change_exits(compiled, spaces):
    case = random_case(np.random.default_rng(3), 3000, spaces, 4)
    alone = calls.leave_early(compiled, *case)
    assert len(np.unique(alone[1])) > 1
    for n_threads in (2, 3):
        assert_same(calls.leave_early(compiled, *case, n_threads=n_threads), alone)


# ---- what is refused


def small_case():
    """Two trees, and two comparisons of four points."""
    X, trees, compared, values, _ = random_case(np.random.default_rng(0), 5, 0, 3)
    rng = np.random.default_rng(1)
    trees = builders.random_trees(rng, [1, 2], X.shape[1], 3, categories=False)
    placed, points = (builders.random_points(rng, m, 2, 1.0) for m in (5, 4))
    compared = ComparedPoints(placed, points, builders.random_comparisons(rng, 2, 4, 3))
    return X, trees, compared, values


@pytest.mark.parametrize("stops", [[[2, 0], [1, 1]], [[1, 0], [3, 1]], [[1, 0], [2, 3]]])
def test_checks_whose_terms_do_not_rise_are_refused(compiled, stops):
    X, trees, compared, values = small_case()
    checks = Checks(np.array(stops), np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="stops must rise"):
        calls.leave_early(compiled, X, trees, [compared], values, checks)


@pytest.mark.parametrize("field", ["anchors", "rivals"])
def test_points_that_are_not_there_are_refused(compiled, field):
    X, trees, compared, values = small_case()
    away = compared.comparisons._replace(**{field: np.array([0, 4], dtype=np.int32)})
    checks = Checks(np.array([[2, 2]]), np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="that is not there"):
        calls.leave_early(compiled, X, trees, [compared._replace(comparisons=away)], values, checks)
