"""Parts of a decision, and similar rows: grouped, complete and as in the user's table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier, Similarity
from rebelboost.explain.parts import beside, parts_of


@pytest.fixture(scope="module")
def mixed():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(place=pd.Categorical(np.where(np.arange(150) % 3 == 0, "north", "south")))
    return RebelClassifier("auto", n_rounds=30).fit(X, y), X, y


def test_parts_add_up_to_the_lead_whatever_is_shown(mixed):
    clf, X, _ = mixed
    for why in clf.explain(X.iloc[::15]):
        lead = float(why.toward(why.scores))
        for most in (1, 3, 100):
            sizes = [part.size for part in parts_of(why, most).listed()]
            assert sum(sizes) == pytest.approx(lead, abs=1e-9)


def test_rows_are_one_part_for_each_class(mixed):
    clf, X, y = mixed
    for why in clf.explain(X.iloc[::15]):
        groups = [part for part in parts_of(why, 100).shown if part.kind == "rows"]
        assert len(groups) == len({each.of_class for each in why.examples})
        for part in groups:
            assert {y[each.row] for each in part.examples} == {part.examples[0].of_class}
        assert sum(len(part.examples) for part in groups) == len(why.examples)


def test_coverage_is_the_share_of_what_is_shown(mixed):
    clf, X, _ = mixed
    for why in clf.explain(X.iloc[::15]):
        every = sorted((abs(part.size) for part in parts_of(why, 100).shown), reverse=True)
        found = parts_of(why, 2)
        assert found.covered == pytest.approx(sum(every[:2]) / sum(every))
        assert sum(every[: found.n_needed]) >= 0.8 * sum(every) - 1e-9
        assert sum(every[: found.n_needed - 1]) < 0.8 * sum(every)
        if found.covered < 0.8:
            assert f"; {found.n_needed} reasons have 80 %" in found.coverage()
        assert parts_of(why, 100).coverage() == ""


def test_similar_rows_have_the_users_values_and_differences_are_marked(mixed):
    clf, X, _ = mixed
    spread = X.iloc[:, :4].std(ddof=0)
    for why in clf.explain(X.iloc[::15]):
        found = beside(why)
        assert 1 <= len(found.examples) <= 3
        assert sorted(each.name for each in found.features) == sorted(X.columns)
        case = X.loc[why.label]
        for each in found.features:
            for example, (shown, differs) in zip(found.examples, each.others, strict=True):
                value = X.loc[example.row, each.name]
                assert shown == (value if each.name == "place" else f"{value:.6g}")
                if each.name == "place":
                    assert differs == (value != case["place"])
                elif differs:
                    # The standard deviation is that of the stored rows, near that of all.
                    assert abs(value - case[each.name]) > 0.3 * spread[each.name]


def test_a_row_is_not_compared_with_itself(mixed):
    clf, X, _ = mixed
    for why in clf.explain(X.iloc[::15]):
        assert not any(X.loc[e.row].equals(X.loc[why.label]) for e in beside(why).examples)


def test_without_values_nothing_is_shown_beside():
    X, y = load_iris(return_X_y=True)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    clf = RebelClassifier(Similarity(metric="precomputed"), n_rounds=5).fit(distances, y)
    assert beside(clf.explain(distances[:1])[0]) is None
