"""Explanations: the rows, rules, features and words in which a model gives its reasons."""

import json
import re
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Stump, Tree, load
from rebelboost.explain.explain import wording_of
from rebelboost.explain.parts import parts_of
from rebelboost.explain.rules import Wording, rule
from rebelboost.explain.usage import pair_use
from rebelboost.model.ensemble import Ensemble


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    X, y = data.data, data.target.map(dict(enumerate(data.target_names)))
    order = np.random.default_rng(0).permutation(len(X))
    names = [f"flower-{i}" for i in range(len(X))]
    X, y = X.set_index(pd.Index(names)).iloc[order], y.set_axis(names).iloc[order]
    return X, y


@pytest.fixture(scope="module")
def mixed(iris):
    """A category, and missing values."""
    X, y = iris
    rng = np.random.default_rng(1)
    X = X.assign(colour=pd.Categorical(rng.choice(["red", "green", "blue"], len(X))))
    X.loc[X.index[::7], "petal length (cm)"] = np.nan
    X.loc[X.index[::11], "colour"] = None
    return X, y


# ---- training rows


def named_rows(model, X):
    return [each for why in model.explain(X) for each in why.examples]


@pytest.mark.parametrize("cross_fit", [None, 3])
def test_every_row_named_is_in_the_users_frame_and_of_the_class_said(iris, cross_fit):
    X, y = iris
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    options = {"cross_fit": cross_fit, "n_rounds": 60}
    model = RebelClassifier(Similarity(scale="standard"), **options).fit(X, y, weight)
    rows = named_rows(model, X.iloc[:20])
    assert rows
    for each in rows:
        assert X.index[each.row] == each.label
        assert y.loc[each.label] == each.of_class
        assert weight[each.row] > 0
    assert set(model.row_labels_) == set(model.example_classes_)
    json.dumps([model.row_labels_, model.example_classes_])


def test_the_point_of_a_named_row_is_that_of_the_users_row(iris):
    # Row numbers might be wrong and yet exist: what is compared with must be that very row.
    X, y = iris
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    model = RebelClassifier(Similarity(scale="standard"), n_rounds=40).fit(X, y, weight)
    for term in model.ensemble_:
        for example in getattr(term, "examples", ()):
            (placed,) = term.space.place(X.to_numpy()[[example.row]])
            np.testing.assert_array_equal(placed, example.point)


def test_rows_of_tables_without_an_index_are_called_by_their_numbers(iris):
    X, y = iris
    for table in (X.to_numpy(), pl.from_pandas(X)):
        model = RebelClassifier(Similarity(scale="none"), n_rounds=30).fit(table, y.to_numpy())
        assert model.row_labels_ == {}
        for each in named_rows(model, table[:5]):
            assert each.label == each.row
            assert each.of_class == y.iloc[each.row]


def test_a_sample_is_called_as_its_own_index_calls_it(iris):
    X, y = iris
    model = RebelClassifier(Tree(depth=3), n_rounds=5).fit(X, y)
    assert [why.label for why in model.explain(X.iloc[3:5])] == X.index[3:5].tolist()
    assert model.explain(X.iloc[3:5]).text().startswith(f"Sample {X.index[3]}. Decided: ")


def test_dates_as_an_index_are_told_as_text(iris):
    X, y = iris
    dated = X.set_axis(pd.date_range("2020-01-01", periods=len(X)))
    model = RebelClassifier(Similarity(scale="none"), n_rounds=10).fit(dated, y.to_numpy())
    assert all(label in dated.index for label in map(pd.Timestamp, model.row_labels_.values()))


def test_the_nearer_row_pulls(iris):
    X, y = iris
    model = RebelClassifier(Similarity(scale="none"), n_rounds=1).fit(X, y)
    (term,) = model.ensemble_
    anchor, rival = term.rows.tolist()
    for row in (anchor, rival):
        why = model.explain(X.iloc[[row]])[0]
        (pulling,) = why.examples
        assert pulling.row == row
        other = rival if row == anchor else anchor
        expected = f"more like {why.builder.rows.name(row)} than {why.builder.rows.name(other)}"
        assert [reason.what for reason in why.comparisons] == [expected]


def test_comparisons_of_the_same_rows_are_told_as_one_whichever_fit_they_are_of(iris):
    X, y = iris
    options = {"n_rounds": 80, "cross_fit": 4}
    model = RebelClassifier(Similarity(scale="standard", modes="one"), **options).fit(X, y)
    told = [reason.what for reason in model.explain(X.iloc[:1], top=1000)[0].comparisons]
    assert told
    assert len(told) == len(set(told))
    assert all(text.startswith("near row flower-") for text in told)


# ---- rules


def passes(text, sample):
    """Whether a sample passes a rule, read as a person would."""
    return text == "always" or all(
        condition_holds(part.strip("()"), sample) for part in re.split(r"\) and \(?| and \(?", text)
    )


def condition_holds(text, sample):
    or_missing = text.endswith(" or missing")
    text = text.removesuffix(" or missing")
    name = next(n for n in sample.index if n in text)
    value, asked = sample[name], text.replace(name, "x")
    if pd.isna(value):
        return or_missing or asked == "x is missing"
    if asked in {"x is missing", "x is known"}:
        return asked == "x is known"
    if found := re.fullmatch(r"x (not )?in \{(.*)\}", asked):
        return (value in found[2].split(", ")) != bool(found[1])
    if asked.startswith("x = "):
        return value == asked.removeprefix("x = ")
    asked = asked.replace("≤", "<=")
    return bool(eval(asked, {"x": value}))


@pytest.mark.parametrize("learner", [Tree(depth=3), Stump(), Tree(depth=4, outputs="tree")])
def test_a_sample_passes_the_rule_of_its_leaf_and_no_other(mixed, learner):
    X, y = mixed
    X = X.rename(columns={"petal length (cm)": "Qa", "petal width (cm)": "Qb",
                          "sepal length (cm)": "Qc", "sepal width (cm)": "Qd", "colour": "Qe"})  # fmt: skip
    model = RebelClassifier(learner, n_rounds=12).fit(X, y)
    wording = wording_of(model.model_)
    said = model.explain(X)[0].builder.said
    for t, term in enumerate(model.ensemble_):
        texts = [rule(term, 0, leaf, wording) for leaf in range(len(term.outputs))]
        for n in range(0, len(X), 3):
            own = texts[said.rules.leaves[n, t]]
            passed = {text for text in texts if passes(text, X.iloc[n])}
            assert passed == {own}, (own, X.iloc[n])


def test_rules_are_told_in_words():
    wording = Wording(("petal length", "colour"), {1: ("blue", "green", "red")}, frozenset([1]))
    X = np.array([[1, 0], [1, 1], [1, 2], [6, 0], [6, 1], [6, 2], [6, np.nan]] * 5)
    y = (X[:, 0] > 4) & (X[:, 1] != 0)
    model = RebelClassifier(Tree(depth=2, categorical=[1]), n_rounds=1).fit(X, y)
    (tree,) = model.ensemble_
    texts = [rule(tree, 0, leaf, wording) for leaf in range(4)]
    assert "petal length > 3.5 and (colour in {green, red} or missing)" in texts
    assert "petal length > 3.5 and colour = blue" in texts


def test_equal_rules_are_told_as_one(mixed):
    X, y = mixed
    model = RebelClassifier(Tree(depth=3), n_rounds=40).fit(X, y)
    for why in model.explain(X.iloc[:10], top=1000):
        told = [reason.what for reason in why.rules]
        assert len(told) == len(set(told))
        assert len(told) < len(model.ensemble_)
    told = [each.what for each in model.summary(top=1000).rules]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("learner", [Tree(depth=3), Similarity(scale="standard")])
def test_terms_twice_in_a_model_are_told_once_with_twice_the_weight(iris, learner):
    X, y = iris
    model = RebelClassifier(learner, n_rounds=10).fit(X, y)
    once = model.explain(X.iloc[:3], top=4)
    twice = Ensemble.of(2 * list(model.ensemble_), model.ensemble_.n_classes)
    model.model_ = replace(model.model_, ensemble=twice)
    for single, double in zip(once, model.explain(X.iloc[:3], top=4), strict=True):
        for ours, theirs in zip(
            [*single.rules, *single.comparisons], [*double.rules, *double.comparisons], strict=True
        ):
            assert (ours.what, 2 * ours.n_terms) == (theirs.what, theirs.n_terms)
            np.testing.assert_allclose(2 * ours.by_class, theirs.by_class, atol=1e-12)


# ---- words


def test_an_explanation_begins_with_the_decision(iris):
    X, y = iris
    model = RebelClassifier(Tree(depth=3), n_rounds=20).fit(X, y)
    for why, decided in zip(model.explain(X.iloc[:5]), model.predict(X.iloc[:5]), strict=True):
        assert why.decision == decided
        assert str(why).startswith(f"Decided: {decided} (probability ")


def test_the_text_adds_up(iris):
    X, y = iris
    for learner in (Tree(depth=3), Similarity(scale="standard")):
        model = RebelClassifier(learner, n_rounds=30).fit(X, y)
        why = model.explain(X.iloc[:1], top=2)[0]
        lines = re.split("Comparisons|Rules", str(why))[0].splitlines()
        number = r"([+−][\d.,e]+)"
        total = re.search(rf", total {number}:", lines[1])[1]
        parts = [re.match(rf"\s*{number}  ", line)[1] for line in lines[2:] if line[0] != "("]
        as_float = [float(x.replace("−", "-").replace(",", "")) for x in [total, *parts]]
        assert as_float[0] == pytest.approx(sum(as_float[1:]), abs=0.05)


def test_costs_are_the_reason_where_the_decision_is_not_the_likeliest_class(iris):
    X, y = iris
    model = RebelClassifier(costs={("virginica", "versicolor"): 100}, n_rounds=40).fit(X, y)
    whys = [w for w in model.explain(X) if w.probabilities.argmax() != w.verdict.decided]
    assert whys
    for why in whys:
        assert str(why).startswith("Decided: ")
        assert "(expected cost " in str(why)
        assert "The most probable class is versicolor (" in str(why)
        assert "for versicolor costs 100" in str(why)


def test_abstaining_is_explained_by_its_price(iris):
    X, y = iris
    options = {"reject_cost": 0.2, "reject_label": "ask"}
    model = RebelClassifier(
        Tree(depth=2), n_rounds=3, shrinkage=0.05, cross_fit=None, **options
    ).fit(X, y)
    why = model.explain(X.iloc[:1])[0]
    assert why.decision == "ask"
    assert "Abstained, returning 'ask': the cheapest decision, " in str(why)
    assert "more than reject_cost=0.2" in str(why)


def test_terms_speak_for_and_against_each_class(iris):
    X, y = iris
    model = RebelClassifier(Tree(depth=2), n_rounds=20).fit(X, y)
    why = model.explain(X.iloc[:1], top=3)[0]
    assert list(why.terms) == ["setosa", "versicolor", "virginica"]
    for k, sides in enumerate(why.terms.values()):
        for reason in sides.for_:
            assert reason.by_class[k] > np.delete(reason.by_class, k).mean()
        for reason in sides.against:
            assert reason.by_class[k] < np.delete(reason.by_class, k).mean()
        assert 0 < len(sides.for_) + len(sides.against) <= 6


def test_a_single_class_needs_no_reasons():
    with pytest.warns(match="only one class"):
        model = RebelClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert str(model.explain([[1.0]])[0]) == "Decided: a (the only class)"
    assert model.summary().text() == "No terms; 1 class"
    assert "No guarantee" in str(model.guarantee_)


def test_scores_of_rebel_subcosts_are_explained_by_expected_cost(iris):
    X, y = iris
    options = {"subcosts": "rebel", "costs": {("virginica", "versicolor"): 9}, "n_rounds": 9}
    why = RebelClassifier(**options).fit(X, y).explain(X.iloc[:1])[0]
    assert why.probabilities.sum() == pytest.approx(1)
    assert "(expected cost " in str(why)


def test_no_reasons_at_all_are_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match="top is 0: give 1 or more"):
        RebelClassifier(Tree(depth=3), n_rounds=2).fit(X, y).explain(X, top=0)


def test_tables_of_explanations_are_frames(iris):
    X, y = iris
    model = RebelClassifier(Similarity(scale="none"), n_rounds=10).fit(X, y)
    frame = model.explain(X.iloc[:4]).frame()
    sums = frame.groupby("sample", sort=False)[[f"for {k}" for k in model.classes_]].sum()
    np.testing.assert_allclose(sums, model.decision_function(X.iloc[:4]), atol=1e-9)
    assert set(frame["kind"]) == {"baseline", "example"}


# ---- the whole model


def test_a_summary_tells_what_is_used(mixed):
    X, y = mixed
    trees = RebelClassifier(Tree(depth=3), n_rounds=20).fit(X, y).summary(top=3)
    assert trees.text().startswith("20 trees of depth 3; 3 classes\nFeatures, by their use")
    assert sum(each.importance for each in trees.features) == pytest.approx(1)
    assert trees.frame("rules").columns[0] == "what"
    rows = RebelClassifier(Similarity(scale="standard"), n_rounds=20).fit(X, y).summary()
    assert rows.examples
    assert not rows.features
    assert all(each.label in X.index for each in rows.examples)
    assert "Training rows, by their influence" in str(rows)
    with pytest.raises(ValueError, match="no table of 'rows': use one of features"):
        rows.table("rows")


def test_the_pairs_of_classes_are_those_that_a_round_separates_most(iris):
    X, y = iris
    for learner in (Stump(), Similarity(scale="none")):
        model = RebelClassifier(learner, n_rounds=25).fit(X, y)
        used = pair_use(model.ensemble_)
        for t, term in enumerate(model.ensemble_):
            output = term.by_region[0] if isinstance(learner, Stump) else term.slopes[0]
            assert {used.first[t], used.second[t]} == {output.argmin(), output.argmax()}
        spans = [(each.first_round, each.last_round) for each in model.summary().pairs]
        assert sorted(set(spans)) == [(1, 10), (11, 25)]
        shares = [each.share for each in model.summary().pairs]
        assert sum(shares) == pytest.approx(2)


def test_importances_are_those_of_scikit_learns_kind():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, np.ones(len(X))])
    model = RebelClassifier(Tree(depth=3), n_rounds=30).fit(X, y)
    assert model.feature_importances_.shape == (14,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[-1] == 0
    assert RebelRegressor(n_rounds=5).fit(X, y).feature_importances_.sum() == pytest.approx(1)


def test_similarities_have_no_importances_and_say_why(iris):
    X, y = iris
    model = RebelClassifier(Similarity(scale="none"), n_rounds=5).fit(X, y)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="compare all features at once"):
        _ = model.feature_importances_


def test_explaining_changes_nothing_of_the_prediction(iris):
    X, y = iris
    model = RebelClassifier(Tree(depth=3), n_rounds=10).fit(X, y)
    before = model.predict_proba(X)
    model.explain(X).text()
    model.summary().text()
    np.testing.assert_array_equal(before, model.predict_proba(X))


@pytest.mark.parametrize("learner", [Tree(depth=3), Similarity(scale="standard")])
def test_a_model_from_a_file_gives_the_same_reasons(mixed, learner, tmp_path):
    X, y = mixed
    for cross_fit in (None, 3):
        model = RebelClassifier(learner, n_rounds=20, cross_fit=cross_fit).fit(X, y)
        model.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert loaded.explain(X.iloc[:5]).text() == model.explain(X.iloc[:5]).text()
        assert loaded.summary().text() == model.summary().text()


@pytest.mark.parametrize("learner", [Tree(depth=4), Similarity(scale="standard")])
def test_ten_samples_of_a_large_model_are_explained_soon(iris, learner):
    # Half a second on a quiet machine; term by term in Python it would take a minute.
    X, y = iris
    model = RebelClassifier(learner, n_rounds=40).fit(X, y)
    terms = list(model.ensemble_)
    large = Ensemble.of(terms * (20_000 // len(terms)), model.ensemble_.n_classes)
    model.model_ = replace(model.model_, ensemble=large)
    began = time.process_time()
    model.explain(X.iloc[:10]).text()
    assert time.process_time() - began < 10


def test_pictures_show_all_parts(iris):
    X, y = iris
    for learner in (Tree(depth=2), Similarity(scale="none")):
        model = RebelClassifier(learner, n_rounds=10).fit(X, y)
        why = model.explain(X.iloc[:1], top=2)[0]
        assert len(why.plot().patches) == len(parts_of(why).listed()) >= 3
        assert len(model.summary().plot()) == (2 if isinstance(learner, Tree) else 1)
