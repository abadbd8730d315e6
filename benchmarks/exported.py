"""Exported models against Python: answers that differ, sizes of files, and rows a second.

python benchmarks/exported.py [--rows 1000000] [--only "letter, trees;…"]

The rows are divided among the models. Some are those of `rebel verify`: at thresholds, missing, extreme. The
others are rows of the table's test part with noise. Every score, probability and decision is compared with
Python's, bit for bit, in C (gcc -O0, -O3 and for this processor; clang, or the package ziglang, if it is
installed), in Node and in onnxruntime.
"""

import argparse
import importlib.util
import shutil
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
from rebelboost.export.onnx.model import as_onnx
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import Machine, answers_of, compared, run_c, run_javascript, run_onnx

AT_ONCE, TRAINED_ON = 100_000, 3000
NOISY, MISSING = 0.5, 0.01
CHECKED = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]


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
        "gcc -O0": partial(run_c, machine=Machine(["gcc", *CHECKED, "-O0"])),
        "gcc -O3": partial(run_c, machine=Machine(["gcc", *CHECKED, "-O3"])),
        "gcc native": partial(run_c, machine=Machine(["gcc", *CHECKED, "-O3", "-march=native"])),
    }
    if shutil.which("clang"):
        found["clang -O3"] = partial(run_c, machine=Machine(["clang", *CHECKED, "-O3"]))
    elif importlib.util.find_spec("ziglang"):
        zig = [sys.executable, "-m", "ziglang", "cc", *CHECKED, "-O3"]
        found["clang -O3"] = partial(run_c, machine=Machine(zig))
    if shutil.which("node"):
        found["Node"] = run_javascript
    if importlib.util.find_spec("onnxruntime"):
        found["onnxruntime"] = run_onnx
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
    paths = {"c": folder / "model.c", "js": folder / "model.mjs", "onnx": folder / "model.onnx"}
    paths["c"].write_text(as_c(evaluator))
    paths["js"].write_text(as_javascript(evaluator))
    if importlib.util.find_spec("onnx"):
        paths["onnx"].write_bytes(as_onnx(evaluator))
    sizes = ", ".join(
        f"{path.suffix} {path.stat().st_size / 1e3:,.0f} kB"
        for path in paths.values()
        if path.exists()
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
        path = paths[{run_javascript: "js", run_onnx: "onnx"}.get(run, "c")]
        counts, largest, n_values, begin = {}, {}, 0, time.perf_counter()
        for i, expected in enumerate(ours):
            found = compared(expected, run(path, model, X[i * AT_ONCE : (i + 1) * AT_ONCE]))
            n_values += found.n_values
            for what, most in found.largest.items():
                largest[what] = max(largest.get(what, 0.0), most)
            for what, differing in found.n_differing.items():
                counts[what] = counts.get(what, 0) + differing
        took = time.perf_counter() - begin
        told = ", ".join(
            f"{differing} × {what}" + (f" (by {largest[what]:.2g})" if largest.get(what) else "")
            for what, differing in counts.items()
        )
        print(
            f"  {runner:11s} {n_values:>12,} values, differing: {told}   ({took:.1f} s)", flush=True
        )
        total += sum(counts.values())
    return total, len(X)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="models, with semicolons between them")
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
    return int(n_differing > 0)


if __name__ == "__main__":
    sys.exit(main())
