"""Exported models against Python: answers that differ, sizes of files, and rows a second.

python benchmarks/exported.py [--rows 1000000] [--only "letter, trees;…"] [--no-speed]

The rows are divided among the models. Some are those of `rebel verify`: at thresholds, missing, extreme. The
others are rows of the table's test part with noise. Every score, probability and decision is compared with
Python's, bit for bit, in C (gcc -O0, -O3 and for this processor; clang, or the package ziglang, if it is
installed) and in Node. Then a model of trees is timed in C and Python, beside LightGBM, if it is installed; all
on one thread.
"""

import argparse
import ctypes
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import data
from rebelboost import RebelClassifier, RebelRegressor, Similarity, SmoothSimilarity, Stump, Tree
from rebelboost.export.c import as_c
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.javascript import as_javascript
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import answers_of, compared, run_c, run_javascript

AT_ONCE, TRAINED_ON = 100_000, 3000
NOISY, MISSING = 0.5, 0.01
REPEATS = 5
CHECKED = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
TIMED = Tree(depth=6), 400


def table(name, n=TRAINED_ON):
    """Training rows, their classes, test rows, and which features are categories."""
    parts = data.load(name)
    with np.load(data.path(name)) as arrays:
        categorical = np.flatnonzero(arrays["categorical"]) if "categorical" in arrays else []
    chosen = np.random.default_rng(0).permutation(len(parts.X_train))[:n]
    X, X_test = parts.X_train[chosen].astype(np.float64), parts.X_test.astype(np.float64)
    return X, parts.y_train[chosen], X_test, list(map(int, categorical))


def costs_of(n):
    costs = np.random.default_rng(n).uniform(0.2, 2, (n, n))
    np.fill_diagonal(costs, 0)
    return costs


def classifier(name, learner="auto", n=TRAINED_ON, missing=0.0, *, costly=False, **options):
    X, y, X_test, _ = table(name, n)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    if costly:
        options["costs"] = costs_of(len(np.unique(y)))
    return RebelClassifier(learner, random_state=0, **options).fit(X, y), X_test


def of_categories(name, learner="auto", n=TRAINED_ON, **options):
    X, y, X_test, categorical = table(name, n)
    learner = Tree(categorical=categorical) if learner == "tree" else learner
    return RebelClassifier(learner, random_state=0, **options).fit(X, y), X_test


def regression():
    X, y, X_test, _ = table("segment")
    return RebelRegressor(random_state=0).fit(X, y.astype(np.float64)), X_test


ABSTAINING = {"reject_cost": 0.2, "reject_label": -1}
MODELS = {
    "letter, trees": partial(classifier, "letter", Tree(depth=6), n_rounds=100, cross_fit=None),
    "pendigits, averaged trees": partial(classifier, "pendigits", "tree", n_rounds=60),
    "landsat, default": partial(classifier, "landsat", n=1500),
    "vehicle, default, costs": partial(classifier, "vehicle", costly=True),
    "glass, default, missing": partial(classifier, "glass", missing=0.1),
    "adult, trees of categories": partial(of_categories, "adult", "tree", n_rounds=50),
    "german_credit, abstaining": partial(
        of_categories, "german_credit", "tree", costs=[[0, 1], [5, 0]], n_rounds=50, **ABSTAINING
    ),
    "segment, cost training": partial(
        classifier, "segment", Tree(depth=3), training="costs", cross_fit=None, n_rounds=50, costly=True
    ),
    "vowel, rebel subcosts": partial(
        classifier, "vowel", Tree(depth=3), subcosts="rebel", training="costs", cross_fit=None,
        n_rounds=50, costly=True,
    ),
    "vowel, whitened similarities": partial(
        classifier, "vowel", Similarity(scale="whitened"), n_rounds=200, cross_fit=None
    ),
    "optdigits, similarities": partial(
        classifier, "optdigits", Similarity(scale="none"), n_rounds=100, cross_fit=None, n=1000
    ),
    "landsat, smooth": partial(classifier, "landsat", SmoothSimilarity(), n=1000),
    "segment, stumps": partial(classifier, "segment", Stump(), n_rounds=300, cross_fit=None),
    "segment, regression": regression,
}  # fmt: skip
SLOW = {
    "landsat, default", "vehicle, default, costs", "glass, default, missing", "landsat, smooth",
    "optdigits, similarities", "segment, regression",
}  # fmt: skip
"""They compare each row with many training rows, and get a tenth of the rows of the others."""


def runners():
    """What runs exported models, by name."""
    found = {
        "gcc -O0": partial(run_c, machine=["gcc", *CHECKED, "-O0"]),
        "gcc -O3": partial(run_c, machine=["gcc", *CHECKED, "-O3"]),
        "gcc native": partial(run_c, machine=["gcc", *CHECKED, "-O3", "-march=native"]),
    }
    if shutil.which("clang"):
        found["clang -O3"] = partial(run_c, machine=["clang", *CHECKED, "-O3"])
    elif importlib.util.find_spec("ziglang"):
        zig = [sys.executable, "-m", "ziglang", "cc", *CHECKED, "-O3"]
        found["clang -O3"] = partial(run_c, machine=zig)
    if shutil.which("node"):
        found["Node"] = run_javascript
    return found


def rows_of(model, X_test, n):
    """Encoded rows: those of `rebel verify`, then test rows with noise and missing values."""
    rng = np.random.default_rng(0)
    special = samples_for(model)[:n]
    X = X_test[rng.integers(len(X_test), size=n - len(special))]
    noisy = rng.random(X.shape) < NOISY
    noisy[:, list(model.encoder.levels)] = False
    X = X + noisy * X_test.std(axis=0) * rng.normal(size=X.shape)
    X[rng.random(X.shape) < MISSING] = np.nan
    return np.concatenate([special, X])


def compare(name, n, folder):
    """Print how many answers of a model differ, by what runs it."""
    estimator, X_test = MODELS[name]()
    model = estimator.model_
    X = rows_of(model, X_test, n)
    evaluator = evaluator_of(model)
    paths = {"c": folder / "model.c", "js": folder / "model.mjs"}
    paths["c"].write_text(as_c(evaluator))
    paths["js"].write_text(as_javascript(evaluator))
    sizes = ", ".join(
        f"{path.suffix} {path.stat().st_size / 1e3:,.0f} kB" for path in paths.values()
    )
    exact = "exact sums" if model.ensemble.is_exact else "sums in order"
    K = model.ensemble.n_classes
    print(
        f"\n{name}: {len(model.ensemble)} terms, {K} classes, {exact}; {sizes}; {len(X):,} rows",
        flush=True,
    )
    ours = [answers_of(model, X[i : i + AT_ONCE]) for i in range(0, len(X), AT_ONCE)]
    total = 0
    for runner, run in runners().items():
        path = paths["js" if run is run_javascript else "c"]
        counts, n_values, begin = {}, 0, time.perf_counter()
        for i, expected in enumerate(ours):
            found = compared(expected, run(path, model, X[i * AT_ONCE : (i + 1) * AT_ONCE]))
            n_values += found.n_values
            for what, differing in found.n_differing.items():
                counts[what] = counts.get(what, 0) + differing
        took = time.perf_counter() - begin
        told = ", ".join(f"{differing} × {what}" for what, differing in counts.items())
        print(
            f"  {runner:10s} {n_values:>12,} values, differing: {told}   ({took:.1f} s)", flush=True
        )
        total += sum(counts.values())
    return total, len(X)


# ---- speed

LOOP = """
#include "model.c"
void scores_of(const double* x, int n, double* out) {
    for (int i = 0; i < n; ++i)
        model_scores(x + (size_t)i * MODEL_N_FEATURES, out + (size_t)i * MODEL_N_CLASSES);
}
void probabilities_of_all(const double* x, int n, double* out) {
    for (int i = 0; i < n; ++i)
        model_probabilities(x + (size_t)i * MODEL_N_FEATURES, out + (size_t)i * MODEL_N_CLASSES);
}
"""


def speed(folder):
    """Print rows a second of one model of trees, and of LightGBM with as many leaves, on one thread."""
    learner, n_rounds = TIMED
    estimator, X_test = classifier("pendigits", learner, n_rounds=n_rounds, cross_fit=None, n=7000)
    model = estimator.model_
    X = np.ascontiguousarray(np.tile(X_test, (5, 1)))
    (folder / "model.c").write_text(as_c(evaluator_of(model)))
    (folder / "loop.c").write_text(LOOP)
    command = [
        "gcc",
        "-std=c99",
        "-O3",
        "-march=native",
        "-shared",
        "-fPIC",
        "loop.c",
        "-o",
        "loop.so",
    ]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "loop.so"))
    out = np.empty((len(X), model.ensemble.n_classes))

    def in_c(function, X):
        getattr(library, function)(
            X.ctypes.data_as(ctypes.c_void_p), len(X), out.ctypes.data_as(ctypes.c_void_p)
        )

    calls = {
        "C, scores": partial(in_c, "scores_of"),
        "C, probabilities": partial(in_c, "probabilities_of_all"),
        "Python, scores": estimator.decision_function,
        "Python, probabilities": estimator.predict_proba,
    }
    if importlib.util.find_spec("lightgbm"):
        import lightgbm

        y = table("pendigits", 7000)
        rival = lightgbm.LGBMClassifier(
            n_estimators=n_rounds // model.ensemble.n_classes,
            num_leaves=64,
            max_depth=6,
            n_jobs=1,
            verbose=-1,
        ).fit(y[0], y[1])
        calls["LightGBM, probabilities"] = partial(rival.booster_.predict, num_threads=1)
    print(
        f"\n{n_rounds} trees of depth 6, {X.shape[1]} features, {len(X):,} rows, one thread; best of {REPEATS}"
    )
    for name, call in calls.items():
        rate, latency = len(X) / best(call, X), 1e6 * best(call, X[:1])
        print(f"  {name:26s} {rate:>12,.0f} rows/s   {latency:>8.1f} µs for one row")


def best(call, X):
    """Least time of a few calls, in seconds."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call(X)
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="models, with semicolons between them")
    parser.add_argument("--no-speed", action="store_true")
    given = parser.parse_args()
    names = given.only.split(";") if given.only else list(MODELS)
    shares = {name: 1 if name in SLOW else 10 for name in names}
    n_differing = n_rows = 0
    with tempfile.TemporaryDirectory(prefix="exported-") as folder:
        for name in names:
            differing, n = compare(
                name, round(given.rows * shares[name] / sum(shares.values())), Path(folder)
            )
            n_differing, n_rows = n_differing + differing, n_rows + n
        print(
            f"\n{len(names)} models, {n_rows:,} rows, {len(runners())} programs: {n_differing:,} values differ"
        )
        if not given.no_speed:
            speed(Path(folder))
    return int(n_differing > 0)


if __name__ == "__main__":
    sys.exit(main())
