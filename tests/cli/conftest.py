"""A folder to work in, and the command, run in this process."""

import contextlib
import json
from pathlib import Path

import pytest

from loans import loan_lines

LOANS = "\n".join(loan_lines()) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def loans(folder):
    path = folder / "loans.csv"
    path.write_text(LOANS, encoding="utf-8")
    return path


@pytest.fixture
def costs(folder):
    path = folder / "costs.csv"
    path.write_text(",no,yes\nno,0,5\nyes,1,0\n", encoding="utf-8")
    return path


def run_rebel(*words):
    from typer.testing import CliRunner

    from rebelboost.cli.main import app

    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def rebel():
    """Run the command: exit code, stdout, stderr; files of JSON as lists."""
    return run_rebel


@pytest.fixture
def records(rebel):
    """Run the command with --json, and read what it prints."""

    def run(*words):
        done = rebel(*words, "--json")
        assert done.exit_code == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.fixture(scope="session")
def model_of_loans(tmp_path_factory):
    """The file of a small model of the loans."""
    folder = tmp_path_factory.mktemp("trained")
    with contextlib.chdir(folder):
        Path("loans.csv").write_text(LOANS, encoding="utf-8")
        words = ["train", "loans.csv", "--target", "repaid", "--rounds", 10, "--learner", "stump"]
        done = run_rebel(*words)
    assert done.exit_code == 0, done.stderr
    return (folder / "loans.safetensors").read_bytes()


@pytest.fixture
def model(loans, model_of_loans):
    """A small model of the loans."""
    path = loans.with_name("loans.safetensors")
    path.write_bytes(model_of_loans)
    return path
