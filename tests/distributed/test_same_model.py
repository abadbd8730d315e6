"""EncodedRows in any parts give the model of all rows in one place, to the last bit of its file."""

import numpy as np
import pytest

import spreading
from rebelboost import RebelClassifier, Stump, Tree, kernels
from rebelboost.distributed import training
from spreading import CUTS, N, cut, fingerprint, fit_parts, frame, table

SETTINGS = {
    "uniform costs": {},
    "more rounds than between two refreshes": {"n_rounds": 70},
    "costs by class": {"costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]]},
    "costs in the decision only": {
        "costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]],
        "training": "neutral",
    },
    "balanced": {"costs": "balanced"},
    "some features in each round": {"feature_subsample": 0.5},
    "few even bins": {"learner": Tree(depth=3, bins=12, binning="even")},
    "few bins": {"learner": Tree(depth=3, bins=12)},
    "exact bins": {"learner": Tree(depth=2, binning="exact")},
    "a deep tree": {"learner": Tree(depth=8)},
    "a tolerance": {"tol": 0.5},
    "REBEL's subcosts": {"costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]], "subcosts": "rebel"},
    "the logistic loss": {"loss": "logistic"},
    "the logistic loss with costs": {
        "loss": "logistic",
        "costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]],
    },
    "the squared loss": {"loss": "squared"},
    "the papers' trees": {"learner": Tree(depth=3, outputs="tree")},
    "stumps": {"learner": Stump()},
    "stumps with the logistic loss": {"learner": Stump(), "loss": "logistic"},
    "the papers' trees with the squared loss": {
        "learner": Tree(depth=3, outputs="tree"),
        "loss": "squared",
    },
    "the papers' trees with REBEL's subcosts": {
        "learner": Tree(depth=2, outputs="tree"),
        "costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]],
        "subcosts": "rebel",
    },
    "the papers' trees on some features": {
        "learner": Tree(depth=2, outputs="tree"),
        "feature_subsample": 0.5,
    },
    **{
        f"trees grown by {criterion}": {
            "learner": Tree(depth=3, outputs="tree", criterion=criterion)
        }
        for criterion in ("error", "gini", "entropy", "gain_ratio", "variance")
    },
    "the squared loss with costs": {"loss": "squared", "costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]]},
}


def classifier(**settings):
    return RebelClassifier(
        **{"learner": Tree(depth=3), "n_rounds": 8, "cross_fit": None} | settings
    )


@pytest.mark.parametrize("cuts", CUTS, ids=len)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_parts_give_the_model_of_all_rows(tmp_path, settings, cuts):
    X, y = table()
    whole = classifier(**settings).fit(X, y)
    order = np.random.default_rng(1).permutation(N)
    parts = fit_parts(classifier(**settings), cut(X, y, cuts, order), n_threads=2)
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


@pytest.mark.parametrize("cuts", CUTS, ids=len)
def test_costs_of_samples_are_summed_exactly(tmp_path, cuts):
    X, y = table()
    rng = np.random.default_rng(2)
    costs = rng.exponential(size=(N, 3)) * (np.unique(y) != y[:, np.newaxis])
    for learner in (Tree(depth=3), Stump()):
        whole = classifier(learner=learner).fit(X, y, costs=costs)
        parts = fit_parts(classifier(learner=learner), cut(X, y, cuts, costs=costs))
        assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"learner": Tree(depth=2, outputs="tree")},
        {"learner": Tree(depth=2, outputs="tree", criterion="gini")},
        {"loss": "logistic", "costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]]},
        {"costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]], "subcosts": "rebel"},
    ],
    ids=str,
)
def test_weights_of_samples_are_summed_exactly(tmp_path, settings):
    X, y = table()
    rng = np.random.default_rng(2)
    weight = rng.exponential(size=N) * (rng.random(N) > 0.1)
    whole = classifier(**settings).fit(X, y, sample_weight=weight)
    for cuts in CUTS:
        order = rng.permutation(N)
        parts = fit_parts(classifier(**settings), cut(X, y, cuts, order, sample_weight=weight))
        assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


@pytest.mark.parametrize("cuts", CUTS, ids=len)
@pytest.mark.parametrize(
    "learner",
    [
        Tree(depth=3),
        Tree(depth=2, outputs="tree"),
        Stump(categories="split"),
    ],
    ids=str,
)
def test_categories_are_those_of_all_parts(tmp_path, cuts, learner):
    X, y = frame()
    whole = classifier(learner=learner).fit(X, y)
    order = np.random.default_rng(1).permutation(N)
    parts = fit_parts(classifier(learner=learner), cut(X, y, cuts, order))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)
    assert list(parts.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("training", ["costs", "neutral"])
def test_costs_may_be_in_a_column(tmp_path, training):
    X, y = frame()
    X["amount"] = np.random.default_rng(3).exponential(size=N)
    costs = {("a", "b"): "amount", ("a", "c"): 2, ("b", "a"): 1, ("b", "c"): 1}
    settings = {"costs": costs | {("c", "a"): "amount", ("c", "b"): 3}, "training": training}
    whole = classifier(**settings).fit(X, y)
    parts = fit_parts(classifier(**settings), cut(X, y, [99, 300]))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)
    assert (parts.predict(X) == whole.predict(X)).all()


def test_parts_of_one_class_are_as_good_as_others(tmp_path):
    X, y = table()
    order = np.argsort(y, kind="stable")
    ends = np.searchsorted(y[order], ["b", "c"])
    whole, parts = classifier().fit(X, y), fit_parts(classifier(), cut(X, y, ends, order))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_narrow_floats_stay_narrow(tmp_path):
    X, y = table()
    X = X.astype(np.float32)
    whole, parts = classifier().fit(X, y), fit_parts(classifier(), cut(X, y, [99]))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_the_kernels_in_numpy_give_the_same_model(tmp_path):
    X, y = table()
    settings = {"learner": Tree(depth=2), "n_rounds": 3}
    whole = classifier(**settings).fit(X, y)
    with kernels.using("reference"):
        parts = fit_parts(classifier(**settings), cut(X, y, [99, 300]))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_a_validation_set_stops_all_alike(tmp_path):
    X, y = table()
    settings = {"n_rounds": 60, "early_stopping": True, "n_rounds_no_change": 3, "shrinkage": 1.0}
    validation = table(seed=1)
    whole = classifier(**settings).fit(X, y, validation=validation)
    parts = fit_parts(classifier(**settings), cut(X, y, [99, 300]), validation=validation)
    assert len(whole.ensemble_) < 60
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


@pytest.mark.parametrize(
    "others", [{}, {"loss": "logistic"}, {"learner": Tree(depth=2, outputs="tree")}], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_held_out_do_not_depend_on_the_parts(tmp_path, weighted, others):
    X, y = table()
    settings = {"n_rounds": 60, "early_stopping": True, "n_rounds_no_change": 3, "subsample": 0.7}
    settings |= others
    others = {"sample_weight": np.random.default_rng(3).random(N)} if weighted else {}
    order = np.random.default_rng(1).permutation(N)
    found = {
        fingerprint(fit_parts(classifier(**settings), cut(X, y, cuts, order, **others)), tmp_path)
        for cuts in CUTS
    }
    assert len(found) == 1


def test_the_race_does_not_depend_on_the_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "MOST_COMPARED", 250)
    X, y = table()
    order = np.random.default_rng(1).permutation(N)
    settings = {"learner": "auto", "cross_fit": "auto", "n_rounds": 20}
    models = [fit_parts(classifier(**settings), cut(X, y, cuts, order)) for cuts in CUTS]
    assert len({fingerprint(model, tmp_path) for model in models}) == 1
    assert models[0].decoder_.temperature != 1  # learned from rows that a fit left out


def test_no_fact_is_of_rounds_that_were_dropped():
    X, y = table()
    settings = {"n_rounds": 60, "early_stopping": True, "n_rounds_no_change": 3, "shrinkage": 1.0}
    settings["costs"] = [[0, 1, 2], [3, 0, 1], [1, 4, 0]]
    validation = table(seed=1)
    whole = classifier(**settings).fit(X, y, validation=validation)
    parts = fit_parts(classifier(**settings), cut(X, y, [99, 300]), validation=validation)
    assert len(whole.ensemble_) < len(whole.history_.rounds)
    facts = parts.model_.provenance.facts
    assert facts.items() <= whole.model_.provenance.facts.items()
    assert np.array_equal(parts.decision_function(X), whole.decision_function(X))


def test_a_single_class_is_always_predicted():
    X, _ = table()
    with pytest.warns(UserWarning, match="only one class"):
        model = fit_parts(classifier(), cut(X, np.full(N, "a"), [99]))
    assert set(model.predict(X)) == {"a"}


def test_callbacks_hear_every_round():
    X, y = table()

    class Stop:
        heard = 0

        def on_rounds(self, batch):
            self.heard += 1
            return self.heard == 4

        def on_end(self):
            self.heard *= 10

    stop = Stop()
    model = fit_parts(classifier(callbacks=[stop]), cut(X, y, [99]))
    assert len(model.ensemble_) == 4
    assert stop.heard == 40


def test_the_parts_are_forgotten_when_closed():
    spread = spreading.in_memory(cut(*table(), [99]), n_threads=2)
    spread.close()
    assert spread.blocks == []
