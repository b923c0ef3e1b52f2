"""What the conditions of nodes call for, and when a node is overdue."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.nodelifecycle import taints
from fakekube_controllers.nodelifecycle.health import NodeHealth, NodeHealthMap

if TYPE_CHECKING:
    from fakekube.util.clock import Clock

PREFIX = "node.kubernetes.io/"


def node(
    *conditions: tuple[str, str],
    unschedulable: bool = False,
    tainted: tuple[str, ...] = (),
    labels: Tree | None = None,
    heartbeat: str = "",
) -> Tree:
    found = [
        {"type": kind, "status": status, **({"lastHeartbeatTime": heartbeat} if heartbeat else {})} for kind, status in conditions
    ]
    spec: Tree = {"unschedulable": True} if unschedulable else {}
    if tainted:
        spec["taints"] = [{"key": PREFIX + text.partition(":")[0], "effect": text.partition(":")[2]} for text in tainted]
    return {"metadata": {"name": "n", "labels": labels or {}}, "spec": spec, "status": {"conditions": found} if found else {}}


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (node(), []),
        ({"spec": {}}, []),
        (node(("Ready", "True")), []),
        (node(("Ready", "False")), ["not-ready"]),
        (node(("Ready", "Unknown")), ["unreachable"]),
        (node(("MemoryPressure", "True")), ["memory-pressure"]),
        (node(("DiskPressure", "True")), ["disk-pressure"]),
        (node(("PIDPressure", "True")), ["pid-pressure"]),
        (node(("NetworkUnavailable", "True")), ["network-unavailable"]),
        (node(unschedulable=True), ["unschedulable"]),
        (
            node(
                *(
                    (kind, status)
                    for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Other")
                    for status in ("False", "Unknown")
                )
            ),
            [],
        ),
        (node(("Other", "True")), []),
        (node(("DiskPressure", "True"), ("Ready", "False"), unschedulable=True), ["disk-pressure", "not-ready", "unschedulable"]),
    ],
)
def test_the_taints_that_conditions_call_for(found: Tree, wanted: list[str]) -> None:
    """Given conditions of a node and whether it is cordoned / then these taints against scheduling.
    """
    assert taints.wanted_no_schedule(found) == [PREFIX + name for name in wanted]


def test_taints_that_lack_and_that_have_no_cause() -> None:
    """Given a node with taints / then those without a cause are to go, but not somebody else's nor
    those of another effect; and those that are there stay.
    """
    found = node(
        ("Ready", "False"),
        ("MemoryPressure", "True"),
        tainted=(
            "not-ready:NoSchedule",
            "memory-pressure:NoExecute",
            "disk-pressure:NoSchedule",
            "unschedulable:NoSchedule",
            "pid-pressure:NoExecute",
            "other:NoSchedule",
        ),
    )
    assert taints.no_schedule_change(found) == (
        [("node.kubernetes.io/memory-pressure", "NoSchedule")],
        [("node.kubernetes.io/disk-pressure", "NoSchedule"), ("node.kubernetes.io/unschedulable", "NoSchedule")],
    )
    assert taints.of(found, "NoExecute") == ["node.kubernetes.io/memory-pressure", "node.kubernetes.io/pid-pressure"]
    assert taints.of(node(), "NoExecute") == []


class OneNode:
    """A client of one node, which keeps what is sent to it."""

    def __init__(self, found: Tree | None) -> None:
        self.found, self.sent = found, list[Tree]()

    async def get(self, _resource: Any, name: str, *, missing_ok: bool) -> Tree | None:
        assert (name, missing_ok) == ("n", True)
        return self.found

    async def patch(self, _resource: Any, name: str, *, body: Tree) -> None:
        assert name == "n"
        self.sent.append(body)


A, B, C = ({"key": key, "effect": "NoExecute", "value": "v"} for key in "abc")


@pytest.mark.parametrize(
    ("present", "add", "remove", "expected"),
    [
        ([], ["a"], [], [{"key": "a", "effect": "NoExecute", "timeAdded": "1970-01-01T00:01:01Z"}]),
        ([A], ["a"], [], None),
        ([A, B], [], ["b"], [A]),
        ([A], [], ["a"], None),
        ([], [], ["a"], "nothing"),
        ([A], [], ["b"], "nothing"),
        ([A, B], ["c"], ["a"], [B, {"key": "c", "effect": "NoExecute", "timeAdded": "1970-01-01T00:01:01Z"}]),
        ([A], ["a"], ["a"], [{"key": "a", "effect": "NoExecute", "timeAdded": "1970-01-01T00:01:01Z"}]),
    ],
)
async def test_taints_are_changed(present: list[Tree], add: list[str], remove: list[str], expected: Any) -> None:
    """Given the taints that a node has now / when some are added and removed / then the rest stays,
    of that version, and what changes nothing is not sent.
    """
    client = OneNode({"metadata": {"name": "n", "resourceVersion": "7"}, "spec": {"taints": present}})
    assert await taints.change(cast("Any", client), "n", 61.0, add=_effects(add), remove=iter(_effects(remove))) is True
    unchanged = expected == "nothing" or (present == [A] and add == ["a"] and not remove)
    assert client.sent == ([] if unchanged else [{"metadata": {"resourceVersion": "7"}, "spec": {"taints": expected}}])


def _effects(keys: list[str]) -> list[tuple[str, str]]:
    return [(key, "NoExecute") for key in keys]


async def test_no_taints_on_no_node() -> None:
    """Given no such node / then nothing is sent, and that is told."""
    client = OneNode(None)
    assert await taints.change(cast("Any", client), "n", 0.0, add=[("a", "NoExecute")]) is False
    assert client.sent == []


class Timed:
    """A clock that notes timers; ``late_seconds`` as the cluster's says it."""

    def __init__(self) -> None:
        self.now, self.late_seconds = 0.0, 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, call: Callable[..., None], *args: Any, daemon: bool, lazy: bool) -> "Timer":
        assert daemon
        self.timers.append(Timer(when, lazy, lambda: call(*args)))
        return self.timers[-1]

    def call_later(self, seconds: float, call: Callable[..., None], *, daemon: bool, lazy: bool) -> "Timer":
        return self.call_at(self.now + seconds, call, daemon=daemon, lazy=lazy)

    def pending(self) -> list[tuple[float, bool]]:
        return [(timer.when, timer.lazy) for timer in self.timers if not timer.cancelled]


class Timer:
    def __init__(self, when: float, lazy: bool, fire: Callable[[], None]) -> None:
        self.when, self.lazy, self.fire, self.cancelled = when, lazy, fire, False

    def cancel(self) -> None:
        self.cancelled = True


def health_map() -> tuple[Timed, NodeHealthMap, list[float]]:
    clock, overdue = Timed(), list[float]()
    return clock, NodeHealthMap(cast("Clock", clock), 50.0, lambda: overdue.append(clock.now)), overdue


def lease(version: str) -> Tree:
    return {"metadata": {"name": "n", "resourceVersion": version}}


def test_what_is_heard_of_a_node() -> None:
    """Given a node / when its status says the same, another heartbeat, or readiness for the first
    time, and its lease is renewed / then it was heard of by all but the same.
    """
    clock, known, _ = health_map()
    assert known.seen(node()) == NodeHealth(0.0)
    clock.now = 10.0
    assert known.seen(node()).heard_at == 0.0
    assert known.seen(node(("Ready", "False"), heartbeat="h1")) == NodeHealth(10.0, "False", "h1")
    clock.now = 20.0
    assert known.seen(node(("Ready", "True"), heartbeat="h1")) == NodeHealth(10.0, "True", "h1")
    assert known.seen(node(("Ready", "True"), heartbeat="h0")) == NodeHealth(20.0, "True", "h0")
    clock.now = 30.0
    assert known.seen(node(heartbeat="")) == NodeHealth(30.0)
    known.nodes["n"].doubted = True
    clock.now = 40.0
    known.renewed(lease("9"))
    assert known.nodes["n"] == NodeHealth(40.0, renewals=1, lease_version="9")
    known.renewed({"metadata": {"name": "other", "resourceVersion": "9"}})
    known.forget("n")
    known.forget("n")
    assert known.nodes == {}


def test_when_a_node_is_overdue() -> None:
    """Given a node that never said that it is ready / then it is overdue after a minute; one that
    did after its grace period.
    """
    clock, known, overdue = health_map()
    new = known.seen(node())
    assert clock.pending() == [(60.0, False)]
    clock.now = 59.9
    assert not known.is_overdue(new)
    clock.now = 60.0
    assert known.is_overdue(new)
    clock.timers[0].fire()
    assert overdue == [60.0]
    clock.now = 70.0
    found = known.seen(node(("Ready", "True"), heartbeat="h"))
    assert [known.is_overdue(found), known._deadline(found)] == [False, 120.0]
    known.disarm()
    assert clock.pending() == []


def test_time_stops_for_who_renews_no_lease() -> None:
    """Given nodes that are well / then the earliest deadline is a timer, a lazy one for who has
    renewed twice; who is given up has none, and who is overdue is not armed again.
    """
    clock, known, overdue = health_map()
    known.seen(node(("Ready", "Unknown")))
    assert clock.pending() == []
    known.forget("n")
    clock.now = 5.0
    known.seen({**node(("Ready", "True")), "metadata": {"name": "m"}})
    clock.now = 6.0
    known.seen(node(("Ready", "True")))
    assert clock.pending() == [(55.0, False)]
    clock.now = 7.0
    known.renewed(lease("1"))
    known.arm()
    assert clock.pending() == [(55.0, False)]
    known.renewed(lease("2"))
    known.arm()
    assert clock.pending() == [(55.0, False), (57.0, True)]
    clock.now = 57.0
    clock.timers[-1].fire()  # time may have jumped over renewals
    assert overdue == []
    assert clock.pending() == [(55.0, False), (57.0, True), (57.0, True)]
    clock.timers[-1].fire()
    assert overdue == [57.0]
    clock.timers[0].cancelled = True
    known.arm()
    assert clock.pending() == [(57.0, True), (57.0, True)]


def test_renewals_that_may_be_late_are_waited_for() -> None:
    """Given a clock on which requests may be late / then even a first deadline lets them come, and
    time stops there.
    """
    clock, known, overdue = health_map()
    clock.late_seconds = 3.0
    known.seen(node(("Ready", "True")))
    clock.now = 50.0
    clock.timers[0].fire()
    assert overdue == []
    assert clock.pending()[-1] == (53.0, False)
    clock.timers[-1].fire()
    assert overdue == [50.0]
