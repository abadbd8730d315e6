"""A trained model is never lost to what is stored beside it."""

import random

import polars as pl

import rebelboost
from rebelboost import RebelClassifier
from rebelboost.cli.files import save_model
from stored_models import numbers


def test_texts_that_a_file_cannot_hold_are_refused_before_training(rebel, tmp_path, monkeypatch):
    rng = random.Random(0)
    texts = ["".join(rng.choices("abcdefgh ", k=4000)) for _ in range(150)]
    rows = [(rng.random(), rng.choice(texts)) for _ in range(600)]
    table = tmp_path / "t.csv"
    labels = ["yes" if a > 0.5 else "no" for a, _ in rows]
    pl.DataFrame({"a": [a for a, _ in rows], "story": [s for _, s in rows], "y": labels}).write_csv(
        table
    )
    trained = []
    monkeypatch.setattr("rebelboost.cli.train.learn", lambda *_: trained.append(1))
    done = rebel("train", table, "--target", "y", "--keep", "story", "-o", tmp_path / "m")
    assert done.exit_code == 2
    assert not trained
    assert "most of it is text in 'story': leave it out with --ignore" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_model_is_saved_without_figures_that_are_too_many(tmp_path):
    model = RebelClassifier("stump", n_rounds=2).fit(*numbers())
    model.metadata_ = {"table": None, "evaluation": {"counts": [[0] * 200] * 200}}
    notes = save_model(model, tmp_path / "m", "values")
    assert notes == ["the figures of the evaluation are too many to be stored in the model file"]
    assert rebelboost.load(tmp_path / "m").metadata_["evaluation"] is None
