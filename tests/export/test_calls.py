"""What exported programs offer to their callers: records, other costs, names, and abstaining."""

import ctypes
import json
import subprocess

import numpy as np
import pytest

from export.models import COSTS, categories, model, wine
from export.programs import NODE, written
from rebelboost import RebelClassifier
from rebelboost.export.javascript import literal


@pytest.fixture(scope="module")
def by_categories():
    return RebelClassifier("tree", n_rounds=10, random_state=0).fit(*categories())


def run_node(folder, script):
    (folder / "call.mjs").write_text(f'import * as model from "./exported.mjs";\n{script}')
    ran = subprocess.run(["node", str(folder / "call.mjs")], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


def as_module(fitted, folder):
    written(fitted, folder, "js").rename(folder / "exported.mjs")


def library(fitted, folder):
    """An exported model as a shared library."""
    written(fitted, folder, "c")
    command = ["cc", "-std=c99", "-shared", "-fPIC", "exported.c", "-o", "exported.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "exported.so"))


def numbers(values):
    return (ctypes.c_double * np.size(values))(*np.ravel(np.asarray(values, dtype=np.float64)))


@NODE
def test_a_record_is_decided_as_the_row_of_a_table(by_categories, tmp_path):
    frame, _ = categories()
    as_module(by_categories.model_, tmp_path)
    asked = frame.head(40)
    records = zip(*(asked[name].tolist() for name in asked), strict=True)
    rows = [
        {name: cell if cell == cell else None for name, cell in zip(asked, record, strict=True)}  # noqa: PLR0124
        for record in records
    ]
    found = run_node(
        tmp_path,
        f"console.log(JSON.stringify({literal(rows)}.map((record) => model.predict(record))));",
    )
    assert [each["decision"] for each in found] == by_categories.predict(asked).tolist()
    names = by_categories.classes_
    for what, expected in {
        "probabilities": by_categories.predict_proba(asked),
        "expectedCosts": by_categories.expected_cost(asked),
        "scores": by_categories.decision_function(asked),
    }.items():
        told = [[each[what][name] for name in names] for each in found]
        np.testing.assert_array_equal(told, expected)


@NODE
def test_other_costs_are_an_argument_in_javascript(tmp_path):
    X, _ = wine()
    fitted = RebelClassifier("tree", n_rounds=10, random_state=0).fit(*wine())
    as_module(fitted.model_, tmp_path)
    found = run_node(
        tmp_path,
        f"const rows = {literal(X.tolist())};\n"
        f"console.log(JSON.stringify(rows.map((x) => model.decide(x, {literal(COSTS)}))));",
    )
    expected = fitted.with_costs(COSTS).predict(X)
    np.testing.assert_array_equal(fitted.classes_[found], expected)


def test_other_costs_are_an_argument_in_c(tmp_path):
    X, _ = wine()
    fitted = RebelClassifier("tree", n_rounds=10, random_state=0).fit(*wine())
    called, other = library(fitted.model_, tmp_path), fitted.with_costs(COSTS)
    codes = [called.model_decide(numbers(x), numbers(COSTS)) for x in X]
    np.testing.assert_array_equal(fitted.classes_[codes], other.predict(X))
    risks = numbers(np.zeros(3))
    for x, expected in zip(X[:20], other.expected_cost(X[:20]), strict=True):
        assert called.model_expected_costs(numbers(x), numbers(COSTS), risks) == 0
        np.testing.assert_array_equal(list(risks), expected)


def test_a_missing_cost_is_told_in_c(tmp_path):
    fitted = model("costs in a column")
    called = library(fitted, tmp_path)
    x = np.zeros(4)
    assert called.model_decide(numbers(x), None) >= 0
    x[2] = np.nan
    assert called.model_decide(numbers(x), None) == -2
    assert called.model_decide(numbers(x), numbers(COSTS)) >= 0


@NODE
def test_a_missing_cost_is_an_error_in_javascript(tmp_path):
    as_module(model("costs in a column"), tmp_path)
    call = "model.predict({ a: 1, b: 'x', d: true });"
    script = f"try {{ {call} }} catch (error) {{ console.log(JSON.stringify(error.message)); }}"
    assert "a column that holds costs is missing" in run_node(tmp_path, script)


@NODE
def test_a_regression_predicts_records(tmp_path):
    fitted = model("a regression by trees")
    as_module(fitted, tmp_path)
    X = wine()[0][:5]
    rows = [dict(zip(fitted.shown_names, x.tolist(), strict=True)) for x in X]
    found = run_node(
        tmp_path, f"console.log(JSON.stringify({literal(rows)}.map((r) => model.predict(r))));"
    )
    np.testing.assert_array_equal([each["prediction"] for each in found], fitted.predict(X))
