"""A folder to work in, and the command, run in this process."""

import json

import pytest

from loans import loan_lines


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def loans(folder):
    path = folder / "loans.csv"
    path.write_text("\n".join(loan_lines()) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def costs(folder):
    path = folder / "costs.csv"
    path.write_text(",no,yes\nno,0,5\nyes,1,0\n", encoding="utf-8")
    return path


@pytest.fixture
def rebel():
    """Run the command: exit code, stdout, stderr; files of JSON as lists."""
    from typer.testing import CliRunner

    from rebelboost.cli.main import app

    def run(*words):
        return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)

    return run


@pytest.fixture
def records(rebel):
    """Run the command with --json, and read what it prints."""

    def run(*words):
        done = rebel(*words, "--json")
        assert done.exit_code == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.fixture
def model(loans, rebel):
    """A small model of the loans."""
    done = rebel("train", "loans.csv", "--target", "repaid", "--rounds", 10, "--learner", "stump")
    assert done.exit_code == 0, done.stderr
    return loans.with_name("loans.safetensors")
