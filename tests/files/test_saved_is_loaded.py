"""What is saved can be loaded: what a file cannot hold is refused before, with the remedy."""

import numpy as np
import pandas as pd
import pytest

import rebelboost
from rebelboost import (
    CostError,
    ModelFileError,
    RebelClassifier,
    RebelRegressor,
    Similarity,
    Tree,
)
from rebelboost.evaluation import left_out
from rebelboost.files import model_file
from stored_models import assert_same_answers, numbers

X, Y = numbers(n=60, d=2)


def saved_and_loaded(model, folder):
    model.save(folder / "m")
    return rebelboost.load(folder / "m")


@pytest.mark.parametrize(
    "first", [np.nan, None, pd.NaT, pd.NA, np.inf, -np.inf, "", 10**400], ids=str
)
@pytest.mark.parametrize("rest", [int, str, float])
def test_a_model_of_a_table_with_gaps_in_its_index_is_saved(first, rest, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b"])
    names = [first if i % 2 else rest(i) for i in range(60)]
    frame.index = pd.Index(names, dtype=object)
    model = RebelClassifier(Similarity(scale="standard"), n_rounds=60).fit(frame, Y)
    assert any(row % 2 for row in model.row_labels_)
    assert_same_answers(model, saved_and_loaded(model, tmp_path), frame)


def test_a_regression_of_a_table_whose_index_is_all_gaps_is_saved(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b"], index=[np.nan] * 60)
    model = RebelRegressor(cross_fit=2, n_rounds=3).fit(frame, X[:, 0])
    assert_same_answers(model, saved_and_loaded(model, tmp_path), frame)


def test_an_infinite_category_is_refused_with_the_remedy(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical([np.inf, 1.0] * 30), "b": X[:, 0]})
    model = RebelClassifier(Tree(2), n_rounds=3).fit(frame, Y)
    with pytest.raises(ModelFileError, match=r"categories has inf .*: convert the column to text"):
        model.save(tmp_path / "m")


@pytest.mark.parametrize("size", [5e-324, 1e-308, 1e-31, 1.1e30, 3.5e38, 1e299, 1e300, 1.7e308])
def test_costs_out_of_range_are_refused_before_training(size):
    y = (Y == 0).astype(int)
    costs = np.where(np.arange(2) == y[:, np.newaxis], 0.0, size)
    with pytest.raises(CostError, match="costs are 0, or from 1e-30 to 1e"):
        RebelClassifier(Tree(2), cross_fit=2).fit(X, y, costs=costs)
    with pytest.raises(CostError, match="Give all costs in another unit"):
        RebelClassifier(Tree(2), costs={(0, 1): size}).fit(X, y)
    model = RebelClassifier(Tree(2), n_rounds=2).fit(X, y)
    with pytest.raises(CostError, match="1e-30"):
        model.predict(X, costs=costs)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1e20, 1e30])
@pytest.mark.parametrize("mixed", [False, True])
def test_costs_in_range_train_save_and_load(size, mixed, tmp_path):
    y = (Y == 0).astype(int)
    costs = np.where(np.arange(2) == y[:, np.newaxis], 0.0, size)
    costs[::2] /= size if mixed else 1.0
    model = RebelClassifier(Tree(2), n_rounds=3, cross_fit=2).fit(X, y, costs=costs)
    assert_same_answers(model, saved_and_loaded(model, tmp_path), X)
    model = RebelClassifier(n_rounds=3, costs={(0, 1): size, (1, 0): 1.0}).fit(X, y)
    assert_same_answers(model, saved_and_loaded(model, tmp_path), X)


@pytest.mark.parametrize("name", ["reject_cost", "time_budget", "shrinkage"])
def test_integers_that_no_float_holds_are_refused_in_one_line(name):
    with pytest.raises(ValueError, match=r"out of range|must be"):
        RebelClassifier(Tree(2), reject_label=9, **{name: 10**400}).fit(X, Y)


def test_whatever_could_not_be_loaded_is_not_written(tmp_path, monkeypatch):
    model = RebelClassifier(Tree(2), n_rounds=2).fit(X, Y)

    def broken(history):
        return {"history.terms": np.zeros(3, dtype=np.int64)}

    monkeypatch.setattr(model_file, "history_arrays", broken)
    with pytest.raises(ModelFileError, match=r"cannot write .*, a file that lacks the array"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


class Derived(RebelClassifier):
    """Someone's own name for it."""


def test_a_derived_classifier_is_loaded_as_the_one_that_it_is_derived_from(tmp_path):
    model = Derived(Tree(2), n_rounds=2).fit(X, Y)
    again = saved_and_loaded(model, tmp_path)
    assert type(again) is RebelClassifier
    assert_same_answers(model, again, X)


def test_a_model_with_a_large_integer_as_reject_cost_can_be_evaluated(tmp_path):
    model = RebelClassifier(Tree(2), n_rounds=2, cross_fit=2, reject_cost=10**30, reject_label=9)
    again = saved_and_loaded(model.fit(X, Y), tmp_path)
    assert left_out(again, Y).n == 60
