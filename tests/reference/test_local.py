"""Similarities to the letter: the package finds the terms of the independent version, round by round."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs

from rebelboost import RebelClassifier, Similarity
from reference import local

ROUNDS = 200
WITHIN = 1e-9


def blobs(n_samples, n_classes, seed, spread=3.0):
    X, y = make_blobs(n_samples, 4, centers=n_classes, cluster_std=spread, random_state=seed)
    return X, y


def unequal(n_classes, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 3, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))


def with_duplicates(X, y, seed):
    """Some rows twice, with the same label or with another one."""
    rng = np.random.default_rng(seed)
    again = rng.integers(len(X), size=len(X) // 5)
    return np.concatenate([X, X[again]]), np.concatenate([y, rng.permutation(y[again])])


CASES = {
    "two classes": blobs(90, 2, 0),
    "three classes, as many of each": load_iris(return_X_y=True),
    "features of other units": load_wine(return_X_y=True),
    "eleven classes": blobs(140, 11, 1, spread=1.5),
    "duplicates": with_duplicates(*blobs(90, 4, 2), 2),
}


def fitted(X, y, *, rounds=ROUNDS, tol=0, costs=None, weight=None, **options):
    clf = RebelClassifier(
        Similarity(scale="none", search="exact", **options),
        n_rounds=rounds,
        tol=tol,
        costs=costs,
        training="costs",
        cross_fit=None,
        decision="argmax",
    )
    return clf.fit(X, y, sample_weight=weight)


def in_order_of_points(clf, X):
    """The rows in an order that ties are broken by: that of the package's points, then the others."""
    learner = clf.learner
    from rebelboost.data.point_set import place_samples
    from rebelboost.data.samples import Samples

    n = len(X)
    samples = Samples(X, np.zeros(n, dtype=np.int32), np.zeros((1, 1)))
    placed = place_samples(samples, learner.metric, learner.scale, 1, exact=True)
    return np.argsort(placed.place, kind="stable")


KINDS = {"constant": {"constant"}, "one": {"one_point", "inside"}, "two": {"two_points", "nearer"}}


def assert_equal_round_by_round(clf, X, y, costs, weight, **options):
    order = in_order_of_points(clf, X)
    K = len(clf.classes_)
    rows = (1 - np.eye(K) if costs is None else costs)[y]
    chosen, found = local.boost(
        X[order], rows[order], y[order], weight[order], len(clf.ensemble_), **options
    )
    rows_of_points = order[chosen]
    assert len(found) == len(clf.ensemble_)
    for ours, record, (theirs, loss) in zip(clf.ensemble_, clf.history_, found, strict=True):
        assert ours.kind in KINDS[theirs.kind]
        anchor, rival = ours.named_rows[0]
        expected = [rows_of_points[i] if i >= 0 else -1 for i in (theirs.anchor, theirs.rival)]
        np.testing.assert_array_equal(X[[anchor, rival]], X[expected])
        if theirs.kind == "one":
            unit = ours.space.embedding.factor[0] ** 2  # values are scaled by a power of two
            np.testing.assert_allclose(ours.apart[0], theirs.tau * unit, rtol=1e-12)
        np.testing.assert_allclose(ours.outputs[0].sum(axis=0), theirs.output, rtol=0, atol=WITHIN)
        np.testing.assert_allclose(record.log_loss, np.log(loss), rtol=0, atol=WITHIN)
    terms = [term for term, _ in found]
    queries = np.concatenate([X, X.mean(axis=0) + 0.37 * (X - X.mean(axis=0))])
    scores = local.scores(X[order][chosen], terms, queries, options.get("response", "real"))
    np.testing.assert_allclose(clf.ensemble_.scores(queries), scores, rtol=0, atol=WITHIN)


@pytest.mark.parametrize("response", ["real", "sign"])
@pytest.mark.parametrize("case", CASES)
def test_every_round_is_that_of_the_text(case, response):
    X, y = CASES[case]
    clf = fitted(X, y, response=response)
    assert_equal_round_by_round(clf, X, y, None, np.ones(len(y)), response=response)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_so_it_is_with_costs_and_sample_weights(n_classes):
    X, y = blobs(80, n_classes, n_classes)
    costs = unequal(n_classes, n_classes)
    weight = np.random.default_rng(3).uniform(0.3, 2, size=len(y))
    clf = fitted(X, y, costs=costs, weight=weight)
    assert_equal_round_by_round(clf, X, y, costs, weight)


def test_isolating_alone_is_that_of_the_text():
    X, y = CASES["three classes, as many of each"]
    clf = fitted(X, y, modes="isolating")
    assert_equal_round_by_round(clf, X, y, None, np.ones(len(y)), modes="isolating")


def test_it_stops_where_the_loss_is_one_in_n():
    X, y = CASES["three classes, as many of each"]
    clf = fitted(X, y, rounds=400, tol="papers")
    losses = np.exp([record.log_loss for record in clf.history_])
    n_points = len(np.unique(X, axis=0))
    assert losses[-1] < 1 / n_points <= losses[-2]
