"""A cluster in a thread of its own, used without pytest's fixtures."""

import socket
import threading
import urllib.request
from pathlib import Path

import pytest

from fakekube.client.resources import NODES
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.testing.background import BackgroundCluster


def test_it_serves_inside_the_block_and_nowhere_else(tmp_path: Path) -> None:
    """Given a cluster in the background, when the block is over, then its port is closed and its
    thread has gone.
    """
    before = threading.active_count()
    with BackgroundCluster(ClusterOptions(nodes=0), kubeconfig=tmp_path / "kubeconfig") as cluster:
        with urllib.request.urlopen(f"{cluster.url}/readyz") as answer:
            assert answer.status == 200
        assert cluster.kubeconfig.exists()
    assert threading.active_count() == before
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{cluster.url}/readyz")


def test_coroutines_run_in_its_thread() -> None:
    """Given a cluster in the background, when a coroutine is handed to it, then what it returns or
    raises comes back.
    """
    with BackgroundCluster(ClusterOptions(nodes=2)) as cluster:
        assert len(cluster.call(lambda inner: inner.client.list(NODES)).items) == 2
        with pytest.raises(ZeroDivisionError):
            cluster.run_until(lambda: 1 // 0 == 1)


def test_what_keeps_it_from_starting_is_raised_here() -> None:
    """Given a release that does not exist, or a port that is taken, when the block is entered, then
    the error is raised in the caller's thread.
    """
    with pytest.raises(OptionError, match="unknown Kubernetes release"), \
            BackgroundCluster(ClusterOptions(kubernetes_version="1.12")):
        pass
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"), \
            BackgroundCluster(ClusterOptions(nodes=0), port=taken.getsockname()[1]):
        pass


def test_its_time_is_stopped_and_it_goes_back_from_the_tests_thread() -> None:
    """Given a cluster in the background, when it is paused, moved, restored and resumed from
    another thread, then time stands, moves, goes back with the snapshot, and runs.
    """
    with BackgroundCluster(ClusterOptions(nodes=0, controllers="namespace")) as cluster:
        cluster.pause()
        before, taken = cluster.clock.now(), cluster.snapshot()
        cluster.advance("2h")
        assert (cluster.clock.now() - before).total_seconds() == 7200
        cluster.restore(taken)
        assert (cluster.clock.now(), cluster.clock.paused) == (before, True)
        cluster.resume()
        assert not cluster.clock.paused
