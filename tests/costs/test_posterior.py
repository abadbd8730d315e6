import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost.costs.decision import expected_costs, least_risk
from rebelboost.costs.mixture import mixture_posterior
from rebelboost.costs.posterior import Decoder, cooler, fit_temperature, mean_log_loss


@st.composite
def cost_matrices(draw, entries=None):
    n_classes = draw(st.integers(2, 7))
    if entries is None:
        entries = st.floats(0.01, 100)
    costs = draw(hnp.arrays(np.float64, (n_classes, n_classes), elements=entries))
    np.fill_diagonal(costs, 0)
    return costs


def posteriors(n_classes, seed, n=40):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), n)


def optimal_scores(P, costs):
    """Scores of least expected loss for posterior P [THESIS Sec. 4.3]."""
    theta = np.linalg.norm(costs, axis=1) / (2 * np.sqrt(len(costs) - 1))
    return np.log(P * theta / ((P / (4 * theta)) @ costs**2)) / 2


seeds = st.integers(0, 2**32 - 1)


@given(costs=cost_matrices(), seed=seeds)
def test_the_posterior_is_read_off_optimal_scores(costs, seed):
    P = posteriors(len(costs), seed)
    # Iteration stops when P changes by less than 1e-12; at its rate, up to a few hundred such steps remain.
    np.testing.assert_allclose(Decoder(costs).posterior(optimal_scores(P, costs)), P, atol=1e-7)


@given(n_classes=st.integers(2, 12), seed=seeds)
def test_with_uniform_costs_the_posterior_is_a_shifted_sigmoid(n_classes, seed):
    P = posteriors(n_classes, seed)
    scores = np.log(P / (1 - P)) / 2
    decoded = Decoder(1 - np.eye(n_classes)).posterior(scores)
    np.testing.assert_allclose(decoded, P, atol=1e-9)


@given(costs=cost_matrices(), seed=seeds)
def test_nearly_uniform_costs_decode_as_uniform_ones_do(costs, seed):
    n_classes = len(costs)
    scores = np.random.default_rng(seed).normal(size=(20, n_classes))
    uniform = 1 - np.eye(n_classes)
    nearly = uniform * (1 + 1e-10 * costs)
    difference = Decoder(nearly).posterior(scores) - Decoder(uniform).posterior(scores)
    assert np.abs(difference).max() < 1e-6


@given(costs=cost_matrices(), seed=seeds, factor=st.floats(1e-6, 1e6))
def test_scaling_all_costs_changes_no_decision(costs, seed, factor):
    P = posteriors(len(costs), seed)
    scores = optimal_scores(P, costs)
    scaled = Decoder(factor * costs).posterior(scores)
    np.testing.assert_allclose(scaled, Decoder(costs).posterior(scores), atol=1e-9)


@given(costs=cost_matrices(), seed=seeds)
def test_permuting_the_classes_permutes_posterior_and_risks(costs, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(costs))
    scores = rng.normal(size=(20, len(costs)))
    P = Decoder(costs).posterior(scores)
    permuted = Decoder(costs[np.ix_(order, order)]).posterior(scores[:, order])
    np.testing.assert_allclose(permuted, P[:, order], atol=1e-9)


# ---- REBEL's subcosts


def rebel_optimal_scores(P, costs):
    """Scores of least expected loss for posterior P [REBEL, Eq. 2]."""
    largest = costs.max(axis=1, keepdims=True)
    beta = costs.sum(axis=1, keepdims=True) - (len(costs) - 1) * largest
    return np.log((P @ (largest - costs)) / (P @ (costs - beta))) / 2


@given(costs=cost_matrices(), seed=seeds)
def test_with_rebel_subcosts_the_posterior_is_read_off_and_argmax_has_the_least_risk(costs, seed):
    P = posteriors(len(costs), seed)
    scores = rebel_optimal_scores(P, costs)
    risks = P @ costs
    chosen = risks[np.arange(len(P)), scores.argmax(axis=1)]
    assert np.all(chosen <= risks.min(axis=1) * (1 + 1e-9))
    found = Decoder(costs, subcosts="rebel").posterior(scores)
    largest = costs.max(axis=1, keepdims=True)
    mixed = largest - costs
    condition = np.linalg.cond(mixed / mixed.sum(axis=1, keepdims=True))
    weighed = mixed.sum(axis=1).max() / mixed.sum(axis=1).min()
    # The ridge of 1e-13 and rounding are magnified by the square of the condition of the equations.
    np.testing.assert_allclose(found, P, atol=min(2, 1e-11 * condition**2 * weighed))


@given(costs=cost_matrices(), seed=seeds)
def test_with_rebel_subcosts_other_scores_give_the_likeliest_mixture(costs, seed):
    rng = np.random.default_rng(seed)
    mixed = costs.max(axis=1, keepdims=True) - costs
    rows = mixed / mixed.sum(axis=1, keepdims=True)
    q = rng.dirichlet(np.full(len(costs), 0.3), 10)
    P = mixture_posterior(q, costs)
    assert np.all(P >= 0)
    u = P * mixed.sum(axis=1)
    u /= u.sum(axis=1, keepdims=True)

    def merit(u):
        return (q * np.log(np.maximum(u @ rows, 1e-300))).sum(axis=1)

    # The prior moves the optimum by 1e-3 of a likelihood, which is at most ln(K/1e-3) there.
    for other in rng.dirichlet(np.full(len(costs), 0.5), 200):
        assert np.all(merit(u) >= merit(np.tile(other, (10, 1))) - 0.01)


def test_rebel_subcosts_with_uniform_costs_or_two_classes_are_those_of_the_thesis():
    scores = np.random.default_rng(0).normal(size=(30, 4))
    for costs in (1 - np.eye(4), np.array([[0, 3.0], [1, 0]])):
        own = scores[:, : len(costs)]
        thesis, rebel = (Decoder(costs, subcosts=way).posterior(own) for way in ("thesis", "rebel"))
        if len(costs) > 2:
            np.testing.assert_allclose(rebel, thesis, atol=1e-9)
        else:  # off the optimum two scores are one too many, and each way drops another part
            own[:, 1] = -own[:, 0]
            thesis, rebel = (
                Decoder(costs, subcosts=way).posterior(own) for way in ("thesis", "rebel")
            )
            np.testing.assert_allclose(rebel, thesis, atol=1e-9)


NO_SAY = np.zeros((6, 6))  # classes that are weighed against none
NO_SAY[0, 5] = NO_SAY[2, 4] = NO_SAY[4, 2] = 1e-6


@example(costs=NO_SAY, seed=0, size=30.0, subcosts="thesis")
@example(costs=NO_SAY, seed=0, size=30.0, subcosts="rebel")
@given(
    costs=cost_matrices(st.sampled_from([0.0, 0.0, 1e-6, 1.0, 1e6])),
    seed=seeds,
    size=st.sampled_from([1.0, 30.0, 1000.0]),
    subcosts=st.sampled_from(["thesis", "rebel"]),
)
def test_zero_rows_huge_ratios_and_wide_scores_give_probabilities_without_a_warning(
    costs, seed, size, subcosts
):
    scores = size * np.random.default_rng(seed).normal(size=(15, len(costs)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = Decoder(costs, subcosts=subcosts).posterior(scores)
        decided = least_risk(scores, P, costs)
    assert np.all(P >= 0)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    risks = expected_costs(P, costs)
    chosen = risks[np.arange(len(risks)), decided]
    assert np.all(chosen <= risks.min(axis=1) * (1 + 1e-9))


@pytest.mark.parametrize("subcosts", ["thesis", "rebel"])
@given(
    costs=st.one_of(cost_matrices(), cost_matrices(st.sampled_from([1.0]))),
    seed=seeds,
    size=st.sampled_from([0.1, 3.0, 30.0, 500.0]),
)
def test_the_posterior_of_a_row_does_not_depend_on_the_rows_beside_it(costs, seed, size, subcosts):
    scores = np.random.default_rng(seed).normal(size=(20, len(costs))) * size
    decoder = Decoder(costs, subcosts=subcosts)
    alone = [decoder.posterior(row[np.newaxis]) for row in scores]
    np.testing.assert_array_equal(decoder.posterior(scores), np.concatenate(alone))


def test_decisions_that_cost_the_same_are_told_apart_by_their_scores():
    scores = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 2.0]])
    P = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    costs = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0.0]])
    assert least_risk(scores, P, costs).tolist() == [2, 1]


def test_scores_far_apart_decode_the_same_in_logarithms(monkeypatch):
    rng = np.random.default_rng(0)
    costs = rng.uniform(0.1, 3, (5, 5)) * (1 - np.eye(5))
    scores = 20 * rng.normal(size=(30, 5))
    plain = Decoder(costs).posterior(scores)
    monkeypatch.setattr("rebelboost.costs.posterior.LARGEST_RANGE", -1.0)
    np.testing.assert_allclose(Decoder(costs).posterior(scores), plain, atol=1e-9)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
def test_the_temperature_of_scores_is_found(temperature):
    rng = np.random.default_rng(1)
    costs = rng.uniform(0.1, 3, (4, 4)) * (1 - np.eye(4))
    P = posteriors(4, 2, n=4000)
    labels = np.array([rng.choice(4, p=p) for p in P], dtype=np.int32)
    found, log_loss = fit_temperature(optimal_scores(P, costs) / temperature, labels, costs)
    # The log-loss of 4,000 labels leaves the temperature uncertain by some hundredths.
    assert found == pytest.approx(temperature, rel=0.15)
    assert log_loss < -np.log(1 / 4)


@given(scores=hnp.arrays(np.float64, (7, 2), elements=st.floats(-300, 300)))
def test_two_classes_with_equal_costs_have_the_logistic_function_of_the_difference(scores):
    found = Decoder(1.0 - np.eye(2)).posterior(scores)
    apart = scores[:, 1] - scores[:, 0]
    # Differences of up to 600 are rounded by 2⁻⁴³ = 1.1e-13 at most, and so are logarithms of probabilities.
    expected = np.logaddexp(0, -apart)
    assert np.allclose(-np.log(np.maximum(found[:, 1], 1e-300)), expected, rtol=1e-12, atol=1e-12)
    assert np.allclose(found.sum(axis=1), 1, rtol=0, atol=2**-52)


@pytest.mark.parametrize("costs", [np.ones((3, 3)) - np.eye(3), [[0, 5, 1], [1, 0, 1], [2, 1, 0]]])
def test_the_scores_of_samples_without_a_mistake_are_cooled_to_a_log_loss(costs):
    costs = np.asarray(costs, dtype=float)
    labels = np.arange(60, dtype=np.int32) % 3
    scores = np.where(np.arange(3) == labels[:, np.newaxis], 3.0, -3.0)
    factor, log_loss = fit_temperature(scores, labels, costs)
    assert log_loss < 1e-9
    cooled = cooler(Decoder(costs, factor), scores, labels, None, 1 / 60)
    assert cooled < factor
    # To 1 % of the factor, which changes 2H = 6 and so the logarithm of the log-loss by a few per cent.
    found = mean_log_loss(Decoder(costs, cooled), scores, labels, None)
    np.testing.assert_allclose(found, 1 / 60, rtol=0.1)


@pytest.mark.parametrize("seed", [889, 1029, 1240, 1289, 1726])
def test_probabilities_are_at_most_1_where_costs_have_zeros(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    shape = n_classes, n_classes
    costs = np.exp(rng.normal(size=shape) * 2) * (rng.random(shape) < 0.6)
    np.fill_diagonal(costs, 0)
    scores = rng.normal(size=(20, n_classes)) * 10.0 ** rng.uniform(-1, 3)
    scores -= scores.mean(axis=1, keepdims=True)
    decoder = Decoder(costs, 1.0, 1e-12, "exponential", "thesis")
    assert (decoder.posterior(scores) <= 1).all()
