"""Small parts by themselves: a file of audit events, the state of a fleet, what faults ask of a
cluster, and who runs the parts of an exploration.
"""

import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.gvk import GroupResource
from fakekube.cli.exploring import _executor
from fakekube.composition.auditfile import AuditFile
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import OptionError
from fakekube.faults.plan import Faults
from fakekube.testing import Always, checking
from tests.faults.asking import ask


def test_a_file_of_audit_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Given names of files, when audit events are written, then lines are added at once; a name
    that no file can have is refused before, and what cannot be written later is told.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("a", "!b", str(tmp_path / "c")):
        with Path(name).open("ab") as file:
            file.write(b"0")
        audit = AuditFile(name)
        audit.write(b"1")
        assert Path(name).read_bytes() == b"01"
        audit.close()
    for name in ("nowhere/a", "!no/b"):
        with pytest.raises(OptionError) as refused:
            AuditFile(name)
        assert str(refused.value) == f"audit_log: {name}: [Errno 2] No such file or directory: '{name}'"
    lost = AuditFile("d")
    Path("d").unlink()
    Path("d").mkdir()
    with caplog.at_level(logging.WARNING):
        lost.write(b"x")
    assert caplog.messages == ["an audit event is lost: [Errno 21] Is a directory: 'd'"]


async def test_the_state_of_a_fleet_knows_when_it_began() -> None:
    """Given a fleet, when its states are looked at, then each has the beginning of its clusters."""
    async with Fleet("a", "b", nodes=0, controllers="", clock="manual") as fleet:
        began = fleet.first.clock.time()
        await fleet.first.advance("5s")
        seen: list[tuple[float, float]] = []

        def looks(state: Any) -> bool:
            seen.append((state.started, state.time))
            return True



        with checking(fleet, Always(looks)):
            await fleet.first.advance("5s")
        assert {started for started, _ in seen} == {began}


async def test_what_faults_know_of_kinds() -> None:
    """Given a cluster, when faults ask for the kind of a resource, then it is its name, or that of
    the resource where there is none; and what was met is listed with it.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        server = cluster.faults.server
        assert [server.kind_of(GroupResource(group, name)) for group, name in (
            ("", "pods"), ("batch", "jobs"), ("x.dev", "ws"))] == ["Pod", "Job", "ws"]
        cluster.faults.add(name="f", error="Timeout", resources="configmaps")
        await ask(cluster, "GET", "/api/v1/configmaps")
        listed = orjson.loads((await ask(cluster, "GET", "/fakekube/v1/faults")).body)
        assert list(listed) == ["kind", "apiVersion", "items", "meetings"]
        assert [each["fault"] for each in listed["meetings"]] == ["f"]
        assert isinstance(cluster.faults, Faults)


def test_who_runs_the_parts_of_an_exploration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an exploration, when it has no Dask cluster, then processes of its own run its parts,
    one for each core or as many as are asked for.
    """
    from concurrent import futures

    made: list[int] = []

    class Pool:
        def __init__(self, count: int, _context: object) -> None:
            made.append(count)

        def __enter__(self) -> "Pool":
            return self

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(futures, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    for workers, count in ((None, 3), (5, 5)):
        with _executor(workers, None) as (executor, told):
            assert (isinstance(executor, Pool), told) == (True, count)
    assert made == [3, 5]
