"""Notebooks: what is shown below cells, and that the example runs."""

import html
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier, RebelRegressor, Similarity
from rebelboost.boosting import notebook
from rebelboost.evaluation.evaluate import evaluate

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))
SHORT = 300


@pytest.fixture(scope="module")
def shown():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["<b>setosa", "versicolor", "virginica"])[y]
    clf = RebelClassifier(n_rounds=30, costs={("<b>setosa", "virginica"): 5}).fit(X, y)
    whys = clf.explain(X.iloc[::10])
    return {
        "explanation": whys[0],
        "explanations": whys,
        "selection": clf.selection_,
        "guarantee": clf.guarantee_,
        "evaluation": evaluate(clf, X, y),
        "summary": clf.summary(),
    }


NAMES = ["explanation", "explanations", "selection", "guarantee", "evaluation", "summary"]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_shown_as_cards(shown, name):
    page = shown[name]._repr_html_()
    assert page.startswith('<div class="rebel"><style>')
    assert "<b>" not in page, "names are escaped"
    assert page.count("<div") == page.count("</div>")
    assert page.count("<table") == page.count("</table>")


@pytest.mark.parametrize("name", NAMES)
def test_the_style_of_a_card_touches_nothing_else(shown, name):
    style = re.search(r"<style>(.*?)</style>", shown[name]._repr_html_(), flags=re.DOTALL)[1]
    selectors = [
        each.strip() for rule in re.findall(r"([^{}]+)\{", style) for each in rule.split(",")
    ]
    assert len(selectors) > 50
    assert all(".rebel" in selector for selector in selectors)


@pytest.mark.parametrize("name", NAMES)
def test_reprs_are_short(shown, name):
    assert len(repr(shown[name])) < SHORT
    assert "\n" not in repr(shown[name])


def test_cards_say_what_the_texts_say(shown):
    told = shown["explanation"].verdict.headline.split("\n")[0]
    assert told in html.unescape(shown["explanation"]._repr_html_())
    assert "And 10 more" in shown["explanations"]._repr_html_()
    for each in shown["selection"].standings:
        assert each.name in shown["selection"]._repr_html_()
    for figure in shown["evaluation"].figures():
        page = shown["evaluation"]._repr_html_().replace("\u00a0", " ")
        assert figure.shown in page, figure.label


def test_regressions_and_precomputed_distances_have_cards_too():
    X, y = load_iris(return_X_y=True)
    model = RebelRegressor(n_rounds=5).fit(X[:, :3], X[:, 3])
    assert "rebel" in model.explain(X[:2, :3])._repr_html_()
    assert "rebel" in model.summary()._repr_html_()
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    clf = RebelClassifier(Similarity(metric="precomputed"), n_rounds=5).fit(distances, y)
    assert "similar to" in clf.explain(distances[:1])._repr_html_()
    assert "rebel" in clf.summary()._repr_html_()


class Shell:
    """Stands for IPython, and records what is displayed."""

    def __init__(self):
        self.shown = []
        self.display = SimpleNamespace(HTML=str, display=self._display)

    def _display(self, text, *, display_id):
        assert display_id
        self.shown.append(text)
        return SimpleNamespace(update=self.shown.append)

    def get_ipython(self):
        return SimpleNamespace(kernel=object())


def test_verbose_shows_a_bar_in_notebooks(monkeypatch):
    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shell.display)
    monkeypatch.setattr(notebook, "EVERY", 0.0)
    X, y = load_iris(return_X_y=True)
    RebelClassifier("tree", n_rounds=10, cross_fit=3, verbose=1).fit(X, y)
    assert "<progress" in shell.shown[0]
    assert "round 1 ·" in shell.shown[0]
    assert re.search(r"Trained: \d+ rounds of 3 fits · [\d.]+ s · training error", shell.shown[-1])
    n_shown = len(shell.shown)
    RebelClassifier("tree", n_rounds=10).fit(X, y)
    assert len(shell.shown) == n_shown, "nothing is shown without verbose"


def test_outside_of_notebooks_nothing_of_ipython_is_used():
    assert not notebook.in_notebook()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.slow
def test_notebooks_run_and_show_their_results(path, tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
    nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient")
    pytest.importorskip("ipykernel", reason="notebooks need ipykernel")
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    client = nbclient.NotebookClient(
        book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    for cell in cells:
        kinds = {kind for out in cell.outputs for kind in out.get("data", {})}
        streams = [out for out in cell.outputs if out.output_type in {"stream", "error"}]
        assert not streams, "no warnings"
        last = cell.source.strip().splitlines()[-1]
        if last.startswith("plot_") or ".plot()" in last:
            assert "image/png" in kinds, last
        elif re.match(
            r"(clf\.|additive\.)(selection_|guarantee_|summary|explain)|evaluate|left_out", last
        ):
            assert "text/html" in kinds, last
        elif "verbose=1" in last:
            assert "<progress" in str(cell.outputs)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path):
    assert '"execution_count": null' in path.read_text(encoding="utf-8")
    assert '"output_type"' not in path.read_text(encoding="utf-8")
