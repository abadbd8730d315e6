"""How the best splits are searched for changes no bit of an ensemble."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from ensembles import assert_same
from problems import problems, random_problem
from rebelboost import RebelClassifier, Stump, Tree, kernels
from rebelboost.learners.growing import GROWING
from rebelboost.learners.pruning import SEARCHES

by_criterion = st.builds(
    Tree,
    depth=st.integers(1, 4),
    outputs=st.just("tree"),
    criterion=st.sampled_from(GROWING),
    first_subset=st.sampled_from([0.3, 0.9, 0.99]),
    subset_steps=st.sampled_from(["auto", "auto", 1, 20]),
)
weights = (
    st.sampled_from([0.0, 1.0, 1.0]) | st.sampled_from([1e-12, 1e-300, 1e12]) | st.floats(0.01, 10)
)


@st.composite
def with_copies(draw):
    """Problems with tiny, huge and zero weights, some columns of which occur twice or thrice."""
    problem = draw(problems(weights=weights))
    width = problem.X.shape[1]
    order = draw(st.lists(st.integers(0, width - 1), min_size=width, max_size=3 * width))
    return replace(problem, X=problem.X[:, order])


learners = st.just(Stump()) | st.just(Tree(4, outputs="tree")) | by_criterion


def fit(problem, learner, **options):
    """Ten rounds by each of the searches."""
    fits = {}
    for search in SEARCHES:
        model = RebelClassifier(
            replace(learner, search=search), n_rounds=10, decision="argmax", **options
        )
        fits[search] = model.fit(problem.X, problem.y, problem.weight)
    return fits


@cases(150)
@given(problems() | with_copies(), learners, st.sampled_from([1, 2, 3]))
def test_pruned_exhaustive_and_auto_give_the_same_ensemble(problem, learner, n_jobs):
    fits = fit(problem, learner, costs=problem.costs, n_jobs=n_jobs)
    assert_same(fits["pruned"], fits["exhaustive"])
    assert_same(fits["auto"], fits["exhaustive"])


@pytest.mark.parametrize("criterion", GROWING)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_so_they_do_on_larger_sets(criterion, n_classes):
    problem = random_problem(3, n_samples=400, n_features=40, n_classes=n_classes)
    X = np.where(np.random.default_rng(0).random(problem.X.shape) < 0.05, np.nan, problem.X)
    problem = replace(problem, X=np.round(X, 1))
    learner = Tree(3, outputs="tree", criterion=criterion)
    fits = fit(problem, learner, n_jobs=2, subsample=0.8, weight_trimming=0.99)
    assert_same(fits["pruned"], fits["exhaustive"])
    assert_same(fits["auto"], fits["exhaustive"])


@pytest.mark.parametrize("criterion", GROWING)
@pytest.mark.parametrize("search", SEARCHES)
def test_compiled_and_reference_kernels_grow_the_same_trees(compiled, criterion, search):
    problem = random_problem(1, n_samples=80, n_features=5)
    learner = Tree(3, outputs="tree", criterion=criterion, search=search)
    ours = problem.fit(learner, n_rounds=5)
    with kernels.using("reference"):
        assert_same(ours, problem.fit(learner, n_rounds=5))


@pytest.mark.parametrize("criterion", GROWING)
def test_the_loss_never_rises_whatever_trees_are_grown_by(criterion):
    model = random_problem(2, n_samples=200).fit(Tree(3, outputs="tree", criterion=criterion))
    losses = [record.log_loss for record in model.history_]
    assert all(after <= before + 1e-9 for before, after in pairwise(losses))


def test_the_history_shows_what_was_visited_and_what_was_saved():
    problem = random_problem(0, n_samples=2000, n_features=30, n_classes=2, noise=2.0)
    fits = fit(problem, Tree(3, outputs="tree"))
    tables = {search: model.history_.table() for search, model in fits.items()}
    for search in SEARCHES:
        visited, saved = np.array(tables[search]["visited"]), np.array(tables[search]["saved"])
        assert (visited + saved == 2000 * 30 * 3).all()
    assert sum(tables["pruned"]["visited"]) < sum(tables["exhaustive"]["visited"])
    assert sum(tables["pruned"]["dropped_features"]) > 0
    shares = np.array(tables["pruned"]["heavy_share"])
    assert ((shares > 0) & (shares < 1)).all()
    assert np.isnan(tables["exhaustive"]["heavy_share"]).all()


heuristics = st.fixed_dictionaries(  # [QUICK, Sec. 5.2]
    {
        "weight_trimming": st.sampled_from([None, 0.9, 0.99]),
        "feature_subsample": st.sampled_from([1.0, 0.5, 0.9]),
        "subsample": st.sampled_from([1.0, 0.5]),
    }
)


@cases(100)
@given(
    st.integers(0, 1000),
    st.sampled_from([2, 3, 10]),
    learners,
    st.sampled_from(SEARCHES),
    heuristics,
    st.sampled_from([1, 2]),
)
def test_no_search_makes_more_visits_than_are_possible(
    seed, n_classes, learner, search, options, n_jobs
):
    problem = random_problem(seed, n_samples=300, n_features=20, n_classes=n_classes)
    problem = replace(problem, X=np.round(problem.X, 1))
    model = problem.fit(replace(learner, search=search), n_rounds=8, n_jobs=n_jobs, **options)
    for record in model.history_:
        assert 0 <= record.work.visited <= record.work.possible


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "quick"}, "search is 'quick': give 'auto' or 'pruned' or 'exhaustive'"),
        ({"first_subset": 1.0}, "first_subset is 1.0: give a number between 0 and 1"),
        ({"subset_steps": 0}, "subset_steps is 0: give 'auto' or a whole number from 1 to 1000"),
        ({"subset_steps": "few"}, "subset_steps is 'few': give 'auto' or a whole number"),
        ({"criterion": "luck"}, "criterion is 'luck': give 'risk' or"),
        (
            {"criterion": "gini"},
            "criterion='gini' needs a tree with one output: add outputs='tree'",
        ),
    ],
)
def test_impossible_options_are_refused_with_the_remedy(options, message):
    with pytest.raises(ValueError, match=message):
        Tree(**options)
