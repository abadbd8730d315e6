"""The command as installed, its help, and the whole story of the demo."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HELP_SECONDS = 0.3
RUNS = 8
COMMANDS = ("train", "predict", "evaluate", "explain", "report", "demo")
REBEL = Path(sys.executable).with_name("rebel")


def run(*words, **options):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)  # noqa: PLW1510


def seconds_of_help():
    """Processor time, which other work on the machine adds little to."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(REBEL, "--help", check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_is_there_at_once():
    assert any(seconds_of_help() <= HELP_SECONDS for _ in range(RUNS))


def test_help_names_all_commands():
    told = run(REBEL, "--help", check=True).stdout
    assert all(command in told for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(rebel, command):
    done = rebel(command, "--help")
    assert done.exit_code == 0
    assert "Usage" in done.stdout


def test_help_loads_neither_the_library_nor_polars():
    code = (
        "import sys, rebelboost.cli.main; "
        "print(*{'sklearn', 'numpy', 'polars', 'rebelboost.estimators.classifier'} & set(sys.modules))"
    )
    assert run(sys.executable, "-c", code, check=True).stdout.split() == []


UNNEEDED = (
    *("rebelboost.distributed", "rebelboost.rows.files", "rebelboost.rows.cluster", "dask"),
    *("rebelboost.tables.large_tables", "rebelboost.cli.train_files"),
    *("rebelboost.report", "rebelboost.plots", "rebelboost.vision", "matplotlib", "PIL"),
)
"""What only large tables, reports and detectors need."""
TRAINING = """
import sys
from rebelboost.cli.main import app
try:
    app("train loans.csv --target repaid --rounds 3".split())
finally:
    print(*sys.modules, file=sys.stderr)
"""


def test_training_on_a_small_table_loads_nothing_of_files_in_pieces_and_clusters(loans):
    done = run(sys.executable, "-c", TRAINING, check=True, cwd=loans.parent)
    loaded = done.stderr.split()
    assert "rebelboost.cli.train" in loaded
    assert not [name for name in loaded if f"{name}.".startswith(tuple(f"{u}." for u in UNNEEDED))]


def test_the_installed_command_trains_and_predicts(loans):
    folder = loans.parent
    trained = run(REBEL, "train", "loans.csv", "-t", "repaid", "--rounds", 5, cwd=folder)
    assert trained.returncode == 0, trained.stderr
    assert trained.stderr == ""  # no progress where nobody watches
    decided = run(REBEL, "predict", "loans.safetensors", "loans.csv", cwd=folder)
    assert decided.returncode == 0
    assert len(decided.stdout.splitlines()) == 151


def test_the_installed_command_refuses_with_exit_code_2(folder):
    done = run(REBEL, "train", "none.csv", "--target", "y", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("rebel: there is no file none.csv")


def test_a_reader_that_stops_early_is_no_error(model):
    command = f"{REBEL} predict loans.safetensors loans.csv --batch 2 | head -n 1"
    done = run("bash", "-c", f"set -o pipefail; {command}", cwd=model.parent)
    assert done.stdout.startswith("loan,decision,")
    assert done.stderr == ""


def test_without_its_extra_it_says_what_to_install(tmp_path):
    code = "from rebelboost import cli; cli.NEEDED = ('no_such_library',); cli.run()"
    done = run(sys.executable, "-c", code)
    assert done.returncode == 2
    assert done.stderr == 'rebel needs extra packages: pip install "rebelboost[cli]"\n'


def test_shells_can_complete_it(folder):
    environment = {**os.environ, "_REBEL_COMPLETE": "complete_bash", "COMP_WORDS": "rebel tr"}
    done = run(REBEL, env=environment | {"COMP_CWORD": "1"})
    assert done.stdout.split() == ["train"]


@pytest.mark.slow
def test_the_demo_tells_the_whole_story(folder, rebel):
    done = rebel("demo", "there")
    assert done.exit_code == 0, done.stderr
    for command in COMMANDS[:-1]:
        assert f"$ rebel {command} " in done.stdout
    made = {p.name for p in (folder / "there").iterdir()}
    assert {"tumours.safetensors", "decisions.csv", "report.html"} <= made
    shutil.rmtree(folder / "there")
