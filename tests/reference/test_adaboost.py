"""Two classes with uniform costs: REBEL is AdaBoost [REBEL, S.8; ADA, Ch. 3], round by round."""

import numpy as np
import pytest

from rebelboost import RebelClassifier, Stump
from rebelboost.losses.exponential import CAP

ROUNDS = 25


def adaboost(X, y, D, rounds):
    """Textbook AdaBoost with stumps, the constant one included; y is ±1, D the first distribution.

    Yields ε_t, α_t and the distribution after the round.
    """
    stumps = [np.ones(len(y))]
    for x in X.T:
        values = np.unique(x)
        stumps += [np.where(x > tau, 1.0, -1.0) for tau in (values[:-1] + values[1:]) / 2]
    D = D / D.sum()
    for _ in range(rounds):
        errors = [D[h != y].sum() for h in stumps]
        # Either polarity; of equal ones, up to rounding, the first.
        edges = np.round([abs(0.5 - error) for error in errors], 12)
        h, error = stumps[np.argmax(edges)], errors[np.argmax(edges)]
        alpha = 0.5 * np.log((1 - error) / error)
        D = D * np.exp(-alpha * y * h)
        D /= D.sum()
        yield min(error, 1 - error), abs(alpha), D


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5])  # 1 has stumps that tie up to rounding
def test_two_classes_with_uniform_costs_are_adaboost_round_by_round(seed, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=60) > 0, 1, -1)
    weight = rng.uniform(0.5, 2, size=60) if weighted else np.ones(60)
    model = RebelClassifier(Stump(), n_rounds=ROUNDS).fit(
        X, y, sample_weight=weight if weighted else None
    )
    # H₂ − H₁ of REBEL is 2F of AdaBoost: a term adds ±a to one class, ∓a to the other.
    leads = list(model.staged_decision_function(X))
    steps = zip(model.history_, leads, model.ensemble_, strict=True)
    for ours, theirs in zip(steps, adaboost(X, y, weight, ROUNDS), strict=True):
        (record, lead, term), (error, alpha, D) = ours, theirs
        weights = weight * np.exp(-y * lead / 2)
        # Outputs are smoothed by CAP·S: α moves by CAP/(2ε) at most, the rest with it.
        tolerance = ROUNDS * CAP / 0.1
        assert error > 0.05
        # Up to the rounding of the two logarithms.
        np.testing.assert_allclose(term.outputs[:, 0], -term.outputs[:, 1], rtol=1e-12)
        np.testing.assert_allclose(0.5 - record.edge, error, atol=tolerance)
        np.testing.assert_allclose(np.abs(term.outputs), alpha, atol=tolerance)
        np.testing.assert_allclose(weights / weights.sum(), D, atol=tolerance)
