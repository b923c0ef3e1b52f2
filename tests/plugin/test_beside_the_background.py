"""What stands beside a cluster in the background: who is young and may still connect, its faults
from the test's thread, the environment of a pod and of recordings.
"""

import os
import threading
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.testing import companions
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.background_faults import BackgroundFaults
from fakekube.testing.companions import Companions
from fakekube.testing.incluster import _constants, _environment
from fakekube.testing.recorded import RecordedTests


def test_who_is_young_beside_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given threads and processes, when time is to pass, then those that are new may take some
    seconds to connect, once; a process longer than a thread, and some do not count.
    """
    children = [1]
    monkeypatch.setattr(companions, "_children", lambda: list(children))
    known = Companions()
    assert (known.connect_seconds(), known.are_there()) == (0.0, False)
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, name=name) for name in ("fakekube operator x", "other")]
    threads[0].start()
    assert known.connect_seconds() == 0.0
    threads[1].start()
    assert [known.connect_seconds(), known.connect_seconds(), known.are_there()] == [5.0, 0.0, True]
    children.append(2)
    assert [known.connect_seconds([2]), known.connect_seconds(), known.connect_seconds()] == [0.0, 10.0, 0.0]
    end.set()
    for thread in threads:
        thread.join()
    assert known.are_there()
    children.remove(2)
    assert not known.are_there()


def test_faults_from_another_thread() -> None:
    """Given faults of a cluster in the background, when they are added, cleared and asked about,
    then that is done in its thread; a block takes its fault away and fails where none met it.
    """
    calls: list[Any] = []
    fault = SimpleNamespace(name="f", met=3, remove=lambda: calls.append("remove"), check=lambda: calls.append("check"))

    def add(rule: Any, **values: Any) -> Any:
        calls.append((rule, values))
        return fault

    faults = SimpleNamespace(add=add, clear=lambda: calls.append("clear"), meetings=["m"])

    def run(function: Any) -> Any:
        calls.append("in its thread")
        return function(SimpleNamespace(faults=faults))

    ours: Any = BackgroundFaults(run)
    with ours.add("rule", error="x") as added:
        assert (added.name, added.met, ours.meetings) == ("f", 3, ["m"])
    ours.clear()
    there = "in its thread"
    assert calls == [there, ("rule", {"error": "x"}), there, there, "remove", "check", there, "clear"]
    calls.clear()
    with pytest.raises(KeyError), ours.add():
        raise KeyError
    assert calls == [there, (None, {}), there, "remove"]


def test_what_is_set_in_a_pod_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given variables and constants, when a block of a pod sets them, then they are as before at
    its end; a constant stays a text or a path, and one that there is not is not made.
    """
    monkeypatch.setenv("OLD", "1")
    monkeypatch.delenv("NEW", raising=False)
    module: Any = SimpleNamespace(TEXT="/a", PATH=Path("/b"))
    with ExitStack() as stack:
        _environment(stack, {"OLD": "2", "NEW": "3"})
        _constants(stack, module, {"TEXT": Path("/x"), "PATH": Path("/y"), "NONE": Path("/z")})
        assert (os.environ["OLD"], os.environ["NEW"], vars(module)) == ("2", "3", {"TEXT": "/x", "PATH": Path("/y")})
    assert (os.environ["OLD"], "NEW" in os.environ, vars(module)) == ("1", False, {"TEXT": "/a", "PATH": Path("/b")})


@pytest.mark.parametrize("secrets", [False, True])
def test_the_environment_of_recorded_tests(secrets: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a file for recordings, when tests run, then the environment names it, with its secrets
    where they are wanted, each test is named while it runs, and at the end all is as before.
    """
    monkeypatch.delenv("FAKEKUBE_RECORD", raising=False)
    monkeypatch.setenv("FAKEKUBE_RECORD_SECRETS", "before")
    monkeypatch.chdir(tmp_path)
    recorded = RecordedTests(Path("file"), secrets=secrets)
    assert (os.environ["FAKEKUBE_RECORD"], os.environ["FAKEKUBE_RECORD_SECRETS"]) == (
        str(tmp_path / "file"), "true" if secrets else "before")
    running: Any = recorded.pytest_runtest_protocol(cast("Any", SimpleNamespace(nodeid="a::b")))
    next(running)
    assert recorded.recorder.test == "a::b"
    assert next(running, "over") == "over"
    assert recorded.recorder.test == ""
    recorded.pytest_sessionfinish()
    recorded.pytest_unconfigure()
    assert ("FAKEKUBE_RECORD" in os.environ, os.environ["FAKEKUBE_RECORD_SECRETS"]) == (False, "before")
    with pytest.raises(pytest.UsageError, match=r"^--fakekube-record: "):
        RecordedTests(tmp_path / "no" / "file", secrets=False)


def test_a_cluster_in_the_background_that_was_not_started() -> None:
    """Given a cluster in the background, when it was not started, then that is said; what is wrong
    with its options is raised where it is to start.
    """
    cluster = BackgroundCluster(nodes="x")
    assert cluster.url == ""
    with pytest.raises(AssertionError, match=r"^not started\b"):
        _ = cluster.cluster
    with pytest.raises(AssertionError, match=r"^no path was given for a kubeconfig\b"):
        _ = cluster.kubeconfig
    with pytest.raises(ValueError, match=r"^nodes: 'x' is no number of nodes$"), cluster:
        pass
