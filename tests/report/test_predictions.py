"""Reports on predicted numbers."""

import re

import numpy as np
import pandas as pd
import pytest

from reading import DAY, Page
from rebelboost import RebelRegressor
from rebelboost.evaluation import evaluate, left_out
from rebelboost.report import write_report


@pytest.fixture(scope="module")
def houses():
    """Prices that depend on the area, the district and chance, with some areas missing."""
    rng = np.random.default_rng(3)
    area = rng.uniform(40, 160, 120)
    district = rng.choice(["north", "<b>south</b>"], 120)
    price = 3 * area + 50 * (district == "north") + rng.normal(0, 20, 120)
    X = pd.DataFrame({"area": np.where(rng.random(120) < 0.1, np.nan, area), "district": district})
    return RebelRegressor(n_rounds=40, cross_fit=3).fit(X, price), X, price


def page_of(reg, X, y, tmp_path, **given):
    path = write_report(reg, X, y, tmp_path / "r.html", date=DAY, **given)
    return path.read_text(encoding="utf-8")


def test_a_report_on_numbers_has_its_sections_and_its_figures(houses, tmp_path):
    reg, X, y = houses
    found = left_out(reg, y)
    page = page_of(reg, X, y, tmp_path, evaluation=found, data_summary={"target": "price"})
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        "How good is the model?",
        "Try a case",
        "How does each feature change the result?",
        "What are the predictions based on?",
        "Six predictions explained",
        "Data",
        "How was the model selected?",
        "How was the model trained?",
        "Reproduce this model",
    ]
    text = Page(page).text
    assert f"off by {found.error.value:.3g} on average" in text
    assert f"{found.explained:.3f}" in text
    assert "Root mean squared error" in text
    assert "RMSE" in text
    assert "Missing in" in text  # the mean prediction without an area
    for word in ("class", "decision", "probabilit", "cost", "log-loss", "nan"):
        assert word not in re.sub(r"constant decision|RebelRegressor\(.*?\)", "", text).lower(), (
            word
        )


def test_predictions_shown_for_the_training_table_are_those_of_fits_that_did_not_see_the_row(
    houses, tmp_path
):
    reg, X, y = houses
    page = page_of(reg, X, y, tmp_path, evaluation=left_out(reg, y))
    shown = {
        int(row): (float(predicted), float(true))
        for row, predicted, true in re.findall(
            r"Row (\d+) : predicted ([\d.]+), true ([\d.]+)", Page(page).text
        )
    }
    fits = reg.cross_fit_
    held_out = dict(zip(fits.rows.tolist(), np.ravel(fits.left_out).tolist(), strict=True))
    assert len(shown) == 6
    for row, (predicted, true) in shown.items():
        assert predicted == float(f"{held_out[row]:.4g}")
        assert true == float(f"{y[row]:.4g}")


def test_a_test_table_is_predicted_and_says_what_its_intervals_contain(houses, tmp_path):
    reg, X, y = houses
    found = evaluate(reg, X, y + 1, source="new.csv")
    text = Page(page_of(reg, X, y + 1, tmp_path, evaluation=found)).text
    assert "inside the 90 % prediction interval" in text
    assert "new.csv" in text
    assert "Test row" in text


def test_without_rows_no_row_is_shown(houses, tmp_path):
    reg, X, y = houses
    page = page_of(reg, X, y, tmp_path, evaluation=None, rows=False)
    text = Page(page).text
    assert "The error on new cases is unknown" in text
    assert "Six predictions" not in text
