"""QuickBoost: visits and seconds of pruned, exhaustive and automatic search; the trees are the same.

python benchmarks/pruning.py [--sets digit_8,digits,faces,isolet] [--depths 1,2,4] [--rounds 1000]
    [--settings plain,trim_90,…] [--searches exhaustive,pruned,auto,faulty] [--repeats 1]
    [--quick] [--plot pruning.png]

Visits are pairs of a sample and a feature. Seconds are of the processor, on one thread, so that
other work on the machine counts little; the least of the repeats. The searches of a line follow one
another in one process; two lines run at a time, and are kept in `.benchmarks/reproduce/units` until
our code changes: a run that was stopped goes on.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import data
import measuring
from faulty import FaultySet
from rebelboost import RebelClassifier, Stump, Tree
from rebelboost.data import training_set
from rebelboost.data.training_set import TrainingSet
from reproduce import harness

SETTINGS: dict[str, dict[str, float]] = {  # the six of QUICK Fig. 5
    "plain": {},
    "trim_90": {"weight_trimming": 0.9},
    "trim_99": {"weight_trimming": 0.99},
    "lazy_90": {"feature_subsample": 0.9},
    "lazy_50": {"feature_subsample": 0.5},
    "stochastic_50": {"subsample": 0.5},
}
SEARCHES = ("exhaustive", "pruned", "auto", "faulty")
PAPERS_SHARE = 0.07  # of the samples hold 90 % of the mass [QUICK, Fig. 1]
ROWS = 10_000
ROUNDS = {"digit_8": 1000, "faces": 1000, "digits": 200, "isolet": 200}
"""At most. With ten and 26 classes a round takes as many times longer."""

Run = dict[str, Any]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    file = {"digit_8": "mnist", "digits": "mnist", "faces": "cbcl_faces"}.get(name, name)
    split = data.load(file)
    X, y = split.X_train[:ROWS], split.y_train[:ROWS]
    return X, (y == 8).astype(np.int64) if name == "digit_8" else y


def measure(set_name: str, depth: int, setting: str, search: str, rounds: int, repeats: int) -> Run:
    X, y = load(set_name)
    shared: Any = {"search": "exhaustive" if search == "faulty" else search}
    learner = Stump(**shared) if depth == 1 else Tree(depth, outputs="tree", **shared)
    used = FaultySet if search == "faulty" else TrainingSet
    seconds, wall = [], []
    for _ in range(repeats):
        model = RebelClassifier(
            learner,
            n_rounds=rounds,
            decision="argmax",
            random_state=0,
            n_jobs=1,
            **SETTINGS[setting],
        )
        began, began_wall = time.process_time(), time.perf_counter()
        with mock.patch.object(training_set, "TrainingSet", used):  # an error where it is not named
            model.fit(X, y)
        seconds.append(time.process_time() - began)
        wall.append(time.perf_counter() - began_wall)
    table = model.history_.table()
    heavy = np.array(table["heavy_share"])
    return {
        "set": set_name,
        "depth": depth,
        "setting": setting,
        "search": search,
        "rounds": len(table["visited"]),
        "visits": int(np.sum(table["visited"])),
        "seconds": min(seconds),
        "wall": min(wall),
        "log_loss": table["log_loss"][-1],
        "heavy": float(np.nanmedian(heavy)) if np.isfinite(heavy).any() else None,
        "heavy_last": float(heavy[-1]) if len(heavy) and np.isfinite(heavy[-1]) else None,
        "visits_by_round": np.cumsum(table["visited"])[:: max(1, rounds // 100)].tolist(),
    }


def measure_line(
    set_name: str, depth: int, setting: str, searches: str, rounds: int, repeats: int
) -> list[Run]:
    """Run all searches, one after the other, so that a busy minute hits them alike."""
    return [
        measure(set_name, depth, setting, search, rounds, repeats) for search in searches.split(",")
    ]


def report(runs: list[Run]) -> None:
    """One line for each set, depth and setting; ratios are to exhaustive search."""
    by_key: dict[tuple[Any, ...], dict[str, Run]] = {}
    for run in runs:
        by_key.setdefault((run["set"], run["depth"], run["setting"]), {})[run["search"]] = run
    rows = []
    for (name, depth, setting), found in by_key.items():
        base = found.get("exhaustive")
        if base is None:
            continue
        row = [f"{name}, depth {depth}, {setting}", f"{base['rounds']}", f"{base['seconds']:.1f}"]
        for search in ("pruned", "auto", "faulty"):
            run = found.get(search)
            row += (
                [f"{base['visits'] / run['visits']:.1f}", f"{base['seconds'] / run['seconds']:.2f}"]
                if run
                else ["", ""]
            )
        pruned = found.get("pruned", {})
        row.append(f"{pruned['heavy']:.0%}" if pruned.get("heavy") is not None else "")
        row.append("yes" if same(found) else "NO")
        rows.append(row)
    header = ["", "rounds", "exhaustive, s"]
    for search in ("pruned", "auto", "faulty"):
        header += [f"visits ÷, {search}", f"seconds ÷, {search}"]
    header += ["90 % of mass in (QUICK: 7 %)", "same loss"]
    print(measuring.markdown(header, rows))


def same(found: dict[str, Run]) -> bool:
    """All exact searches end at the same loss, to the bit."""
    return len({run["log_loss"] for search, run in found.items() if search != "faulty"}) == 1


def plot(runs: list[Run], path: Path) -> None:
    """Visits by round: a row of pictures for each set, a column for each depth."""
    plain = [run for run in runs if run["setting"] == "plain"]
    sets, depths = ({run[key]: None for run in plain} for key in ("set", "depth"))
    figure, axes = harness.new_figure(len(sets), len(depths))
    for row, name in zip(axes, sets, strict=True):
        for ax, depth in zip(row, depths, strict=True):
            _draw(ax, [run for run in plain if (run["set"], run["depth"]) == (name, depth)])
            ax.set(title=f"{name}, depth {depth}")
        row[0].set_ylabel("pairs visited")
    for ax in axes[-1]:
        ax.set_xlabel("rounds")
    figure.savefig(path, dpi=110)
    print(f"plot: {path}")


def _draw(ax: Any, runs: list[Run]) -> None:
    colours = {"exhaustive": "0.5", "pruned": "C0", "auto": "C1", "faulty": "C3"}
    for run in runs:
        visits = run["visits_by_round"]
        style = "--" if run["search"] in ("auto", "faulty") else "-"
        label = f"{run['search']}, {run['seconds']:.1f} s"
        rounds = np.linspace(1, run["rounds"], len(visits))
        ax.loglog(rounds, visits, style, color=colours[run["search"]], label=label)
    ax.legend()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", default="digit_8,digits,faces,isolet")
    parser.add_argument("--depths", default="1,2,4")
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--searches", default=",".join(SEARCHES))
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="digit_8, plain, 100 rounds")
    parser.add_argument("--plot", type=Path, default=harness.FOLDER / "pruning.png")
    args = parser.parse_args()
    if args.quick:
        args.sets, args.settings, args.rounds = "digit_8", "plain", min(args.rounds, 100)
    found = harness.measure_all(measure_line, list(lines(args)))
    runs = [run for line in found.values() for run in line]
    print(measuring.describe_machine(measuring.machine(), 1))
    report(runs)
    plot(runs, args.plot)


def lines(args: argparse.Namespace) -> Iterator[tuple[str, int, str, str, int, int]]:
    for name in args.sets.split(","):
        for depth in map(int, args.depths.split(",")):
            for setting in args.settings.split(","):
                searches = args.searches.split(",")
                # The faulty baseline is written for two classes and by hand: once is enough.
                if name != "digit_8" or setting != "plain":
                    searches = [search for search in searches if search != "faulty"]
                rounds = min(args.rounds, ROUNDS[name])
                yield name, depth, setting, ",".join(searches), rounds, args.repeats


if __name__ == "__main__":
    main()
