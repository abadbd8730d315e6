"""Rows a second and the time of one row: exported models beside compiled trees of others, one thread.

python benchmarks/exported_speed.py

The model has 400 trees of depth 6, each with an output for every class of pendigits. LightGBM's has as many
trees of 64 leaves, each for one class. lleaves (with llvmlite < 0.45) and treelite (by tl2cgen) compile that
one, and onnxruntime runs ours. Each is timed only if it is installed. Times are processor time, the least of
several calls, so that other work on the machine matters little.
"""

import ctypes
import importlib.util
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from exported import classifier, table
from rebelboost import Tree
from rebelboost.export.c import as_c
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.onnx.model import as_onnx

LEARNER, N_TREES, TRAINED_ON = Tree(depth=6), 400, 7000
REPEATS, CALLS = 7, 200
LOOP = """
#include "model.c"
void one_by_one(const double* x, size_t n, double* P) {
    for (size_t i = 0; i < n; ++i)
        model_probabilities(x + i * MODEL_N_FEATURES, P + i * MODEL_N_CLASSES);
}
"""


def compiled(model, folder):
    """Calls of the C program, by name."""
    (folder / "model.c").write_text(as_c(evaluator_of(model)))
    (folder / "loop.c").write_text(LOOP)
    command = ["gcc", "-std=c99", "-O3", "-march=native", "-shared", "-fPIC", "loop.c"]
    subprocess.run([*command, "-o", "loop.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "loop.so"))
    out = np.empty((10**6, model.ensemble.n_classes))

    def call(function, X):
        at = X.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
        getattr(library, function)(at[0], ctypes.c_size_t(len(X)), at[1])

    return {
        "C, row by row": partial(call, "one_by_one"),
        "C, model_probabilities_many": partial(call, "model_probabilities_many"),
    }


def by_onnx(model):
    """Calls of our model in onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(as_onnx(evaluator_of(model)), options, providers)
    return {"ONNX in onnxruntime": lambda X: session.run(["probabilities"], {"X": X})}


def rivals(n_classes, folder):
    """Calls of LightGBM's model, also as it is compiled by others."""
    import lightgbm

    X, y, _, _ = table("pendigits", TRAINED_ON)
    fitted = lightgbm.LGBMClassifier(
        n_estimators=N_TREES // n_classes, num_leaves=64, max_depth=6, n_jobs=1, verbose=-1
    ).fit(X, y)
    calls = {"LightGBM": partial(fitted.booster_.predict, num_threads=1)}
    path = str(folder / "lightgbm.txt")
    fitted.booster_.save_model(path)
    if importlib.util.find_spec("lleaves"):
        import lleaves

        found = lleaves.Model(model_file=path)
        found.compile()
        calls["lleaves"] = partial(found.predict, n_jobs=1)
    if importlib.util.find_spec("tl2cgen"):
        import tl2cgen
        import treelite

        library = str(folder / "treelite.so")
        loaded = treelite.frontend.load_lightgbm_model(path)
        tl2cgen.export_lib(loaded, toolchain="gcc", libpath=library, params={"parallel_comp": 8})
        predictor = tl2cgen.Predictor(library, nthread=1)
        calls["treelite by tl2cgen"] = lambda X: predictor.predict(tl2cgen.DMatrix(X))
    return calls


def best(call, X, n_calls):
    """Least processor time of a call, in seconds."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        for _ in range(n_calls):
            call(X)
        times.append((time.process_time() - begin) / n_calls)
    return min(times)


def main():
    fitted, X = classifier("pendigits", LEARNER, n=TRAINED_ON, n_rounds=N_TREES, cross_fit=None)
    X = np.ascontiguousarray(np.tile(X, (3, 1)))
    model = fitted.model_
    with tempfile.TemporaryDirectory(prefix="speed-") as name:
        folder = Path(name)
        calls = compiled(model, folder) | {
            "Python, predict_proba": fitted.predict_proba,
            "Python, predictor": fitted.predictor().predict_proba,
        }
        if importlib.util.find_spec("onnxruntime"):
            calls |= by_onnx(model)
        if importlib.util.find_spec("lightgbm"):
            calls |= rivals(model.ensemble.n_classes, folder)
        print(
            f"{N_TREES} trees, {X.shape[1]} features, probabilities of {len(X):,} rows, one thread"
        )
        print(f"  {'':30s} {'rows/s':>10} {'µs for one row':>15}")
        for title, call in calls.items():
            rate, latency = len(X) / best(call, X, 1), 1e6 * best(call, X[:1], CALLS)
            print(f"  {title:30s} {rate:>10,.0f} {latency:>15.1f}", flush=True)


if __name__ == "__main__":
    main()
