"""What is loaded is what was saved."""

import pickle
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rebelboost
import rebelboost.files.terms
from ensembles import assert_same_terms
from rebelboost import RebelClassifier, RebelRegressor, Similarity, Stump, Taxonomy, Tree
from rebelboost.estimators.base import encode_table
from rebelboost.model.smooth import SmoothSimilarities
from stored_models import MAKERS, assert_same_answers, make, numbers, squared_distances

ARRAYS = {"classes", "costs", "class_weight", "feature_names"}
PLAIN = {
    "columns",
    "subcosts",
    "baseline",
    "monotone",
    "reject_level",
    "n_features",
    "encoder",
    "provenance",
    "rule",
}


@pytest.fixture(scope="module", params=MAKERS)
def pair(request, tmp_path_factory):
    model, X = make(request.param)
    path = tmp_path_factory.mktemp("models") / "model.safetensors"
    model.save(path)
    return model, rebelboost.load(path), X


def test_a_loaded_model_answers_the_same_bit_for_bit(pair):
    model, loaded, X = pair
    assert type(loaded) is type(model)
    assert_same_answers(model, loaded, X)
    assert_same_answers(model, loaded, X[:1])


def test_a_loaded_model_has_the_same_terms(pair):
    model, loaded, _ = pair
    assert len(loaded.ensemble_) == len(model.ensemble_)
    assert_same_terms(model.ensemble_, loaded.ensemble_)
    assert loaded.ensemble_.unavoidable_cost == model.ensemble_.unavoidable_cost
    spaces = [{id(getattr(t, "space", None)) for t in m.ensemble_} for m in pair[:2]]
    assert len(spaces[0]) == len(spaces[1])


def test_terms_that_were_made_from_a_file_predict_the_same_as_its_arrays(pair):
    _, loaded, X = pair
    remade = rebelboost.model.ensemble.Ensemble.of(
        list(loaded.ensemble_), loaded.ensemble_.n_classes
    )
    values = encode_table(loaded, X)
    np.testing.assert_array_equal(remade.scores(values), loaded.ensemble_.scores(values))
    staged = [list(e.staged_scores(values)) for e in (remade, loaded.ensemble_)]
    np.testing.assert_array_equal(*staged)


def test_every_attribute_is_kept(pair):
    model, loaded, _ = pair
    assert vars(model).keys() <= vars(loaded).keys()
    assert model.n_features_in_ == loaded.n_features_in_
    ours, theirs = model.model_, loaded.model_
    kept = {field.name for field in fields(ours)}
    for name in kept & ARRAYS:
        ours_, theirs_ = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        np.testing.assert_array_equal(ours_, theirs_, strict=True)
    for name in kept & PLAIN:
        assert getattr(ours, name) == getattr(theirs, name)
    assert kept == (ARRAYS | PLAIN | {"ensemble", "decoder", "learned", "intervals"}) & kept
    if getattr(ours, "learned", None) is not None:
        for one, other in zip(ours.learned.cells, theirs.learned.cells, strict=True):
            assert one[:3] == other[:3]
            assert_same_terms(one.ensemble, other.ensemble)
    if getattr(ours, "intervals", None) is not None:
        one, other = ours.intervals, theirs.intervals
        np.testing.assert_array_equal(one.residuals, other.residuals)
        np.testing.assert_array_equal(one.weight, other.weight)
        assert (one.spread.level, one.spread.power) == (other.spread.level, other.spread.power)
        assert_same_terms(one.spread.ensemble, other.spread.ensemble)
    assert loaded.metadata_ == model.metadata_


def test_a_loaded_model_gives_the_same_reasons(pair):
    model, loaded, X = pair
    assert str(loaded.explain(X[:5])) == str(model.explain(X[:5]))
    assert str(loaded.summary()) == str(model.summary())


def test_the_history_is_kept_as_a_table(pair):
    model, loaded, _ = pair
    assert len(loaded.history_) == len(model.history_)
    before, after = model.history_.table(), loaded.history_.table()
    assert before.keys() == after.keys()
    for name, column in before.items():
        np.testing.assert_array_equal(column, after[name], err_msg=name)
    assert loaded.history_.terms == model.history_.terms
    boosted = {
        t
        for t, term in enumerate(loaded.ensemble_)
        if not isinstance(term, SmoothSimilarities) and term.describe() != "constant"
    }
    assert boosted <= set(loaded.history_.terms)  # a smooth function and an offset have no rounds
    for record, term in zip(loaded.history_, loaded.history_.terms, strict=True):
        if term >= 0:
            assert record.hypothesis.describe() == loaded.ensemble_[term].describe()


def test_the_cross_fit_is_kept(pair):
    model, loaded, _ = pair
    ours, theirs = (getattr(each, "cross_fit_", None) for each in (model, loaded))
    assert repr(ours) == repr(theirs)
    assert str(getattr(model, "selection_", None)) == str(getattr(loaded, "selection_", None))
    if ours is not None:
        assert ours.standings == theirs.standings
        for name, value in vars(ours).items():
            if isinstance(value, np.ndarray | float):
                np.testing.assert_array_equal(value, vars(theirs)[name], err_msg=name, strict=True)


def test_a_model_that_was_loaded_can_be_saved_pickled_and_cloned(pair, tmp_path):
    model, loaded, X = pair
    loaded.save(tmp_path / "again.safetensors")
    again = rebelboost.load(tmp_path / "again.safetensors")
    assert_same_answers(model, again, X)
    assert again.history_.table().keys() == model.history_.table().keys()
    assert_same_answers(model, pickle.loads(pickle.dumps(loaded)), X)
    assert clone(loaded).get_params().keys() == model.get_params().keys()


def test_a_model_that_was_saved_can_still_be_pickled(pair):
    model, _, X = pair
    assert_same_answers(model, pickle.loads(pickle.dumps(model)), X)


@pytest.mark.parametrize(
    "estimator",
    [
        RebelClassifier(Tree(depth=2), subsample=0.5),
        RebelClassifier("stump"),
        RebelClassifier(Similarity(scale="whitened", anchors=1)),
        RebelClassifier(Similarity(metric="precomputed")),
        RebelClassifier(Tree(2), early_stopping=True, random_state=np.random.RandomState(3)),
        RebelRegressor(Tree(depth=2)),
    ],
    ids=["tree", "stump", "similarity", "precomputed", "early stopping", "regressor"],
)
def test_training_goes_on_from_a_file_as_from_memory(estimator, tmp_path):
    X, y = squared_distances() if "precomputed" in repr(estimator) else numbers(seed=4)
    model = clone(estimator).set_params(n_rounds=10, warm_start=True).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    n = len(model.ensemble_)
    for each in (model, loaded):
        each.set_params(n_rounds=n + 10).fit(X, y)
    assert len(model.ensemble_) > n
    assert_same_terms(model.ensemble_, loaded.ensemble_)
    assert_same_answers(model, loaded, X)
    assert len(loaded.history_) == len(model.history_)
    loaded.save(tmp_path / "longer.safetensors")
    longer = rebelboost.load(tmp_path / "longer.safetensors")
    assert_same_answers(model, longer, X)
    errors = [m.history_.table()["error"] for m in (model, longer)]
    assert errors[0] == errors[1]


LABELS = {
    "int64": np.array([3, 7, 9]),
    "int8": np.array([-1, 0, 1], dtype=np.int8),
    "uint16": np.array([1, 2, 60000], dtype=np.uint16),
    "big-endian": np.array([1, 2, 3], dtype=">i4"),
    "float": np.array([1.0, 2.0, 3.0]),
    "float32": np.array([1.0, 2.0, 3.0], dtype=np.float32),
    "dates": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]"),
    "text": np.array(["a", "ß", "日本"]),
    "wide text": np.array(["a", "b", "c"], dtype="<U30"),
    "text as objects": np.array(["a", "", "c"], dtype=object),
}


@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS.keys())
def test_class_labels_come_back_with_their_type(names, tmp_path):
    X, y = numbers()
    model = RebelClassifier("stump", n_rounds=3).fit(X, np.sort(names)[y])
    model.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.classes_, model.classes_, strict=True)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)


@pytest.mark.parametrize("n_classes", [2, 4, 7])
def test_any_number_of_classes_comes_back(n_classes, tmp_path):
    X, _ = numbers()
    y = np.arange(len(X)) % n_classes
    model = RebelClassifier("stump", n_rounds=3, cross_fit=None).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.classes_, np.arange(n_classes))
    assert_same_answers(model, loaded, X)


def test_truth_values_come_back_as_labels(tmp_path):
    X, y = numbers()
    model = RebelClassifier("stump", n_rounds=3).fit(X, y > 0)
    model.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)


PARAMETERS = [
    {"learner": Tree(depth=3, categorical=(0, 1), smoothing=0.25)},
    {"learner": Stump(categorical=[True, False, False])},
    {"learner": Similarity(anchors=4, scale="none", offset=False)},
    {"costs": np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])},
    {"costs": [[0, 1, 2], [3, 0, 0.1], [5, 6, 0]], "decision": "argmax"},
    {"costs": {(0, 1): 5, (2, 0): 0.25}},
    {"costs": "balanced", "cross_fit": 2},
    {"reject_cost": 7, "reject_label": -1, "n_jobs": 2, "verbose": False},
    {"reject_cost": 0.1, "reject_label": "ask", "random_state": 7},
    {"random_state": np.random.RandomState(5), "subsample": 0.5},
    {"weight_trimming": 0.9, "feature_subsample": np.float64(0.5), "n_rounds": np.int64(4)},
]


@pytest.mark.parametrize("given", PARAMETERS, ids=", ".join)
def test_parameters_come_back(given, tmp_path):
    X, y = numbers()
    model = RebelClassifier(**{"n_rounds": 3, **given})
    model.fit(np.abs(np.round(X)), y)
    model.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    ours, theirs = model.get_params(), loaded.get_params()
    for name, value in ours.items():
        if isinstance(value, np.random.RandomState):
            assert value.randint(10**6) == theirs[name].randint(10**6)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, theirs[name], strict=True)
        else:
            assert value == theirs[name], name


def test_a_taxonomy_comes_back(tmp_path):
    X, y = numbers()
    costs = Taxonomy({0: "a/b", 1: "a/c", 2: "d"}, distance="height")
    model = RebelClassifier("stump", n_rounds=2, costs=costs).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    assert rebelboost.load(tmp_path / "model.safetensors").costs == costs


def test_costs_of_a_data_frame_come_back_as_the_same_matrix(tmp_path):
    X, y = numbers()
    frame = pd.DataFrame([[0, 1.0], [2, 0]], index=["b", "a"], columns=["b", "a"])
    model = RebelClassifier("stump", n_rounds=2, costs=frame).fit(X, np.array(["a", "b", "b"])[y])
    model.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.costs, model.costs_)
    np.testing.assert_array_equal(loaded.costs_, model.costs_)


def test_callbacks_are_dropped(tmp_path):
    X, y = numbers()
    heard = rebelboost.boosting.rounds.History()
    RebelClassifier("stump", n_rounds=2, callbacks=[heard]).fit(X, y).save(tmp_path / "m")
    assert rebelboost.load(tmp_path / "m").callbacks is None


def test_an_example_of_many_terms_is_stored_once(tmp_path):
    X, y = numbers()
    model = RebelClassifier(Similarity(scale="standard"), n_rounds=200, tol=0).fit(X, y)
    examples = {row for t in model.ensemble_ for row in t.example_rows.tolist()}
    assert len(model.ensemble_) > 2 * len(examples)
    tensors, _ = rebelboost.files.terms.term_arrays(model.ensemble_)
    assert len(tensors["spaces.0.points"]) == len(examples)


def test_rows_keep_the_names_that_the_user_gave_them(tmp_path):
    model, _ = make("similarity_table")
    names = {3: "house 3", 5: 17, 8: pd.Timestamp("2024-02-03"), 9: np.int64(4)}
    model.with_row_labels(names).save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    assert loaded.row_labels_ == {3: "house 3", 5: 17, 8: "2024-02-03 00:00:00", 9: 4}
