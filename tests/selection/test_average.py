"""Members of the average: by log-loss, by votes, and those that held-out samples do not miss."""

from dataclasses import dataclass

import numpy as np
import pytest

from rebelboost import RebelRegressor
from rebelboost.costs.matrix import uniform
from rebelboost.data.samples import Samples
from rebelboost.selection.average import HARDLY, LEAST_EVIDENCE, needed, share_out, vote
from rebelboost.selection.calibration import ClassScorer, Found, HeldOutScorer, RegressionScorer
from rebelboost.selection.runner import FEW

N = 1000
RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=N)
NOISE = RNG.normal(size=(4, N))


@dataclass(eq=False)
class Member:
    """What is read of a runner."""

    judged: HeldOutScorer
    left_out: np.ndarray
    share: float
    found: Found


def classes(n=N, sharp=1.0):
    """Labels that are drawn with probability σ(2·sharp·truth)."""
    chance = 1 / (1 + np.exp(-2 * sharp * TRUTH[:n]))
    labels = (np.random.default_rng(1).random(n) < chance).astype(np.int32)
    samples = Samples(TRUTH[:n, np.newaxis], labels, uniform(2))
    return ClassScorer(samples, samples)


def numbers():
    return RegressionScorer(Samples.of_targets(TRUTH[:, np.newaxis], TRUTH))


def members(judged, scores, shares):
    if isinstance(judged, ClassScorer):
        columns = [np.stack([-each, each], axis=1) for each in scores]
    else:
        columns = [each[:, np.newaxis] for each in scores]
    return [
        Member(judged, own, share, Found(1.0, 0.5))
        for own, share in zip(columns, shares, strict=True)
    ]


@pytest.mark.parametrize("judged", [classes(), numbers()], ids=["classes", "numbers"])
def test_a_member_that_adds_noise_only_is_dropped_and_the_others_share_its_weight(judged):
    good = TRUTH + 0.7 * NOISE[0], TRUTH + 0.7 * NOISE[1]
    given = members(judged, [*good, NOISE[2]], [0.5, 0.3, 0.2])
    assert needed(given) == given[:2]
    np.testing.assert_allclose([each.share for each in given], [0.625, 0.375, 0])


@pytest.mark.parametrize("judged", [classes(), numbers()], ids=["classes", "numbers"])
def test_members_whose_mistakes_differ_stay(judged):
    scores = [TRUTH + noise for noise in NOISE]
    given = members(judged, scores, [0.25] * 4)
    assert needed(given) == given
    assert {each.share for each in given} == {0.25}


def test_of_equal_members_one_stays():
    given = members(classes(), [TRUTH + NOISE[0]] * 3, [0.4, 0.3, 0.3])
    (kept,) = needed(given)
    assert kept.share == 1
    assert sum(each.share for each in given) == 1


def test_the_log_loss_of_those_that_stay_hardly_exceeds_that_of_all():
    judged = classes()
    scores = [TRUTH + size * noise for size, noise in zip((0.6, 0.6, 0.8, 1.2), NOISE, strict=True)]
    given = members(judged, scores, [0.4, 0.3, 0.2, 0.1])
    factor, _ = judged.best_factor(sum(each.share * each.left_out for each in given))
    before = judged.log_loss(factor * sum(each.share * each.left_out for each in given))
    assert 1 < len(needed(given)) < 4
    after = judged.log_loss(factor * sum(each.share * each.left_out for each in given))
    assert after <= before + HARDLY / np.sqrt(N)


@pytest.mark.parametrize(
    ("judged", "why"),
    [(classes(FEW - 1), "few samples"), (classes(sharp=20.0), "few that are hard to decide")],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_all_stay_where_held_out_samples_tell_little(judged, why):
    n = len(judged.samples)
    given = members(judged, [TRUTH[:n], NOISE[0, :n]], [0.9, 0.1])
    _, log_loss = judged.best_factor(0.9 * given[0].left_out + 0.1 * given[1].left_out)
    assert (judged.evidence(log_loss) < LEAST_EVIDENCE) == (why != "few samples")
    assert needed(given) == given


def test_a_candidate_that_is_dropped_at_the_end_is_reported_as_not_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] + rng.normal(size=500)
    fitted = RebelRegressor(n_rounds=40).fit(X, y)
    standings = fitted.cross_fit_.standings
    unused = [s.name for s in standings if s.share == 0 and s.n_parts == 5]
    assert unused
    assert all(name in str(fitted.selection_).split("not used: ")[1] for name in unused)
    np.testing.assert_allclose(sum(s.share for s in standings), 1)


def judged_alone(scores):
    """Candidates with the log-loss that each has alone."""
    given = members(classes(), scores, [0.0] * len(scores))
    for each in given:
        each.found = each.judged.best_factor(each.left_out)
    return given


def test_votes_lower_the_log_loss_of_the_average_at_least_as_far_as_weights_by_log_loss():
    given = judged_alone([TRUTH + size * NOISE[i] for i, size in enumerate((0.5, 0.7, 0.9))])
    log_losses = []
    for weigh in (vote, lambda each: share_out(each, 0.03)):
        kept = weigh(given)
        total = sum(each.share * each.found.factor * each.left_out for each in kept)
        log_losses.append(given[0].judged.best_factor(total).log_loss)
        np.testing.assert_allclose(sum(each.share for each in given), 1)
    assert log_losses[0] <= log_losses[1]


def test_votes_are_for_those_that_make_up_for_mistakes_not_for_those_that_repeat_them():
    same = TRUTH + 0.7 * NOISE[0]
    given = judged_alone([same, same + 0.01 * NOISE[2], TRUTH + 0.9 * NOISE[1]])
    assert given[2].found.log_loss > given[1].found.log_loss
    vote(given)
    assert given[2].share > min(given[0].share, given[1].share)


def test_candidates_without_a_vote_are_dropped():
    given = judged_alone([TRUTH, NOISE[0]])
    assert vote(given) == given[:1]
    assert [each.share for each in given] == [1.0, 0.0]


def test_some_candidate_stays_if_many_are_equal():
    given = judged_alone([TRUTH + NOISE[0]] * 40)
    assert share_out(given, 0.1) == given
    assert vote(given)
