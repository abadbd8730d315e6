"""Fits on a Dask cluster of this machine: the same bits, lost workers, time and memory.

python benchmarks/on_cluster.py --only same       file hashes for 1, 2, 3, 7 workers and odd partitions
python benchmarks/on_cluster.py --only kills      workers are killed at random, and in every round
python benchmarks/on_cluster.py --only overhead   what a round costs beside its work, with 4 workers
python benchmarks/on_cluster.py --only speed      beside a local fit, xgboost.dask and lightgbm.dask

`--rows` and `--rounds` make `speed` smaller. Needs dask[distributed], and for `speed` xgboost and
lightgbm. Everything runs on 127.0.0.1.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

import dask
import numpy as np
from dask import array, delayed

import rebelboost.dask
from distributed import Client, LocalCluster, wait
from rebelboost import RebelClassifier, RebelRegressor, Stump, Tree
from rebelboost.base.arrays import NO_WORK

KILLS, LONG_ROUNDS = 100, 30


def cluster(n_workers, **environment):
    settings = {
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.nanny.environ": environment,
    }
    dask.config.set(settings)
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


def digest(model):
    history = model.history_
    history.rounds[:] = [
        dataclasses.replace(record, seconds=0.0, work=NO_WORK) for record in history.rounds
    ]
    fitted = model.model_  # without what is counted of rows in memory only
    kept = dataclasses.replace(fitted.provenance, spreads=None, seen=None)
    model.model_ = dataclasses.replace(fitted, provenance=kept)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def table(n_rows, n_features, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    centres = np.random.default_rng(99).normal(size=(n_classes, n_features))
    scores = X[:, :8] @ centres[:, :8].T + np.abs(X[:, 8:9] * X[:, 9:10]) * np.arange(n_classes)
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


def parts(X, y, cuts, seed=None):
    order = np.arange(len(y)) if seed is None else np.random.default_rng(seed).permutation(len(y))
    rows = np.split(order, cuts)
    return [delayed(X[own]) for own in rows], [delayed(y[own]) for own in rows]


# ---- the same bits


def every_kind():
    """Estimators of every kind that spread rows can be fitted by, with their targets."""
    single = {"n_rounds": 30, "cross_fit": None}
    costs = np.random.default_rng(5).integers(1, 5, (4, 4)) * (1 - np.eye(4))
    return {
        "trees": RebelClassifier(Tree(), **single),
        "trees, costs": RebelClassifier(Tree(), costs=costs, **single),
        "papers' trees": RebelClassifier(Tree(depth=3, outputs="tree"), **single),
        "stumps": RebelClassifier(Stump(), **single),
        "REBEL's subcosts": RebelClassifier(Tree(), costs=costs, subcosts="rebel", **single),
        "logistic loss": RebelClassifier(Tree(), loss="logistic", costs=costs, **single),
        "squared loss": RebelClassifier(Tree(), loss="squared", **single),
        "regression": RebelRegressor("tree", n_rounds=30),
    }


def on_dask(estimator):
    if isinstance(estimator, RebelRegressor):
        return rebelboost.dask.RebelRegressor(estimator)
    return rebelboost.dask.RebelClassifier(estimator)


def same():
    X, y = table(3000, 12, 4)
    numbers = np.nan_to_num(X[:, 0]) ** 2 + y
    order = np.argsort(y, kind="stable")  # parts of one class
    by_class = np.searchsorted(y[order], range(1, 4))
    cuts = {
        "3 even": ([1000, 2000], None),
        "3 even, shuffled": ([1000, 2000], np.random.default_rng(1).permutation(len(y))),
        "7, uneven, shuffled": (
            [0, 0, 1, 700, 701, 2500],
            np.random.default_rng(2).permutation(len(y)),
        ),
        "4 of one class each": (by_class, order),
    }
    kinds = every_kind()
    whole = {name: digest(own.fit(X, targets(own, y, numbers))) for name, own in kinds.items()}
    for n_workers in (1, 2, 3, 7):
        with cluster(n_workers) as running, Client(running):
            for name, (at, rows) in cuts.items():
                chosen = np.arange(len(y)) if rows is None else rows
                n_same, n_tried, other = 0, 0, []
                for kind, own in kinds.items():
                    division = parts(X[chosen], targets(own, y, numbers)[chosen], at)
                    found = digest(on_dask(own).fit(*division).to_local())
                    n_tried, n_same = n_tried + 1, n_same + (found == whole[kind])
                    other += [] if found == whole[kind] else [kind]
                print(
                    f"{n_workers} workers, {name:20} {n_same} of {n_tried} kinds of models as on one "
                    f"machine {' '.join(other)}",
                    flush=True,
                )
    few = RebelClassifier(Tree(depth=3), n_rounds=4, cross_fit=None)
    small = parts(X[:600], y[:600], [200, 201])
    with cluster(2, REBELBOOST_KERNELS="reference") as running, Client(running):
        found = digest(rebelboost.dask.RebelClassifier(few).fit(*small).to_local())
        print(f"NumPy kernels on workers {found == digest(few.fit(X[:600], y[:600]))}")


def targets(estimator, labels, numbers):
    return numbers if isinstance(estimator, RebelRegressor) else labels


# ---- lost workers


def workers(client):
    return [
        pid for pid in client.run(os.getpid, on_error="ignore").values() if isinstance(pid, int)
    ]


class Killer(threading.Thread):
    """Kills a random worker at random moments, while there are two at least."""

    def __init__(self, address, n_kills):
        super().__init__(daemon=True)
        self.address, self.n_kills, self.n_done = address, n_kills, 0

    def run(self):
        rng = random.Random(0)
        with Client(self.address, set_as_default=False) as client:
            while self.n_done < self.n_kills:
                time.sleep(rng.uniform(0.0, 1.0))
                pids = workers(client)
                if len(pids) >= 2:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(rng.choice(pids), signal.SIGKILL)
                        self.n_done += 1


class InEveryRound:
    """Kills a worker after each round."""

    def __init__(self, client):
        self.client, self.n_done = client, 0

    def on_rounds(self, batch):
        record = batch[-1]
        self.client.wait_for_workers(1)
        pids = workers(self.client)
        if pids:
            os.kill(pids[record.index % len(pids)], signal.SIGKILL)
            self.n_done += 1
        return False

    def on_end(self):
        pass


def kills(n_kills, n_rounds):
    X, y = table(2000, 12, 4)
    division = parts(X, y, [300, 900, 1500, 1501])

    def estimator(n_rounds, **settings):
        return RebelClassifier(Tree(depth=4), n_rounds=n_rounds, cross_fit=None, **settings)

    short, long_ = digest(estimator(12).fit(X, y)), digest(estimator(n_rounds).fit(X, y))
    with cluster(4) as running, Client(running) as client:
        killer = Killer(running.scheduler_address, n_kills)
        killer.start()
        n_fits, n_same, n_remade, slowest = 0, 0, 0, 0.0
        while killer.is_alive():
            began = time.perf_counter()
            model = rebelboost.dask.RebelClassifier(estimator(12)).fit(*division)
            slowest = max(slowest, time.perf_counter() - began)
            n_fits, n_remade = n_fits + 1, n_remade + model.n_remade_
            n_same += digest(model.to_local()) == short
            print(
                f"\r{killer.n_done} killed, {n_same} of {n_fits} fits the same", end="", flush=True
            )
        print(
            f"\n{killer.n_done} workers killed at random: {n_fits} fits ended, {n_same} with the same "
            f"hash, {n_remade} partitions made again, slowest fit {slowest:.1f} s"
        )
        killing = InEveryRound(client)
        began = time.perf_counter()
        model = rebelboost.dask.RebelClassifier(estimator(n_rounds, callbacks=[killing]))
        found = digest(model.fit(*division).to_local())
        print(
            f"{killing.n_done} workers killed in {n_rounds} rounds: same {found == long_}, "
            f"{model.n_remade_} partitions made again, {time.perf_counter() - began:.0f} s"
        )


# ---- time and memory


def overhead():
    X, y = table(400, 12, 4)
    estimator = RebelClassifier(Tree(), n_rounds=80, cross_fit=None)
    local = estimator.fit(X, y).history_.table()["seconds"]
    with cluster(4) as running, Client(running):
        model = rebelboost.dask.RebelClassifier(estimator).fit(*parts(X, y, [100, 200, 300]))
        seconds = np.diff(model.to_local().history_.table()["seconds"][20:])
    print(
        f"400 rows, depth 6, 4 workers: a round takes {1e3 * np.median(seconds):.1f} ms (median; least "
        f"{1e3 * seconds.min():.1f}), in one process {1e3 * np.median(np.diff(local)):.2f} ms"
    )


def timed(name, fit, error_of):
    began = time.perf_counter()
    first = fit()
    seconds = time.perf_counter() - began
    line = f"{name:24} {seconds:8.1f} s   error {100 * error_of(first):6.2f} %"
    return line, first, seconds


def memory(client, what):
    """The largest resident memory of a worker in MB: "VmRSS" now, or "VmHWM" since the last reset."""

    def read():
        with Path("/proc/self/status").open() as lines:
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))

    return max(client.run(read).values())


def reset_peak(client):
    client.run(lambda: Path("/proc/self/clear_refs").write_text("5") and None)


def warm_up(client):
    """Let workers import what a fit needs."""
    X, y = table(200, 50, 5)
    few = RebelClassifier(Tree(depth=2), n_rounds=2, cross_fit=None)
    rebelboost.dask.RebelClassifier(few, client=client).fit(*parts(X, y, [100]))


def speed(n_rows, n_rounds):
    n_classes, half = 5, n_rows // 2
    halves = [table(half, 50, n_classes, seed) for seed in (0, 2)]
    X, y = (np.concatenate(each) for each in zip(*halves, strict=True))
    X_test, y_test = table(50_000, 50, n_classes, seed=1)
    print(f"{n_rows:,} rows × 50 features, {n_classes} classes, {n_rounds} rounds of depth 6")

    def error(predicted):
        return np.mean(predicted != y_test)

    ours = RebelClassifier(Tree(), n_rounds=n_rounds, cross_fit=None, n_jobs=2)
    line, local, here = timed(
        "ours, 2 threads", lambda: ours.fit(X, y), lambda m: error(m.predict(X_test))
    )
    print(line, flush=True)
    whole = digest(local)
    with cluster(2) as running, Client(running) as client:
        warm_up(client)
        idle = memory(client, "VmRSS")
        # Made where they stay: rows that travel would leave their traces in the peaks.
        made = [delayed(table)(half, 50, n_classes, seed) for seed in (0, 2)]
        dX = array.concatenate(
            [array.from_delayed(m[0], (half, 50), np.float32) for m in made]
        ).persist()
        dy = array.concatenate([array.from_delayed(m[1], (half,), np.int64) for m in made])
        dy = dy.persist()
        wait([dX, dy])
        share = (X.nbytes + y.nbytes) / 2 / 2**20

        def on_two():
            return rebelboost.dask.RebelClassifier(ours).fit(dX, dy)

        reset_peak(client)
        line, first, seconds = timed(
            "ours, 2 workers", on_two, lambda m: error(m.to_local().predict(X_test))
        )
        peak = memory(client, "VmHWM") - idle
        found = digest(first.to_local())
        print(
            f"{line}   two runs agree: {found == digest(on_two().to_local())}, as on one machine: "
            f"{found == whole}; {seconds / here:.2f} × the local time"
        )
        print_memory(peak, share)
        try:
            import lightgbm
            import xgboost
            import xgboost.dask
        except ModuleNotFoundError as missing:
            print(f"{missing.name} is not installed: no other libraries are tried")
            return

        def xgb():
            data = xgboost.dask.DaskDMatrix(client, dX, dy)
            settings = {"objective": "multi:softmax", "num_class": n_classes, "tree_method": "hist"}
            return xgboost.dask.train(client, settings, data, num_boost_round=n_rounds)["booster"]

        reset_peak(client)
        line, first, _ = timed(
            "xgboost.dask", xgb, lambda b: error(b.predict(xgboost.DMatrix(X_test)))
        )
        peak = memory(client, "VmHWM") - idle
        again = xgb()
        print(f"{line}   two runs agree: {first.save_raw() == again.save_raw()}", flush=True)
        print_memory(peak, share)

        def lgb():
            model = lightgbm.DaskLGBMClassifier(n_estimators=n_rounds, client=client, verbose=-1)
            return model.fit(dX, dy).to_local()

        reset_peak(client)
        line, first, _ = timed("lightgbm.dask", lgb, lambda m: error(m.predict(X_test)))
        peak = memory(client, "VmHWM") - idle
        again = lgb()
        # The trees only: the parameters after them name the ports of the run.
        texts = [m.booster_.model_to_string().split("parameters:")[0] for m in (first, again)]
        print(f"{line}   two runs agree: {texts[0] == texts[1]}")
        print_memory(peak, share)


def print_memory(peak, share):
    print(
        f"    memory of a worker: {peak:.0f} MB with its rows, which take {share:.0f}: {peak / share:.2f} ×",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=["same", "kills", "overhead", "speed"])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--kills", type=int, default=KILLS, help="workers killed at random")
    parser.add_argument(
        "--long", type=int, default=LONG_ROUNDS, help="rounds that each lose a worker"
    )
    given = parser.parse_args()
    runs = {
        "same": same,
        "kills": lambda: kills(given.kills, given.long),
        "overhead": overhead,
        "speed": lambda: speed(given.rows, given.rounds),
    }
    for name, run in runs.items():
        if given.only in (None, name):
            run()


if __name__ == "__main__":
    main()
