"""A trained model is never lost to what is stored beside it."""

import rebelboost
from rebelboost import RebelClassifier
from rebelboost.cli.model_files import save_model
from stored_models import numbers


def test_a_model_is_saved_without_figures_that_are_too_many(tmp_path):
    model = RebelClassifier("stump", n_rounds=2).fit(*numbers())
    model.metadata_ = {"table": None, "evaluation": {"counts": [[0] * 200] * 200}}
    notes = save_model(model, tmp_path / "m", "values")
    assert notes == ["the figures of the evaluation are too many to be stored in the model file"]
    assert rebelboost.load(tmp_path / "m").metadata_["evaluation"] is None
