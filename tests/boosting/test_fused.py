"""Rounds that are done in one call are the same, to the bit, as rounds that somebody watches."""

import numpy as np
import pytest

from problems import random_problem
from rebelboost import RebelClassifier, Similarity, Tree
from rebelboost.boosting import loop
from rebelboost.boosting.fused import FusedRounds
from rebelboost.boosting.rounds import History
from rebelboost.boosting.state import REFRESH

PROBLEM = random_problem(3, noise=1.0)
MANY = REFRESH + 20


class Watcher:
    """Is told of every round by itself, because it has no `on_rounds`."""

    def on_rounds(self, batch):
        return False

    def on_end(self):
        pass


def table_of(model):
    """What the rounds were, but for their time."""
    table = model.history_.table()
    del table["seconds"]
    return table


def terms_of(model):
    """All arrays of the terms."""
    return [
        (group.positions, name, array)
        for group in model.ensemble_.groups
        for name, array in vars(group.terms).items()
        if isinstance(array, np.ndarray) and name in type(group.terms).__dataclass_fields__
    ]


def fit(watched, **options):
    callbacks = [Watcher()] if watched else None
    model = RebelClassifier(callbacks=callbacks, random_state=0, **options)
    return model.fit(PROBLEM.X, PROBLEM.y, sample_weight=PROBLEM.weight)


@pytest.mark.parametrize(
    "options",
    [
        {"learner": Tree(4), "n_rounds": MANY},
        {"learner": Tree(3), "n_rounds": MANY, "tol": 1e-2},
        {"learner": Tree(2), "n_rounds": MANY, "feature_subsample": 0.5},
        {"learner": Tree(2), "n_rounds": MANY, "costs": PROBLEM.costs, "training": "costs"},
        {"learner": Tree(2), "n_rounds": MANY, "subcosts": "rebel"},
        {"learner": Tree(2), "n_rounds": MANY, "early_stopping": True},
        {"learner": Similarity(scale="standard"), "n_rounds": MANY},
        {"learner": Similarity(scale="none", anchors=3), "n_rounds": MANY, "tol": 1e-3},
        {"learner": Similarity(scale="whitened"), "n_rounds": MANY, "cross_fit": 3},
        {},
    ],
    ids=str,
)
def test_a_callback_that_is_told_of_every_round_changes_no_bit(options):
    watched, alone = fit(watched=True, **options), fit(watched=False, **options)
    np.testing.assert_equal(table_of(watched), table_of(alone))  # for which NaN equals NaN
    for (where, name, theirs), (there, _, ours) in zip(
        terms_of(watched), terms_of(alone), strict=True
    ):
        np.testing.assert_array_equal(where, there)
        np.testing.assert_array_equal(theirs, ours, err_msg=name)


@pytest.mark.parametrize("learner", [Tree(3), Similarity(scale="standard")])
def test_several_rounds_are_done_at_once_unless_somebody_watches(monkeypatch, learner):
    sizes = []

    class Counting(FusedRounds):
        def go(self, t, began):
            found = super().go(t, began)
            sizes.append(len(found))
            return found

    monkeypatch.setattr(loop, "FusedRounds", Counting)
    fit(watched=True, learner=learner, n_rounds=MANY, tol=0)
    assert sizes == []
    fit(watched=False, learner=learner, n_rounds=MANY, tol=0)
    assert sizes == [REFRESH, MANY - REFRESH]


class Counter(History):
    """A subclass that knows of single rounds only."""

    may_wait = False

    def on_rounds(self, batch):
        super().on_rounds(batch)
        return len(self) == 7


def test_callbacks_that_may_not_wait_are_told_of_each_round():
    model = RebelClassifier(Tree(2), n_rounds=20, callbacks=[counter := Counter()])
    model.fit(PROBLEM.X, PROBLEM.y)
    assert len(model.history_) == len(counter) == 7
