"""Fits on a Dask cluster: the same bits as on one machine, and none lost with a worker."""

import os
import signal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from dask import array, delayed
from dask import dataframe as dd

import rebelboost.dask
from distributed import Client, Event
from rebelboost import RebelClassifier, RebelRegressor, Similarity, Stump, Tree
from rebelboost.exceptions import ClusterError, PartitionError
from rebelboost.rows import cluster
from spreading import N, cut, fingerprint, frame, table

# Dask leaves the sockets of killed workers to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def classifier(**settings):
    return RebelClassifier(
        **{"learner": Tree(depth=3), "n_rounds": 6, "cross_fit": None} | settings
    )


def on_dask(**settings):
    return rebelboost.dask.RebelClassifier(classifier(**settings))


def delayed_table(X, y, cuts, **others):
    raws = cut(X, y, cuts, **others)
    X_parts = [delayed(raw.X) for raw in raws]
    y_parts = [delayed(raw.y) for raw in raws]
    return X_parts, y_parts


@pytest.mark.parametrize("n_parts", [1, 3, 7])
def test_any_number_of_partitions_gives_the_model_of_one_machine(client, tmp_path, n_parts):
    X, y = table()
    whole = classifier().fit(X, y)
    size = -(-N // n_parts)
    ours = on_dask().fit(array.from_array(X, chunks=(size, 2)), array.from_array(y, chunks=size))
    assert fingerprint(ours.to_local(), tmp_path) == fingerprint(whole, tmp_path)


def test_predictions_are_lazy_and_those_of_the_ordinary_estimator(client):
    X, y = table()
    chunks = array.from_array(X, chunks=(150, 3))
    ours = on_dask().fit(chunks, array.from_array(y, chunks=100))
    local = ours.to_local()
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(ours, method)(chunks)
        assert isinstance(lazy, array.Array)
        # Block by block here too: a posterior is solved for all rows of a call together.
        blocks = [getattr(local, method)(rows) for rows in np.split(X, [150, 300])]
        np.testing.assert_array_equal(lazy.compute(), np.concatenate(blocks))


def test_lists_of_delayed_data_frames_are_taken(client, tmp_path):
    X, y = frame()
    whole = classifier().fit(X, y)
    ours = on_dask().fit(*delayed_table(X, y, [0, 100, 101]))
    assert fingerprint(ours.to_local(), tmp_path) == fingerprint(whole, tmp_path)


def test_files_are_taken(client, tmp_path):
    X, y = frame()
    X["label"] = y
    for i, rows in enumerate(np.split(np.arange(N), [10, 300])):
        X.iloc[rows].to_parquet(tmp_path / f"{i}.parquet")
    read = pl.read_parquet(tmp_path / "*.parquet")
    whole = classifier().fit(read.drop("label"), read["label"].to_numpy())
    ours = on_dask().fit(str(tmp_path / "*.parquet"), "label")
    assert fingerprint(ours.to_local(), tmp_path) == fingerprint(whole, tmp_path)


def data_frame():
    """Categories, text, missing values and numbers."""
    X, y = frame()
    X["kind"] = X["colour"].astype("category")
    X["word"] = np.where(X["f0"] > 0, "much", "little")
    return X, pd.Series(y, name="label")


def test_dask_data_frames_are_taken(client, tmp_path):
    X, y = data_frame()
    whole = classifier().fit(X, y)
    dX, dy = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=3)
    ours = on_dask().fit(dX, dy)
    assert fingerprint(ours.to_local(), tmp_path) == fingerprint(whole, tmp_path)
    by_name = on_dask().fit(dX.assign(label=dy), "label")
    assert fingerprint(by_name.to_local(), tmp_path) == fingerprint(whole, tmp_path)
    some = dX[dX["f1"] > 2]  # of which a partition may have none
    for method in ("predict", "predict_proba"):
        lazy = getattr(ours, method)(some)
        assert isinstance(lazy, array.Array)
        found = getattr(whole, method)(X[X["f1"] > 2])
        np.testing.assert_allclose(*map(_numbers, (lazy.compute(), found)), rtol=1e-12)


def _numbers(found):
    """Classes as numbers; probabilities are solved for all rows of a call together, to some precision."""
    return found if found.dtype.kind == "f" else np.searchsorted(["a", "b", "c"], found)


def test_a_regressor_on_a_cluster_is_the_ordinary_one(client, tmp_path):
    X, _ = table()
    y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 1])
    chunks = array.from_array(X, chunks=(150, 3)), array.from_array(y, chunks=150)
    for settings in ({"learner": "tree"}, {"learner": "auto"}):
        reg = RebelRegressor(n_rounds=8, **settings)
        ours = rebelboost.dask.RebelRegressor(reg).fit(*chunks)
        if settings["learner"] == "tree":
            assert fingerprint(ours.to_local(), tmp_path) == fingerprint(reg.fit(X, y), tmp_path)
    for method in ("predict", "predict_interval"):
        lazy = getattr(ours, method)(chunks[0])
        assert isinstance(lazy, array.Array)
        np.testing.assert_array_equal(lazy.compute(), getattr(ours.to_local(), method)(X))


def pids(client):
    return list(client.run(os.getpid).values())


class Killer:
    """Kills a worker after each of some rounds."""

    def __init__(self, client, rounds):
        self.client, self.rounds = client, rounds
        self.n_killed = 0

    def on_rounds(self, batch):
        record = batch[-1]
        if record.index in self.rounds:
            os.kill(pids(self.client)[0], signal.SIGKILL)
            self.n_killed += 1
        return False

    def on_end(self):
        pass


def test_a_killed_worker_changes_no_bit(client, tmp_path):
    X, y = table()
    whole = classifier().fit(X, y)
    killer = Killer(client, rounds={1, 3})
    ours = on_dask(callbacks=[killer]).fit(*delayed_table(X, y, [100, 200, 300]))
    assert killer.n_killed == 2
    assert ours.n_remade_ >= 1
    assert fingerprint(ours.to_local(), tmp_path) == fingerprint(whole, tmp_path)


def bad_labels(X, y):
    y = y.astype(object)
    y[390] = np.nan
    return X, y


def other_columns(X, y):
    X, y = frame()
    parts = [X.iloc[:100], X.iloc[100:].rename(columns={"f2": "g2"})]
    return parts, [y[:100], y[100:]]


def other_types(X, y):
    X, y = frame()
    return [X.iloc[:100], X.iloc[100:].assign(f2="text")], [y[:100], y[100:]]


def other_labels(X, y):
    return [X[:100], X[100:]], [y[:100], np.arange(N - 100) % 3]


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (bad_labels, "partition 7: .*NaN|partition 7: .*label"),
        (other_columns, "partition 1: column 'g2' is not in partition 0"),
        (other_types, "partition 1: column 'f2' holds categories, but numbers in partition 0"),
        (other_labels, "partition 1: y has labels such as 0, but partition 0 such as 'a'"),
    ],
)
def test_bad_partitions_are_refused_before_training_with_their_number(client, spoilt, says):
    X, y = spoilt(*table())
    if not isinstance(X, list):
        cuts = np.arange(50, N, 50)
        X, y = np.split(X, cuts), np.split(y, cuts)
    with pytest.raises(PartitionError, match=says):
        on_dask().fit(list(map(delayed, X)), list(map(delayed, y)))


def test_labels_that_the_first_partition_lacks_are_classes_too(client):
    X, y = table()
    order = np.argsort(y, kind="stable")
    ours = on_dask().fit(*delayed_table(X[order], y[order], [50]))
    assert list(ours.to_local().classes_) == ["a", "b", "c"]


def test_rows_in_memory_are_refused_with_a_remedy(client):
    X, y = table()
    with pytest.raises(TypeError, match="use the ordinary estimator"):
        on_dask().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 partitions, but y has 3"):
        on_dask().fit(delayed_table(X, y, [9])[0], delayed_table(X, y, [9, 10])[1])
    with pytest.raises(AttributeError, match="call fit first"):
        on_dask().to_local()


def test_settings_that_need_all_rows_in_one_place_are_refused(client):
    X, y = delayed_table(*table(), [100])
    for says, settings in {
        "use Tree": {"learner": Similarity()},
        "binning='exact'": {"learner": Stump(binning="exact")},
        "cross_fit=5": {"cross_fit": 5},
    }.items():
        with pytest.raises(ValueError, match=says):
            on_dask(**settings).fit(X, y)


class AtRound:
    """Does something once, after the second round."""

    def __init__(self, does):
        self.does = does

    def on_rounds(self, batch):
        record = batch[-1]
        if record.index == 1:
            self.does()
        return False

    def on_end(self):
        pass


def test_without_workers_there_is_an_error_and_no_endless_wait(fragile, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    running, client = fragile
    # As many rounds as it takes until the worker is gone.
    ruined = classifier(callbacks=[AtRound(lambda: running.scale(0))], n_rounds=10**6)
    model = rebelboost.dask.RebelClassifier(ruined, client=client)
    with pytest.raises(ClusterError, match="no workers for 1 seconds"):
        model.fit(*delayed_table(*table(), [100]))


def kept_parts():
    return list(cluster.KEPT)


def test_a_client_that_is_closed_in_a_fit_is_an_error_and_leaves_no_parts(fragile):
    running, client = fragile

    closing = classifier(callbacks=[AtRound(client.close)])
    model = rebelboost.dask.RebelClassifier(closing, client=client)
    with pytest.raises(ClusterError, match="the scheduler of the cluster is lost"):
        model.fit(*delayed_table(*table(), [100, 300]))
    with Client(running, set_as_default=False) as other:
        assert set(map(tuple, other.run(kept_parts).values())) == {()}


def test_without_a_scheduler_there_is_an_error(fragile):
    running, client = fragile
    model = rebelboost.dask.RebelClassifier(
        classifier(callbacks=[AtRound(running.close)]), client=client
    )
    with pytest.raises(ClusterError, match="the scheduler of the cluster is lost"):
        model.fit(*delayed_table(*table(), [100]))


def die(path):
    """Stands for rows that no worker has the memory for."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_rows_that_kill_every_worker_are_named(client):
    X, y = delayed_table(*table(), [100])
    with pytest.raises(ClusterError, match=r"while they read partition .*1, .*smaller partitions"):
        on_dask().fit([X[0], delayed(die)("")], y)


def n_kept(_=None):
    from rebelboost.rows.cluster import KEPT

    return len(KEPT)


def test_workers_forget_the_rows_when_a_fit_ends(client):
    on_dask().fit(*delayed_table(*table(), [100]))
    assert set(client.run(n_kept).values()) == {0}


@pytest.fixture
def ctrl_c():
    """Ctrl-C interrupts, as in the foreground: shells let background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(pid, rows):
    """Press Ctrl-C in the process of the fit, and let it wait for these rows."""
    os.kill(pid, signal.SIGINT)
    assert Event("go on").wait(timeout=60), "the fit did not end while it waited for a worker"
    return rows


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_fit_that_waits_for_a_worker(client, tmp_path):
    X, y = table()
    X_parts, y_parts = delayed_table(X, y, [100, 200])
    ours = on_dask().fit(X_parts, y_parts)
    before = fingerprint(ours.to_local(), tmp_path)
    go_on = Event("go on", client=client)
    go_on.clear()
    with pytest.raises(KeyboardInterrupt):
        ours.fit([X_parts[0], delayed(interrupt)(os.getpid(), X[100:200]), X_parts[2]], y_parts)
    go_on.set()
    assert fingerprint(ours.to_local(), tmp_path) == before  # the last model is kept
    # After what its only thread was at, each worker must have forgotten the interrupted fit.
    addresses = list(client.scheduler_info()["workers"])
    kept = [client.submit(n_kept, a, workers=[a], pure=False) for a in addresses]
    assert client.gather(kept) == [0] * len(addresses)
    assert fingerprint(on_dask().fit(X_parts, y_parts).to_local(), tmp_path) == before


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_the_middle_of_a_round_ends_the_fit(client, tmp_path):
    begun = threading.Event()
    interrupting = threading.Thread(
        target=lambda: begun.wait(60) and os.kill(os.getpid(), signal.SIGINT)
    )
    interrupting.start()
    endless = on_dask(callbacks=[AtRound(begun.set)], n_rounds=10**6)
    parts = delayed_table(*table(), [100])
    with pytest.raises(KeyboardInterrupt):
        endless.fit(*parts)
    interrupting.join()
    whole = classifier().fit(*table())
    assert fingerprint(on_dask().fit(*parts).to_local(), tmp_path) == fingerprint(whole, tmp_path)


class Task:
    """Stands for the future of a part."""

    def __init__(self, status):
        self.status = status


def test_a_result_that_is_lost_with_its_worker_is_awaited_again():
    """A finished task is pending again when its worker dies before the result is read."""
    cluster.check_made({3: Task("pending"), 4: Task("finished")})
    with pytest.raises(ClusterError, match="rows of partition 3 were lost"):
        cluster.check_made({3: Task("cancelled")})
