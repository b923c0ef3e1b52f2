"""Answers about what has no Workload yet, what nobody can try, and how little would do."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, LIMIT_RANGES, NAMESPACES
from fakekube.runtime.why import Answer, Change, Reason
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import LOCAL_QUEUES, WORKLOADS
from fakekube_controllers.kueue.resources import FlavorResource
from fakekube_controllers.kueue.topology.domains import DomainTree
from fakekube_controllers.kueue.topology.snapshot import Matching, TASFlavorSnapshot
from fakekube_controllers.kueue.why import domains, queues, shortfall, trial
from fakekube_controllers.kueue.why.answers import Answers
from fakekube_controllers.kueue.why.domains import RoomNeed
from fakekube_controllers.kueue.why.room import Room
from fakekube_controllers.kueue.why.trial import Extra, Lack, TooMany
from fakekube_controllers.kueue.workload.info import InfoOptions
from tests.controllers.kueue.core.world import NAMESPACE, world
from tests.controllers.kueue.topology.test_facts import node
from tests.controllers.kueue.topology.test_placement import request, snapshot_of

CPU = FlavorResource("f", "cpu")


def nothing() -> Any:
    """A Kueue that knows of nothing."""
    workloads = SimpleNamespace(controlled_by=lambda _: [], get=lambda *_: None, list=lambda _: [])
    return SimpleNamespace(
        objects=SimpleNamespace(workloads=workloads, local_queues=SimpleNamespace(get=lambda *_: None)),
        cache=SimpleNamespace(hm=SimpleNamespace(cluster_queues={})))


def job(spec: Tree, **metadata: Any) -> Tree:
    """A job or a pod."""
    return {"metadata": {"name": "j", "namespace": "n", "uid": "u", **metadata}, "spec": spec}


@pytest.mark.parametrize(("spec", "labels", "wanted"), [
    ({}, {"kueue.x-k8s.io/queue-name": "q"}, None),
    ({"suspend": False}, {"kueue.x-k8s.io/queue-name": "q"}, None),
    ({"suspend": True}, {}, None),
    ({"suspend": True}, {"kueue.x-k8s.io/queue-name": "q"}, Answer(
        "job/n/j", "NoWorkload", "is suspended, and has no workload yet",
        (Reason("MissingLocalQueue", "LocalQueue q is not there",
                (Change("Create", "localqueue/n/q", "create LocalQueue n/q"),)),),
        changes=(Change("Create", "localqueue/n/q", "create LocalQueue n/q"),))),
    ({"suspend": True}, {"kueue.x-k8s.io/queue-name": ""}, Answer(
        "job/n/j", "NoWorkload", "is suspended, and has no workload yet", (Reason("NoQueue", "names no LocalQueue"),))),
])
def test_a_job_without_a_workload(spec: Tree, labels: Tree, wanted: Answer | None) -> None:
    """Given a job that has no Workload, when it is asked about, then what is in the way of one is
    told, if it is suspended and in a queue.
    """
    assert Answers(nothing()).job(JOBS, job(spec, labels=labels)) == wanted


@pytest.mark.parametrize(("gates", "wanted"), [
    ([], None), (["other"], None),
    (["kueue.x-k8s.io/admission", "other"], Answer(
        "pod/n/j", "Gated", "is held back by kueue.x-k8s.io/admission, and has no workload yet"))])
def test_a_pod_without_a_workload(gates: list[str], wanted: Answer | None) -> None:
    """Given a pod without a Workload, when it is asked about, then Kueue's gates are told."""
    assert Answers(nothing()).pod(job({"schedulingGates": [{"name": name} for name in gates]})) == wanted


def test_what_is_not_known_yet() -> None:
    """Given objects that are there, when Kueue has not seen them yet, then that is told."""
    kueue = nothing()
    assert Answers(kueue).cluster_queue({"metadata": {"name": "cq"}}) == Answer(
        "clusterqueue/cq", "InFlight", "is not known to Kueue yet")
    assert queues.of_local_queue(kueue, "n", "") == queues.Trouble("NoQueue", "names no LocalQueue")
    snapshot: Any = SimpleNamespace(resource_flavors={})
    unused: Any = None
    assert shortfall.mismatches_of(snapshot, unused, "f", unused) == ["ResourceFlavor f is not there"]


def test_a_queue_that_has_not_begun() -> None:
    """Given a ClusterQueue that is in no snapshot yet, when a Workload in it is asked about, then
    it waits for the queue to begin.
    """
    selector = SimpleNamespace(matches=lambda _: True)
    found = SimpleNamespace(parent_cohort=None, spec=SimpleNamespace(namespace_selector=selector))
    local_queue = {"spec": {"clusterQueue": "cq"}}
    kueue: Any = SimpleNamespace(
        objects=SimpleNamespace(
            local_queue_of=lambda _: local_queue, local_queues=SimpleNamespace(get=lambda *_: local_queue),
            namespace_labels=lambda _: {}, adjusted=lambda each: each),
        cache=SimpleNamespace(
            hm=SimpleNamespace(cluster_queues={"cq": found}), snapshot=lambda: SimpleNamespace(cluster_queue=lambda _: None),
            cluster_queue_readiness=lambda _: SimpleNamespace(status="True")),
        features=SimpleNamespace(AdmissionGatedBy=False), info_options=InfoOptions())
    workload: Tree = {"metadata": {"name": "w", "namespace": "n"}, "spec": {"queueName": "q", "podSets": []}}
    assert Answers(kueue).workload(workload) == Answer(
        "workload/n/w", "InactiveQueue", "waits for clusterqueue cq to begin")


def test_a_leader_has_no_place_without_its_workers() -> None:
    """Given a leader and workers that are to be in one rack, when there is no room, then both are
    told: the fewer pods are the leader.
    """
    asked = {"required": "rack", "podSetGroupName": "g"}
    leader, workers, alone = request(1, asked, "leader"), request(9, asked, "workers"), request(9, {"required": "rack"}, "alone")
    cq: Any = SimpleNamespace(tas_flavors={"f": snapshot_of([(0, 0, 4), (0, 1, 4)])})
    info: Any = SimpleNamespace(obj={"metadata": {"name": "w"}, "spec": {}, "status": {}})
    assert domains._failure(cq, info, {"f": [workers, leader]}) == domains.Failure("f", workers, leader)
    assert domains._failure(cq, info, {"f": [alone]}) == domains.Failure("f", alone, None)
    assert domains._failure(cq, info, {"f": [request(4, {"required": "rack"})]}) is None


def test_room_for_workers_is_also_for_their_leader() -> None:
    """Given a node that is full, when workers and their leader are to be there, then what is asked
    for are the pods of all of them.
    """
    asked = {"required": "rack", "podSetGroupName": "g"}
    tree = DomainTree(["rack"], [node("n0", "b0 r0 s0 x", "0 0 0")])
    found: Any = SimpleNamespace(
        tas_flavors={"f": TASFlavorSnapshot("topo", (), Matching(tree), tree.capacity, {}, Features())})
    info: Any = SimpleNamespace(obj={"metadata": {"name": "w"}, "spec": {}, "status": {}})
    requests = {"f": [request(9, asked, "workers"), request(1, asked, "leader")]}
    assignment: Any = SimpleNamespace(workloads_topology_requests=lambda *_: requests)
    room = domains.needed(found, info, assignment)
    assert room is not None
    assert (room.pods, room.amounts()) == (9, {"cpu": 10_000, "pods": 10})


class Trials:
    """Trials of which a test says how they end."""

    place = 0

    def __init__(self, run: Callable[[Extra], Lack | None], holders: dict[str, int]) -> None:
        self.run = run
        workloads = {
            name: SimpleNamespace(
                key=ObjectKey("n", name), obj={"metadata": {"name": name}},
                flavor_resource_usage=lambda amount=amount: {CPU: amount})
            for name, amount in holders.items()}
        self._cq = SimpleNamespace(
            parent=lambda: None, workloads=workloads, rg_by_resource=lambda _: object(),
            resource_node=SimpleNamespace(quotas={CPU: None}),
            tas_flavors={"f": SimpleNamespace(is_lowest_level_node=True)})

    def begin(self) -> None:
        """Nothing is to be counted."""

    def snapshot(self) -> Any:
        return SimpleNamespace(cluster_queue=lambda _: self._cq)


def changes(run: Callable[[Extra], Lack | None], **holders: int) -> Any:
    """What is told would do."""
    room = Room.__new__(Room)
    trials: Any = Trials(run, holders)
    unused: Any = None
    room._trial, room._kueue, room._name = trials, unused, "cq"
    info: Any = SimpleNamespace(total_requests=[])
    room._info = info
    found = room.changes()
    if found is None:
        return None
    return [each.text for each in found[0]], [[each.text for each in ends] for ends in found[1]]


ROOM = RoomNeed("f", "t", ("kubernetes.io/hostname",), "n0", ("n0",), None, 1, {"cpu": 1000}, {})
MORE = "{} more cpu of nominal quota for flavor f in clusterqueue cq"


def lacking(amount: int) -> Callable[[Extra], Lack | None]:
    """So much quota is lacking, and one is told of at a time; or some Workloads are to end."""
    def run(extra: Extra) -> Lack | None:
        if extra.gone:
            return None if "b" in [info.key.name for info in extra.gone] else Lack({CPU: 1000})
        return None if extra.quota.get(CPU, 0) >= amount else Lack({CPU: 1000})
    return run


def too_many_at(when: Callable[[Extra], bool]) -> Callable[[Extra], Lack | None]:
    """It is given up at some point."""
    def run(extra: Extra) -> Lack | None:
        if when(extra):
            raise TooMany
        return None if extra.quota else Lack({CPU: 1000})
    return run


@pytest.mark.parametrize(("run", "wanted"), [
    (lacking(0), ([], [])),
    (lacking(1000), ([MORE.format("1")], [["the end of workload n/b"]])),
    (lacking(6000), ([MORE.format("6")], [["the end of workload n/b"]])),
    (lacking(99_000), ([MORE.format("99")], [["the end of workload n/b"]])),
    (too_many_at(lambda _: True), None),
    (too_many_at(lambda extra: bool(extra.gone)), ([MORE.format("1")], [])),
    (lambda _: Lack({}), None),
    (lambda _: Lack({}, ROOM), None),
    (lambda _: Lack({CPU: 1000}, ROOM), None),
    (lambda _: Lack({CPU: 1000}), None),
    (lambda extra: Lack({CPU: 1000}, ROOM if extra.quota.get(CPU, 0) > 6000 else None), None),
    (lambda extra: Lack({}) if extra.quota.get(CPU, 0) > 6000 else Lack({CPU: 1000}), None),
])
def test_the_least_that_would_do(run: Callable[[Extra], Lack | None], wanted: Any) -> None:
    """Given what is lacking with so much quota, when it is asked what would do, then the least
    quota and as few ends as do; nothing where no amount does, or it takes too long to try.
    """
    assert changes(run, a=3, b=2, c=1) == wanted


def test_how_often_it_is_tried() -> None:
    """Given quota of which one part is told at a time, when it is asked how much would do, then it
    is tried six times one by one, and after that by doubling and halving, up to a limit.
    """
    tried: list[int] = []

    def run(extra: Extra) -> Lack | None:
        tried.append(extra.quota.get(CPU, 0) // 1000)
        return None if tried[-1] >= 11 else Lack({CPU: 1000})

    assert changes(run) == ([MORE.format("11")], [])
    assert tried == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 12, 11]
    tried.clear()
    assert changes(lambda extra: tried.append(extra.quota.get(CPU, 0) // 1000) or Lack({CPU: 1000})) is None  # type: ignore[func-returns-value]
    assert tried[-2:] == [6 + 2**20, 6 + 2**21]
    tried.clear()
    assert changes(lambda extra: tried.append(len(extra.rooms)) or Lack({}, ROOM)) is None  # type: ignore[func-returns-value]
    assert tried == [0] + [1] * 31


def test_nobody_has_what_is_lacking() -> None:
    """Given quota that one Workload has, when its end would do, then it alone is told, and nobody
    asks whether nothing would do.
    """
    tried: list[tuple[int, list[str]]] = []

    def run(extra: Extra) -> Lack | None:
        tried.append((extra.quota.get(CPU, 0), [info.key.name for info in extra.gone]))
        return None if extra.gone or extra.quota else Lack({CPU: 1000})

    assert changes(run, a=1) == ([MORE.format("1")], [["the end of workload n/a"]])
    assert tried == [(0, []), (1000, []), (0, ["a"])]


@pytest.mark.parametrize(("name", "value"), [("MAX_WAITING", 1), ("MAX_NOMINATIONS", 0)])
async def test_too_many_to_try(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more Workloads before another than are tried, when it is asked about, then only its
    place is told.
    """
    async with world() as of:
        await of.queues("1")
        for each in ("first", "second", "third"):
            await of.workload(each)
            await of.cluster.advance("2s")
        asked = await of.cluster.why("workload/third")
        assert [change.action for change in asked.changes] == ["AddQuota"]
        monkeypatch.setattr(trial, name, value)
        answer = await of.cluster.why("workload/third")
        assert (answer.state, answer.message) == ("Pending", "waits at place 2 of 2 in clusterqueue cq")
        assert (answer.changes, answer.alternatives) == ((), ())


async def test_those_that_are_never_admitted() -> None:
    """Given Workloads that a queue never takes, when another behind them is asked about, then they
    are not counted; and of them it is not known what would do.
    """
    async with world() as of:
        await of.client.create(NAMESPACES, {"metadata": {"name": "other"}})
        await of.create(LIMIT_RANGES, "l", {"limits": [{"type": "Container", "max": {"cpu": "2"}}]})
        await of.queues("1", namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}})
        queue = {"metadata": {"name": "q"}, "spec": {"clusterQueue": "cq"}}
        await of.client.create(LOCAL_QUEUES, queue, "other")
        await of.workload("first")
        await of.cluster.advance("2s")
        await of.workload("large", "3", priority=9)
        spec = (await of.get(WORKLOADS, "first"))["spec"]
        away = {"queueName": "q", "podSets": spec["podSets"], "priority": 8}
        await of.client.create(WORKLOADS, {"metadata": {"name": "away"}, "spec": away}, "other")
        await of.workload("last")
        await of.cluster.advance("2s")
        answer = await of.cluster.why("workload/last")
        assert [change.text for change in answer.changes] == [MORE.format("1")]
        answer = await of.cluster.why("workload/large")
        assert (answer.state, answer.changes) == ("Pending", ())
