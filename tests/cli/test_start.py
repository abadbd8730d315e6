"""`rebel predict` starts without the libraries and the own modules that only training and evaluation need."""

import subprocess
import sys

import pytest

from loans import loan_lines

SLOW = ["sklearn", "scipy", "pandas", "joblib", "pyarrow", "matplotlib", "dask", "starlette",
        "rich.console", "numpy.random", "numpy.polynomial"]  # fmt: skip
OF_TRAINING = [
    "learners",
    "rows",
    "theory",
    "tasks",
    "estimators",
    "boosting.loop",
    "selection.runner",
]
SLOW += [f"rebelboost.{name}" for name in OF_TRAINING]


def imported(folder, *words, stdin=""):
    code = (
        "import sys\n"
        "from rebelboost.cli.main import app\n"
        f"app({[str(word) for word in words]!r}, standalone_mode=False)\n"
        f"print(*sorted(set(sys.modules) & set({SLOW})), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(
        words, input=stdin, capture_output=True, text=True, check=True, cwd=folder
    )
    return done.stdout, done.stderr.split()


def test_predicting_imports_none_of_them(model, folder):
    table = "\n".join(loan_lines()[:4]) + "\n"
    told, found = imported(folder, "predict", model, "-", stdin=table)
    assert len(told.splitlines()) == 4
    assert found == []


def test_the_help_imports_none_of_them(folder):
    assert imported(folder, "--help")[1] == []


def test_predictions_are_the_same_with_and_without_them(model, folder, rebel):
    """Costs that equal the model's make the command load scikit-learn."""
    table = folder / "loans.csv"
    (folder / "uniform.csv").write_text(",no,yes\nno,0,1\nyes,1,0\n", encoding="utf-8")
    fast = rebel("predict", model, table).stdout
    slow = rebel("predict", model, table, "--costs", folder / "uniform.csv").stdout
    assert fast == slow
    assert len(fast.splitlines()) == len(loan_lines())


@pytest.mark.parametrize("words", [("predict",), ("serve",)])
def test_a_file_that_is_no_model_is_refused_in_one_line(words, folder, rebel):
    (folder / "no.safetensors").write_bytes(b"no model")
    done = rebel(*words, "no.safetensors", *(["x.csv"] if words == ("predict",) else []))
    assert done.exit_code == 2
    assert len(done.stderr.strip().splitlines()) <= 2
    assert "no.safetensors" in done.stderr
