"""What runs on every push, and before a commit, is what `make lint` and `make test` run."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_every_push_and_pull_request_runs_targets_of_the_makefile():
    workflow = read(".github/workflows/checks.yml")
    assert set(workflow[True]) == {"push", "pull_request"}  # YAML reads the key "on" as true
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert sorted(commands) == ["make lint", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands:
        assert re.search(rf"^{command.removeprefix('make ')}:", makefile, re.MULTILINE)


def test_hooks_run_the_tools_that_the_linter_installs():
    hooks = {hook["id"]: hook for hook in read(".pre-commit-config.yaml")["repos"][0]["hooks"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tools = {re.split(r"[<>=]", need)[0] for need in project["optional-dependencies"]["lint"]}
    for name in ("ruff-check", "ruff-format", "clang-format"):
        program, *_ = hooks[name]["entry"].split()
        assert Path(program).name in tools


@pytest.mark.parametrize(("length", "is_long"), [(71, False), (72, True)])
def test_subjects_of_commits_have_fewer_than_72_characters(length, is_long):
    hooks = read(".pre-commit-config.yaml")["repos"][0]["hooks"]
    (pattern,) = (hook["entry"] for hook in hooks if "commit-msg" in hook.get("stages", ()))
    message = f"{'x' * length}\n\n{'y' * 100}\n"
    assert bool(re.search(pattern, message, re.MULTILINE | re.DOTALL)) == is_long
