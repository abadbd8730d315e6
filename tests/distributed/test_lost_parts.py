"""A part that is lost is made again from its rows and the commands so far, at any moment."""

import numpy as np
import pytest

from rebelboost import RebelClassifier, RebelRegressor, Stump, Tree
from rebelboost.distributed.training import GivenRows, fit_rows
from rebelboost.rows.base import Log, MemoryRows
from rebelboost.rows.block import Block
from rebelboost.rows.replaying import AddTerms
from rebelboost.rows.weights import Advance
from spreading import N, cut, fingerprint, fit_parts, frame, table


class Forgetful(MemoryRows):
    """Parts that are lost, one after the other, whenever some questions were asked."""

    def __init__(self, raws, every):
        super().__init__([Block(i, lambda raw=raw: raw) for i, raw in enumerate(raws)])
        self.raws, self.every = raws, every
        self.log, self.n_asked, self.n_lost, self.longest = Log(), 0, 0, 0

    def ask(self, command):
        self.n_asked += 1
        if self.n_asked % self.every == 0:
            self.lose(self.n_lost % len(self.blocks))
        answer = super().ask(command)
        self.log.note(command)
        self.longest = max(self.longest, len(self.log.operations))
        return answer

    def lose(self, number):
        part = Block(number, lambda: self.raws[number])
        for operation in self.log.operations:
            operation.apply(part)
        self.blocks[number] = part
        self.n_lost += 1


ROUNDS = {"n_rounds": 70, "cross_fit": None}
ESTIMATORS = {
    "trees": RebelClassifier(Tree(depth=3), **ROUNDS),
    "stumps": RebelClassifier(Stump(), **ROUNDS),
    "the logistic loss": RebelClassifier(Tree(depth=2), loss="logistic", **ROUNDS),
    "rows held out": RebelClassifier(Tree(depth=3), early_stopping=True, shrinkage=0.1, **ROUNDS),
    "a regression": RebelRegressor(Tree(depth=3), n_rounds=70),
    "numbers held out": RebelRegressor(Tree(depth=3), early_stopping=True, n_rounds=20),
}


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_lost_parts_change_no_bit(tmp_path, estimator):
    X, y = table()
    if isinstance(estimator, RebelRegressor):
        y = np.nan_to_num(X[:, 0])
    raws = cut(X, y, [100, 300])
    expected = fingerprint(fit_parts(estimator, raws), tmp_path)
    spread = Forgetful(raws, every=7)
    found = fit_rows(estimator, GivenRows(spread))
    assert spread.n_lost > 20
    assert fingerprint(found, tmp_path) == expected


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_lost_parts_of_data_frames_change_no_bit(tmp_path, loss):
    X, y = frame()  # with categories
    clf = RebelClassifier(Tree(depth=3), loss=loss, **ROUNDS)
    raws = cut(X, y, [100, 300])
    expected = fingerprint(fit_parts(clf, raws), tmp_path)
    found = fit_rows(clf, GivenRows(Forgetful(raws, every=50)))
    assert fingerprint(found, tmp_path) == expected


def test_a_lost_part_adds_old_terms_at_once():
    X, y = table()
    spread = Forgetful(cut(X, y, [N // 2]), every=10**9)
    clf = RebelClassifier(Tree(depth=3), n_rounds=130, cross_fit=None)
    fit_rows(clf, GivenRows(spread))
    old = [command for command in spread.log.kept if isinstance(command, AddTerms)]
    assert [len(command.terms) for command in old] == [128]
    assert sum(isinstance(command, Advance) for command in spread.log.kept) == 2
