"""Programs give the reasons that Python gives."""

import json
import subprocess

import numpy as np
import pytest

from export.models import model
from export.programs import NODE
from rebelboost.explain.explain import Naming, explain_samples
from rebelboost.explain.shares import contributions
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.explaining import explaining_of
from rebelboost.export.javascript import as_javascript
from rebelboost.export.vectors import samples_for
from rebelboost.model.fitted import FittedRegressor
from rebelboost.model.smooth import SmoothSimilarities

pytestmark = NODE

RUN = """
import { readFileSync } from "node:fs";
import * as model from "./model.mjs";
const rows = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map((row) => {
  const x = Float64Array.from(row, (value) => (value === null ? NaN : Number(value)));
  const parts = model.contributions(x);
  return { ...parts, rows: [...parts.rows], order: parts.near.map(([row]) => row) };
})));
"""
TOLD = """
import { readFileSync } from "node:fs";
import * as model from "./model.mjs";
const ends = (_, value) => (value === Infinity ? "inf" : Number.isNaN(value) ? null : value);
const rows = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map((row) => model.explain(row)), ends));
"""

NAMES = [
    "averaged trees", "signed trees", "means of levels", "the default blend of categories",
    "means of pairs of levels",
    "similarities", "signs of similarities", "smooth similarities", "a regression",
    "an argmax that abstains", "other costs", "stumps of two classes", "none distances, one points",
]  # fmt: skip


def run(fitted, script, rows, folder):
    text = as_javascript(evaluator_of(fitted))
    (folder / "model.mjs").write_text(text, encoding="utf-8")
    (folder / "run.mjs").write_text(script, encoding="utf-8")
    ran = subprocess.run(
        ["node", str(folder / "run.mjs")],
        input=json.dumps(rows).encode(),
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


def samples(fitted):
    X = np.ascontiguousarray(samples_for(fitted), dtype=np.float64)
    X = X[np.isfinite(X).all(axis=1) | np.isnan(X).any(axis=1)]
    X = X[~(np.abs(X) > 1e6).any(axis=1)]
    return X[np.random.default_rng(0).permutation(len(X))[:40]]


def as_json(X):
    return [[None if np.isnan(v) else v for v in x] for x in X.tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_contributions_are_those_of_python(name, tmp_path):
    fitted = model(name)
    X = samples(fitted)
    said = contributions(fitted.ensemble, X)
    found = run(fitted, RUN, as_json(X), tmp_path)
    baseline = said.baseline
    if isinstance(fitted, FittedRegressor):
        baseline = baseline + fitted.baseline
    features = np.array([each["features"] for each in found])
    pulls = np.array([[own for _, own in each["rows"]] for each in found])
    assert all(each["baseline"] == baseline.tolist() for each in found)
    for each in found:
        assert [row for row, _ in each["rows"]] == said.rows.tolist()
    assert np.array_equal(pulls.ravel(), said.pulls.ravel())
    smooth = fitted.ensemble.of_kind(SmoothSimilarities)
    if not smooth:
        assert np.array_equal(features, said.features)
        return
    # Integrals are sums of about 8 · 400 summands in another order.
    scale = np.abs(said.features).max()
    assert np.abs(features - said.features).max() < 1e-10 * scale
    for n, each in enumerate(found):
        near = {
            row: value
            for own, values in said.near
            for row, value in zip(own, values[n], strict=True)
        }
        ordered = [near[row] for row in each["order"]]
        assert sorted(each["order"]) == sorted(r for own, _ in said.near for r in own)
        assert len(said.near) > 1 or ordered == sorted(ordered, reverse=True)


@pytest.mark.parametrize(
    "name", ["averaged trees", "similarities", "other costs", "abstaining by cost"]
)
def test_an_explained_record_says_what_pythons_explanation_says(name, tmp_path):
    fitted = model(name)
    X = samples(fitted)
    levels = fitted.encoder.levels
    names = fitted.shown_names
    records = [
        {
            names[f]: None if np.isnan(v) else (levels[f][int(v)] if f in levels else v)
            for f, v in enumerate(x)
        }
        for x in X.tolist()
    ]
    found = run(fitted, TOLD, records, tmp_path)
    whys = explain_samples(fitted, X, top=5, naming=Naming())
    codes = fitted.decide(fitted.scores(X))
    for told, why, code in zip(found, whys, codes, strict=True):
        assert told["decision"] == why.decision
        assert list(told["probabilities"].values()) == why.probabilities.tolist()
        assert list(told["expectedCosts"].values()) == why.expected_costs.tolist()
        assert told["leading"] == fitted.class_names[code]
        assert told["lead"] == why.toward(why.scores)
        assert [part["feature"] for part in told["reasons"]] == [f.name for f in why.features]
        assert [part["contributions"] for part in told["reasons"]] == [
            f.by_class.tolist() for f in why.features
        ]
        assert [part["row"] for part in told["rows"]] == [each.row for each in why.examples]
        assert [part["class"] for part in told["rows"]] == [each.of_class for each in why.examples]
        low = np.array(told["prices"]["low"], dtype=np.float64)
        high = np.array(told["prices"]["high"], dtype=np.float64)
        assert np.array_equal(low, why.prices.low, equal_nan=True)
        assert np.array_equal(high, why.prices.high, equal_nan=True)
        assert tuple(map(float, told["prices"]["abstaining"])) == why.prices.abstaining


def test_training_rows_are_kept_only_as_far_as_allowed():
    fitted = model("similarities")
    kept = explaining_of(fitted).rows
    row, first = next(iter(kept.items()))
    assert first.cells
    assert first.code == fitted.provenance.example_classes[row]
    assert not any(each.cells for each in explaining_of(fitted, rows=False).rows.values())
    named = fitted.with_row_labels({row: "Ms Miller"})
    assert explaining_of(named).rows[row].label == "Ms Miller"
    assert explaining_of(named, names=False).rows[row].label == row
    assert "Miller" not in as_javascript(evaluator_of(named, row_names=False))
    assert not explaining_of(model("averaged trees")).rows
