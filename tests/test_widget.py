"""The widget for notebooks: the page of reports, whose choices Python sees."""

import html
import json
import re
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_wine

from rebelboost import RebelClassifier
from report.test_browser import BROWSER, FLAGS

widget = pytest.importorskip("rebelboost.widget", exc_type=ImportError)

NOTEBOOK = """<!doctype html><meta charset="utf-8"><div id="cell"></div>
<script type="module">
MODULE
const traits = TRAITS;
const listeners = {};
const saved = [];
const model = {
  get: (name) => traits[name],
  set: (name, value) => { traits[name] = value; },
  on: (name, listener) => { listeners[name] = listener; },
  save_changes: () => saved.push(JSON.parse(JSON.stringify(traits))),
};
const cell = document.getElementById("cell");
await widget.render({ model, el: cell });
const input = cell.querySelectorAll("input[type=text]")[0];
input.value = "12.5";
input.dispatchEvent(new Event("input", { bubbles: true }));
traits.prices = [[0, 9, 1], [1, 0, 1], [1, 1, 0]]; // as if Python had set them
listeners["change:prices"]();
document.documentElement.dataset.told = JSON.stringify(
  saved.map(({ case: typed, sample, prices, answer }) => ({ typed, sample, prices, answer })));
</script>"""


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return RebelClassifier("tree", n_rounds=10).fit(X, y), X


def test_the_widget_has_the_model_and_its_cases(wine):
    clf, X = wine
    shown = widget.show(clf, X.iloc[:3], names=["a", "b", "c"])
    assert [case["name"] for case in shown.cases] == ["a", "b", "c"]
    assert shown.cases[1]["x"] == X.iloc[1].tolist()
    assert "export function explainSample" in shown.module
    with pytest.raises(ValueError, match="X has 3 cases, but names has 1"):
        widget.show(clf, X.iloc[:3], names=["a"])


def test_training_rows_are_left_out_if_they_are_private(wine):
    _, X = wine
    named = X.set_axis([f"bottle {i}" for i in range(len(X))])
    clf = RebelClassifier("similarity", n_rounds=5).fit(named, X.index % 3)
    assert "bottle" in widget.show(clf).module
    assert "bottle" not in widget.show(clf, rows=False).module
    assert '"cells":[]' in widget.show(clf, rows=False).module


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_what_is_chosen_comes_back_to_python(wine, tmp_path):
    clf, X = wine
    shown = widget.show(clf, X.iloc[:2])
    esm = shown._esm.replace("export default", "const widget =")
    traits = {
        name: getattr(shown, name)
        for name in ("module", "cases", "case", "prices", "sample", "answer")
    }
    told = json.dumps(traits).replace("</", "<\\/")
    page = tmp_path / "notebook.html"
    page.write_text(NOTEBOOK.replace("MODULE", esm).replace("TRAITS", told), encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'user'}", "--virtual-time-budget=5000",
         "--dump-dom", page.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    (said,) = re.findall(r'data-told="(.*?)"', done.stdout)
    first, typed, priced = json.loads(html.unescape(said))
    assert first["sample"] == X.iloc[0].tolist()
    assert first["typed"] == {}
    assert typed["typed"] == {X.columns[0]: "12.5"}
    assert typed["sample"][0] == 12.5
    assert priced["prices"] == [[0, 9, 1], [1, 0, 1], [1, 1, 0]]
    for chosen, model in [(first, clf), (typed, clf), (priced, clf.with_costs(priced["prices"]))]:
        x = np.array(chosen["sample"])
        assert (
            list(chosen["answer"]["probabilities"].values())
            == model.predictor().predict_proba(x).tolist()
        )
        assert chosen["answer"]["decision"] == model.predictor().predict(x)
