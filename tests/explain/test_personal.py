"""Reasons for the person concerned, and the smallest changes that lead to another decision."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_changes import EveryCell, disagreements, random_model
from rebelboost import RebelClassifier, load
from rebelboost.base.findings import as_json


def applications(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.gamma(4, 600, n).round(),
            "age": rng.integers(18, 80, n),
            "debt": rng.gamma(2, 300, n).round(2),
            "housing": rng.choice(["rent", "own", "free"], n),
            "amount": rng.gamma(3, 1500, n).round(),
        }
    )
    risk = -1.2 - (X.income - 2400) / 700 + (X.debt - 600) / 300 + 0.8 * (X.housing == "rent")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "bad", "good")
    return X, y


@pytest.fixture(scope="module")
def clf():
    clf = RebelClassifier("tree", n_rounds=20, cross_fit=3, costs={("bad", "good"): 3})
    return clf.fit(*applications())


@pytest.fixture(scope="module")
def refused(clf):
    X, _ = applications(seed=1)
    return X[clf.predict(X) == "bad"].head(8)


# ---- changes


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    most=st.integers(1, 3),
    fixed=st.sampled_from([(), ("x0",), ("x2", "x3")]),
)
def test_no_change_is_smaller_than_the_one_found(seed, most, fixed):
    clf, X = random_model(seed, 12)
    assert not any(disagreements(clf, EveryCell(clf), X, most, fixed))


def test_every_value_of_a_stated_range_leads_to_the_stated_decision(clf, refused):
    found = clf.smallest_changes(refused, wanted="good", fixed=["age", "amount"], columns=1)
    assert any(found)
    for n, changes in enumerate(found):
        for change in changes:
            (moved,) = change.columns
            row = refused.iloc[[n]].copy()
            row[moved.column] = moved.after
            assert clf.predict(row)[0] == "good"
            assert moved.column not in {"age", "amount"}
            if moved.text.endswith(" or less"):
                row[moved.column] = row[moved.column] * 0 - 1e6
                assert clf.predict(row)[0] == "good"
            if " or more" in moved.text and "up to" not in moved.text:
                row[moved.column] = 10**7
                assert clf.predict(row)[0] == "good"


def test_whole_numbers_change_to_whole_numbers(clf, refused):
    for changes in clf.smallest_changes(refused, wanted="good"):
        for change in changes:
            for moved in change.columns:
                if moved.column in {"income", "age", "amount"}:
                    assert moved.after == round(moved.after)


def test_what_is_already_decided_needs_no_change(clf):
    X, _ = applications(seed=1)
    accepted = X[clf.predict(X) == "good"].head(3)
    assert clf.smallest_changes(accepted, wanted="good") == [(), (), ()]
    assert all(clf.smallest_changes(accepted))  # to any other decision


def test_a_column_that_holds_a_cost_changes_to_the_price_at_which_the_decision_flips():
    X, y = applications()
    costs = {("bad", "good"): "amount", ("good", "bad"): 500}
    clf = RebelClassifier("tree", n_rounds=20, cross_fit=3, costs=costs).fit(X, y)
    refused = X[clf.predict(X) == "bad"].head(6)
    fixed = ["income", "age", "debt", "housing"]
    spread = clf.model_.provenance.spreads.of(4)
    for n, changes in enumerate(clf.smallest_changes(refused, wanted="good", fixed=fixed)):
        now = float(refused.amount.iloc[n])
        tried = refused.iloc[[n] * 4000].copy()
        tried["amount"] = np.arange(0, 4000) * 5.0
        hits = tried.amount[clf.predict(tried) == "good"].to_numpy()
        if not changes:
            assert len(hits) == 0
            continue
        (change,) = changes
        row = refused.iloc[[n]].assign(amount=change.columns[0].after)
        assert clf.predict(row)[0] == "good"
        # The tried amounts are 5 apart.
        assert change.distance <= np.abs(hits - now).min() / spread
        assert change.distance >= (np.abs(hits - now).min() - 5) / spread


def test_models_with_similarities_say_that_smaller_changes_may_exist():
    X, y = applications(120)
    clf = RebelClassifier("similarity", n_rounds=20).fit(X, y)
    found = [each for each in clf.smallest_changes(X.head(15), fixed=["housing"]) if each]
    assert found
    for n, changes in enumerate(clf.smallest_changes(X.head(15))):
        for change in changes:
            assert not change.is_smallest
            (moved,) = change.columns
            row = X.iloc[[n]].copy()
            row[moved.column] = moved.after
            assert clf.predict(row)[0] == change.decision


def test_a_missing_number_may_change_to_any_number_where_only_that_it_is_known_counts():
    x = np.where(np.arange(80) % 2, np.nan, np.arange(80) % 7)[:, np.newaxis]
    clf = RebelClassifier("stump", n_rounds=1, cross_fit=None).fit(x, np.isnan(x[:, 0]))
    ((change,),) = clf.smallest_changes([[np.nan]])
    assert change.text == "x0 from missing to any number"
    assert not clf.predict([[change.columns[0].after]])[0]


# ---- reasons


def test_reasons_are_the_largest_contributions_against_the_wanted_decision(clf, refused):
    whys = clf.explain(refused)
    for each, why in zip(clf.reasons(refused, 3, wanted="good", columns=0), whys, strict=True):
        toward = {f.name: f.by_class[0] - f.by_class[1] for f in why.features}
        expected = sorted((size for size in toward.values() if size > 0), reverse=True)[:3]
        assert [reason.score for reason in each.reasons] == pytest.approx(expected)
        for reason in each.reasons:
            share = next(f for f in why.features if f.name == reason.column)
            without = clf.model_.posterior((why.scores - share.by_class)[np.newaxis])[0]
            assert reason.points == pytest.approx(without[1] - why.probabilities[1])
            assert reason.points > 0


def test_the_wanted_class_is_by_default_the_one_that_is_not_positive(clf, refused):
    (each,) = clf.reasons(refused.head(1), columns=0)
    assert each.wanted == "good"
    assert each.decision == "bad"


def test_the_wanted_decision_needs_no_reasons(clf):
    X, _ = applications(seed=1)
    (each,) = clf.reasons(X[clf.predict(X) == "good"].head(1))
    assert each.reasons == each.changes == ()
    assert "This is the decision that was wanted." in str(each)


def test_codes_are_read_from_a_dict_a_csv_file_and_a_json_file(clf, refused, tmp_path):
    table = {name: (f"R{i}", f"{name}, too high or low") for i, name in enumerate(refused.columns)}
    lines = [f'{name},{code},"{sentence}"' for name, (code, sentence) in table.items()]
    (tmp_path / "codes.csv").write_text("\n".join(["column,code,sentence", *lines]))
    (tmp_path / "codes.json").write_text(json.dumps(table))
    one = refused.head(1)
    files = (table, tmp_path / "codes.csv", tmp_path / "codes.json")
    texts = [str(clf.reasons(one, codes=codes)[0]) for codes in files]
    assert len(set(texts)) == 1
    first = clf.reasons(one)[0].reasons[0]
    assert f"{table[first.column][0]}: {first.column}, too high or low ({first.what})" in texts[0]


def test_text_and_json_tell_the_same(clf, refused):
    each = clf.reasons(refused, wanted="good", codes={"income": ("R1", "Income")})
    found = [(e, as_json(e.document())) for e in each]
    for reasons, told in found:
        json.dumps(told, allow_nan=False)
        assert told["reasons"]["what"] == [r.what for r in reasons.reasons]
        if reasons.changes:
            assert told["changes"]["text"][0] in str(reasons)


def test_costs_that_depend_on_a_column_are_told_apart():
    X, y = applications()
    own = np.where((y == "bad")[:, np.newaxis], np.outer(X.amount, [0.0, 1.0]), [500.0, 0.0])
    costs = {("bad", "good"): "amount", ("good", "bad"): 500}
    columns = RebelClassifier("tree", n_rounds=20, cross_fit=3, costs=costs).fit(X, y)
    learned = RebelClassifier("tree", n_rounds=20, cross_fit=3).fit(X, y, costs=own)
    for clf in (columns, learned):
        refused = X[clf.predict(X) == "bad"].head(8)
        told = [line for each in clf.reasons(refused) for line in each.through_costs]
        assert any(line.startswith("Through the costs: amount = ") for line in told)


def test_the_price_from_which_a_decision_is_another_one_is_exact():
    X, y = applications()
    costs = {("bad", "good"): "amount", ("good", "bad"): 500}
    clf = RebelClassifier("tree", n_rounds=20, cross_fit=3, costs=costs).fit(X, y)
    one = X[clf.predict(X) == "bad"].head(1)
    (each,) = clf.reasons(one)
    (line,) = each.through_costs
    limit = float(line.split("below ")[1].rstrip("."))
    p = clf.predict_proba(one)[0]
    assert p[0] * limit == pytest.approx(p[1] * 500, rel=1e-4)  # six digits are printed


def test_spreads_are_saved_with_the_model(clf, refused, tmp_path):
    clf.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.smallest_changes(refused) == clf.smallest_changes(refused)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wanted": "fine"}, "wanted is 'fine': choose from bad, good"),
        ({"fixed": ["salary"]}, "fixed names 'salary': the columns are"),
        ({"columns": 4}, "columns is 4: give 1 to 3"),
        ({"k": 0}, "k is 0: give 1 or more"),
        ({"codes": {"salary": "Income"}}, "reason codes name the column 'salary'"),
        ({"codes": {"income": 3}}, "the reason code of 'income' is 3"),
        ({"codes": "missing.csv"}, "cannot read the reason codes in missing.csv"),
    ],
)
def test_what_cannot_be_meant_is_refused(clf, refused, options, message):
    with pytest.raises(ValueError, match=message):
        clf.reasons(refused.head(1), **options)


def test_files_of_codes_need_the_three_columns(clf, refused, tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("name,code\nincome,R1\n")
    with pytest.raises(ValueError, match="must begin with the line column,code,sentence"):
        clf.reasons(refused.head(1), codes=path)
    path.write_text("column,code,sentence\nincome,R1\n")
    with pytest.raises(ValueError, match=r"line 2 of .* has 2 cells: give 3"):
        clf.reasons(refused.head(1), codes=path)
