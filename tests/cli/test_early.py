"""`rebel predict --agreement` and `rebel evaluate --agreement`."""

import io

import numpy as np
import polars as pl
import pytest

from loans import loan_lines
from rebelboost import load


@pytest.fixture
def trained(loans, rebel):
    """A cross-fitted model of more loans."""
    loans.write_text("\n".join(loan_lines(n_rows=500)), encoding="utf-8")
    done = rebel("train", "loans.csv", "--target", "repaid", "--rounds", 60, "--learner", "tree")
    assert done.exit_code == 0, done.stderr
    return loans.with_name("loans.safetensors")


@pytest.fixture
def new(folder):
    path = folder / "new.csv"
    path.write_text("\n".join(loan_lines(n_rows=200, seed=1)), encoding="utf-8")
    return path


def table(rebel, *words):
    done = rebel("predict", *words)
    assert done.exit_code == 0, done.stderr
    return pl.read_csv(io.StringIO(done.stdout))


def test_early_decisions_have_their_terms_and_mostly_stay_the_same(trained, new, rebel):
    early = table(rebel, trained, new, "--agreement", 0.9)
    full = table(rebel, trained, new)
    assert early.columns == [*full.columns, "terms_used"]
    n_terms = len(load(trained).ensemble_)
    assert 0 < early["terms_used"].mean() < n_terms
    assert early["terms_used"].max() <= n_terms
    assert (early["decision"] == full["decision"]).mean() >= 0.8
    whole = early.filter(pl.col("terms_used") == n_terms)
    rows = early["terms_used"].to_numpy() == n_terms
    assert whole["decision"].to_list() == full["decision"].to_numpy()[rows].tolist()
    assert np.all(early["expected_cost"].to_numpy() >= 0)


def test_an_evaluation_says_what_deciding_early_saves(trained, new, rebel, records):
    done = rebel("evaluate", trained, new, "--agreement", 0.9)
    assert done.exit_code == 0, done.stderr
    assert "Deciding early, agreement 90" in done.stdout
    assert "of 200 decisions differ from the full model's" in done.stdout
    (found,) = records("evaluate", trained, new, "--agreement", 0.9)
    early, clf = found["early"], load(trained)
    assert early["n"] == 200
    assert early["n_terms"] == len(clf.ensemble_)
    decided = [table(rebel, trained, new, *more)["decision"] for more in ([], ["--agreement", 0.9])]
    assert early["n_different"] == (decided[0] != decided[1]).sum()
    share = early["disagreement"]
    assert share["low"] <= share["value"] == early["n_different"] / 200 <= share["high"]


def test_on_the_training_table_the_held_out_figures_are_shown(trained, rebel):
    done = rebel("evaluate", trained, "loans.csv", "--agreement", 0.9)
    assert done.exit_code == 0, done.stderr
    assert "by 500 held-out training samples" in done.stdout


def test_without_an_agreement_nothing_is_said_of_it(trained, new, rebel):
    assert "early" not in rebel("evaluate", trained, new).stdout


def test_a_model_without_held_out_scores_says_what_to_do(model, new, rebel):
    done = rebel("predict", model, new, "--agreement", 0.9)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "train again with `rebel train`" in done.stderr


@pytest.mark.parametrize("agreement", ["0", "1.2", "nan"])
def test_an_agreement_that_is_no_share_is_refused(trained, new, rebel, agreement):
    done = rebel("predict", trained, new, "--agreement", agreement)
    assert done.exit_code == 2
    assert "agreement is" in done.stderr
    assert "such as 0.995" in done.stderr
