"""Learners in scikit-learn's world: their options can be searched, and are checked."""

import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rebelboost import Binary, RebelClassifier, RebelRegressor, Similarity, Stump, Tree

LEARNERS = [Tree(3), Stump(), Similarity("standard"), Binary(LogisticRegression())]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_learner_is_made_of_its_parameters(learner):
    assert type(learner)(**learner.get_params()).get_params() == learner.get_params()
    model = RebelClassifier(learner)
    assert {f"learner__{name}" for name in learner.get_params()} <= model.get_params().keys()


def test_options_of_a_learner_can_be_searched():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RebelClassifier(Tree(), n_rounds=10))
    grid = {"rebelclassifier__learner__depth": [1, 4], "rebelclassifier__learner__smoothing": [0.1]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_params_["rebelclassifier__learner__depth"] in {1, 4}
    found = search.best_estimator_[-1]
    assert set(found.ensemble_.groups[0].terms.depths) <= set(range(1, found.learner.depth + 1))


def test_setting_an_option_does_not_touch_the_original():
    given = RebelClassifier(Tree(depth=3))
    copy = clone(given).set_params(learner__depth=5)
    assert (given.learner.depth, copy.learner.depth) == (3, 5)
    assert RebelRegressor(Tree(2)).set_params(learner__depth=4).learner.depth == 4


def test_unknown_and_invalid_options_are_refused():
    with pytest.raises(
        ValueError, match="Tree has no option 'dept': its options are depth, outputs"
    ):
        Tree().set_params(dept=3)
    tree = Tree(depth=3)
    with pytest.raises(ValueError, match="depth is 0"):
        tree.set_params(depth=0)
    assert tree.depth == 3


@pytest.mark.parametrize(
    ("learner", "shown"),
    [
        (Tree(), "Tree()"),
        (Tree(4, outputs="tree"), "Tree(depth=4, outputs='tree')"),
        (Similarity(search="exact"), "Similarity(search='exact')"),
        (Stump(categorical=[1]), "Stump(categorical=[1])"),
    ],
    ids=str,
)
def test_learners_show_the_options_that_are_not_at_their_defaults(learner, shown):
    assert repr(learner) == shown
