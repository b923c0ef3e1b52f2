"""Nodes that get room because pods of nobody's queue go."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.kueue.topology.nontascontroller import NonTASUsage


def controller(now: float) -> tuple[Any, list[Any]]:
    """One that began at second 100, and what it asks for."""
    made, asked = NonTASUsage(SimpleNamespace()), list[Any]()  # type: ignore[arg-type]
    made.ctx = SimpleNamespace(  # type: ignore[assignment]
        clock=SimpleNamespace(time=lambda: now), tasks=SimpleNamespace(spawn=lambda *what: asked.append(what)))
    made._started = 100.0
    made._drain = lambda seconds: seconds  # type: ignore[method-assign,assignment,return-value]
    return made, asked


@pytest.mark.parametrize(("now", "seconds"), [(100.0, 10.0), (103.0, 7.0), (109.5, 0.5), (110.0, 10.0), (127.0, 3.0)])
def test_nodes_with_room_are_looked_at_together(now: float, seconds: float) -> None:
    """Given nodes that get room one after the other / when the first of them does / then all are
    looked at when ten more seconds of the controller's life are over; no node is none.
    """
    made, asked = controller(now)
    for node in ("", "b", "a", "", "b"):
        made._has_room(node)
    assert asked == [(seconds, "nodes with room")]
    assert [*made._left] == ["b", "a"]


def test_no_node_is_not_looked_at() -> None:
    """Given a pod that was on no node / when it goes / then nothing is looked at."""
    made, asked = controller(100.0)
    made._has_room("")
    assert (asked, [*made._left]) == ([], [])
