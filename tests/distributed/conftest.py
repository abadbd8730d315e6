import gc

import dask
import pytest

from distributed import Client, LocalCluster


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes on this machine, restarted when they are killed; nothing listens elsewhere."""
    # By default, LocalCluster gives up a worker that is not back in time; killed ones must come back.
    with (
        dask.config.set(
            {
                "distributed.deploy.lost-worker-timeout": "1h",
                "distributed.scheduler.allowed-failures": 1,
            }
        ),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as running,
    ):
        yield running


@pytest.fixture
def fragile():
    """A cluster with one worker, and its client, for a test that ruins it."""
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as running,
        Client(running, set_as_default=False) as connected,
    ):
        yield running, connected
    gc.collect()


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=True) as connected:
        yield connected
    gc.collect()  # sockets of killed workers, whose warnings are ignored here
