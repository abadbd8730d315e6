"""Results that no fit here gives: kept model files, and what the command writes."""

import csv
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rebelboost import load
from sameness.digests import Notes, note_file
from sameness.samples import table

KEPT = Path(__file__).resolve().parents[2] / "tests" / "models"
REBEL = [sys.executable, "-W", "ignore", "-m", "rebelboost.cli"]
TRAININGS = {
    "tree": ["--learner", "tree", "--rounds", "12"],
    "race with costs": ["--rounds", "4", "--costs", "costs.csv", "--seed", "5"],
}

# ---- model files


def kept_files() -> list[Path]:
    return sorted(KEPT.glob("v1-*.safetensors"))


def record_kept(path: Path) -> Notes:
    """Digests of a file's answers, and whether they are those written down beside it."""
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    X, notes = kept_samples(kept), Notes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load(path)
        scores = np.asarray(getattr(model, "decision_function", model.predict)(X))
        decided = model.predict(X).tolist()
        notes.number("scores", lambda: scores)
        notes.number("decisions", lambda: decided)
        notes.number("to_dict", model.to_dict)
        notes.both("explain", lambda: model.explain(X[:3]).table())
        notes.word("summary", lambda: str(model.summary()))
    written = np.array(kept["scores"]).reshape(scores.shape)
    if not np.array_equal(scores, written) or decided != kept["decisions"]:
        notes.numbers["as written down"] = "no"
    return notes


def kept_samples(kept: dict[str, Any]) -> Any:
    if not kept["columns"]:
        return np.array(kept["samples"], dtype=np.float64)
    frame = pd.DataFrame(kept["samples"], columns=kept["columns"])
    return frame.astype(dict.fromkeys(kept["columns"][:2], float))


# ---- the command


def record_command(options: list[str]) -> Notes:
    """Train on one CSV file by the command, then decide on another."""
    notes = Notes()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        train = ["train", "train.csv", "--target", "state", "--threads", "1", *options]
        notes.word("train: printed", lambda: without_seconds(run(folder, *train)))
        note_file(notes, folder / "train.safetensors")
        using = ["train.safetensors", "asked.csv"]
        rows = list(csv.reader(run(folder, "predict", *using).splitlines()))
        notes.number("predict: rows", lambda: rows[1:])
        notes.word("predict: header", lambda: rows[0])
        for command in ("evaluate", "explain"):
            notes.both(
                command, lambda command=command: records(run(folder, command, *using, "--json"))
            )
    return notes


def write_tables(folder: Path) -> None:
    for name, seed in (("train", 0), ("asked", 1)):
        frame, y = table(80, seed)
        frame.assign(state=y).to_csv(folder / f"{name}.csv", index=False)
    costs = pd.DataFrame([[0, 1, 6], [1, 0, 1], [2, 1, 0]], ["bad", "fair", "good"])
    costs.set_axis(costs.index, axis=1).to_csv(folder / "costs.csv")


def run(folder: Path, *words: str) -> str:
    done = subprocess.run([*REBEL, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"rebel {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def without_seconds(printed: str) -> str:
    return re.sub(r"[\d.,]+ s\b", "… s", printed)


def records(printed: str) -> list[Any]:
    return [json.loads(line) for line in printed.splitlines()]
