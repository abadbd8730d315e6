"""Models in integers: the same scores and decisions without floating point."""

import platform
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from export.models import categories, digits, model, wine
from export.programs import CHECKED
from rebelboost import ExportError, RebelClassifier, RebelRegressor, Tree
from rebelboost.export.verify import verify

X, Y = load_breast_cancer(return_X_y=True)
MODELS = {
    "two classes": lambda: RebelClassifier("tree", n_rounds=20, cross_fit=3, random_state=0).fit(
        X, Y
    ),
    "two classes with costs": lambda: RebelClassifier(
        "tree", n_rounds=20, cross_fit=3, costs=[[0, 1], [7, 0]], random_state=0
    ).fit(X, Y),
    "stumps with other priors": lambda: (
        RebelClassifier("stump", n_rounds=30, cross_fit=3, random_state=0)
        .fit(X, Y)
        .with_priors([0.9, 0.1])
    ),
    "categories and missing values": lambda: RebelClassifier(
        "tree", n_rounds=20, cross_fit=3, random_state=0
    ).fit(*categories()),
    "missing values": lambda: RebelClassifier("tree", n_rounds=20, cross_fit=3, random_state=0).fit(
        *wine(0.1)
    ),
    "ten classes": lambda: RebelClassifier(
        Tree(depth=4), n_rounds=20, cross_fit=3, random_state=0
    ).fit(*digits()),
    "argmax": lambda: RebelClassifier(
        "tree", n_rounds=10, cross_fit=3, decision="argmax", costs=[[0, 1, 2], [3, 0, 1], [1, 1, 0]]
    ).fit(*wine()),
}


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_decisions_are_those_of_the_model(name, tmp_path):
    fitted, path = MODELS[name](), tmp_path / "model.c"
    fitted.export(path, bins=True)
    found = verify(fitted.model_, path)
    assert found.first is None, str(found)
    assert found.n_values == found.n_rows * (len(fitted.classes_) + 1)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="an option of gcc for this processor")
def test_the_file_uses_no_register_of_floating_point(tmp_path):
    MODELS["categories and missing values"]().export(tmp_path / "model.c", bins=True)
    command = ["gcc", *CHECKED, "-O2", "-mgeneral-regs-only", "-c", "model.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    words = subprocess.run(
        ["gcc", "-E", "-P", "model.c"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"double", "float"} & set(words)


def test_a_changed_output_is_found(tmp_path):
    fitted, path = MODELS["two classes"](), tmp_path / "model.c"
    fitted.export(path, bins=True)
    text = path.read_text()
    begin = text.index("outputs[")
    value = text[text.index("{", begin) + 1 :].split(",")[0].strip()
    at = text.index(value, text.index("{", begin))
    path.write_text(text[:at] + str(int(value) + 1) + text[at + len(value) :])
    assert verify(fitted.model_, path).n_differing["score"] > 0


@pytest.mark.parametrize(
    ("fit", "what"),
    [
        (lambda: RebelClassifier("similarity", n_rounds=5).fit(*wine()), "compares distances"),
        (lambda: RebelClassifier("tree", n_rounds=5, cross_fit=None).fit(*wine()), "a single fit"),
        (
            lambda: RebelClassifier(
                "tree", n_rounds=5, cross_fit=3, costs=[[0, 1], [7, 0]], training="costs"
            ).fit(X, Y),
            "so equal that rounding decides",
        ),
        (lambda: RebelRegressor("tree", n_rounds=5).fit(X, X[:, 0]), "regressions are not"),
        (
            lambda: RebelClassifier(
                "tree", n_rounds=5, cross_fit=3, reject_cost=0.2, reject_label=-1
            ).fit(X, Y),
            "abstaining depends on probabilities",
        ),
        (
            lambda: RebelClassifier(
                "tree", n_rounds=5, cross_fit=3, costs=1 - np.eye(3) + np.eye(3, k=1)
            ).fit(*wine()),
            "between 3 classes with unequal costs",
        ),
    ],
)
def test_what_integers_cannot_give_is_refused(fit, what, tmp_path):
    with pytest.raises(ExportError, match=what):
        fit().export(tmp_path / "model.c", bins=True)
    assert not list(tmp_path.iterdir())


def test_costs_by_sample_are_refused(tmp_path):
    from rebelboost.export import export_model

    given = model("costs in a column")
    with pytest.raises(ExportError, match="from sample to sample"):
        export_model(given, tmp_path / "model.c", "RebelClassifier", {}, bins=True)


def test_only_c_has_integers(tmp_path):
    with pytest.raises(ExportError, match=r"only C computes with integers: use the suffix .c"):
        MODELS["argmax"]().export(tmp_path / "model.js", bins=True)
