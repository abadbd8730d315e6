"""Projects under random changes: are they what a fit from scratch gives, and is nothing lost or left?

python benchmarks/live_exact.py [--sequences 1000] [--kills 200] [--seed 0]

A sequence adds, labels, corrects, forgets and brings new classes, in random order, on rows of twelve tables.
The script keeps a ledger of its own. After each fit, the hash is compared with that of a project that is
created from the ledger and has seen nothing else. After each forget, the values and labels that only these
rows had are looked for in the file. Kills: a process labels rows and says so after each; it is killed at a
random moment; all labels that it had said must be there.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import data
from rebelboost.exceptions import ProjectError
from rebelboost.live import Project

TABLES = (
    "iris", "wine", "glass", "zoo", "vote", "heart_h", "hepatitis", "ecoli", "breast_w", "tae", "seeds",
    "autos",
)  # fmt: skip
STEPS, ROWS = 8, 60
COSTS = (None, {("class 0", "class 1"): 5.0})
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"learner": "tree", "n_rounds": 20},
    {"learner": "similarity", "n_rounds": 20},
    {"learner": "stump", "n_rounds": 20},
)
"""Every fourth sequence has the default; the others take a fraction of its time."""

Row = tuple[dict[str, Any], str | None]


def rows_of(name: str, draw: random.Random) -> list[Row]:
    with np.load(data.path(name)) as arrays:
        X, y = arrays["X"], arrays["y"]
    chosen = draw.sample(range(len(y)), min(ROWS, len(y)))
    return [
        ({f"c{j}": None if np.isnan(v) else float(v) for j, v in enumerate(X[i])}, f"class {y[i]}")
        for i in chosen
    ]


class Sequence:
    """Random changes of a project, and a ledger of what it must hold."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.draw = random.Random(seed)
        self.rows = rows_of(TABLES[seed % len(TABLES)], self.draw)
        self.costs, self.settings = COSTS[seed % 2], SETTINGS[seed // 2 % len(SETTINGS)]
        self.folder = folder
        start = self.rows[:30]
        self.project = Project.create(
            folder / "p.rebel", [cells | {"label": y} for cells, y in start], "label",
            task="classes", costs=self.costs, settings=self.settings,
        )  # fmt: skip
        self.ledger: dict[int, Row] = dict(enumerate(start, 1))
        self.spare = self.rows[30:]
        self.n_fits = self.n_other = self.n_found = self.n_searched = 0

    def run(self) -> None:
        for _ in range(STEPS):
            self.draw.choice((self.add, self.label, self.correct, self.forget, self.new_class))()
            if self.draw.random() < 0.4:
                self.compare()
        self.compare()
        self.project.close()

    def add(self) -> None:
        some, self.spare = self.spare[:5], self.spare[5:]
        known = [self.draw.random() < 0.7 for _ in some]
        given = [
            cells | {"label": y if k else None} for (cells, y), k in zip(some, known, strict=True)
        ]
        if not given:
            return
        ids = self.project.add(given).ids
        for number, (cells, y), is_known in zip(ids, some, known, strict=True):
            self.ledger[number] = cells, y if is_known else None

    def label(self) -> None:
        free = [n for n, (_, y) in self.ledger.items() if y is None]
        for number in free[:3]:
            self.set(number, self.draw.choice(self.rows)[1], self.project.label)

    def correct(self) -> None:
        known = [n for n, (_, y) in self.ledger.items() if y is not None]
        for number in self.draw.sample(known, min(2, len(known))):
            self.set(number, self.draw.choice(self.rows)[1], self.project.correct)

    def new_class(self) -> None:
        known = [n for n, (_, y) in self.ledger.items() if y is not None]
        for number in self.draw.sample(known, min(3, len(known))):
            self.set(number, "a class of its own", self.project.correct)

    def set(self, number: int, label: str | None, act: Any) -> None:
        act(number, label)
        self.ledger[number] = self.ledger[number][0], label

    def forget(self) -> None:
        gone = self.draw.sample(sorted(self.ledger), min(3, len(self.ledger)))
        texts = {str(v) for n in gone for v in self.ledger[n][0].values()}
        for number in gone:
            del self.ledger[number]
        kept = "\0".join(str(v) for cells, _ in self.ledger.values() for v in cells.values())
        receipt = self.project.forget(gone)
        contents = (self.folder / "p.rebel").read_bytes()
        fit = self.project.models.latest()
        model = (
            b"" if fit is None else fit.contents
        )  # `compare` shows that it has not seen the rows
        own = [t for t in texts if len(t) >= 5 and t not in kept and t.encode() not in model]
        self.n_searched += len(own)
        self.n_found += sum(text.encode() in contents for text in own) + receipt.n_found

    def compare(self) -> None:
        """The hash beside that of a project that is made of the ledger."""
        path = self.folder / "scratch.rebel"
        path.unlink(missing_ok=True)
        present = [cells | {"label": y} for cells, y in self.ledger.values() if y is not None]
        hashes = []
        with Project.create(
            path, present, "label", task="classes", costs=self.costs, settings=self.settings
        ) as scratch:
            for project in (self.project, scratch):
                try:
                    hashes.append(project.fit().hash)
                except ProjectError as error:  # such as a single class: in both
                    hashes.append(str(error))
        self.n_fits += 1
        self.n_other += hashes[0].replace("scratch", "p") != hashes[1].replace("scratch", "p")


# ---- kills

LABELLER = """
import sys
from rebelboost.live import Project
project = Project.open(sys.argv[1])
for row in range(int(sys.argv[2]), 5001):
    project.correct(row, f"label of {row}") if row % 2 else project.label(row, f"label of {row}")
    print(row, flush=True)
    if row % 7 == 0:
        project.add({"x": row})
"""


def killed(kills: int, seed: int, folder: Path) -> tuple[int, int, int]:
    """Kills, labels that were confirmed, and how many of these were lost."""
    draw = random.Random(seed)
    path = folder / "kills.rebel"
    Project.create(
        path, [{"x": i, "label": "first" if i % 2 else None} for i in range(1, 5001)], "label",
        task="classes",
    ).close()  # fmt: skip
    done, n_lost, labelled = 0, 0, 0
    for _ in range(kills):
        worker = subprocess.Popen(
            [sys.executable, "-c", LABELLER, str(path), str(done + 1)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert worker.stdout is not None
        first = worker.stdout.readline()
        time.sleep(draw.random() * 0.2)
        os.kill(worker.pid, signal.SIGKILL)
        said = [int(line) for line in [first, *worker.stdout.read().splitlines()] if line.strip()]
        worker.wait()
        with Project.open(path) as project:
            for row in said:
                labelled += 1
                n_lost += project.rows(row)[0].label != f"label of {row}"
            # One more may have been written without being said.
            done = max([done, *said])
            if project.rows(done + 1)[0].label == f"label of {done + 1}":
                done += 1
    return kills, labelled, n_lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    total = np.zeros(4, dtype=int)
    for i in range(given.sequences):
        with tempfile.TemporaryDirectory() as folder:
            one = Sequence(Path(folder), given.seed + i)
            one.run()
        total += (one.n_fits, one.n_other, one.n_searched, one.n_found)
        if (i + 1) % 50 == 0 or i + 1 == given.sequences:
            print(
                f"{i + 1} sequences on {len(TABLES)} tables: {total[0]} fits, {total[1]} hashes differ; "
                f"{total[2]} texts of forgotten rows searched, {total[3]} found",
                flush=True,
            )
    with tempfile.TemporaryDirectory() as folder:
        kills, labelled, lost = killed(given.kills, given.seed, Path(folder))
    print(f"killed {kills} times: {labelled} labels confirmed, {lost} lost")


if __name__ == "__main__":
    main()
