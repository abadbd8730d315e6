"""Fits on a Dask cluster of this machine: the same bits, lost workers, time and memory.

python benchmarks/on_cluster.py --only same       file hashes for 1, 2, 3, 7 workers and odd partitions
python benchmarks/on_cluster.py --only kills      workers are killed at random, and in every round
python benchmarks/on_cluster.py --only overhead   what a round costs beside its work, with 4 workers
python benchmarks/on_cluster.py --only speed      beside a local fit, xgboost.dask and lightgbm.dask
python benchmarks/on_cluster.py --only paper      10⁹ rows on 100 workers, computed from a small part

`--rows` and `--rounds` make `speed` smaller. Needs dask[distributed], and for `speed` xgboost and
lightgbm. Everything runs on 127.0.0.1.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import os
import random
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path

import dask
import numpy as np
from dask import array, delayed

import rebelboost.dask
from distributed import Client, LocalCluster
from rebelboost import RebelClassifier, Tree
from rebelboost.distributed.parts import Raw, RowPart
from rebelboost.distributed.seam import InMemory
from rebelboost.distributed.training import SpreadInput, fit_spread

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
    history.rounds[:] = [dataclasses.replace(record, seconds=0.0) for record in history.rounds]
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


def same():
    X, y = table(3000, 12, 4)
    order = np.argsort(y, kind="stable")  # parts of one class
    by_class = np.searchsorted(y[order], range(1, 4))

    def estimator():
        return RebelClassifier(Tree(), n_rounds=30, cross_fit=None)

    whole = digest(estimator().fit(X, y))
    print(f"one machine            {whole}")
    divisions = {
        "3 even, shuffled": parts(X, y, [1000, 2000], seed=1),
        "7, uneven, shuffled": parts(X, y, [0, 0, 1, 700, 701, 2500], seed=2),
        "4 of one class each": parts(X[order], y[order], by_class),
    }
    for n_workers in (1, 2, 3, 7):
        with cluster(n_workers) as running, Client(running):
            for name, division in divisions.items():
                found = digest(
                    rebelboost.dask.RebelClassifier(estimator()).fit(*division).to_local()
                )
                print(f"{n_workers} workers, {name:20} {found} {found == whole}", flush=True)
    few = RebelClassifier(Tree(depth=3), n_rounds=4, cross_fit=None)
    small = parts(X[:600], y[:600], [200, 201])
    with cluster(2, REBELBOOST_KERNELS="reference") as running, Client(running):
        found = digest(rebelboost.dask.RebelClassifier(few).fit(*small).to_local())
        print(f"NumPy kernels on workers {found == digest(few.fit(X[:600], y[:600]))}")


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

    def on_round(self, record):
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
    return f"{name:24} {seconds:8.1f} s   error {100 * error_of(first):6.2f} %", first


def memory_of(client):
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    return max(client.run(peak).values())


def speed(n_rows, n_rounds):
    import lightgbm
    import xgboost
    import xgboost.dask

    n_classes = 5
    X, y = table(n_rows, 50, n_classes)
    X_test, y_test = table(50_000, 50, n_classes, seed=1)
    print(f"{n_rows:,} rows × 50 features, {n_classes} classes, {n_rounds} rounds of depth 6")
    print(f"rows take {X.nbytes / 2 / 2**20:.0f} MB on each of two workers")

    def error(predicted):
        return np.mean(predicted != y_test)

    ours = RebelClassifier(Tree(), n_rounds=n_rounds, cross_fit=None, n_jobs=2)
    line, local = timed(
        "ours, 2 threads", lambda: ours.fit(X, y), lambda m: error(m.predict(X_test))
    )
    print(line, flush=True)
    whole = digest(local)
    half = -(-n_rows // 2)
    with cluster(2) as running, Client(running) as client:
        dX = array.from_array(X, chunks=(half, 50)).persist()
        dy = array.from_array(y, chunks=half).persist()
        client.run(lambda: rebelboost.RebelClassifier and None)
        before = memory_of(client)

        def on_dask():
            return rebelboost.dask.RebelClassifier(ours).fit(dX, dy)

        line, first = timed(
            "ours, 2 workers", on_dask, lambda m: error(m.to_local().predict(X_test))
        )
        same_bits = digest(first.to_local()) == whole
        print(f"{line}   as on one machine: {same_bits}")
        print(
            f"peak memory of a worker: {before:.0f} MB with the rows, {memory_of(client):.0f} MB in all"
        )

        def xgb():
            data = xgboost.dask.DaskDMatrix(client, dX, dy)
            settings = {"objective": "multi:softmax", "num_class": n_classes, "tree_method": "hist"}
            return xgboost.dask.train(client, settings, data, num_boost_round=n_rounds)["booster"]

        line, first = timed(
            "xgboost.dask", xgb, lambda b: error(b.predict(xgboost.DMatrix(X_test)))
        )
        again = xgb()
        print(f"{line}   two runs agree: {first.save_raw() == again.save_raw()}", flush=True)

        def lgb():
            model = lightgbm.DaskLGBMClassifier(n_estimators=n_rounds, client=client, verbose=-1)
            return model.fit(dX, dy).to_local()

        line, first = timed("lightgbm.dask", lgb, lambda m: error(m.predict(X_test)))
        again = lgb()
        # The trees only: the parameters after them name the ports of the run.
        texts = [m.booster_.model_to_string().split("parameters:")[0] for m in (first, again)]
        print(f"{line}   two runs agree: {texts[0] == texts[1]}")


class Counting(InMemory):
    """One part in memory; counts the bytes that its answers would take on the way."""

    n_bytes = n_asked = 0

    def ask(self, command):
        answer = super().ask(command)
        if isinstance(answer, tuple):
            self.n_bytes += sum(np.asarray(item).nbytes for item in answer)
        self.n_asked += 1
        return answer


def paper(n_rows=10**9, n_workers=100, gigabit=10):
    """10⁹ rows on 100 workers, from what a part of 200,000 rows takes here on one thread."""
    here, n_features, n_rounds = 200_000, 50, 6
    X, y = table(here, n_features, 5)
    raw = Raw(X, y)
    spread = Counting([RowPart(0, lambda: raw)])
    began = []

    class Begin:
        def on_round(self, record):
            del record
            began.append((time.process_time(), spread.n_bytes, spread.n_asked))
            return False

        def on_end(self):
            pass

    model = RebelClassifier(Tree(), n_rounds=n_rounds, cross_fit=None, callbacks=[Begin()])
    fit_spread(model, spread, SpreadInput(weighted=False, by_sample=False))
    (first, last) = np.array(began)[[0, -1]]
    seconds, n_bytes, n_asked = (last - first) / (n_rounds - 1)
    work = seconds / here * n_rows / n_workers
    all_bytes = n_bytes * n_workers
    # Through the scheduler: in and out; then the client reads them.
    way = 2 * all_bytes * 8 / (gigabit * 1e9)
    print(
        f"{n_asked:.0f} questions and {n_bytes / 1e6:.1f} MB of answers a round from each worker; "
        f"{1e9 * seconds / here:.0f} ns of processor a row and round, {n_features} features, 5 classes"
    )
    print(
        f"{n_rows:.0e} rows on {n_workers} workers: {work:.1f} s of work a round on one thread each, "
        f"{all_bytes / 1e6:.0f} MB through the scheduler, {way:.2f} s at {gigabit} Gbit/s; bins, scores and "
        f"weights of a worker {n_rows / n_workers * (64 + 2 * 5 * 8 + 18) / 1e9:.1f} GB"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=["same", "kills", "overhead", "speed", "paper"])
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
        "paper": paper,
    }
    for name, run in runs.items():
        if given.only in (None, name):
            run()


if __name__ == "__main__":
    main()
