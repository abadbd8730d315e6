import numpy as np
import pytest

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Stump, Tree
from rebelboost.base.fixed_point import FEW_BITS
from rebelboost.data.pandas_frames import values_of
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.model.terms import Queries
from rebelboost.model.trees import Trees

pd = pytest.importorskip("pandas")


def table(n=120, seed=0):
    """Numbers with gaps and ties, a category with gaps, and three classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n)),
            "b": rng.normal(size=n),
            "c": pd.Categorical(rng.choice(["x", "y", "z", None], n)),
        }
    )
    y = (X["b"] > 0).to_numpy().astype(int) + (X["c"] == "x").to_numpy()
    return X, y


def in_order(ensemble, X):
    """The scores, term by term."""
    scores = np.zeros((len(X), ensemble.n_classes))
    for t in range(len(ensemble)):
        ensemble.add_scores(Queries(X), scores, t, t + 1)
    return scores


def shuffled(ensemble, seed=0):
    """The same terms in another order."""
    order = np.random.default_rng(seed).permutation(len(ensemble)).tolist()
    return Ensemble.of([ensemble[t] for t in order], ensemble.n_classes)


@pytest.fixture(scope="module", params=["auto", "stump", Tree(depth=1), Tree(depth=3), "smooth"])
def crossed(request):
    X, y = table()
    model = RebelClassifier(request.param, n_rounds=60, cross_fit=3).fit(X, y)
    unseen = X.iloc[::3].assign(a=np.linspace(-1, 10, 40))
    return model.model_, values_of(unseen, list(X), model.model_.encoder.codes)


def test_merged_terms_have_the_scores_of_single_terms_to_the_last_bit(crossed):
    model, X = crossed
    assert model.ensemble.is_exact
    assert np.array_equal(model.ensemble.scores(X), in_order(model.ensemble, X))


def test_terms_in_another_order_have_the_same_scores_to_the_last_bit(crossed):
    model, X = crossed
    other = shuffled(model.ensemble)
    assert other.is_exact
    assert np.array_equal(in_order(other, X), model.ensemble.scores(X))
    assert np.array_equal(other.scores(X), model.ensemble.scores(X))


def test_the_last_stage_has_the_scores_of_the_model(crossed):
    model, X = crossed
    *_, last = model.staged_scores(X)
    assert np.array_equal(last, model.scores(X))


def test_similarities_of_several_spaces_have_the_same_scores_in_any_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    model = RebelClassifier(Similarity("standard"), n_rounds=30, cross_fit=3).fit(X, y).model_
    unseen = rng.normal(size=(20, 4))
    assert model.ensemble.is_exact
    assert np.array_equal(shuffled(model.ensemble).scores(unseen), model.scores(unseen))
    assert np.array_equal(in_order(model.ensemble, unseen), model.scores(unseen))


def test_a_regressor_of_several_fits_has_the_same_scores_in_any_order():
    X, _ = table()
    y = X["b"].to_numpy() * 1000.0
    model = RebelRegressor(Stump(), n_rounds=40, cross_fit=3).fit(X, y).model_
    values = values_of(X, list(X), model.encoder.codes)
    assert model.ensemble.is_exact
    assert np.array_equal(in_order(model.ensemble, values), model.ensemble.scores(values))


def test_all_trees_of_one_split_on_a_feature_become_one_function():
    X, y = table()
    model = RebelClassifier("stump", n_rounds=60, cross_fit=3).fit(X, y).model_
    merged = model.ensemble.merged
    used = np.unique(model.ensemble.of_kind(Trees)[0][1].features)
    assert sorted(merged.steps.features.tolist()) == used.tolist()
    assert merged.others == ()


def test_trees_without_a_split_become_a_constant():
    none = np.array([-1], dtype=np.int32)
    leaf = Trees.one(
        none,
        np.array([np.inf]),
        np.zeros(1, np.uint8),
        (none, np.empty((0, 256), np.uint8)),
        None,
        np.array([[1.0, 2.0], [8.0, 8.0]]),
    )
    root = Trees.one(
        none[:0],
        np.empty(0),
        np.empty(0, np.uint8),
        (none[:0], np.empty((0, 256), np.uint8)),
        None,
        np.array([[0.5, 4.0]]),
    )
    ensemble = Ensemble.of([leaf, root, leaf], 2)
    assert ensemble.merged.constant.tolist() == [2.5, 8.0]
    assert ensemble.scores(np.zeros((2, 3))).tolist() == [[2.5, 8.0]] * 2


def test_rounding_moves_scores_by_less_than_half_a_step_of_each_tree():
    X, y = table()
    model = RebelClassifier("tree", n_rounds=20, cross_fit=None).fit(X, y).model_
    values = values_of(X, list(X), model.encoder.codes)
    rounder = model.ensemble.on_grid()
    assert not model.ensemble.is_exact
    assert rounder.is_exact
    # A step is 2 ** -FEW_BITS of the power of two above a tree's largest output, which is below 2 · |output|.
    # The bound is the sum of these outputs; sums of floats are off by far less than the last summand.
    bound = model.ensemble.of_kind(Trees)[0][1].bound
    moved = np.abs(rounder.scores(values) - model.ensemble.scores(values)).max()
    assert 0 < moved <= bound * 2.0**-FEW_BITS + bound * 2.0**-40


def test_a_tree_with_small_outputs_keeps_as_many_bits_as_one_with_large_ones():
    X, y = table()
    model = RebelClassifier("tree", n_rounds=2, cross_fit=None).fit(X, y).model_
    large = model.ensemble.of_kind(Trees)[0][1]
    small = large.scaled(2.0**-30)
    both = Trees.joined([large, small]).on_grid(2.0**-80).outputs
    np.testing.assert_array_equal(both[len(large.outputs) :], 2.0**-30 * both[: len(large.outputs)])


def test_a_smooth_function_on_a_grid_adds_multiples_of_its_unit():
    X, y = table()
    model = RebelClassifier("smooth", cross_fit=3).fit(X, y).model_
    values = values_of(X, list(X), model.encoder.codes)
    for _, terms in model.ensemble.of_kind(SmoothSimilarities):
        for function in terms.functions:
            scores = np.zeros((len(X), 3))
            function.add_scores(function.space.place(values), scores, 1)
            assert np.array_equal(scores, np.rint(scores / function.unit) * function.unit)
