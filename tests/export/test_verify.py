"""`verify` finds the first answer that differs."""

import json
import math
import re

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import rebelboost
from export.models import model, wine
from export.programs import NODE, written
from rebelboost import Binary, ExportError, RebelClassifier, Similarity
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import found_compiler, verify
from rebelboost.model.trees import Trees


def test_vectors_stand_on_both_sides_of_every_threshold():
    given = model("averaged trees")
    X = samples_for(given)
    for _, trees in given.ensemble.of_kind(Trees):
        numbers = (trees.features >= 0) & (trees.category < 0)
        numbers &= np.isfinite(trees.thresholds)
        for f, at in zip(trees.features[numbers], trees.thresholds[numbers], strict=True):
            assert at in X[:, f]
            assert np.nextafter(at, np.inf) in X[:, f]
    assert np.isnan(X).any(axis=0).all()


def test_vectors_are_always_the_same():
    given = model("the default blend of categories")
    np.testing.assert_array_equal(samples_for(given), samples_for(given))


def test_a_changed_threshold_is_found(tmp_path):
    given = model("averaged trees")
    path = written(given, tmp_path, "c")
    text = path.read_text()
    root = given.ensemble.of_kind(Trees)[0][1].thresholds[0].item()
    assert text.count(f"{root!r},") == 1
    path.write_text(text.replace(f"{root!r},", f"{math.nextafter(root, math.inf)!r},"))
    found = verify(given, path)
    assert found.first is not None
    assert f"first in row {found.first.row}: {found.first.what}" in str(found)
    assert found.n_differing["score"] > 0


@NODE
def test_a_changed_temperature_changes_probabilities_but_no_scores(tmp_path):
    given = model("averaged trees")
    path = written(given, tmp_path, "js")
    text = path.read_text()
    path.write_text(re.sub(r'"temperature":[^,]+,', '"temperature":0.123,', text))
    found = verify(given, path)
    assert found.n_differing["score"] == 0
    assert found.n_differing["probability"] > 0


def test_a_program_that_does_not_compile_is_named(tmp_path):
    path = tmp_path / "broken.c"
    path.write_text("int x = ;")
    with pytest.raises(ExportError, match=r"could not be compiled: (.|\n)*error"):
        verify(model("argmax"), path)


def test_other_languages_cannot_be_verified(tmp_path):
    with pytest.raises(ExportError, match=r"model.rs cannot be run: give a file that ends in .c"):
        verify(model("argmax"), tmp_path / "model.rs")


def test_without_a_compiler_the_remedy_is_said(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ExportError, match="no C compiler was found: install"):
        found_compiler()


# ---- what cannot be exported


@pytest.mark.parametrize(
    ("learner", "what"),
    [
        (Binary(GaussianNB()), "only Python can compute"),
        (Similarity(metric="cityblock"), "other than the Euclidean one"),
        (Similarity(search="exact", scale="none"), "to the letter of the papers"),
    ],
)
@pytest.mark.parametrize("suffix", [".c", ".js"])
def test_kinds_that_only_python_can_compute_are_refused(learner, what, suffix, tmp_path):
    fitted = RebelClassifier(learner, n_rounds=3, cross_fit=None).fit(*wine())
    with pytest.raises(ExportError, match=f"{what}.*: train with "):
        fitted.export(tmp_path / f"model{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_suffix_that_names_no_language_is_refused(tmp_path):
    fitted = RebelClassifier("stump", n_rounds=3, cross_fit=None).fit(*wine())
    with pytest.raises(ExportError, match=r"model.rs names no language by its suffix: use one of"):
        fitted.export(tmp_path / "model.rs")


def test_json_is_the_data_of_to_dict(tmp_path):
    fitted = RebelClassifier("stump", n_rounds=3, cross_fit=None).fit(*wine())
    fitted.export(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text()) == fitted.to_dict()


def test_a_loaded_model_exports_the_same_text(tmp_path):
    fitted = RebelClassifier("tree", n_rounds=5).fit(*wine())
    fitted.save(tmp_path / "model.safetensors")
    fitted.export(tmp_path / "before.c")
    rebelboost.load(tmp_path / "model.safetensors").export(tmp_path / "after.c")
    assert (tmp_path / "before.c").read_bytes() == (tmp_path / "after.c").read_bytes()
