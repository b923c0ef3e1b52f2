"""What is sent to workers and what is left there: rules of the parts of MultiKueue one by one."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, STATEFUL_SETS
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.multikueue import checks
from fakekube_controllers.kueue.multikueue.adapters import Sides
from fakekube_controllers.kueue.multikueue.checks import BadParameters
from fakekube_controllers.kueue.multikueue.clusters import clusters_of_secret
from fakekube_controllers.kueue.multikueue.dispatcher import IncrementalDispatcher
from fakekube_controllers.kueue.multikueue.jobs import JobAdapter
from fakekube_controllers.kueue.multikueue.nomination import Nomination, NotConnected
from fakekube_controllers.kueue.multikueue.remote import CannotConnect, RemoteClient
from fakekube_controllers.kueue.multikueue.serving import ServingAdapter
from fakekube_controllers.kueue.multikueue.workloads import WorkloadReconciler
from fakekube_controllers.kueue.workload import patching

K = "kueue.x-k8s.io/"
KEY = Request("n", "a")
NOTHING: Any = SimpleNamespace(get=lambda *_: None, list=list)


def ctx(now: float = 0.0, **listed: Any) -> Any:
    """What a part is given; ``listed`` by plural."""
    return SimpleNamespace(
        lister=lambda resource: listed.get(resource.plural, NOTHING), clock=SimpleNamespace(time=lambda: now), client=None)


@pytest.mark.parametrize(("namespace", "name", "wanted"), [
    ("kueue-system", "s", [Request("", "by-secret")]), ("other", "s", []), ("kueue-system", "t", [])])
def test_the_clusters_of_a_secret(namespace: str, name: str, wanted: list[Request]) -> None:
    """Given clusters that read a Secret and a file, when a Secret changes, then those that read it
    are looked at, if it is in Kueue's own namespace.
    """
    def cluster(name: str, **config: str) -> Tree:
        return {"metadata": {"name": name}, "spec": {"clusterSource": {"kubeConfig": config}}}

    listed = [cluster("by-secret", location="s", locationType="Secret"), cluster("by-path", location="s", locationType="Path")]
    kueue: Any = SimpleNamespace(
        configuration=Configuration(), ctx=ctx(multikueueclusters=SimpleNamespace(list=lambda: listed)))
    assert [*clusters_of_secret(kueue, {"metadata": {"name": name, "namespace": namespace}})] == wanted


def test_a_check_that_is_not_there() -> None:
    """Given a check that is gone, when its clusters are asked for, then it is told so."""
    with pytest.raises(BadParameters) as refused:
        checks.clusters_of_check("c", ctx())
    assert str(refused.value) == 'AdmissionCheck.kueue.x-k8s.io "c" not found'


class Worker:
    """A worker with one object at most, and what it was asked."""

    def __init__(self, found: Tree | None) -> None:
        self.found, self.asked = found, list[tuple[object, ...]]()

    async def get(self, _resource: object, name: str, namespace: str, **_: object) -> Tree | None:
        self.asked.append(("get", name, namespace))
        return self.found

    async def delete(self, _resource: object, name: str, namespace: str, **_: object) -> None:
        self.asked.append(("delete", name, namespace))

    async def create(self, _resource: object, body: Tree, namespace: str) -> None:
        self.asked.append(("create", body["metadata"]["annotations"], namespace))


def sides(worker: Worker, job: Tree | None) -> Sides:
    """The two ends of a copy."""
    lister: Any = SimpleNamespace(get=lambda *_: job)
    either: Any = worker
    return Sides(lister, either, either, "origin", Features(), 0.0)


@pytest.mark.parametrize(("origin", "wanted"), [
    ("u", ["get"]), ("past", ["get", "delete", "create"]), (None, ["get", "create"])])
async def test_a_copy_of_an_object_of_the_past(origin: str | None, wanted: list[str]) -> None:
    """Given a copy of a StatefulSet that was there before under its name, when the new one is sent,
    then the old copy goes and a new one is made.
    """
    annotation = f"{K}multikueue-origin-uid"
    there = None if origin is None else {"metadata": {"name": "a", "annotations": {annotation: origin}}}
    local: Tree = {"metadata": {"name": "a", "namespace": "n", "uid": "u"}, "spec": {}}
    worker = Worker(there)
    assert await ServingAdapter(STATEFUL_SETS, Features()).sync_job(sides(worker, local), KEY, "w") is False
    assert [each[0] for each in worker.asked] == wanted
    assert [each[1:] for each in worker.asked if each[0] == "create"] == (
        [({annotation: "u"}, "n")] if "create" in wanted else [])


@pytest.mark.parametrize("adapter", [JobAdapter(Features()), ServingAdapter(STATEFUL_SETS, Features())])
async def test_a_job_that_is_gone_is_not_sent(adapter: Any) -> None:
    """Given a job that is gone, when it is to be sent, then its worker is not asked."""
    worker = Worker(None)
    assert await adapter.sync_job(sides(worker, None), KEY, "w") is False
    assert worker.asked == []


def test_a_connection_that_is_lost() -> None:
    """Given a connected worker, when its connection is lost and lost again, then it is told once,
    and it is away since the first time.
    """
    told: list[str] = []
    remote: Any = RemoteClient("w", ctx(5.0), (), "o", lambda _: None, told.append)
    remote.is_connected, remote.lost_since = True, None
    remote.lose()
    assert (remote.is_connected, remote.lost_since, told) == (False, 5.0, ["w"])
    remote._ctx = ctx(9.0)
    remote.lose()
    remote.disconnect()
    assert (remote.lost_since, told) == (5.0, ["w"])
    remote.lost_since = None
    remote.disconnect()
    assert remote.lost_since == 9.0


@pytest.mark.parametrize(("error", "wanted"), [
    (errors.not_found(JOBS.group_resource, ""), CannotConnect('no matches for kind "Job" in version "batch/v1"')),
    (errors.forbidden(JOBS.group_resource, "", "no"), None)])
async def test_a_worker_without_a_kind(error: errors.APIError, wanted: Exception | None) -> None:
    """Given a worker that does not know a kind, when its objects are watched, then it is told
    which; another refusal stays what it is.
    """
    async def open_watch(*_: object, **__: object) -> None:
        raise error

    remote = RemoteClient("w", ctx(), (), "o", lambda _: None, lambda _: None)
    client: Any = SimpleNamespace(open_watch=open_watch)
    remote._client = client
    with pytest.raises(type(wanted or error)) as refused:
        await remote._watch(JOBS, lambda _: ())
    assert str(refused.value) == str(wanted or error)
    assert remote._watches == []


@pytest.mark.parametrize(("connected", "wanted"), [
    (["a", "b"], None), (["b"], "clusters that are nominated are not connected: a"),
    ([], "clusters that are nominated are not connected: a, b")])
async def test_workers_that_are_nominated_and_away(connected: list[str], wanted: str | None) -> None:
    """Given workers that are nominated, when some are not connected, then the others get their
    copies, and it is tried again.
    """
    made: list[str] = []

    async def create(cluster: str) -> None:
        made.append(cluster)

    async def assigned(*_: object, **__: object) -> list[str]:
        return ["a", "b"]

    nomination: Any = Nomination.__new__(Nomination)
    nomination._assigned, nomination._dispatched = assigned, SimpleNamespace(inc=lambda *_: None)
    local: Tree = {"metadata": {"name": "w", "namespace": "n"}, "spec": {}, "status": {}}
    parts = SimpleNamespace(are_all_there=lambda _: True, cluster=lambda: "a")
    found: Any = SimpleNamespace(
        local=local, check="c", parts=parts, remotes=dict.fromkeys(connected), clients=dict.fromkeys(connected),
        create_remote=create)
    if wanted is None:
        await nomination.nominate_and_synchronize(found, None, is_elastic=False)
    else:
        with pytest.raises(NotConnected) as refused:
            await nomination.nominate_and_synchronize(found, None, is_elastic=False)
        assert str(refused.value) == wanted
    assert made == connected


@pytest.mark.parametrize(("in_order", "present", "wanted"), [
    (True, ["d"], ["d", "c", "a", "e"]), (False, ["d"], ["d", "a", "b", "c"]), (True, [*"abcde"], None)])
async def test_the_next_workers(
    in_order: bool, present: list[str], wanted: list[str] | None, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a Workload that is nominated to some workers, when it is time for the next, then they
    are three more, as the config or their names have them; none when all are nominated.
    """
    written: list[list[str]] = []

    async def patch(_client: object, workload: Tree, update: Any, **_: object) -> None:
        update(workload)
        written.append(workload["status"]["nominatedClusterNames"])

    monkeypatch.setattr(patching, "patch_admission_status", patch)
    kueue: Any = SimpleNamespace(
        features=Features(MultiKueueIncrementalDispatcherRespectConfigOrder=in_order), configuration=Configuration())
    found: Any = IncrementalDispatcher(kueue, ctx(1000.0))
    workload: Tree = {"metadata": {"name": "a"}, "spec": {}, "status": {"nominatedClusterNames": present}}
    assert await found._nominate(KEY, workload, ["d", "c", "a", "e", "b"]) is None
    assert written == ([] if wanted is None else [wanted])
    if wanted is not None:
        assert await found._nominate(KEY, workload, ["d", "c", "a", "e", "b"]) == Result.after(300.0)
        found._ctx.clock.time = lambda: 1299.0
        assert await found._nominate(KEY, workload, ["d", "c", "a", "e", "b"]) == Result.after(1.0)
        found._ctx.clock.time = lambda: 1300.0
        assert await found._nominate(KEY, workload, ["d", "c", "a", "e", "b"]) is None
        assert sorted(written[1]) == [*"abcde"]
    found._began[KEY] = 0.0
    assert await found.reconcile(KEY) is None
    assert found._began == {}


@pytest.mark.parametrize(("cluster", "text"), [
    ("", "Admission check is Ready but no admitting cluster is recorded; this is unexpected, please report it"),
    ("a", "Admitting remote no longer exists")])
async def test_the_worker_is_not_known_any_more(cluster: str, text: str) -> None:
    """Given a Workload whose check is ready, when none of its copies is admitted, then the check is
    made again.
    """
    told: list[tuple[object, ...]] = []

    async def update(*each: object) -> None:
        told.append(each)

    found: Any = SimpleNamespace(local={"metadata": {}, "status": {"clusterName": cluster}}, unavailable=[])
    reconciler: Any = WorkloadReconciler.__new__(WorkloadReconciler)
    reconciler._update_check = update
    assert await reconciler._admitting_is_gone(found, {"name": "c"}) is None
    assert told == [(found.local, {"name": "c"}, "Retry", text)]


def of_class(name: str, priority: int) -> Tree:
    """A Workload of a class."""
    ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name}
    return {"metadata": {"name": "w"}, "spec": {"podSets": [], "priority": priority, "priorityClassRef": ref}}


@pytest.mark.parametrize(("local", "remote", "is_changed"), [
    (of_class("high", 9), of_class("low", 1), True), (of_class("low", 9), of_class("low", 1), True),
    (of_class("low", 1), of_class("low", 1), False)])
async def test_a_copy_with_another_priority(local: Tree, remote: Tree, is_changed: bool) -> None:
    """Given a copy of a Workload that is of another class or priority, when it is looked at, then
    it gets those; one that differs otherwise is removed.
    """
    written: list[tuple[str, Tree]] = []

    async def update(_resource: object, body: Tree) -> None:
        written.append(("update", body))

    async def remove(cluster: str) -> None:
        written.append((f"remove {cluster}", {}))

    clients = {"a": SimpleNamespace(client=SimpleNamespace(update=update))}
    found: Any = SimpleNamespace(local=local, clients=clients, remove_remote_objects=remove)
    reconciler: Any = WorkloadReconciler.__new__(WorkloadReconciler)
    await reconciler._update_or_remove(found, "a", remote, is_elastic=False)
    assert written == ([("update", local)] if is_changed else [("remove a", {})])
