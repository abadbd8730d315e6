"""The classifier takes costs in every form, and the forms mean the same."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rebelboost import RebelClassifier, Stump
from rebelboost.costs.matrix import cost_matrix
from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.exceptions import CostDiagonalWarning, CostError
from rebelboost.metrics import mean_cost

CLASSES = ["bad", "fair", "good"]
RNG = np.random.default_rng(0)
Y = np.array(CLASSES)[RNG.choice(3, size=120, p=[0.2, 0.3, 0.5])]
X = RNG.normal(size=(120, 2)) + np.searchsorted(CLASSES, Y)[:, np.newaxis]
MATRIX = np.array([[0.0, 1, 5], [1, 0, 1], [1, 1, 0]])


def fitted(costs, y=Y, **options):
    return RebelClassifier(Stump(), n_rounds=5, costs=costs, **options).fit(X, y)


SAME = {
    "lists": MATRIX.tolist(),
    "exceptions": {("bad", "good"): 5},
    "pandas": pd.DataFrame(MATRIX[::-1], index=CLASSES[::-1], columns=CLASSES),
    "polars": pl.DataFrame({"true": CLASSES, **dict(zip(CLASSES, MATRIX.T, strict=True))}),
    "pyarrow": pl.DataFrame({"": CLASSES, **dict(zip(CLASSES, MATRIX.T, strict=True))}).to_arrow(),
}


@pytest.mark.parametrize("costs", SAME.values(), ids=SAME)
def test_every_form_of_the_same_costs_gives_the_same_model(costs):
    model = fitted(costs)
    np.testing.assert_array_equal(model.costs_, MATRIX)
    np.testing.assert_array_equal(model.decision_function(X), fitted(MATRIX).decision_function(X))


def test_balanced_costs_count_the_training_samples():
    counts = np.unique(Y, return_counts=True)[1]
    np.testing.assert_allclose(fitted("balanced").costs_, cost_matrix("balanced", CLASSES, counts))


def test_balanced_costs_are_those_of_repeated_samples_when_samples_have_weights():
    weight = RNG.integers(1, 4, size=120)
    model = RebelClassifier(Stump(), n_rounds=5, costs="balanced")
    weighed = model.fit(X, Y, sample_weight=weight).costs_
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight)).costs_
    np.testing.assert_allclose(weighed, repeated, rtol=1e-14)


def test_a_taxonomy_is_found_by_the_names_of_the_classes():
    tree = Taxonomy({"bad": "no/bad", "fair": "yes/fair", "good": "yes/good", "new": "new"})
    np.testing.assert_array_equal(fitted(tree).costs_, tree.matrix(CLASSES))


def test_classes_may_be_numbers_where_a_table_has_text():
    codes = np.searchsorted(CLASSES, Y)
    table = pd.DataFrame(MATRIX, index=["0", "1", "2"], columns=["0", "1", "2"])
    np.testing.assert_array_equal(fitted(table, codes).costs_, MATRIX)


def test_costs_that_cannot_be_meant_are_refused_at_fit_with_a_remedy():
    for costs, message in [
        ("even", """costs are 'even': give "balanced", a matrix"""),
        ({("bad", "god"): 5}, r"costs name 'god', which is not a class"),
        (Taxonomy({"bad": "a", "fair": "b"}), r"no path for class 'good': add it"),
    ]:
        with pytest.raises(CostError, match=message):
            fitted(costs)


def test_the_warning_about_right_decisions_points_at_the_users_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CostDiagonalWarning)
        fitted(2 * MATRIX + np.eye(3))
        mean_cost(Y, Y, MATRIX + np.eye(3))
        cost_matrix(MATRIX + np.eye(3), CLASSES)
    assert [w.filename for w in caught] == [__file__] * 3
