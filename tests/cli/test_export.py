"""`export` writes a model as a program, and `verify` compares it with the model."""

import importlib.util
import json
import shutil

import pytest

from rebelboost import load
from rebelboost.export.vectors import samples_for

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
ONNX = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ["onnx", "onnxruntime"])),
    reason="rebelboost[onnx] is not installed",
)
LANGUAGES = ["c", pytest.param("js", marks=NODE), pytest.param("onnx", marks=ONNX)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_exported_is_identical(language, model, folder, rebel):
    done = rebel("export", model, "-o", f"loans.{language}")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("Wrote ")
    assert f"to loans.{language} (" in done.stdout
    verified = rebel("verify", model, f"loans.{language}", "--rows", 50)
    assert verified.exit_code == 0, verified.stderr
    n = len(samples_for(load(model).model_, 50))
    assert verified.stdout == f"identical: {5 * n:,} values of {n:,} rows\n"


def test_integers_have_no_probabilities_and_are_otherwise_identical(loans, folder, rebel):
    options = ("--target", "repaid", "--learner", "tree", "--rounds", 20)
    assert rebel("train", loans, *options, "-o", "trees.safetensors").exit_code == 0
    done = rebel("export", "trees.safetensors", "-o", "trees.c", "--bins")
    assert done.exit_code == 0, done.stderr
    verified = rebel("verify", "trees.safetensors", "trees.c", "--rows", 50)
    n = len(samples_for(load(folder / "trees.safetensors").model_, 50))
    assert verified.stdout == f"identical: {3 * n:,} values of {n:,} rows\n"


def test_json_is_the_data_of_the_model(model, folder, rebel):
    assert rebel("export", model, "-o", "loans.json").exit_code == 0
    assert json.loads((folder / "loans.json").read_text()) == load(model).to_dict()


def test_other_costs_are_part_of_the_program(model, costs, folder, rebel):
    assert rebel("export", model, "-o", "loans.c", "--costs", costs).exit_code == 0
    assert rebel("verify", model, "loans.c", "--costs", costs).exit_code == 0
    assert rebel("verify", model, "loans.c").exit_code == 1


def test_the_first_row_that_differs_is_told(model, folder, rebel, records):
    rebel("export", model, "-o", "loans.c")
    path = folder / "loans.c"
    path.write_text(path.read_text().replace("TEMPERATURE = ", "TEMPERATURE = 0.1 * "))
    done = rebel("verify", model, "loans.c")
    assert done.exit_code == 1
    assert "first in row 0: probability 0." in done.stdout
    told = json.loads(rebel("verify", model, "loans.c", "--json").stdout)
    assert told["differing"]["score"] == 0
    assert told["first"]["what"] == "probability"


def test_a_file_that_is_not_there_is_told_with_the_remedy(model, folder, rebel):
    done = rebel("verify", model, "absent.c")
    assert done.exit_code == 2
    assert "there is no file absent.c: `rebel export" in done.stderr


def test_a_suffix_that_names_no_language_is_refused(model, folder, rebel):
    done = rebel("export", model, "-o", "model.rs")
    assert done.exit_code == 2
    assert "names no language by its suffix: use one of" in done.stderr
