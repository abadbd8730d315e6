"""What stops a fit whose held-out samples are watched."""

from types import SimpleNamespace

import numpy as np
import pytest

from rebelboost.selection.calibration import Found
from rebelboost.selection.fold_callbacks import LEAST_PAST, Kept, LearningCurveStop, stages_of


def watched(losses, bar=np.inf, n_classes=2):
    """Stages after which an outlook stops, and the outlook, where the log-losses are these."""
    state = SimpleNamespace(scores=np.zeros((3, n_classes)), n_terms=0)
    stages = stages_of(10_000)[: len(losses)]
    left = iter(losses)
    judged = SimpleNamespace(
        n_outputs=n_classes, best_factor=lambda *_, **__: Found(1.0, next(left))
    )
    outlook = LearningCurveStop(state, judged, stages, bar)
    stops = []
    for state.n_terms in range(1, stages[-1] + 1):
        if outlook.on_rounds(None):
            assert state.n_terms in stages
            stops.append(state.n_terms)
            break
    return stops, outlook


def test_stages_grow_by_a_quarter_and_end_with_the_last_round():
    assert stages_of(30) == [5, 10, 16, 20, 25, 30]
    assert stages_of(3) == [3]
    later = [stage for stage in stages_of(10_000) if stage >= 16]
    assert 10_000 in later
    ratios = np.divide(later[1:], later[:-1])
    assert np.all((ratios > 1.2) & (ratios < 1.3))


@pytest.mark.parametrize(
    ("losses", "stops"),
    [
        ([9, 8, 7, 6, 5, 4], []),  # still falling
        ([9, 8, 5, 6, 6, 6], [25]),  # lowest after 16 rounds: 20 are too few to tell
        ([5, 6, 6, 6, 6, 6], [LEAST_PAST]),
        ([9, 8, 5, 6, 4, 3, 3, 2, 1], []),
        ([9, 8, 5, 6, 4, 5, 5, 5], [40]),
    ],
)
def test_a_fit_stops_when_its_log_loss_has_passed_the_lowest(losses, stops):
    assert watched(losses)[0] == stops


@pytest.mark.parametrize(
    ("losses", "bar", "stops"),
    [
        ([9, 9, 9, 9.0], 1, [20]),
        ([9, 8, 7, 6], 4, []),  # at 10 and 20 rounds 8 and 6: another 2 less would reach the bar
        ([9, 8, 7, 6], 3, [20]),
        ([9, 8, 7, 2.9], 3, []),
    ],
)
def test_a_fit_is_given_up_when_its_curve_will_stay_above_the_bar(losses, bar, stops):
    found, outlook = watched(losses, bar)
    assert found == stops
    assert outlook.is_poor == bool(stops)


def test_with_many_classes_the_first_look_is_later():
    losses = [9.0, 8.99, 8.98, 8.97, 8.96, 8.95, 8.94, 8.93]
    assert watched(losses, bar=1.0)[0] == [20]
    assert watched(losses, bar=1.0, n_classes=10)[0] == [40]


def test_scores_after_the_last_round_stand_for_stages_that_were_not_reached():
    state = SimpleNamespace(scores=np.zeros((2, 2)), n_terms=0)
    kept = Kept(state, [1, 3, 5])
    for state.n_terms in range(1, 5):
        state.scores[:] = state.n_terms
        kept.on_rounds(None)
    np.testing.assert_array_equal(kept.scores[:, 0, 0], [1, 3, 4])
