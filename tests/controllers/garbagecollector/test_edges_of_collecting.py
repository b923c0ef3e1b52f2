"""Definitions that change in nothing, owners with many dependents, and objects that nobody knows.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.garbagecollector import collector
from fakekube_controllers.garbagecollector.collector import GarbageCollector
from fakekube_controllers.garbagecollector.graph import Graph, Identity, Node

ESTABLISHED = {"conditions": [{"type": "Established", "status": "True"}]}


def definition(spec: Any, status: Any = None, version: str = "1") -> Any:
    return {"metadata": {"name": "d", "resourceVersion": version}, "spec": spec, **({"status": status} if status else {})}


@pytest.mark.parametrize(("old", "new", "looks"), [
    (definition({"a": 1}, ESTABLISHED), definition({"a": 2}, ESTABLISHED), True),
    (definition({}), definition({}, ESTABLISHED), True),
    (definition({}, ESTABLISHED), definition({}, ESTABLISHED, "2"), False), (definition({}), definition({"a": 1}), False),
])
def test_types_are_looked_for_when_a_definition_changes(old: Any, new: Any, looks: bool) -> None:
    """Given a definition / when its spec or status changes, and it is established / then types are
    looked for at once; not for any other change.
    """
    made: Any = object.__new__(GarbageCollector)
    calls: list[Any] = []
    made._timer = SimpleNamespace(cancel=lambda: calls.append("cancel"))
    made.ctx = SimpleNamespace(clock=SimpleNamespace(call_later=lambda *what: calls.append(what)))
    made._definition_changed(old, new)
    assert calls == (["cancel", (0, made._look)] if looks else [])


@pytest.mark.parametrize(("count", "turns"), [(1, 0), (16, 0), (17, 1), (32, 1), (33, 2)])
async def test_others_have_their_turns_while_many_are_orphaned(monkeypatch: pytest.MonkeyPatch, count: int, turns: int) -> None:
    """Given an owner with many dependents / when they are orphaned / then each loses its reference,
    and others have a turn after every sixteen; at last the owner loses its finalizer.
    """
    done: list[Any] = []

    async def turn() -> None:
        done.append("turn")

    async def read(identity: Identity) -> Any:
        return {"name": identity.name}

    async def drop(latest: Any, *_: Any) -> None:
        done.append(latest["name"])

    async def finish(owner: Any, _: Identity, finalizer: str) -> None:
        done.append((owner["name"], finalizer))

    monkeypatch.setattr(collector, "turn", turn)
    made: Any = object.__new__(GarbageCollector)
    made._read, made._drop_references, made._remove_finalizer = read, drop, finish
    owner = Node(Identity("v1", "Pod", "n", "owner", "o"))
    dependents = {str(number): Node(Identity("v1", "Pod", "n", str(number), str(number))) for number in range(count)}
    made.graph = SimpleNamespace(nodes={"o": SimpleNamespace(identity=owner.identity, dependents=dependents)})
    await made._attempt_to_orphan("o")
    assert ([each for each in done if isinstance(each, str) and each != "turn"], done.count("turn")) == ([*dependents], turns)
    assert done[-1] == ("owner", "orphan")
    await made._attempt_to_orphan("unknown")
    assert len(done) == count + turns + 1


def test_what_nobody_knows_is_forgotten_already() -> None:
    """Given a graph / when an object goes that it does not know / then nothing is to be done."""
    found: list[str] = []
    graph = Graph(found.append, found.append, lambda *_: None)
    graph.forget("unknown")
    assert (found, graph.nodes) == ([], {})
