"""Exported models give the same scores, probabilities and decisions, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

from export.models import MODELS, costs_of, digits, model
from export.programs import NODE, ONNX, assert_same_bits, compilers
from rebelboost import RebelClassifier, Tree
from rebelboost.export.terms import TreeTable, sum_arrays
from rebelboost.model.ensemble import weighted_sum
from rebelboost.model.fitted import FittedClassifier

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LANGUAGES = ["c", pytest.param("js", marks=NODE), pytest.param("onnx", marks=ONNX)]
SOME = [
    "the default blend with costs",
    "cost training in groups",
    "whitened distances, both points",
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_answers_alike(name, language, tmp_path):
    assert_same_bits(model(name), tmp_path, language)


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("name", SOME)
def test_every_compiler_gives_the_same_bits(name, compiler, tmp_path):
    assert_same_bits(model(name), tmp_path, "c", compiler=compiler)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("random", "exponential"),
        ("zeros", "exponential"),
        ("groups", "exponential"),
        ("uniform", "exponential"),
        ("random", "logistic"),
        ("random", "squared"),
    ],
)
@pytest.mark.parametrize("factor", [0.01, 50.0, 2000.0])
def test_probabilities_agree_for_scores_of_every_size(factor, kind, loss, language, tmp_path):
    given = _sized(factor, kind, loss)
    rng = np.random.default_rng(0)
    X = np.concatenate([digits()[0][:50], rng.uniform(0, 16, (50, 64))])
    assert_same_bits(given, tmp_path, language, X)


def _sized(factor, kind, loss):
    """A model of ten classes whose scores are multiplied."""
    fitted = model("trees of ten classes")
    assert isinstance(fitted, FittedClassifier)
    costs = 1.0 - np.eye(10) if kind == "uniform" else costs_of(10, kind)
    decoder = replace(fitted.decoder, costs=costs, loss=loss, temperature=1.0)
    ensemble, _ = weighted_sum([fitted.ensemble], [factor])
    return replace(fitted, decoder=decoder, ensemble=ensemble, costs=costs)


@pytest.mark.parametrize("language", LANGUAGES)
def test_scores_far_outside_the_training_are_the_same_for_whitened_distances(language, tmp_path):
    given = model("whitened distances, both points")
    X = np.random.default_rng(0).standard_normal((300, 13))
    X *= np.repeat([1e4, 1e6, 1e15, 1e60, 1e300], 60)[:, np.newaxis]
    assert_same_bits(given, tmp_path, language, X)


def test_outputs_on_a_grid_are_stored_as_integers():
    (table,) = [
        table
        for table in sum_arrays(model("averaged trees").ensemble).tables
        if isinstance(table, TreeTable)
    ]
    assert len(table.units) > 0
    np.testing.assert_array_equal(table.outputs, np.rint(table.outputs))


def test_terms_of_a_single_fit_are_added_in_their_order():
    X, y = digits()
    ensemble = RebelClassifier(Tree(depth=2), n_rounds=5, cross_fit=None).fit(X, y).ensemble_
    steps = sum_arrays(ensemble).steps
    assert not ensemble.is_exact
    assert [(step.first, step.last) for step in steps] == [(0, 5)]
