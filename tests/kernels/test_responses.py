"""Exact responses: compiled = reference, and the outputs are the best."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from cases import cases
from kernels import builders, pair_calls
from kernels.calls import assert_same
from rebelboost.kernels import reference
from rebelboost.kernels.reference.levels import CAP
from rebelboost.losses.exponential import signed_output

rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
n_labels = st.integers(1, 5)


def random_responses(rng, n, n_samples, *, signs):
    drawn = rng.uniform(-1, 1, size=(n, n_samples))
    return np.where(drawn > 0, 1.0, -1.0) if signs else drawn


@given(rngs, builders.n_samples, st.integers(1, 40), st.integers(1, 3))
def test_compiled_distances_equal_reference(compiled, rng, n_samples, n_features, n_points):
    placed = rng.normal(size=(n_samples, n_features)) * 10.0 ** rng.integers(-3, 4)
    case = (placed, np.ascontiguousarray(placed[rng.integers(n_samples, size=n_points)]))
    found = pair_calls.exact_distances(compiled, *case)
    assert_same(found, pair_calls.exact_distances(reference, *case))
    expected = ((case[1][:, np.newaxis] - placed) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@given(rngs, builders.n_planes, builders.n_samples, n_labels, st.booleans())
def test_compiled_outputs_equal_reference(compiled, rng, planes, n_samples, labels, signs):
    weights, _ = builders.balanced_weights(rng, planes, n_samples, labels)
    case = (random_responses(rng, 3, n_samples, signs=signs), weights)
    assert_same(
        pair_calls.solve_responses(compiled, *case), pair_calls.solve_responses(reference, *case)
    )


def small_responses(rng, n, n_samples):
    """Some large, some tiny, some equal, and some of signs."""
    scale = 10.0 ** (rng.choice([0, -2, -6]) * rng.random((n, 1)))
    responses = random_responses(rng, n, n_samples, signs=False) * scale
    responses[rng.random(n) < 0.2] = responses[0]
    responses[rng.random(n) < 0.1] = 1.0
    return responses


@cases(200)
@given(rngs, builders.n_planes, builders.n_samples, n_labels, st.sampled_from([1, 3]))
def test_the_best_response_is_found_without_solving_all(
    compiled, rng, planes, n_samples, labels, n_threads
):
    weights, totals = builders.balanced_weights(rng, planes, n_samples, labels)
    responses = small_responses(rng, int(rng.integers(1, 30)), n_samples)
    least = rng.choice([np.inf, *(totals.sum() * np.array([1, 0.9, 0.5]))])
    case = (responses, weights, float(least))
    ours = pair_calls.best_response(compiled, *case, n_threads=n_threads)
    assert_same(ours, pair_calls.best_response(reference, *case))


@given(rngs, builders.n_planes, n_labels)
def test_outputs_of_real_responses_have_the_lowest_loss(either, rng, planes, labels):
    weights, totals = builders.balanced_weights(rng, planes, 40, labels)
    responses = random_responses(rng, 2, 40, signs=False)
    outputs, losses = pair_calls.solve_responses(either, responses, weights)
    for f, output, loss in zip(responses, outputs, losses, strict=True):
        plus, minus = np.maximum(weights, 0).sum(axis=0), np.maximum(-weights, 0).sum(axis=0)
        growth = np.exp(np.multiply.outer(f, output))
        np.testing.assert_allclose(loss, (plus * growth + minus / growth).sum(), rtol=1e-12)
        for k in range(labels):

            def of(a, f=f, up=plus[:, k], down=minus[:, k], total=totals[k]):
                return up @ np.exp(f * a) + down @ np.exp(-f * a) + CAP * total * np.cosh(a)

            least = minimize_scalar(of, bounds=(-12, 12), method="bounded").fun
            assert of(output[k]) <= least * (1 + 1e-12)


@given(rngs, builders.n_planes, n_labels)
def test_outputs_of_signs_have_a_closed_form(either, rng, planes, labels):
    weights, totals = builders.balanced_weights(rng, planes, 40, labels)
    responses = random_responses(rng, 2, 40, signs=True)
    outputs, losses = pair_calls.solve_responses(either, responses, weights)
    for f, output, loss in zip(responses, outputs, losses, strict=True):
        P = f @ weights.sum(axis=0)
        # The loss is 2√(s⁺s⁻) [LOCAL, Eq. 5], but for the cap of the outputs.
        np.testing.assert_allclose(output, signed_output(P, totals), rtol=1e-9, atol=1e-12)
        least = np.sqrt(np.maximum(totals**2 - P**2, 0.0)).sum()
        assert least * (1 - 1e-12) <= loss <= least + 1e-3 * totals.sum()


def test_classes_without_weight_get_no_output(either):
    weights = np.zeros((1, 5, 2))
    weights[0, :, 0] = [1, -1, 1, 1, -1]
    outputs, losses = pair_calls.solve_responses(either, np.full((1, 5), 0.5), weights)
    assert outputs[0, 1] == 0
    assert losses[0] > 0
