"""When servers are asked how they are: again after what came meanwhile, no more once they go."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.aggregator import apiservices
from fakekube.aggregator.apiservices import Aggregator
from fakekube.aggregator.availability import Condition
from fakekube.apimachinery.http import Request
from fakekube.endpoints.requestinfo import parse
from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.tasks import Tasks, turn
from tests.aggregator.parts import OneServer

SPEC = {"group": "g.example", "version": "v1", "service": {"namespace": "n", "name": "s"}, "groupPriorityMinimum": 1,
        "versionPriority": 1}


class Asked:
    """An aggregator whose servers answer when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gates: list[asyncio.Event] = []
        self.documents: list[asyncio.Event] = []
        self.written: list[Any] = []
        self.server, self.tasks = OneServer(), Tasks()

        async def condition_of(*_: Any) -> Condition:
            self.gates.append(asyncio.Event())
            await self.gates[-1].wait()
            return Condition("True", "Passed", "all checks passed")

        async def documents_of(_: Any) -> None:
            self.documents.append(asyncio.Event())
            await self.documents[-1].wait()

        monkeypatch.setattr(apiservices, "condition_of", condition_of)
        monkeypatch.setattr(apiservices, "documents_of", documents_of)
        bucket = SimpleNamespace(revision=1, subscribe=lambda *_: None, records=list)
        cluster = SimpleNamespace(
            gate=lambda _: True, lookup=lambda *_: None, write_status=lambda *args, **_: self.written.append(args))
        self.found = Aggregator(
            SimpleNamespace(note_change=lambda: None), SimpleNamespace(bucket=lambda _: bucket), cluster,  # type: ignore[arg-type]
            ManualClock(), servers=self.server, tasks=self.tasks, activity=Activity(), watches=None)  # type: ignore[arg-type]

    def tell(self, kind: str, available: str = "True") -> None:
        """An APIService is written."""
        status = {"conditions": [{"type": "Available", "status": available}]}
        record = SimpleNamespace(name="v1.g.example", tree=lambda: {"spec": SPEC, "status": status})
        self.found.changed(SimpleNamespace(type=kind, record=record))  # type: ignore[arg-type]

    def place(self) -> None:
        """Its service changes."""
        self.found._place_changed(SimpleNamespace(record=SimpleNamespace(namespace="n", name="s", labels={})))  # type: ignore[arg-type]


async def test_what_changes_while_a_server_is_asked_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server that is being asked / when its service changes twice meanwhile / then it is
    asked once more when it has answered; of an APIService that is gone nothing is written.
    """
    asked = Asked(monkeypatch)
    asked.tell("ADDED")
    await turn()
    assert asked.gates == []
    asked.found.start()
    for _ in range(3):
        await turn()
        asked.place()
    assert len(asked.gates) == 1
    for number in (1, 2):
        asked.gates[-1].set()
        for _ in range(4):
            await turn()
        asked.documents[-1].set()
        for _ in range(4):
            await turn()
        assert len(asked.gates) == 2, number
    assert (len(asked.documents), asked.written, len(asked.found._timers)) == (2, [], 1)
    asked.found.stop()
    await asked.tasks.close()


@pytest.mark.parametrize("while_documents", [False, True])
async def test_a_server_that_goes_is_asked_no_more(while_documents: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server that is being asked how it is, or what it serves / when its APIService goes /
    then its answer counts no more, and nobody asks again.
    """
    asked = Asked(monkeypatch)
    asked.found.start()
    asked.tell("ADDED")
    await turn()
    if while_documents:
        asked.gates[0].set()
        for _ in range(4):
            await turn()
    asked.tell("DELETED")
    for gate in (*asked.gates, *asked.documents):
        gate.set()
    for _ in range(4):
        await turn()
    assert (len(asked.gates), len(asked.documents), asked.found._timers) == (1, int(while_documents), {})
    asked.found.stop()
    await asked.tasks.close()


async def test_a_server_without_an_address_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an APIService that is available, and whose service leads nowhere / when a request comes
    / then it is not served.
    """
    asked = Asked(monkeypatch)
    asked.tell("ADDED")
    asked.server.endpoint = None
    info = parse("GET", "/apis/g.example/v1/things", {})
    remote = asked.found.remote_of(info)
    assert remote is not None
    answer = await asked.found.answer(remote, info, Request("GET", info.path))
    assert (answer.status, answer.body) == (503, b"service unavailable\n")
    await asked.tasks.close()
