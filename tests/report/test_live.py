"""The model in a report: what the page says is what Python says, to the bit, and it asks for nothing."""

import html
import json
import re
import subprocess

import numpy as np
import pandas as pd
import pytest

from cli.conftest import run_rebel
from loans import loan_lines
from rebelboost import Binary, RebelClassifier, RebelRegressor, load
from rebelboost.evaluation import evaluate
from rebelboost.report import write_report
from report.test_browser import BROWSER, FLAGS, POLICY

IN_BROWSER = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

TYPE = """
<script type="module">
const root = document.getElementById("rebel-case");
const labelled = (text) => {
  const label = [...root.querySelectorAll("label")].find((each) => each.textContent.startsWith(text));
  return document.getElementById(label.htmlFor);
};
const typed = (input, text) => {
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
};
const told = [];
const tell = () => told.push({
  ...JSON.parse(root.querySelector(".live").dataset.exact),
  text: root.textContent,
  faults: [...root.querySelectorAll("[aria-invalid]")].map((each) => each.id),
});
STEPS
document.documentElement.dataset.told = JSON.stringify({
  told,
  requests: performance.getEntriesByType("resource").length,
  unlabelled: [...root.querySelectorAll("input, select")].filter(
    (each) => !each.labels.length && !each.ariaLabel).length,
});
</script>
"""


@pytest.fixture
def acted(tmp_path):
    """What a page says after some steps in a browser."""

    def act(page, steps):
        text = POLICY.sub("", page.read_text(encoding="utf-8"))
        path = tmp_path / "acted.html"
        path.write_text(
            text.replace("</body>", f"{TYPE.replace('STEPS', steps)}</body>"), encoding="utf-8"
        )
        done = subprocess.run(
            [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'user'}", "--dump-dom", path.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        (told,) = re.findall(r'data-told="(.*?)"', done.stdout)
        return json.loads(html.unescape(told))

    return act


def trained(folder, learner, separator=",", decimal="."):
    table, model, page = folder / "loans.csv", folder / "loans.safetensors", folder / "loans.html"
    lines = loan_lines(separator, decimal, n_rows=150)
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    costs = folder / "costs.csv"
    costs.write_text(",no,yes\nno,0,5\nyes,1,0\n", encoding="utf-8")
    options = ["--learner", learner, "--rounds", 20, "--costs", costs, "-o", model]
    done = run_rebel("train", table, "--target", "repaid", *options)
    assert done.exit_code == 0, done.stderr
    done = run_rebel("report", model, table, "-o", page)
    assert done.exit_code == 0, done.stderr
    assert re.search(r"loans.html \(0\.\d MB\)", done.stdout)
    return load(model), page


@IN_BROWSER
@pytest.mark.parametrize("learner", ["tree", "similarity"])
def test_a_typed_case_and_moved_prices_equal_python_to_the_bit(learner, tmp_path, acted):
    clf, page = trained(tmp_path, learner, ";", ",")
    record = {"amount": "61", "rate": "3,25", "city": "Bern", "since": "2019-07-30"}
    typing = "".join(
        f"typed(labelled({json.dumps(name)}), {json.dumps(cell)});" for name, cell in record.items()
    )
    price = "typed(root.querySelector('.price input[type=text]'), '0.37');"
    found = acted(
        page, f"tell(); {typing} tell(); {price} tell(); typed(labelled('since'), 'x'); tell();"
    )
    assert found["requests"] == 0
    assert found["unlabelled"] == 0
    first, case, moved, faulty = found["told"]
    assert "row L" in first["text"]
    other = clf.with_costs({("no", "yes"): 0.37})
    assert moved["prices"] == [[0, 0.37], [1, 0]]
    for told, model, rows in [
        (case, clf, record),
        (moved, other, record),
        (faulty, other, record | {"since": None}),
    ]:
        assert told["decision"] == model.predict(rows)[0]
        assert list(told["probabilities"].values()) == model.predict_proba(rows)[0].tolist()
        assert list(told["expectedCosts"].values()) == model.expected_cost(rows)[0].tolist()
        assert f"Decision: {told['decision']}" in told["text"]
    assert not case["faults"]
    assert len(faulty["faults"]) == 1
    assert "cannot be read" in faulty["text"]


@IN_BROWSER
def test_the_case_that_is_shown_first_is_a_row_of_the_report(tmp_path, acted):
    clf, page = trained(tmp_path, "tree")
    rows = pd.read_csv(tmp_path / "loans.csv", dtype=str)
    (first,) = acted(page, "tell();")["told"]
    name = re.search(r"row (L\d+), which is", first["text"])[1]
    expected = clf.predict_proba(rows[rows.loan == name])
    assert list(first["probabilities"].values()) == expected[0].tolist()


@IN_BROWSER
def test_a_regression_can_be_tried_too(tmp_path, acted):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    reg = RebelRegressor("tree", n_rounds=5).fit(X, X.a + (X.b == "x"))
    page = write_report(reg, X, X.a + (X.b == "x"), tmp_path / "r.html", evaluation=None)
    found = acted(page, "typed(labelled('a'), '0.123'); typed(labelled('b'), 'y'); tell();")["told"]
    assert found[0]["prediction"] == reg.predict({"a": 0.123, "b": "y"})[0]


def test_the_page_says_what_it_has_of_training_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(60, 2)), columns=["a", "b"], index=[f"Ms {i}" for i in range(60)]
    )
    y = np.where(X.a > 0, "u", "v")

    def section_of(clf, **given):
        page = write_report(clf, X, y, tmp_path / "r.html", evaluation=evaluate(clf, X, y), **given)
        text = page.read_text(encoding="utf-8")
        return re.search(r'<section id="try-a-case">.*?</section>', text)[0], text

    trees = RebelClassifier("stump", n_rounds=5).fit(X, y)
    rows = RebelClassifier("similarity", n_rounds=5).fit(X, y)
    assert "It has no training rows." in section_of(trees)[0]
    told, page = section_of(rows)
    assert re.search(r"It has \d+ training rows, with the values", told)
    assert '"cells":[' in page
    told, page = section_of(rows, rows=False)
    assert "The model is not in this page: it compares cases with" in told
    assert "<script" not in page
    told, page = section_of(rows, names=False)
    assert "Ms " not in page
    rows.save(tmp_path / "ids.safetensors", rows="ids")
    told, page = section_of(load(tmp_path / "ids.safetensors"))
    assert "without values, but these can be computed" in told
    told, page = section_of(trees, rows=False)
    assert '"cases":[]' in page
    from sklearn.tree import DecisionTreeClassifier

    wrapped = RebelClassifier(Binary(DecisionTreeClassifier(max_depth=1)), n_rounds=3).fit(X, y)
    told, page = section_of(wrapped)
    assert "The model is not in this page: the model has" in told
    assert "<script" not in page
