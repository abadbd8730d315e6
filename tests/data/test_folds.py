"""What fits leave out: as new samples will come, whatever the order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost import RebelClassifier
from rebelboost.data.folds import folds, held_out_part
from rebelboost.data.samples import Samples


def samples_of(X, y, weight=None, costs=None, **more):
    labels = np.asarray(y, dtype=np.int32)
    costs = 1 - np.eye(int(labels.max()) + 1) if costs is None else costs
    X = np.asarray(X, dtype=np.float64).reshape(len(labels), -1)
    return Samples(X, labels, costs, weight=weight, **more)


@st.composite
def repeated(draw):
    """Distinct rows with their counts; two classes that both occur twice at least."""
    n = draw(st.integers(4, 30))
    counts = draw(st.lists(st.integers(1, 7), min_size=n, max_size=n))
    y = [0, 0, 1, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 4, max_size=n - 4))]
    return np.arange(n, dtype=float), np.array(y), np.array(counts)


def mass_by_row(samples, shares):
    """Weight of the distinct rows in a part."""
    weight = np.ones(len(samples)) if samples.weight is None else samples.weight
    return np.bincount(samples.X[:, 0].astype(int), weight * shares, int(samples.X.max()) + 1)


@given(repeated(), st.integers(2, 6), st.integers(0, 5))
def test_every_sample_is_left_out_once(case, n_folds, seed):
    x, y, counts = case
    samples = samples_of(np.repeat(x, counts), np.repeat(y, counts))
    parts = folds(samples, n_folds, seed)
    assert np.all(np.sum([part.out for part in parts], axis=0) <= 1)
    for part in parts:
        np.testing.assert_array_equal(part.kept, ~part.out)


@given(repeated(), st.integers(2, 6), st.floats(0.25, 8))
def test_a_sample_lies_in_one_part_whatever_its_weight(case, n_folds, scale):
    x, y, counts = case
    plain, weighed = samples_of(x, y), samples_of(x, y, weight=counts * scale)
    for one, other in zip(folds(plain, n_folds, 0), folds(weighed, n_folds, 0), strict=True):
        np.testing.assert_array_equal(one.out, other.out)


@pytest.mark.parametrize("together", [2, 4])
def test_folds_are_left_out_together_in_turn(together):
    samples = samples_of(np.arange(200.0), np.arange(200) % 2)
    parts = folds(samples, 10, 0, together)
    assert len(parts) == 10
    assert {int(part.out.sum()) for part in parts} == {20 * together}
    np.testing.assert_array_equal(np.sum([part.out for part in parts], axis=0), together)


def test_costs_by_sample_tell_equal_rows_apart():
    costs = np.array([[0.0, 5], [0, 1], [1, 0], [2, 0], [0, 3], [4, 0]])
    samples = samples_of(np.zeros(6), [0, 0, 1, 1, 0, 1], costs=costs, by_sample=True)
    order = np.array([4, 2, 0, 5, 3, 1])
    for one, other in zip(folds(samples, 3, 0), folds(samples.take(order), 3, 0), strict=True):
        np.testing.assert_array_equal(one.out[order], other.out)


@given(repeated(), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(case, seed):
    x, y, counts = case
    rows = samples_of(np.repeat(x, counts), np.repeat(y, counts))
    order = np.random.default_rng(seed).permutation(len(rows))
    for one, other in zip(folds(rows, 5, 0), folds(rows.take(order), 5, 0), strict=True):
        np.testing.assert_allclose(
            mass_by_row(rows, one.out), mass_by_row(rows.take(order), other.out)
        )


def test_equal_rows_are_spread_over_the_parts_and_the_parts_are_even():
    x = np.repeat(np.arange(50.0), 4)
    samples = samples_of(np.append(x, 99.0), np.append(x % 2, 0))  # one lone row: rows are units
    parts = folds(samples, 5, 0)
    assert {round(float(part.out.sum())) for part in parts} <= {40, 41}
    of_one_row = [float(part.out[:-1][x == 7].sum()) for part in parts]
    assert sorted(of_one_row) == [0, 1, 1, 1, 1]


def test_groups_are_left_out_whole_and_classes_stay_balanced():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 6)
    y = (groups % 4 == 0).astype(int)
    samples = samples_of(rng.normal(size=len(y)), y, groups=groups)
    for part in folds(samples, 5, 0):
        assert {len(set(part.out[groups == g])) for g in range(40)} == {1}
        assert y[part.out > 0].mean() == pytest.approx(0.25, abs=0.05)
        assert part.out.sum() == pytest.approx(48, abs=6)


def test_parts_in_time_are_trained_on_the_past():
    times = np.random.default_rng(2).permutation(100)
    samples = samples_of(times.astype(float), times % 2, times=times)
    parts = folds(samples, 4, 0)
    assert len(parts) == 4
    for part in parts:
        assert times[part.kept > 0].max() < times[part.out > 0].min()
    latest = held_out_part(samples, 0.2, 0)
    assert times[latest.out > 0].min() == 80


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.2, 0.5, 0.8])
def test_about_the_given_share_is_held_out(fraction):
    samples = samples_of(np.arange(1000.0), np.arange(1000) % 3)
    part = held_out_part(samples, fraction, 0)
    assert part.out.mean() == pytest.approx(fraction, abs=0.01)
    assert len(samples.rows(part.out)) == part.out.sum()


# ---- through the estimator


def visits(n_patients, seed):
    """Six visits of each patient, whose outcome is a coin's; their measures tell who they are."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), 6)
    X = rng.normal(size=(n_patients, 5))[patient] + 0.05 * rng.normal(size=(len(patient), 5))
    return X, rng.integers(2, size=n_patients)[patient], patient


def test_groups_show_that_nothing_was_learned_about_new_patients():
    X, y, patient = visits(120, 0)
    model = RebelClassifier("tree", cross_fit=5, n_rounds=40)
    assert model.fit(X, y).cross_fit_.cost < 0.2  # the same patient is on both sides
    assert 0.38 < model.fit(X, y, groups=patient).cross_fit_.cost < 0.62


def test_a_model_in_time_is_fitted_to_all_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    model = RebelClassifier("tree", cross_fit=4, n_rounds=30).fit(X, y, times=np.arange(300))
    assert {record.part for record in model.history_} >= {0, 1, 2, 3}
    assert set(model.cross_fit_.rows) == set(range(60, 300))
    assert model.score(X, y) > 0.97


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"groups": [1, 2]}, "X has 4 samples, but groups has 2 values"),
        ({"groups": ["a", "a", "a", "a"]}, "groups has one value only, 'a'"),
        ({"times": [1.0, np.nan, 2.0, 3.0]}, "times has missing values"),
        ({"times": [1, 2, 3, 4], "groups": [1, 2, 3, 4]}, "give one of them"),
    ],
)
def test_groups_and_times_are_checked(more, told):
    with pytest.raises(ValueError, match=told):
        RebelClassifier("stump").fit(np.eye(4), [0, 1, 0, 1], **more)


def test_a_large_table_of_few_distinct_rows_is_cross_fitted():
    """Such as the passengers of the Titanic by class, sex and age."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    y = (rng.random(400) < 0.2 + 0.6 * X[:, 0]).astype(int)
    clf = RebelClassifier("tree", n_rounds=20).fit(X, y)
    assert clf.cross_fit_ is not None
    assert len(np.unique(clf.cross_fit_.rows)) == 400
