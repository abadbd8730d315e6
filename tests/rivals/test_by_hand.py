"""The papers' rivals on cases of a few samples, worked by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from rivals import RIVALS, SAMME, AdaBoostECC, AdaBoostMH, AOSOLogitBoost, CWBoost, OneAgainstAll
from rivals.cw_boost import closed_form
from rivals.stumps import Cuts, Stump, best_sign_stump

# Three samples on the left of the only cut, one of them of the wrong class.
X, Y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])
LN_2 = np.log(2)


def column(*values):
    return np.array(values, dtype=float)[:, np.newaxis]


def test_left_sums_are_those_of_every_stump():
    random = np.random.default_rng(0)
    values = random.integers(0, 5, (40, 3)).astype(float)
    weights = random.random((40, 2))
    cuts = Cuts(values)
    expected = [weights[~cuts[i].right(values)].sum(axis=0) for i in range(len(cuts))]
    assert len(cuts) == 12
    assert_allclose(cuts.left_sums(weights), expected)


def test_sign_stump_has_the_least_weighted_error():
    stump, right = best_sign_stump(Cuts(column(0, 1, 2, 3)), np.array([0.1, 0.2, -0.3, 0.1]))
    assert stump == Stump(0, 1.5)
    assert right == -1


def test_one_against_all():
    """Class 1 of 0, 1, 2: x > ½ errs on a third, α = ½ ln 2; then x ≤ 1½ on a quarter, ½ ln 3."""
    model = OneAgainstAll(2).fit(column(0, 1, 2), [0, 1, 2])
    first, second = model.rounds_[0][1], model.rounds_[1][1]
    assert first.stump == Stump(0, 0.5)
    assert_allclose(first.right, [0, LN_2 / 2, 0])
    assert_allclose(first.left, -first.right)
    assert second.stump == Stump(0, 1.5)
    assert_allclose(second.left, [0, np.log(3) / 2, 0])
    assert_allclose(second.right, -second.left)


def test_adaboost_mh():
    """½ ln of the weights for and against, an eighth each, plus the smoothing eighth."""
    [[term]] = AdaBoostMH(1).fit(X, Y).rounds_
    assert_allclose(term.left, np.log([3 / 2, 2 / 3]) / 2)
    assert_allclose(term.right, np.log([1 / 2, 2]) / 2)


def test_adaboost_ecc():
    """Left: ½ ln (2/4 over 1/4) for class 0; then these weigh the same, and nothing is left to say."""
    [[first], [second]] = AdaBoostECC(2).fit(X, Y).rounds_
    assert_allclose(first.left, [LN_2 / 2, -LN_2 / 2], rtol=1e-8)
    assert first.right[1] > 5 > -5 > first.right[0]
    assert_allclose(second.left, 0, atol=1e-8)


def test_adaboost_ecc_votes_for_classes_of_one_colour_alike():
    [[term]] = AdaBoostECC(1).fit(column(0, 1, 2, 3), [0, 1, 2, 3]).rounds_
    votes = np.sort(term.right)
    assert_allclose(votes, votes[3] * np.array([-1, -1, 1, 1]))


def test_samme():
    """An error of 1/4, α = ln 3 + ln 2; then the sample missed weighs 2/3, and the next errs 1/9."""
    [[first], [second]] = SAMME(2).fit(column(0, 1, 2, 3), [0, 0, 1, 2]).rounds_
    assert first.stump == Stump(0, 1.5)
    assert_allclose([first.left, first.right], [[np.log(6), 0, 0], [0, np.log(6), 0]])
    assert second.stump == Stump(0, 1.5)  # now naming class 2
    assert_allclose([second.left, second.right], [[np.log(16), 0, 0], [0, 0, np.log(16)]])


def test_samme_stops_where_no_stump_beats_guessing():
    model = SAMME(5).fit(column(0, 0, 1, 1), [0, 1, 0, 1])
    assert model.rounds_ == []
    assert model.predict(column(0, 1)).tolist() == [0, 0]


def test_cw_boost():
    """C = 8: class 0 has 6 for it and 2 against: 2z² + z = 6, z = 3/2. Class 1 then has 4 and 3: 0."""
    [[of_0, of_1]] = CWBoost(1, C=8.0).fit(X, Y).rounds_
    assert_allclose(of_0.left, [np.log(3 / 2), 0])
    assert_allclose(of_0.right, [-np.log(3 / 2), 0])
    assert_allclose(of_1.left, 0)


@pytest.mark.parametrize(("good", "bad", "w"), [(6, 1, LN_2), (2, 0, LN_2), (2, 1.5, 0), (1, 0, 0)])
def test_cw_boost_weight_in_closed_form(good, bad, w):
    assert_allclose(closed_form(good, bad), w)


def test_aoso_logitboost():
    """p = 1/3: left 0 against 2 by 1 / (4/3), right 2 against 0 by 2 / (4/3)."""
    [[term]] = AOSOLogitBoost(1).fit(column(0, 0, 1, 1), [0, 1, 2, 2]).rounds_
    assert_allclose(term.left, [0.75, 0, -0.75])
    assert_allclose(term.right, [-1.5, 0, 1.5])


@pytest.mark.parametrize("title", RIVALS)
def test_learns_iris_and_decides_by_its_last_round(title):
    values, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = RIVALS[title](n_rounds=20).fit(values[::2], names[::2])
    decided = model.predict(values[1::2])
    assert np.mean(decided != names[1::2]) < 0.1
    assert (decided == list(model.staged_predict(values[1::2]))[-1]).all()
