"""Cascades of fitted classifiers: what they promise, for every kind of term, costs and abstaining."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import rebelboost
from rebelboost import Binary, RebelClassifier, Similarity, Stump, Tree, kernels
from rebelboost.cascade.running import run_cascade
from rebelboost.cascade.staged_terms import StagedTerms
from rebelboost.evaluation import evaluate_cascade
from rebelboost.selection.average import BITS

N_TRAINED, N = 300, 900


def samples(n_classes=3, seed=0):
    """Classes of overlapping clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=N)
    X = rng.normal(size=(n_classes, 4))[y] * 1.6 + rng.normal(size=(N, 4))
    return X, y


COSTS = {(0, 1): 6.0, (1, 0): 2.0}
CASES = {
    "trees": (Tree(2), {"n_rounds": 40}),
    "two classes": (Tree(2), {"n_rounds": 40, "n_classes": 2}),
    "stumps": (Stump(), {"n_rounds": 60, "cross_fit": None}),
    "similarities": (Similarity(scale="standard"), {"n_rounds": 60, "cross_fit": 3}),
    "another metric": (Similarity(metric="cityblock"), {"n_rounds": 40, "cross_fit": None}),
    "wrapped": (Binary(LogisticRegression()), {"n_rounds": 12, "cross_fit": None}),
    "blend": ("auto", {"n_rounds": 20, "cross_fit": 3, "in_boxes": True}),
    "costs": (Tree(2), {"n_rounds": 40, "costs": COSTS}),
    "costs of two classes": (Tree(2), {"n_rounds": 40, "costs": COSTS, "n_classes": 2}),
    "trained on costs": (Tree(2), {"n_rounds": 40, "costs": COSTS, "training": "costs"}),
    "abstaining": (Tree(2), {"n_rounds": 40, "reject_cost": 0.3, "reject_label": -1}),
    "abstaining with costs of two classes": (
        Tree(2),
        {"n_rounds": 40, "costs": COSTS, "reject_cost": 0.5, "reject_label": -1, "n_classes": 2},
    ),
    "argmax": (Tree(2), {"n_rounds": 40, "costs": COSTS, "decision": "argmax"}),
    "the papers' subcosts": (
        Tree(2),
        {"n_rounds": 8, "costs": COSTS, "subcosts": "rebel", "training": "costs"},
    ),
}


def fitted(case):
    learner, settings = CASES[case]
    settings = dict(settings)
    X, y = samples(settings.pop("n_classes", 3))
    if settings.pop("in_boxes", False):  # so that trees are part of the blend
        noise = np.random.default_rng(5).random(N) < 0.15
        y = np.where(noise, y, (X[:, 0] > 0).astype(int) + (X[:, 1] > X[:, 2].mean()))
    settings.setdefault("cross_fit", 3)
    n = N
    if settings.get("subcosts") == "rebel":
        settings["cross_fit"] = None
        n = N_TRAINED + 120  # its probabilities are the result of an iteration for each sample
    return RebelClassifier(learner, **settings).fit(X[:N_TRAINED], y[:N_TRAINED]), X[N_TRAINED:n]


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return fitted(request.param)


def test_an_agreement_of_1_leaves_no_calibration_disagreement_and_saves_terms(case):
    clf, X = case
    cascade = clf.cascade(X, agreement=1.0)
    np.testing.assert_array_equal(cascade.predict(X), clf.predict(X))
    assert cascade.plan_.n_wrong == 0
    used = cascade.terms_used(X)
    assert used.max() <= len(clf.ensemble_)
    assert used.mean() < 0.95 * len(clf.ensemble_)
    assert used.mean() == pytest.approx(cascade.mean_terms)


def test_calibration_disagreement_is_within_what_was_asked(case):
    clf, X = case
    cascade = clf.cascade(X, agreement=0.97)
    different = cascade.predict(X) != clf.predict(X)
    assert different.mean() <= 0.03
    assert different.sum() == cascade.plan_.n_wrong
    assert evaluate_cascade(cascade, X).n_different == different.sum()


def test_infinite_thresholds_give_the_bits_of_the_full_model(case):
    clf, X = case
    cascade = clf.cascade(X, agreement=1.0)
    cascade.plan_.low[:], cascade.plan_.high[:] = -np.inf, np.inf
    assert (cascade.terms_used(X) == len(clf.ensemble_)).all()
    np.testing.assert_array_equal(cascade.predict(X), clf.predict(X), strict=True)
    model = clf.model_
    staged = StagedTerms(model.ensemble, cascade.plan_.stage_of_term)
    left = run_cascade(model, staged, cascade.plan_, X, model.costs_of(X))
    np.testing.assert_array_equal(left.scores, model.scores(X))
    np.testing.assert_array_equal(cascade.predict_proba(X), clf.predict_proba(X))


def test_kernels_threads_and_batches_change_no_bit(case):
    clf, X = case
    cascade = clf.cascade(X, agreement=0.97)
    said = cascade.decide(X)
    clf.set_params(n_jobs=2)
    again = clf.cascade_.decide(X)
    clf.set_params(n_jobs=None)
    with kernels.using("reference"):
        reference = cascade.decide(X)
    for other in (again, reference):
        np.testing.assert_array_equal(other.labels, said.labels)
        np.testing.assert_array_equal(other.terms_used, said.terms_used)
        np.testing.assert_array_equal(other.probabilities, said.probabilities)
    np.testing.assert_array_equal(cascade.terms_used(X[7:9]), said.terms_used[7:9])


def test_held_out_scores_calibrate_a_cascade_without_other_data(case):
    clf, X = case
    if clf.cross_fit_ is None:
        with pytest.raises(ValueError, match=r"not cross-fitted.*give X"):
            clf.cascade()
        return
    cascade = clf.cascade(agreement=0.98)
    assert cascade.plan_.n_calibrated == N_TRAINED
    assert cascade.plan_.n_wrong <= 0.02 * N_TRAINED
    # 600 new samples: a true disagreement of 2 % exceeds this in one of 1,000 cases.
    assert (cascade.predict(X) != clf.predict(X)).sum() <= 24


def test_held_out_samples_are_checked_from_the_first_rounds_on():
    clf, _ = fitted("trees")
    n_terms = clf.cascade(agreement=0.98).n_terms
    # Of three fits, and the offset, which is added first.
    np.testing.assert_array_equal(n_terms[:5], 1 + 3 * np.array([1, 2, 3, 5, 10]))
    found = clf.cross_fit_
    rows, scores = found.staged.rows, found.staged.scores
    assert len(scores) == len(n_terms)
    held_out = dict(zip(found.rows.tolist(), found.left_out, strict=True))
    last = np.array([held_out[row] for row in rows.tolist()])
    # Rounded to a grid with 2 ** BITS steps up to the power of two above the largest score.
    half_a_step = 2.0 ** (np.frexp(np.abs(scores).max())[1] - BITS - 1)
    np.testing.assert_allclose(scores[-1], last, rtol=0, atol=half_a_step)
    steps = np.abs(np.diff(scores, axis=0, prepend=0)).max(axis=(1, 2))
    assert (steps > 0).all()


def apart(found, full):
    """Mean Kullback–Leibler divergence from the probabilities of the full model."""
    tiny = 1e-300
    return (full * np.log(np.maximum(full, tiny) / np.maximum(found, tiny))).sum(axis=1).mean()


def test_temperatures_bring_early_probabilities_closer_to_those_of_the_full_model(case):
    clf, X = case
    cascade = clf.cascade(X, agreement=0.97)
    found, full = cascade.predict_proba(X), clf.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    cascade.plan_.temperatures[:] = clf.decoder_.temperature
    plain = cascade.predict_proba(X)
    early = cascade.terms_used(X) < len(clf.ensemble_)
    assert apart(found[early], full[early]) < apart(plain[early], full[early])
    # A posterior is iterated until all samples of a batch have converged, to 1e-12.
    np.testing.assert_allclose(found[~early], full[~early], rtol=1e-9)


def test_a_cascade_is_kept_with_the_model(case, tmp_path):
    clf, X = case
    cascade = clf.cascade(X, agreement=0.98)
    if any("Binary" in type(t).__name__ or "Wrapped" in type(t).__name__ for t in clf.ensemble_):
        loaded = pickle.loads(pickle.dumps(clf))
    else:
        clf.save(tmp_path / "model.safetensors")
        loaded = rebelboost.load(tmp_path / "model.safetensors")
    assert loaded.cascade_.agreement == 0.98
    np.testing.assert_array_equal(loaded.cascade_.predict(X), cascade.predict(X))
    np.testing.assert_array_equal(loaded.cascade_.terms_used(X), cascade.terms_used(X))
    assert str(loaded.cascade_) == str(cascade)
    if clf.cross_fit_ is not None:
        ours, theirs = clf.cascade(agreement=0.9), loaded.cascade(agreement=0.9)
        np.testing.assert_array_equal(ours.terms_used(X), theirs.terms_used(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_of_one_stage_is_evaluated_as_a_whole(n_classes):
    X, y = samples(n_classes)
    clf = RebelClassifier(Tree(2), n_rounds=1, cross_fit=2).fit(X, y)
    cascade = clf.cascade()
    np.testing.assert_array_equal(cascade.predict(X), clf.predict(X))
    assert (cascade.terms_used(X) == len(clf.ensemble_)).all()


# ---- costs of samples


def test_costs_by_sample_are_those_of_each_row():
    X, y = samples(2)
    prices = np.column_stack([np.exp(X[:, 0]), np.ones(N)])
    costs = np.where(np.arange(2) == y[:, np.newaxis], 0.0, prices)
    clf = RebelClassifier(Tree(2), n_rounds=40, cross_fit=3)
    clf.fit(X[:N_TRAINED], y[:N_TRAINED], costs=costs[:N_TRAINED])
    new = X[N_TRAINED:]
    for cascade in (clf.cascade(agreement=0.98), clf.cascade(new, agreement=0.98)):
        assert cascade.plan_.kind == "risk"
        assert (cascade.predict(new) != clf.predict(new)).mean() < 0.04
    given = np.random.default_rng(0).uniform(0.1, 3, (len(new), 2))
    cascade = clf.cascade(new, agreement=1.0, costs=given)
    np.testing.assert_array_equal(cascade.predict(new, given), clf.predict(new, given))
    assert clf.with_costs(None).cascade(agreement=0.9).plan_.kind == "sides"


def test_other_costs_forget_the_cascade():
    clf, _ = fitted("costs")
    clf.cascade(agreement=0.9)
    assert clf.cascade_ is not None
    assert clf.with_costs({(2, 0): 3.0}).cascade_ is None
    assert clf.with_row_labels({0: "first"}).cascade_ is not None
    assert clf.cascade_ is not None
    X, y = samples()
    assert clf.fit(X, y).cascade_ is None


# ---- what is refused


@pytest.mark.parametrize("agreement", [0, 1.5, -1, np.nan, "high"])
def test_an_agreement_that_is_no_share_is_refused(agreement):
    clf, X = fitted("stumps")
    with pytest.raises(ValueError, match=r"agreement is .*such as 0\.995"):
        clf.cascade(X, agreement=agreement)


def test_too_few_calibration_samples_are_refused():
    clf, X = fitted("stumps")
    with pytest.raises(ValueError, match="at least 100 calibration samples, but there are 40"):
        clf.cascade(X[:40])


def test_models_of_one_term_have_no_cascade():
    X, y = samples()
    with pytest.raises(ValueError, match="two terms or more, but this one has 1"):
        RebelClassifier("stump", n_rounds=1).fit(X, y).cascade(X)


def test_costs_of_held_out_samples_are_not_guessed():
    clf, X = fitted("costs")
    with pytest.raises(ValueError, match="give X"):
        clf.cascade(costs=np.ones((len(X), 3)))
    with pytest.raises(ValueError, match="calibrated with costs by class"):
        clf.cascade().predict(X, costs=np.ones((len(X), 3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "every is 0: give the number of terms between checks"),
        ({"every": 60}, "the model has 60 terms: give a number from 1 to 59"),
        ({"every": 2.5}, r"every is 2\.5: give the number"),
        ({"correct": 0.0}, "correct is 0.0: give a share above 0"),
        ({"correct": 2}, "correct is 2: give a share from 0 to 1"),
        ({"after": -1}, "after is -1: give a share from 0 to 1"),
    ],
)
def test_impossible_spacings_and_targets_are_refused(options, message):
    clf, X = fitted("stumps")
    with pytest.raises(ValueError, match=message):
        clf.cascade(X, clf.predict(X), **options)


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([-1.0], [1.0, 1.0], r"lower thresholds have shape \(1,\), but there are 2 checks"),
        ([-np.inf] * 2, [1.0], r"upper thresholds have shape \(1,\)"),
        ([-np.inf] * 2, [np.nan, 1.0], "at check 0 are -inf and nan: give numbers, lower ≤ upper"),
        ([0.0, 0.0], [1.0, 1.0], "give −inf for all lower thresholds"),
        (["low", "low"], [1.0, 1.0], "two arrays of numbers"),
    ],
)
def test_impossible_thresholds_are_refused(lower, upper, message):
    clf, X = fitted("stumps")
    with pytest.raises(ValueError, match=message):
        clf.cascade(thresholds=(lower, upper), every=20)
    with pytest.raises(ValueError, match="leave out X and y"):
        clf.cascade(X, thresholds=(lower, upper), every=20)


def test_labels_are_checked():
    clf, X = fitted("stumps")
    with pytest.raises(ValueError, match="y is given without X"):
        clf.cascade(y=clf.predict(X))
    with pytest.raises(ValueError, match="give a class for each of"):
        clf.cascade(X, clf.predict(X)[:-1])
    with pytest.raises(ValueError, match="y has the class 7, which the model does not know"):
        clf.cascade(X, np.full(len(X), 7))
    with pytest.raises(ValueError, match="give X with `every`"):
        fitted("trees")[0].cascade(every=3)


@pytest.mark.parametrize("name", ["trees", "two classes", "stumps", "costs", "abstaining"])
@pytest.mark.parametrize("by_hand", [False, True])
def test_labelled_targets_and_thresholds_by_hand_survive_a_file(name, by_hand, tmp_path):
    clf, X = fitted(name)
    every = len(clf.ensemble_) // 4
    n_checks = -(-len(clf.ensemble_) // every) - 1
    checks = np.full(n_checks, -np.inf), np.ones(n_checks)
    decided = clf.predict(X)
    labels = np.where(decided == -1, 0, decided)
    given = {"thresholds": checks} if by_hand else {"X": X, "y": labels}
    cascade = clf.cascade(**given, every=every)
    clf.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors").cascade_
    np.testing.assert_array_equal(loaded.predict(X), cascade.predict(X))
    np.testing.assert_array_equal(loaded.terms_used(X), cascade.terms_used(X))
    assert str(loaded) == str(cascade)
    assert repr(loaded) == repr(cascade)
