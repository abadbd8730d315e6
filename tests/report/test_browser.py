"""Names with HTML in them stay text, in a real browser."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from rebelboost import RebelClassifier
from rebelboost.evaluation import evaluate
from rebelboost.report import write_report

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
RUN = "document.documentElement.dataset.ran = 1"
SCRIPTS = [
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload='{RUN}'>",
    f"</style></title></td><script>{RUN}</script>",
]
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


@pytest.fixture
def shown(tmp_path):
    """The page as the browser has it after loading."""

    def show(html):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        done = subprocess.run(
            [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'user'}", "--dump-dom", path.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done.stdout

    return show


@pytest.fixture
def named_by_scripts():
    """A model whose features, classes, categories and rows are all named by scripts."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=80)
    table = pd.DataFrame(
        {
            SCRIPTS[0]: rng.normal(size=80) + codes,
            SCRIPTS[1]: np.array(SCRIPTS)[2 * codes + rng.integers(2, size=80)],
        },
        index=[f"{SCRIPTS[2]}{i}" for i in range(80)],
    )
    y = np.array(SCRIPTS)[[0, 3]][codes]
    return RebelClassifier("similarity", n_rounds=5).fit(table, y), table, y


def test_the_browser_runs_scripts_that_are_not_escaped(shown):
    """Otherwise the tests below could not fail."""
    for script in SCRIPTS:
        assert "data-ran" in shown(f"<!doctype html><table><td>{script}</td></table>"), script


def test_names_in_a_report_stay_text(shown, named_by_scripts, tmp_path):
    model, table, y = named_by_scripts
    path = write_report(
        model,
        table,
        y,
        tmp_path / "report.html",
        evaluation=evaluate(model, table, y, source=SCRIPTS[0]),
        title=SCRIPTS[3],
        data_summary={
            "source": SCRIPTS[1],
            "target": SCRIPTS[2],
            "notes": SCRIPTS,
            "ignored": {SCRIPTS[0]: SCRIPTS[1]},
        },
        command=SCRIPTS[0],
        row_names=list(table.index),
    )
    html = path.read_text(encoding="utf-8")
    # The report forbids scripts. Here only the escaping of names is to be tested.
    assert POLICY.search(html)
    seen = shown(POLICY.sub("", html))
    assert "data-ran" not in seen
    assert "&lt;script&gt;" in seen


def test_names_in_notebook_cards_stay_text(shown, named_by_scripts):
    model, table, y = named_by_scripts
    explanations = model.explain(table.iloc[:3])
    cards = [
        each._repr_html_()
        for each in (
            explanations,
            explanations[0],
            model.summary(),
            evaluate(model, table, y, source=SCRIPTS[0]),
        )
    ]
    seen = shown(f"<!doctype html><body>{''.join(cards)}</body>")
    assert "data-ran" not in seen
    assert "&lt;script&gt;" in seen
