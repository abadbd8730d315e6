"""Localized similarities beside what LOCAL printed, and beside other libraries.

python benchmarks/reproduce/local.py [--only spirals,fig8,curves,official,rows] [--sets vowel,…]
    [--folder results]

Figures go into the folder as PNG. For "official" see `local_official.py`.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

import data
import measuring
from rebelboost import RebelClassifier, Similarity
from rebelboost.datasets import spirals
from rebelboost.plots import plot_examples, plot_regions, plot_training
from reproduce import harness, local_official

N_THREADS = 2
GOALS = {
    "glass": 27.4, "vowel": 27.0, "pendigits": 1.8, "optdigits": 2.3, "landsat": 7.5,
    "isolet": 3.5, "letter": 5.0, "shuttle": 0.06, "mnist": 1.7,
}  # fmt: skip
FIG_8 = {
    "glass": 27.4, "vowel": 9.5, "landsat": 10.6, "mnist": 9.3, "pendigits": 1.2, "segment": 3.3,
}  # fmt: skip
CURVES = {  # Figs. 6 and 7: rounds, and log₁₀ of the loss there
    "glass": (10_000, -222.7),
    "pendigits": (2_000, -10.2),
    "optdigits": (10_000, -37.0),
    "isolet": (10_000, -10.6),
}


def error(model: object, X: np.ndarray, y: np.ndarray) -> float:
    return 100 * float(np.mean(model.predict(X) != y))


def official(options: argparse.Namespace) -> Iterator[str]:
    """LOCAL Fig. 9: official splits, beside other methods."""
    sets = tuple(options.sets or GOALS)
    yield harness.markdown(local_official.run(quick=False, sets=sets))
    found = local_official.measured(sets, [local_official.OURS])
    ours = {name: by_method[local_official.OURS] for name, by_method in found.items()}
    errors = {name: local_official.means(draws)[0] for name, draws in ours.items()}
    rows = [[s, f"{e:.2f}", str(GOALS[s]), verdict(e, GOALS[s])] for s, e in errors.items()]
    yield measuring.markdown(["set", "ours", "goal", ""], rows)


def fig8(options: argparse.Namespace) -> Iterator[str]:
    """LOCAL Fig. 8: five random splits, half to train on, a quarter to test; 200 rounds."""
    rows = []
    for name in options.sets or FIG_8:
        errors = []
        for seed in range(5):
            X, y = pooled(name)
            X_train, rest, y_train, other = train_test_split(
                X, y, train_size=0.5, random_state=seed
            )
            _, X_test, _, y_test = train_test_split(rest, other, test_size=0.5, random_state=seed)
            model = RebelClassifier(Similarity(), n_rounds=200, n_jobs=N_THREADS)
            errors.append(error(model.fit(X_train, y_train), X_test, y_test))
        ours = float(np.mean(errors))
        rows.append([name, f"{ours:.2f}", str(FIG_8[name]), verdict(ours, FIG_8[name])])
        print(rows[-1], file=sys.stderr, flush=True)
    yield measuring.markdown(["set", "ours", "printed", ""], rows)


def pooled(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(data.path(name)) as arrays:
        if "X" in arrays:
            return arrays["X"].astype(np.float32), arrays["y"]
        X = np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float32)
        y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    if name == "mnist":  # the paper's share of it is not known
        some = np.random.default_rng(0).permutation(len(y))[:10_000]
        return X[some], y[some]
    return X, y


def spiral_figures(options: argparse.Namespace) -> Iterator[str]:
    """LOCAL Figs. 2–5: spirals, less data, wrong labels."""
    rows, found = [], {}
    figure = Figure(figsize=(12, 12), layout="constrained")
    axes = figure.subplots(3, 3).ravel()
    cases = [("all", {}, "0.0"), ("4/5", {"n_train": 267}, "1.2"), ("3/5", {"n_train": 200}, "1.8"),
             ("2/5", {"n_train": 133}, "2.0"), ("1/5", {"n_train": 67}, "14.0"),
             ("1 % wrong", {"wrong": 0.01}, "0.0"), ("3 % wrong", {"wrong": 0.03}, "3.6"),
             ("10 % wrong", {"wrong": 0.1}, "5.4"),
             ("30 % wrong", {"wrong": 0.3}, "31.1")]  # fmt: skip
    for ax, (title, changed, printed) in zip(axes, cases, strict=True):
        errors, zeros = [], []
        for seed in range(5):
            X, y, X_test, y_test = spirals(seed, **changed)
            model = RebelClassifier(Similarity(scale="none"), n_rounds=1000, cross_fit=None).fit(
                X, y
            )
            errors.append(error(model, X_test, y_test))
            zeros.append(next((r.index + 1 for r in model.history_ if r.error == 0), None))
        plot_examples(model, X, plot_regions(model, X, y, ax))
        ax.set(title=f"{title}: {np.mean(errors):.1f} % (printed {printed})")
        rows.append([title, f"{np.mean(errors):.2f}", printed, str(zeros)])
        found[title] = {"errors": errors, "printed": printed, "zeros": zeros}
    figure.savefig(options.folder / "local_fig2_5_spirals.png", dpi=90)
    keep(options.folder, "spirals", found)
    yield measuring.markdown(
        ["training data", "test error %, mean of 5", "printed", "rounds to no training error"], rows
    )


def curves(options: argparse.Namespace) -> Iterator[str]:
    """LOCAL Figs. 6–7: the loss after many rounds, and the errors."""
    rows, found = [], {}
    figure = Figure(figsize=(12, 8), layout="constrained")
    for ax, (name, (rounds, printed)) in zip(
        figure.subplots(2, 2).ravel(), CURVES.items(), strict=True
    ):
        if options.sets and name not in options.sets:
            continue
        losses, errors = [], []
        for seed in range(local_official.DRAWS.get(name, 1)):
            split = local_official.official_split(name, seed)
            model = RebelClassifier(
                Similarity(),
                n_rounds=rounds,
                tol=0.0,
                cross_fit=None,
                n_jobs=N_THREADS,
                random_state=seed,
            ).fit(split.X_train, split.y_train)
            losses.append(model.history_[-1].log_loss / np.log(10))
            errors.append(error(model, split.X_test, split.y_test))
        ours, wrong = float(np.mean(losses)), float(np.mean(errors))
        plot_training(model, split.X_test, split.y_test, ax).set(title=name)
        rows.append([name, str(rounds), f"{ours:.1f}", str(printed), verdict(ours, printed),
                     f"{wrong:.2f}"])  # fmt: skip
        found[name] = {"rounds": rounds, "log10_loss": ours, "printed": printed, "errors": errors}
        print(rows[-1], file=sys.stderr, flush=True)
    figure.savefig(options.folder / "local_fig6_7_training.png", dpi=90)
    keep(options.folder, "curves", found)
    yield measuring.markdown(
        ["set", "rounds", "log₁₀ loss, ours", "printed", "", "test error %"], rows
    )


def rows_of_mnist(options: argparse.Namespace) -> Iterator[str]:
    """What a round costs, by the number of samples."""
    split = data.load("mnist")
    rows = []
    for n in (1000, 4000, 16_000, 60_000):
        times = {}
        for rounds in (100, 300):
            began = time.perf_counter()
            learner = Similarity(scale="none")
            model = RebelClassifier(learner, n_rounds=rounds, tol=0.0, n_jobs=N_THREADS)
            model.fit(split.X_train[:n], split.y_train[:n])
            times[rounds] = time.perf_counter() - began
        a_round = (times[300] - times[100]) / 200
        memory = measuring.peak_memory()
        rows.append([str(n), f"{1000 * a_round:.2f}", f"{times[300]:.1f}",
                     "?" if memory is None else f"{memory / 1e6:.0f}"])  # fmt: skip
    del options
    yield measuring.markdown(
        ["samples × 784", "ms a round", "s for 300 rounds", "process so far, MB"], rows
    )


def verdict(ours: float, goal: float) -> str:
    return "reached" if ours <= goal else "missed"


def keep(folder: Path, name: str, found: object) -> None:
    (folder / f"local_{name}.json").write_text(json.dumps(found, indent=1))


PARTS = {
    "spirals": spiral_figures,
    "fig8": fig8,
    "curves": curves,
    "official": official,
    "rows": rows_of_mnist,
}


def main() -> None:
    def listed(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=listed, default=list(PARTS))
    parser.add_argument("--sets", type=listed, default=None)
    parser.add_argument("--folder", type=Path, default=Path(".benchmarks/reproduce"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(measuring.describe_machine(measuring.machine(), N_THREADS))
    for part in options.only:
        print(f"\n## {PARTS[part].__doc__}\n", flush=True)
        for text in PARTS[part](options):
            print(text + "\n", flush=True)


if __name__ == "__main__":
    main()
