"""The package finds the ensembles of the reference, and so do its NumPy kernels."""

from functools import partial

import numpy as np
import pytest

from ensembles import assert_same
from rebelboost import RebelClassifier, Stump, Tree, kernels
from rebelboost.base.draws import Draws
from rebelboost.kernels.reference import random_normals
from rebelboost.model.terms import Queries
from reference import rebel

ROUNDS = 8
SHRINKAGE = 0.3  # of leaf outputs, when nothing is said


def normals(key, n):
    out = np.empty(n)
    random_normals(key, 0, out)
    return out


def problem(seed, n_classes=3, n_samples=100, n_features=4):
    """Noisy blobs, sample weights, and costs by class and by sample.

    Noisy enough that no leaf is pure: in a pure one every split gains nothing, up to rounding.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    centres = rng.normal(size=(n_classes, n_features))
    X = centres[y] + 2 * rng.normal(size=(n_samples, n_features))
    costs = rng.uniform(0.2, 3, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))
    rows = rng.uniform(0.2, 3, size=(n_samples, n_classes))
    rows[np.arange(n_samples), y] = 0
    return X, y, rng.uniform(0.3, 2, size=n_samples), costs, rows


def assert_terms_equal(model, terms):
    """Same questions; the same outputs to 1e-9.

    The package's sums are rounded to 2⁻⁵⁰ of a class's total for each sample, an error of 1e-13 of
    S for 100 samples. An output, ½ ln of a ratio whose parts are above 1e-3 of S on these noisy
    sets, is then off by 1e-10 at most, which enters the weights of the next rounds.
    """
    assert len(model.ensemble_) == len(terms)
    for ours, theirs in zip(model.ensemble_, terms, strict=True):
        asked = [q.feature if q else -1 for q in theirs.questions]
        thresholds = [q.threshold if q else np.inf for q in theirs.questions]
        assert ours.features.tolist() == asked
        assert ours.thresholds.tolist() == thresholds
        np.testing.assert_allclose(ours.outputs, theirs.outputs, rtol=0, atol=1e-9)


def one_output(X, depth):
    return lambda t, plus, minus: rebel.one_output(X, plus, minus, depth)


def leaf_outputs(X, depth, smoothing=0.1, seed=0):
    def propose(t, plus, minus):
        # The direction is drawn by the very call of the package: the draw itself is no method.
        return rebel.leaf_outputs(
            X, plus, minus, depth, smoothing, partial(normals, Draws(seed, 0).at(t).key)
        )

    return propose


LEARNERS = {
    "stump": (Stump(), lambda X: one_output(X, 1), 1.0),
    "depth 3": (Tree(depth=3, outputs="tree"), lambda X: one_output(X, 3), 1.0),
    "leaves": (Tree(depth=2), lambda X: leaf_outputs(X, 2), SHRINKAGE),
}


@pytest.mark.parametrize("subcosts", rebel.SUBCOSTS)
@pytest.mark.parametrize("kind", ["uniform", "weighted", "matrix", "rows"])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_package_finds_the_ensemble_of_the_reference(name, kind, subcosts, seed):
    X, y, weight, costs, rows = problem(seed)
    learner, propose, shrinkage = LEARNERS[name]
    model = RebelClassifier(learner, n_rounds=ROUNDS, subcosts=subcosts, decision="argmax")
    if kind == "uniform":
        model.fit(X, y)
        weight, paid = np.ones(len(y)), (1 - np.eye(3))[y]
    elif kind == "weighted":
        model.fit(X, y, sample_weight=weight)
        paid = (1 - np.eye(3))[y]
    elif kind == "matrix":
        model.set_params(costs=costs).fit(X, y, sample_weight=weight)
        paid = costs[y]
    else:
        model.fit(X, y, sample_weight=weight, costs=rows)
        paid = rows
    initial = [weight[:, np.newaxis] * c for c in rebel.SUBCOSTS[subcosts](paid, y)]
    assert_terms_equal(model, rebel.boost(X, initial, propose(X), ROUNDS, shrinkage))


@pytest.mark.parametrize("name", LEARNERS)
def test_missing_values_take_the_side_that_the_reference_finds(name):
    X, y, weight, *_ = problem(3)
    X[np.random.default_rng(3).uniform(size=X.shape) < 0.15] = np.nan
    learner, propose, shrinkage = LEARNERS[name]
    model = RebelClassifier(learner, n_rounds=ROUNDS).fit(X, y, sample_weight=weight)
    initial = [weight[:, np.newaxis] * c for c in rebel.thesis_subcosts((1 - np.eye(3))[y], y)]
    terms = rebel.boost(X, initial, propose(X), ROUNDS, shrinkage)
    assert_terms_equal(model, terms)
    for ours, theirs in zip(model.ensemble_, terms, strict=True):
        np.testing.assert_array_equal(
            ours.regions(Queries(X)), rebel.regions_of(X, theirs.questions)
        )


def test_the_constant_response_is_chosen_where_the_reference_chooses_it():
    # Nothing to learn from the feature, but classes of unequal weight.
    X = np.array([[0.0], [1.0]] * 6)
    y = np.repeat([0, 0, 1, 0, 0, 2], 2)
    model = RebelClassifier(Stump(), n_rounds=1).fit(X, y)
    initial = rebel.thesis_subcosts((1 - np.eye(3))[y], y)
    assert_terms_equal(model, rebel.boost(X, initial, one_output(X, 1), 1))
    assert model.ensemble_[0].describe() == "constant"


@pytest.mark.parametrize("shrinkage", [0.1, 0.5])
def test_shrinkage_multiplies_every_output(shrinkage):
    X, y, weight, *_ = problem(4)
    model = RebelClassifier(Stump(), n_rounds=ROUNDS, shrinkage=shrinkage)
    model.fit(X, y, sample_weight=weight)
    initial = [weight[:, np.newaxis] * c for c in rebel.thesis_subcosts((1 - np.eye(3))[y], y)]
    assert_terms_equal(model, rebel.boost(X, initial, one_output(X, 1), ROUNDS, shrinkage))


@pytest.mark.parametrize("subcosts", rebel.SUBCOSTS)
@pytest.mark.parametrize("name", LEARNERS)
def test_the_numpy_kernels_give_the_compiled_ensemble_bit_for_bit(compiled, name, subcosts):
    X, y, weight, costs, _ = problem(5, n_samples=80)
    X[::7, 1] = np.nan
    X[:, 3] = np.round(X[:, 3] * 2) % 5  # a categorical feature
    learner = type(LEARNERS[name][0])(
        **{**vars(LEARNERS[name][0]), "categorical": [3]},
    )
    model = RebelClassifier(learner, n_rounds=30, costs=costs, subcosts=subcosts, decision="argmax")
    ours = model.fit(X, y, sample_weight=weight)
    with kernels.using("reference"):
        theirs = RebelClassifier(**model.get_params(deep=False)).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(theirs.decision_function(X), ours.decision_function(X))
    assert_same(ours, theirs)
