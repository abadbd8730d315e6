"""Figures of left-out samples agree with fresh samples, and probabilities with frequencies, within chance."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Tree
from rebelboost.costs.offsets import correcting_offset
from rebelboost.costs.posterior import Decoder

N_FRESH = 4000


def sick_and_sound(n, rng):
    """Six measures, two of which tell who is sick, with noise: about a quarter is."""
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] + X[:, 1] + 1.5 * rng.normal(size=n) > 1.3).astype(int)
    return X, y


def heavy_row(y, rng):
    weight = np.ones(len(y))
    weight[rng.integers(len(y))] = len(y) / 4
    return weight


WEIGHTS = {
    "balanced": lambda y, rng: compute_sample_weight("balanced", y),
    "counts": lambda y, rng: rng.integers(1, 8, len(y)).astype(float),
    "exponential": lambda y, rng: rng.exponential(size=len(y)),
    "one heavy row": heavy_row,
}


def weighted_log_loss(P, y, weight):
    losses = -np.log(np.maximum(P[np.arange(len(y)), y], 1e-300))
    mean = np.average(losses, weights=weight)
    # Standard error of a weighted mean.
    error = np.sqrt(np.sum((weight * (losses - mean)) ** 2)) / weight.sum()
    return mean, error


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    "learner", ["auto", "tree", Tree(depth=2), Similarity(scale="standard"), "smooth"]
)
def test_with_weights_left_out_log_loss_is_that_of_fresh_samples(kind, learner):
    rng = np.random.default_rng([len(kind), len(str(learner))])
    X, y = sick_and_sound(300, rng)
    weight = WEIGHTS[kind](y, rng)
    clf = RebelClassifier(learner, n_rounds=100, cross_fit=5).fit(X, y, sample_weight=weight)
    found = clf.cross_fit_
    fresh, labels = sick_and_sound(N_FRESH, rng)
    # Fresh samples count as those of their class did: only balanced weights depend on the class.
    of_class = np.array([weight[y == k].mean() for k in (0, 1)])
    own = of_class[labels] if kind == "balanced" else np.ones(N_FRESH)
    expected, its_error = weighted_log_loss(clf.predict_proba(fresh), labels, own)
    P = clf.decoder_.posterior(found.left_out)
    claimed, error = weighted_log_loss(P, y[found.rows], weight[found.rows])
    np.testing.assert_allclose(claimed, found.log_loss, rtol=0.02)
    # Four standard errors; the model's fits see more samples than the one that leaves a sample out.
    assert abs(claimed - expected) < 4 * np.hypot(error, its_error) + 0.02
    assert found.log_loss < 1.1 * np.log(2)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("apart", ["groups", "times"])
def test_with_weights_groups_and_times_are_left_out_whole(kind, apart):
    rng = np.random.default_rng(len(kind))
    patient = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(60, 5))[patient] + 0.05 * rng.normal(size=(300, 5))
    y = rng.integers(2, size=60)[patient]  # a coin's: nothing can be known of new patients
    model = RebelClassifier("tree", cross_fit=5, n_rounds=40)
    model.fit(X, y, sample_weight=WEIGHTS[kind](y, rng), **{apart: patient})
    assert model.cross_fit_.log_loss > 0.6


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("estimator", [RebelClassifier, RebelRegressor])
def test_with_weights_training_on_noise_stops_early(kind, estimator):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 8)), rng.integers(2, size=300)
    weight = WEIGHTS[kind](y, rng)
    model = estimator(
        "tree", n_rounds=400, early_stopping=True, validation_fraction=0.3, n_rounds_no_change=20
    )
    model.fit(X, y if estimator is RebelClassifier else y.astype(float), sample_weight=weight)
    assert len(model.history_) < 400
    assert len(model.ensemble_) < 100


@pytest.mark.parametrize("kind", ["counts", "exponential", "one heavy row"])
def test_with_weights_intervals_cover_fresh_samples(kind):
    rng = np.random.default_rng(5)

    def draw(n):
        X = rng.normal(size=(n, 4))
        return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n)

    X, y = draw(400)
    model = RebelRegressor(n_rounds=100).fit(X, y, sample_weight=WEIGHTS[kind](y, rng))
    fresh, target = draw(N_FRESH)
    low, high = model.predict_interval(fresh, coverage=0.9).T
    # A quantile of about 200 effective samples has a standard error of 0.02.
    assert 0.82 < np.mean((low <= target) & (target <= high)) < 0.98


# ---- probabilities and frequencies


def random_table(seed):
    """1–6 columns of 2–5 values, a rare class or not; its chance may depend on the first column."""
    rng = np.random.default_rng(seed)
    n_columns, n_values = rng.integers(1, 7), rng.integers(2, 6)
    n = int(rng.choice([300, 2000, 20000]))
    rate = 10 ** rng.uniform(-4, np.log10(0.5))
    X = rng.integers(0, n_values, (n, n_columns)).astype(float)
    chance = np.clip(rate * (1 + rng.integers(0, 2) * (X[:, 0] - X[:, 0].mean())), 0, 1)
    y = (rng.random(n) < chance).astype(int)
    y[rng.permutation(n)[:2]] = [0, 1]
    weight = None if seed % 3 else rng.exponential(size=n)
    return X, y, weight


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("learner", ["auto", "tree"])
@pytest.mark.filterwarnings("ignore:class .* has only")
def test_probabilities_agree_with_frequencies_and_say_no_less(seed, learner):
    X, y, weight = random_table(seed)
    costs = {(1, 0): 20.0} if seed % 2 else None
    clf = RebelClassifier(learner, costs=costs, n_rounds=60).fit(X, y, sample_weight=weight)
    own = np.ones(len(y)) if weight is None else weight
    frequency = np.average(y, weights=own)
    P = clf.predict_proba(X)
    effective = own.sum() ** 2 / np.sum(own**2)
    chance = np.sqrt(frequency * (1 - frequency) / effective) + 1 / effective
    assert abs(np.average(P[:, 1], weights=own) - frequency) < 3 * chance
    found = clf.cross_fit_
    rows = found.rows
    share = np.average(y[rows], weights=own[rows])
    of_frequencies = (
        -(share * np.log(share) + (1 - share) * np.log(1 - share)) if 0 < share < 1 else 0
    )
    P = clf.decoder_.posterior(found.left_out)
    losses = -np.log(np.maximum(P[np.arange(len(rows)), y[rows]], 1e-300))
    error = np.sqrt(np.sum((own[rows] * (losses - found.log_loss)) ** 2)) / own[rows].sum()
    # The entropy of the same samples' frequencies is about 1/2n below that of any fresh ones.
    assert found.log_loss < of_frequencies + 2 * error + 1 / effective


@pytest.mark.parametrize("learner", ["auto", "tree"])
def test_three_binary_columns_and_a_rate_of_one_in_five_hundred(learner):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20000, 3)).astype(float)
    y = (rng.random(20000) < 0.002).astype(int)
    P = RebelClassifier(learner).fit(X, y).predict_proba(X)
    assert P[:, 1].mean() == pytest.approx(y.mean(), rel=3 / np.sqrt(y.sum()))  # three errors
    assert P[:, 1].max() < 0.01


def test_a_rule_without_exceptions_is_said_without_doubt():
    """Eight distinct rows, thousands of times each: n distinct rows are no measure of what is known."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4000, 3)).astype(float)
    y = X.all(axis=1).astype(int)
    P = RebelClassifier().fit(X, y).predict_proba(X)
    assert np.all(P[np.arange(4000), y] > 0.99)


def test_class_frequencies_are_the_model_where_features_say_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 5)), rng.permutation(np.arange(200) % 4 == 0).astype(int)
    clf = RebelClassifier().fit(X, y)
    (constant,) = [s for s in clf.cross_fit_.standings if s.name == "class frequencies"]
    assert constant.share > 0.1
    assert np.abs(clf.predict_proba(X)[:, 1] - 0.25).mean() < 0.1


@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared"])
@pytest.mark.parametrize("subcosts", ["thesis", "rebel"])
@pytest.mark.parametrize("costs", ["uniform", "unequal"])
def test_scores_of_a_posterior_have_it(loss, subcosts, costs):
    matrix = 1 - np.eye(3) if costs == "uniform" else np.array([[0, 1, 2], [3, 0, 1], [1, 2, 0.0]])
    decoder = Decoder(matrix, loss=loss, subcosts=subcosts)
    posterior = np.array([0.6, 0.3, 0.1])
    scores = decoder.scores_of(posterior)
    np.testing.assert_allclose(decoder.posterior(scores[np.newaxis])[0], posterior, rtol=1e-8)


@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared"])
def test_offsets_correct_mean_probabilities(loss):
    rng = np.random.default_rng(2)
    n = 5000
    labels = rng.choice(3, n, p=[0.9, 0.09, 0.01]).astype(np.int32)
    scores = 0.2 * rng.normal(size=(n, 3))
    decoder = Decoder(1 - np.eye(3), 0.7, loss=loss)
    shares = np.bincount(labels) / n
    offset = correcting_offset(decoder, scores, None, shares)
    means = decoder.posterior(scores + offset).mean(axis=0)
    # O − E = u/σ² with |u| of at most about 5: five samples of 5000.
    np.testing.assert_allclose(means, np.bincount(labels) / n, atol=1.5e-3)
    np.testing.assert_array_equal(
        correcting_offset(decoder, scores, np.full(n, 4.0), shares), offset
    )


def test_offsets_of_sure_probabilities_are_bounded():
    labels = np.repeat([0, 1], 50).astype(np.int32)
    scores = np.where(labels == 0, 20.0, -20.0)[:, np.newaxis] * [1, -1]
    scores[0] *= -1  # one is wrong, and only an offset of 20 could correct it
    offset = correcting_offset(Decoder(1 - np.eye(2)), scores, None, np.array([0.5, 0.5]))
    assert np.abs(offset).max() < 1
