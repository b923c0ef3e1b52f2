"""What of a status stays that somebody else wrote."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.daemonset.controller import DaemonSetReconciler


def daemon_set(status: Tree | None, generation: int = 2) -> Any:
    return {"metadata": {"name": "d", "namespace": "n", "generation": generation}, **({"status": status} if status else {})}


SEEN: Tree = {"observedGeneration": 2, "numberReady": 1}


@pytest.mark.parametrize(("before", "written"), [
    (None, SEEN), ({"observedGeneration": 1, "numberReady": 0}, SEEN),
    ({"collisionCount": 3, "conditions": [1], "numberReady": 0, "a": 1}, {**SEEN, "collisionCount": 3}),
    (SEEN, None), ({**SEEN, "observedGeneration": 1}, SEEN), ({**SEEN, "observedGeneration": 3}, SEEN),
])
async def test_collisions_are_kept(before: Tree | None, written: Tree | None) -> None:
    """Given a status / when a new one is written / then nothing of it stays but how often names
    have met; one that says the same of the present generation is not written.
    """
    sent: list[Any] = []

    async def update(_: Any, tree: Any, *, subresource: str) -> Any:
        sent.append((tree["status"], subresource))
        return tree

    made: Any = object.__new__(DaemonSetReconciler)
    made.client = SimpleNamespace(update=update)
    made._wrote = lambda *_: None
    step: Any = SimpleNamespace(owner=daemon_set(before), status=lambda **_: SEEN)
    await made._write_status(step, observed=True)
    assert sent == ([(written, "status")] if written is not None else [])
