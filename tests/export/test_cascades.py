"""Exported programs decide as early as the cascade of the model, with the same decisions."""

import json
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import rebelboost
from export.models import COSTS, categories, digits, wine
from export.programs import NODE, written
from rebelboost import ExportError, RebelClassifier, Tree
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import verify

LANGUAGES = ["c", pytest.param("js", marks=NODE)]


def two_classes(**options):
    X, y = load_breast_cancer(return_X_y=True)
    return RebelClassifier("tree", n_rounds=30, cross_fit=2, random_state=0, **options).fit(X, y), X


def of_digits(learner, **options):
    X, y = digits()
    return RebelClassifier(learner, n_rounds=40, random_state=0, **options).fit(X[:400], y[:400]), X


def blend(**options):
    X, y = wine()
    return RebelClassifier(n_rounds=20, cross_fit=2, random_state=0, **options).fit(X, y), X


CASES = {
    "two classes": two_classes,
    "two classes with costs": lambda: two_classes(costs=[[0, 1], [5, 0]]),
    "leads of ten classes": lambda: of_digits(Tree(depth=3), cross_fit=None),
    "averaged trees of ten classes": lambda: of_digits("tree", cross_fit=2),
    "similarities": lambda: of_digits("similarity", cross_fit=None),
    "a blend": blend,
    "costs of three classes": lambda: blend(costs=COSTS),
    "abstaining": lambda: blend(costs=COSTS, reject_cost=0.2, reject_label="?"),
    "abstaining by the highest score": lambda: blend(
        decision="argmax", reject_cost=0.1, reject_label=-1
    ),
}


@cache
def fitted(name):
    return CASES[name]()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CASES)
def test_decisions_and_numbers_of_terms_are_those_of_the_cascade(name, language, tmp_path):
    clf, X = fitted(name)
    cascade = clf.cascade(X, agreement=0.97)
    assert cascade.terms_used(X).min() < len(clf.ensemble_)
    path = written(clf.model_, tmp_path, language, plan=clf.plan_)
    for asked in (X, samples_for(clf.model_, 200)):
        found = verify(clf.model_, path, asked, clf.plan_)
        assert found.first is None, str(found)
        assert found.n_values == found.n_rows * (2 * len(clf.classes_) + 3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_thresholds_by_hand_are_followed(language, tmp_path):
    clf, X = fitted("two classes")
    n_terms = len(clf.ensemble_)
    n_checks = -(-n_terms // 10) - 1
    lower = np.full(n_checks, -np.inf)
    clf.cascade(every=10, thresholds=(lower, np.linspace(0.5, 1.5, n_checks)))
    path = written(clf.model_, tmp_path, language, plan=clf.plan_)
    found = verify(clf.model_, path, X, clf.plan_)
    assert found.first is None, str(found)


def test_costs_in_a_column_are_weighed_early(tmp_path):
    frame, y = categories()
    frame = frame.assign(c=frame.c + 0.1)
    clf = RebelClassifier("tree", n_rounds=20, costs={("u", "w"): "c"}).fit(frame, y)
    clf.cascade(frame, agreement=0.97)
    found = verify(clf.model_, written(clf.model_, tmp_path, "c", plan=clf.plan_), None, clf.plan_)
    assert found.first is None, str(found)


def test_a_changed_threshold_is_found(tmp_path):
    clf, X = fitted("two classes")
    clf.cascade(X)
    path = written(clf.model_, tmp_path, "c", plan=clf.plan_)
    path.write_text(path.read_text().replace("> CHECK_HIGH[check]", "> 0.5 * CHECK_HIGH[check]"))
    found = verify(clf.model_, path, X, clf.plan_)
    assert found.n_differing["decision"] == found.n_differing["score"] == 0
    assert found.n_differing["number of terms"] > 0


def test_a_cascade_without_its_plan_is_told(tmp_path):
    clf, X = fitted("two classes")
    clf.cascade(X)
    path = written(clf.model_, tmp_path, "c", plan=clf.plan_)
    with pytest.raises(ExportError, match="has a cascade, but the model has none"):
        verify(clf.model_, path, X)


def test_a_saved_cascade_is_exported_and_verified_by_the_commands(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from rebelboost.cli.main import app

    monkeypatch.chdir(tmp_path)
    clf, X = fitted("two classes")
    clf.cascade(X)
    clf.save("model.safetensors")
    rebelboost.load("model.safetensors").export("model.c")
    assert "model_decide_early" in (tmp_path / "model.c").read_text()
    done = CliRunner().invoke(app, ["verify", "model.safetensors", "model.c", "--json"])
    assert json.loads(done.stdout)["differing"]["number of terms"] == 0
