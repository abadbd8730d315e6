"""The package decides early as the procedure of [THESIS 2.2] does, sample by sample and term by term."""

import numpy as np
import pytest

from rebelboost import RebelClassifier, Stump, Tree
from rebelboost.model.terms import Queries
from reference import soft_cascade

LEARNERS = {
    "stumps": Stump(),
    "trees": Tree(3, outputs="tree"),
    "leaves": Tree(2),
}


def fitted(learner, n_rounds=60):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=700)
    X = rng.normal(size=(700, 4)) + y[:, np.newaxis]
    clf = RebelClassifier(learner, n_rounds=n_rounds, cross_fit=None, decision="argmax")
    return clf.fit(X[:300], y[:300]), X[300:], y[300:]


def terms_of(clf, X):
    """(N, T) what each term adds to h = H₂ − H₁."""
    outputs = [term.by_region[term.regions(Queries(X))] for term in clf.ensemble_]
    return np.stack([added[:, 1] - added[:, 0] for added in outputs], axis=1)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("every", [1, 7, 20])
def test_thresholds_by_hand_decide_as_the_reference_does(name, every):
    clf, X, _ = fitted(LEARNERS[name])
    n_checks = -(-60 // every) - 1
    rng = np.random.default_rng(every)
    lower, upper = -rng.uniform(0.5, 4, n_checks), rng.uniform(0.5, 4, n_checks)
    lower[0], upper[-1] = -np.inf, np.inf
    cascade = clf.cascade(thresholds=(lower, upper), every=every)
    theirs = [soft_cascade.decide(own, lower, upper, every) for own in terms_of(clf, X)]
    sides, used = np.array(theirs).T
    np.testing.assert_array_equal(cascade.predict(X), (sides > 0).astype(int))
    np.testing.assert_array_equal(cascade.terms_used(X), used)
    assert used.min() < 60


@pytest.mark.parametrize("side", [-1, 1])
def test_a_score_that_equals_its_threshold_leaves(side):
    clf, X, _ = fitted(Stump())
    h = np.sum(terms_of(clf, X)[:, :1], axis=1)
    reached = np.unique(h)
    lower, upper = (reached[0], np.inf) if side < 0 else (-np.inf, reached[-1])
    checks = np.full(59, lower), np.full(59, upper)
    checks[0][1:], checks[1][1:] = -np.inf, np.inf
    used = clf.cascade(thresholds=checks, every=1).terms_used(X)
    np.testing.assert_array_equal(used == 1, h == (lower if side < 0 else upper))


def test_where_both_thresholds_are_reached_the_lower_decides():
    clf, X, _ = fitted(Stump())
    level = np.unique(terms_of(clf, X)[:, 0])[0]
    checks = np.full(59, level), np.full(59, level)
    cascade = clf.cascade(thresholds=checks, every=1)
    theirs = [soft_cascade.decide(own, *checks) for own in terms_of(clf, X)]
    np.testing.assert_array_equal(cascade.predict(X), [side > 0 for side, _ in theirs])
    assert (cascade.terms_used(X) == 1).all()


@pytest.mark.parametrize("correct", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("every", [None, 3])
def test_the_labelled_target_is_met_on_the_validation_samples(correct, every):
    clf, X, y = fitted(Tree(2, outputs="tree"))
    cascade = clf.cascade(X, y, correct=correct, after=0.1, every=every)
    used, decided = cascade.terms_used(X), cascade.predict(X)
    assert used.min() >= 6  # a tenth of the terms
    left = used < 60
    assert np.count_nonzero(left & (decided != y)) <= round((1 - correct) * len(y))
    assert cascade.plan_.n_wrong == np.count_nonzero(left & (decided != y))
    assert left.mean() > 0.5


def test_95_percent_are_right_after_a_tenth_of_the_learners_where_so_many_can_be():
    clf, X, y = fitted(Tree(4, outputs="tree"))
    first = np.sum(terms_of(clf, X)[:, :6], axis=1) > 0
    share = np.mean(first == y)
    correct = np.floor(100 * share) / 100
    cascade = clf.cascade(X, y, correct=correct)
    assert (cascade.terms_used(X) == 6).all()
    assert np.mean(cascade.predict(X) == y) >= correct
