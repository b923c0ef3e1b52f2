"""What lets a Workload be tried again, in this pass or a second, and cohorts that end."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import patches
from fakekube_controllers.kueue.admissionchecks import provisioning_requests as requests
from fakekube_controllers.kueue.admissionchecks.deciding import Decision, _Reconciler
from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod.controller import Pod
from fakekube_controllers.kueue.jobs.pod.driven import PodOrGroupWithSets
from fakekube_controllers.kueue.jobs.pod.reconciler import PodOfParent, _kind
from fakekube_controllers.kueue.queues.cluster_queue import _may_be_admissible_now
from fakekube_controllers.kueue.queues.second_pass import SecondPassQueue
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.slices.ungater import ElasticJobUngater
from fakekube_controllers.kueue.workload import patching
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, InfoOptions
from tests.controllers.kueue import trees
from tests.controllers.kueue.queues.world import World, workload

AT, OLD = "2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
OPTIONS = InfoOptions()
EVICTED = {"type": "Evicted", "status": "True", "reason": "Preempted"}
REQUEUED = {"type": "Requeued", "status": "True", "reason": "Preempted"}
OTHER = {"type": "Other", "status": "True", "reason": "Other"}


def info(generation: int = 1, **status: Any) -> Info:
    """A Workload with a status."""
    obj = workload("a")
    obj["metadata"]["generation"], obj["status"] = generation, status
    return Info(obj, OPTIONS)


@pytest.mark.parametrize(("evaluated", "now", "wanted"), [
    (0, info(), False), (1, info(), False), (1, info(2), True), (0, info(2), False), (2, info(), True),
    (0, info(reclaimablePods=[{"name": "main", "count": 1}]), True),
    (0, info(reclaimablePods=[{"name": "other", "count": 1}]), True),
    (0, info(conditions=[EVICTED]), True), (0, info(conditions=[REQUEUED]), True), (0, info(conditions=[OTHER]), False)])
def test_what_lets_a_workload_be_tried_again(evaluated: int, now: Info, wanted: bool) -> None:
    """Given a Workload that was tried in vain, when it changes, then it may be tried again if that
    is what decides.
    """
    known = info()
    known.last_evaluated_generation = evaluated
    assert _may_be_admissible_now(known, now) is wanted


@pytest.mark.parametrize("gate", [True, False])
def test_where_the_next_cycle_begins(gate: bool) -> None:
    """Given a Workload that was tried with some flavors, when the object changes, then the next
    cycle goes on from there, if that is on.
    """
    made = World(Features(FlavorFungibilityPreserveScanProgress=gate))
    made.cluster_queue()
    made.local_queue()
    made.submit("a")
    found = made.queues.cluster_queue("cq")
    assert found is not None
    [known] = found.heap
    known.last_assignment = last = AssignmentClusterQueueState([{"cpu": 0}], scheduling_hash=known.scheduling_hash)
    fresh = Info(made.workloads["a"], OPTIONS)
    made.queues._keep_scan_progress(found, fresh)
    assert fresh.last_assignment is (last if gate else None)


def test_what_may_be_tried_is_not_put_there_twice() -> None:
    """Given a Workload that was tried in vain and is queued again, when all that was in vain is
    queued, then it counts as moved once.
    """
    made = World()
    made.cluster_queue()
    made.local_queue()
    made.submit("a")
    found = made.queues.cluster_queue("cq")
    assert found is not None
    [known] = found.heap
    found.inadmissible[known.key] = known
    assert found.queue_inadmissible_workloads(lambda _: {}) == 0
    found.heap.delete(known.key)
    assert found.queue_inadmissible_workloads(lambda _: {}) == 1
    assert ([each.key.name for each in found.heap], [*found.inadmissible]) == (["a"], [])


@pytest.mark.parametrize(("is_waiting", "unhealthy", "wanted"), [(True, True, True), (True, False, False), (False, True, False)])
def test_who_is_looked_at_a_second_time(
    is_waiting: bool, unhealthy: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a Workload whose time has come, when it still needs a second pass and was waiting for
    it, then it is taken once.
    """
    monkeypatch.setattr("fakekube_controllers.kueue.workload.states.needs_second_pass", lambda _: unhealthy)
    found, timer = SecondPassQueue(), SimpleNamespace()
    one = info()
    if is_waiting:
        made: Any = timer
        found.prequeue(one.key, made)
    assert found.is_prequeued(one.key) is is_waiting
    assert found.queue(one) is wanted
    assert found.is_prequeued(one.key) is False
    assert found.take_all_ready() == ([one] if wanted else [])
    assert found.take_all_ready() == []


@pytest.mark.parametrize("has_child", [True, False])
def test_a_cohort_whose_object_goes(has_child: bool) -> None:
    """Given a cohort below another, when its object is gone, then so is the cohort, unless a queue
    names it: then it is one without a parent.
    """
    queue = trees.cluster_queue("cq", {"f": {"cpu": 1}}, cohort="team" if has_child else "")
    cache = trees.cache_of(trees.flavor("f"), queue, trees.cohort("all"), trees.cohort("team", parent="all"))
    assert isinstance(cache, Cache)
    cache.hm.delete_cohort("team")
    assert sorted(cache.hm.cohorts) == (["all", "team"] if has_child else ["all"])
    assert [*cache.hm.cohorts["all"].cohorts] == []
    parent = cache.hm.cluster_queues["cq"].parent_cohort
    assert parent is (cache.hm.cohorts["team"] if has_child else None)
    assert parent is None or (parent.is_explicit, parent.parent_cohort) == (False, None)


@pytest.mark.parametrize(("state", "at"), [("Pending", OLD), ("Ready", AT)])
async def test_when_a_check_changed(state: str, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a check that waits, when it is decided that it still does, then it has since it did."""
    written: list[Tree] = []

    async def patch(_client: object, found: Tree, _manager: str, update: Any, **_: object) -> None:
        assert update(found) is True
        written.append(found["status"])

    monkeypatch.setattr(patching, "patch_status", patch)
    ctx: Any = SimpleNamespace(
        client=None, clock=SimpleNamespace(time=lambda: 1767225600.0), add_handler=None, lister=lambda _: None)
    reconciler = _Reconciler("c", "example.com/c", lambda _: None, ctx)
    check = {"name": "c", "state": "Pending", "message": "", "lastTransitionTime": OLD}
    await reconciler._write({"status": {}}, check, Decision(state, "m"))  # type: ignore[arg-type]
    assert written == [{"admissionChecks": [{"name": "c", "state": state, "message": "m", "lastTransitionTime": at}]}]


@pytest.mark.parametrize(("conflicts", "retries", "calls"), [(0, True, 1), (1, True, 2), (1, False, 1), (99, True, 5)])
async def test_what_has_changed_meanwhile_is_read_again(conflicts: int, retries: bool, calls: int) -> None:
    """Given an object that others write, when it has changed meanwhile, then it is read and written
    again, up to five times, where that is asked for.
    """
    seen: list[str] = []

    class Server:
        async def patch(self, _resource: object, _name: str, _namespace: str, body: Tree, **_: object) -> Tree:
            seen.append(body["metadata"]["resourceVersion"])
            if len(seen) <= conflicts:
                raise errors.conflict(PODS.group_resource, "a")
            return body

        async def get(self, *_: object) -> Tree:
            return {"metadata": {"name": "a", "namespace": "n", "resourceVersion": str(len(seen) + 1)}}

    def update(obj: Tree) -> bool:
        obj["spec"] = {"a": 1}
        return True

    client: Any = Server()
    obj: Tree = {"metadata": {"name": "a", "namespace": "n", "resourceVersion": "1"}}
    if conflicts < calls:
        written = await patches.patch(client, PODS, obj, update, retry_on_conflict=retries)
        assert written == {"spec": {"a": 1}, "metadata": {"resourceVersion": str(calls)}}
    else:
        with pytest.raises(APIError, match=r"the object has been modified"):
            await patches.patch(client, PODS, obj, update, retry_on_conflict=retries)
    assert seen == [str(number) for number in range(1, calls + 1)]


@pytest.mark.parametrize(("sets", "implied", "wanted"), [
    (False, False, Pod), (True, False, PodOrGroupWithSets), (False, True, PodOfParent), (True, True, PodOfParent)])
def test_as_what_pods_are_looked_at(sets: bool, implied: bool, wanted: type[Pod]) -> None:
    """Given gates and integrations, when pods are looked at, then as parts of other kinds where
    those alone are managed, and with sets where there are any.
    """
    assert _kind(Features(PodGroupSets=sets), is_implied=implied) is wanted


def test_a_slice_takes_the_place_of_one() -> None:
    """Given several slices that have not finished, when a new one is made, then it is not said
    whose place it takes.
    """
    found: list[Tree] = [{"metadata": {"name": name, "namespace": "n"}} for name in "ab"]
    with pytest.raises(chains.SliceError) as refused:
        chains.put_into_chain({"metadata": {}}, found)
    assert str(refused.value) == "unexpected workload-slices count: 2"


@pytest.mark.parametrize("shown", [True, False])
async def test_pods_are_counted_once_all_are_shown(shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given pods of a slice that were let go, when the cache does not show all of it, then nobody
    is let go for a moment.
    """
    looked: list[str] = []
    ungater: Any = ElasticJobUngater.__new__(ElasticJobUngater)
    ungater.workloads = SimpleNamespace(get=lambda *_: {"metadata": {"name": "w", "namespace": "n"}, "spec": {"podSets": []}})

    def by_index(_: object, key: str) -> list[Tree]:
        looked.append(key)
        return []

    ungater.pods = SimpleNamespace(by_index=by_index)
    ungater.consistency = SimpleNamespace(satisfied=lambda chain: shown and chain == "n/w")
    monkeypatch.setattr(ungater, "_should_ungate", lambda _: True)
    monkeypatch.setattr(ungater, "_infos", lambda _: {})
    found = await ungater.reconcile(Request("n", "w"))
    assert (found, looked) == ((None, ["n/w"]) if shown else (Result.after(0.005), []))


@pytest.mark.parametrize(("name", "wanted"), [
    ("w-c-1", 1), ("w-c-12", 12), ("w-c-x", None), ("v-c-1", None), ("w-d-1", None)])
def test_which_try_a_request_is(name: str, wanted: int | None) -> None:
    """Given a request for nodes, when it is asked which try it is, then its name tells."""
    assert requests.attempt_of({"metadata": {"name": name}}, "w", "c") == wanted
