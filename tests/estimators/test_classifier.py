"""RebelClassifier: labels, names, parameters, randomness, threads."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from ensembles import assert_same
from problems import random_problem
from rebelboost import RebelClassifier, SingleClassWarning, Stump, Tree
from rebelboost.estimators.validation import threads_of

PROBLEM = random_problem(0)
X, Y = PROBLEM.X, PROBLEM.y


def fit(y=Y, X=X, **options):
    options = {"learner": Tree(2), "n_rounds": 5, "decision": "argmax", **options}
    return RebelClassifier(**options).fit(X, y)


# ---- labels

LABELS = {
    "text": ["ant", "bee", "cat"],
    "integers far apart": [-(10**15), 7, 10**18],
    "floats with whole values": [0.0, 1.0, 5.0],
    "dates": np.array(["2024-01-01", "2024-01-02", "2024-02-01"], dtype="datetime64[D]"),
    "objects": np.array(["ant", "bee", "cat"], dtype=object),
    "small integers": np.array([0, 1, 2], dtype=np.int8),
}


@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
def test_labels_may_be_of_any_kind_that_can_be_sorted(names):
    y = np.asarray(names)[Y]
    model = fit(y)
    assert model.classes_.tolist() == np.unique(y).tolist()
    assert model.predict(X).dtype == model.classes_.dtype
    np.testing.assert_array_equal(model.predict(X), np.asarray(names)[fit().predict(X)])


def test_labels_may_be_booleans():
    model = fit(Y > 0)
    assert model.predict(X).dtype == bool
    assert model.score(X, Y > 0) > 0.8


@pytest.mark.parametrize(
    "column",
    [
        list,
        pd.Series,
        pl.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pl.Series(y, dtype=pl.Categorical),
    ],
    ids=["list", "pandas", "polars", "pandas categorical", "polars categorical"],
)
def test_labels_may_come_in_any_container(column):
    names = np.array(["ant", "bee", "cat"])[Y]
    assert_same(fit(column(names.tolist())), fit())


def test_a_column_of_labels_is_served_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        model = fit(Y[:, np.newaxis])
    assert_same(model, fit())


def test_classes_with_one_sample_are_served():
    y = np.arange(len(Y)) // 30
    y[0] = 9
    assert fit(y, early_stopping=True).classes_.tolist() == [0, 1, 9]


def test_a_single_class_is_served_with_one_warning_and_always_predicted():
    with pytest.warns(SingleClassWarning, match="only one class, 'ant': it will always be") as seen:
        model = fit(["ant"] * len(Y))
    assert len(seen) == 1
    assert model.predict(X).tolist() == ["ant"] * len(Y)
    assert list(model.staged_predict(X)) == []


# ---- bad input: the value and the remedy are in the message

SOME_MISSING = np.where(Y == 0, np.nan, Y)
INFINITE = np.where(X > 1, np.inf, X)
NO_LABEL = "row 1 of y has no label: remove rows without a label"

REFUSED = {
    "no second dimension": ({"X": X[:, 0]}, "Expected 2D array, got 1D array instead"),
    "three dimensions": ({"X": X[:, :, np.newaxis]}, "Found array with dim 3"),
    "no samples": ({"X": X[:0], "y": Y[:0]}, r"0 sample\(s\)"),
    "no features": ({"X": X[:, :0]}, r"0 feature\(s\)"),
    "text in an array": ({"X": np.full(X.shape, "a")}, "could not convert string to float: .*a"),
    "infinite features": ({"X": INFINITE}, "an infinite value in row"),
    "too few labels": ({"y": Y[:5]}, "X has 60 samples, but y has 5 labels"),
    "NaN labels": ({"y": SOME_MISSING}, "y contains NaN"),
    "NaN among names": ({"y": np.array(["a", np.nan] * 30, dtype=object)}, NO_LABEL),
    "None among names": ({"y": ["a", None] * 30}, NO_LABEL),
    "NA among names": ({"y": pd.Series(["a", pd.NA] * 30, dtype="string")}, NO_LABEL),
    "names and numbers": (
        {"y": np.array(["a", 1] * 30, dtype=object)},
        r"\(int, str\).*convert the others to text",
    ),
    "real-valued labels": ({"y": X[:, 0]}, "Unknown label type: continuous"),
    "a table of labels": ({"y": np.eye(60)}, r"1d array, got an array of shape \(60, 60\)"),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_data_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        fit(**data)


WEIGHTS = {
    "negative": (-np.ones(60), "Negative values in data passed to `sample_weight`"),
    "NaN": (np.full(60, np.nan), "sample_weight contains NaN"),
    "too few": (np.ones(3), r"sample_weight.shape == \(3,\), expected \(60,\)"),
    "all zero": (np.zeros(60), "(?i)sample.weight.*(0|non-zero)"),
}


@pytest.mark.parametrize(("weight", "message"), WEIGHTS.values(), ids=WEIGHTS)
def test_bad_sample_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        RebelClassifier(n_rounds=1).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("weight", [1e-320, 1e-200, 1e200, 1e308])
def test_the_scale_of_sample_weights_changes_no_decision(weight):
    model = RebelClassifier(Tree(2), n_rounds=5).fit(X, Y, sample_weight=np.full(60, weight))
    np.testing.assert_array_equal(model.predict(X), fit().predict(X))
    assert np.isfinite([record.log_loss for record in model.history_]).all()


PARAMETERS = {
    "learner": "forest",
    "n_rounds": 0,
    "tol": 1.0,
    "subcosts": "rebels",
    "shrinkage": 0.0,
    "validation_fraction": 1.0,
    "n_rounds_no_change": 0,
    "subsample": 0.0,
    "feature_subsample": 1.5,
    "weight_trimming": 0.0,
    "callbacks": 3,
    "random_state": "a",
}


@pytest.mark.parametrize(("name", "value"), PARAMETERS.items(), ids=PARAMETERS)
def test_bad_parameters_are_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=rf"'{name}' parameter .* Got {value!r} instead"):
        fit(**{name: value})


def test_no_threads_at_all_are_refused():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        fit(n_jobs=0)


OPTIONS = {
    "depth": (0, 13, 2.5),
    "bins": (1, 256),
    "binning": ("equal",),
    "outputs": ("leaves",),
    "smoothing": (-1, np.nan),
    "categorical": ("colour",),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, bad in OPTIONS.items() for value in bad]
)
def test_bad_options_of_a_tree_are_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value!r}: give "):
        Tree(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("bins", 1), ("binning", "equal")])
def test_bad_options_of_a_stump_are_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value!r}: give "):
        Stump(**{name: value})


def test_predicting_before_fitting_is_refused():
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(RebelClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        next(RebelClassifier().staged_predict(X))


def test_predicting_from_other_features_is_refused():
    model = fit()
    with pytest.raises(ValueError, match="X has 2 features, but RebelClassifier is expecting 4"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="an infinite value in row"):
        model.predict(INFINITE)


VALIDATION = {
    "labels": ((X, Y[:3]), "X has 60 samples, but y has 3 labels"),
    "features": ((X[:, :2], Y), "X has 2 features, but RebelClassifier is expecting 4"),
    "none": ((X[:0], Y[:0]), r"0 sample\(s\)"),
    "unlabelled": ((X, SOME_MISSING), "y contains NaN"),
}


@pytest.mark.parametrize(("validation", "message"), VALIDATION.values(), ids=VALIDATION)
def test_bad_validation_samples_are_refused(validation, message):
    with pytest.raises(ValueError, match=message):
        RebelClassifier(n_rounds=1).fit(X, Y, validation=validation)


def test_a_warm_start_on_other_features_is_refused():
    model = fit(warm_start=True)
    with pytest.raises(ValueError, match="X has 2 features, but RebelClassifier is expecting 4"):
        model.fit(X[:, :2], Y)


def test_a_refused_warm_start_leaves_the_model_as_it_was():
    model = fit(warm_start=True)
    before = model.predict(X)
    with pytest.raises(ValueError, match="set warm_start=False"):
        model.fit(X, np.where(Y == 0, 7, Y))
    np.testing.assert_array_equal(model.predict(X), before)


# ---- costs


def test_costs_by_sample_are_the_rows_of_a_matrix():
    rows = PROBLEM.costs[Y]
    by_sample = RebelClassifier(Tree(2), n_rounds=5, decision="argmax").fit(X, Y, costs=rows)
    assert_same(by_sample, fit(costs=PROBLEM.costs))


def test_costs_that_are_all_zero_leave_nothing_to_learn():
    model = fit(costs=np.zeros((3, 3)))
    assert len(model.ensemble_) == 0
    assert len(model.predict(X)) == len(Y)


def test_a_sample_whose_row_of_costs_is_zero_is_as_good_as_absent():
    costs = (1.0 - np.eye(3))[Y]
    costs[:10] = 0
    model = RebelClassifier(Tree(2), n_rounds=5, decision="argmax").fit(X, Y, costs=costs)
    with_weight = RebelClassifier(Tree(2), n_rounds=5)
    with_weight.fit(X, Y, sample_weight=(np.arange(60) >= 10).astype(float))
    # Cuts lie between other values, for its features count.
    np.testing.assert_array_equal(
        model.decision_function(X[10:]), with_weight.decision_function(X[10:])
    )


# ---- randomness


def test_no_random_state_stands_for_a_fixed_one():
    assert_same(fit(subsample=0.5), fit(subsample=0.5, random_state=None))


def test_random_states_differ_and_repeat():
    a, b, again = (fit(subsample=0.5, random_state=seed) for seed in (1, 2, 1))
    assert_same(a, again)
    with pytest.raises(AssertionError):
        assert_same(a, b)


def test_a_generator_of_random_states_moves_on():
    generator = np.random.RandomState(0)
    a, b = (fit(subsample=0.5, random_state=generator) for _ in range(2))
    with pytest.raises(AssertionError):
        assert_same(a, b)


def test_stumps_use_no_randomness_unless_asked():
    assert_same(fit(learner=Stump(), random_state=1), fit(learner=Stump(), random_state=2))


@pytest.mark.parametrize("option", ["subsample", "feature_subsample"])
def test_a_share_below_one_sample_or_feature_is_one(option):
    assert len(fit(**{option: 1e-9}).ensemble_) > 0


# ---- threads


def test_n_jobs_follows_joblib():
    assert threads_of(None) == 1
    assert threads_of(-1) == joblib.cpu_count()
    assert threads_of(10_000) == joblib.cpu_count()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert threads_of(None) == min(2, joblib.cpu_count())


def test_fits_inside_joblib_workers_give_the_same_model():
    models = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(fit)(n_jobs=n_jobs) for n_jobs in (None, 2, -1)
    )
    for model in models:
        assert_same(model, fit())


# ---- the rest of scikit-learn's habits


def test_cloning_keeps_the_learner_and_drops_the_model():
    model = fit(learner=Tree(3, outputs="tree"))
    copy = clone(model)
    assert copy.learner == model.learner
    assert not hasattr(copy, "ensemble_")


def test_names_of_learners_stand_for_their_defaults():
    assert_same(fit(learner="stump"), fit(learner=Stump()))
    assert_same(fit(learner="auto", cross_fit=None), fit(learner=Tree(), cross_fit=None))
    assert_same(fit(learner="tree", cross_fit=None), fit(learner=Tree()))


def test_trees_by_name_are_cross_fitted_which_makes_their_probabilities_honest():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 4))
    labels = (values[:, 0] + rng.normal(size=400) > 0).astype(int)
    train, test = slice(200), slice(200, 400)
    losses = [
        log_loss(labels[test], model.fit(values[train], labels[train]).predict_proba(values[test]))
        for model in (RebelClassifier("tree"), RebelClassifier("tree", cross_fit=None))
    ]
    assert losses[0] < 0.62 < losses[1]


def test_the_decision_function_of_two_classes_is_the_lead_of_the_second():
    model = fit(Y > 0)
    lead = model.decision_function(X)
    assert lead.shape == (60,)
    np.testing.assert_array_equal(lead > 0, model.predict(X))
    assert fit().decision_function(X).shape == (60, 3)


def test_single_precision_predicts_as_double_does():
    single = X.astype(np.float32)
    double = single.astype(np.float64)
    assert_same(fit(X=single), fit(X=double))
    np.testing.assert_array_equal(
        fit(X=single).decision_function(single), fit(X=double).decision_function(double)
    )


def test_the_layout_of_an_array_does_not_matter():
    assert_same(fit(X=np.asfortranarray(X)), fit())
    assert_same(fit(X=np.repeat(X, 2, axis=0)[::2]), fit())


def test_fit_does_not_touch_its_input():
    frozen = X.copy()
    frozen.setflags(write=False)
    weight = np.ones(60)
    weight.setflags(write=False)
    RebelClassifier(Tree(2, categorical=[0]), n_rounds=2).fit(frozen, Y, sample_weight=weight)
