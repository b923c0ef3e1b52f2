"""What the Job controller does when the server refuses a write, and about objects that it does not
know what to do with.
"""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.client.resources import PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.job import orphans, policies, schedulingobjects
from fakekube_controllers.job.automaticgang import POD_GROUPS, WORKLOADS, AutomaticGangs
from fakekube_controllers.job.controller import JobReconciler
from fakekube_controllers.job.finalizers import TrackingFinalizers
from fakekube_controllers.job.indexes import Indexes
from fakekube_controllers.job.orphans import OrphanPods
from fakekube_controllers.job.schedulingmanager import SchedulingManager
from fakekube_controllers.job.schedulingobjects import UnsupportedWorkload
from tests.controllers.outages import Outage
from tests.controllers.world import TRACKING

PATCH = {"metadata": {"uid": "p", "$deleteFromPrimitiveList/finalizers": [TRACKING]}}


def pod(owner: Any = None, *, version: str = "1", tracked: bool = True, phase: str = "Running", **metadata: Any) -> Any:
    """A pod of the Job ``j``, or of ``owner``; of nobody with False."""
    owners = [owner or {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}]
    return {"metadata": {
        "name": "p", "namespace": "n", "uid": "p", "resourceVersion": version,
        "ownerReferences": owners if owner is not False else [], "finalizers": [TRACKING] if tracked else [], **metadata},
        "spec": {}, "status": {"phase": phase}}


class Server:
    """Refuses patches with a code."""

    def __init__(self, code: int = 0) -> None:
        self.code, self.patched = code, list[Any]()

    async def patch(self, *asked: Any, **options: Any) -> None:
        """Patch, or refuse to."""
        self.patched.append((asked, options))
        if self.code:
            raise APIError(self.code, "R", f"no {self.code}")


@pytest.mark.parametrize(("code", "raised", "expected"), [
    (0, "", True), (404, "", False), (409, "", False), (422, "", False), (403, "no 403", False), (500, "no 500", False)])
async def test_a_finalizer_that_cannot_be_removed(code: int, raised: str, expected: bool) -> None:
    """Given a pod of a Job, or of none / when its finalizer is removed, and the server says that it
    is gone or another one / then that is no error; any other refusal is. Only a removal that went
    well is waited for.
    """
    server: Any = Server(code)
    finalizers = TrackingFinalizers(server)
    for remove in (finalizers.remove, finalizers.remove_from_orphan):
        try:
            await remove(pod())
            said = ""
        except APIError as error:
            said = error.message
        assert said == raised
        assert finalizers.is_removal_expected(pod()) is expected
    assert server.patched == [((PODS, "p", "n", PATCH), {"type": "strategic", "read_answer": False})] * 2


class Listed:
    """A lister of what the test has put there, by any index."""

    def __init__(self, *objects: Any) -> None:
        self.objects = objects
        self.index: Any = None

    def add_index(self, _: str, function: Any) -> None:
        """Keep it."""
        self.index = function

    def by_index(self, _: str, value: str) -> Any:
        """Those of an index."""
        return [each for each in self.objects if value in self.index(each)]

    def get(self, *_: Any) -> Any:
        """The only one."""
        return self.objects[0] if self.objects else None


def orphaned(monkeypatch: pytest.MonkeyPatch, of: Any, job: Any, *, external: bool = False) -> tuple[Any, Any, Any]:
    """The handlers, the queue, and the server."""
    monkeypatch.setattr(orphans, "Worker", lambda *_: SimpleNamespace(start=lambda: None))
    queued, server = list[Any](), Server()
    client: Any = server
    ctx: Any = SimpleNamespace(
        lister=lambda _: Listed(of), queue=lambda _: SimpleNamespace(add=queued.append), add_handler=lambda *_: None)
    children: Any = SimpleNamespace(owner_of=lambda *_: job)
    metrics: Any = SimpleNamespace(tracking=lambda *_: None)
    return OrphanPods(ctx, children, TrackingFinalizers(client), metrics, lambda _: external), queued, server


RUNS: Any = {"metadata": {"name": "j"}, "status": {}}
DONE: Any = {"metadata": {"name": "j"}, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}


@pytest.mark.parametrize(("of", "job", "external", "released"), [
    (pod(False), None, False, True), (pod(), None, False, True), (pod(), DONE, False, True), (pod(), RUNS, False, False),
    (pod(), DONE, True, False), (pod(tracked=False), None, False, False),
    (pod({"apiVersion": "example.com/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}), None, False, False),
    (pod({"apiVersion": "batch/v1", "kind": "Other", "name": "j", "uid": "j", "controller": True}), None, False, False),
    (pod({"apiVersion": "batch/v2", "kind": "Job", "name": "j", "uid": "j", "controller": True}), None, False, True),
])
async def test_whose_pods_are_let_go(
    monkeypatch: pytest.MonkeyPatch, of: Any, job: Any, external: bool, released: bool,
) -> None:
    """Given a pod with the finalizer / then it is let go if it is nobody's, or of a Job that is
    gone or over; not one of another kind's object, or of a Job that somebody else manages.
    """
    handlers, _, server = orphaned(monkeypatch, of, job, external=external)
    await handlers._sync(ObjectKey("n", "p"))
    assert bool(server.patched) is released


@pytest.mark.parametrize(("old", "new", "job", "queued"), [
    (pod(), pod(False), RUNS, False), (pod(), pod(False, version="2"), RUNS, True), (pod(), pod(version="2"), RUNS, False),
    (pod(), pod(version="2", deletionTimestamp="x"), RUNS, False), (pod(), pod(version="2", deletionTimestamp="x"), DONE, True),
    (pod(), pod(version="2", deletionTimestamp="x"), None, True), (pod(), pod(version="1", deletionTimestamp="x"), None, False),
    (pod(), pod(False, version="2", tracked=False), RUNS, False),
])
def test_which_changes_make_an_orphan(monkeypatch: pytest.MonkeyPatch, old: Any, new: Any, job: Any, queued: bool) -> None:
    """Given a pod of a Job / when it changes / then it is looked at if it is nobody's now, or is
    deleted while the Job is gone or over; never for the same version once more.
    """
    handlers, found, _ = orphaned(monkeypatch, new, job)
    handlers._updated(old, new)
    assert [tuple(key) for key in found] == [("n", "p")] * queued


def failed(code: int) -> Any:
    return {**pod(phase="Failed"), "status": {"phase": "Failed", "containerStatuses": [
        {"name": "c", "state": {"terminated": {"exitCode": code}}}]}}


FAIL_INDEX = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [5]}}
IGNORE = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [5, 6]}}


@pytest.mark.parametrize(("code", "per_index", "action"), [
    (5, True, "FailIndex"), (5, False, "Ignore"), (6, True, "Ignore"), (7, True, ""), (7, False, "")])
def test_rules_for_an_index_are_for_jobs_that_count_by_index(code: int, per_index: bool, action: str) -> None:
    """Given a rule that fails an index and one that ignores / when failures are not counted by
    index / then the first is passed over.
    """
    policy = {"rules": [FAIL_INDEX, IGNORE]}
    assert policies.match_failure_policy(policy, failed(code), per_index=per_index).action == action


@pytest.mark.parametrize(("rules", "text"), [
    ([{"succeededIndexes": ""}], ""), ([{"succeededIndexes": ""}, {"succeededIndexes": "1"}], "Matched rules at index 1"),
    ([{"succeededIndexes": "", "succeededCount": 0}, {"succeededCount": 2}], "Matched rules at index 1"),
    ([{"succeededIndexes": "0-1", "succeededCount": 2}], ""), ([{"succeededIndexes": "1-3", "succeededCount": 2}], (
        "Matched rules at index 0")),
])
def test_a_rule_of_no_indexes_is_never_met(rules: Any, text: str) -> None:
    """Given indexes 1 and 3 that succeeded / then a rule of no indexes is not met, others are by
    what they ask for.
    """
    assert policies.match_success_policy({"rules": rules}, Indexes.of([1, 3])) == text


async def test_a_job_of_an_unknown_mode_is_warned_of() -> None:
    """Given a Job of a completion mode that is none / when it is reconciled / then it is warned of,
    and nothing else is done.
    """
    told: list[Any] = []
    of = {"metadata": {"name": "j", "namespace": "n", "uid": "j"}, "spec": {"completionMode": "Other"}, "status": {}}
    made: Any = object.__new__(JobReconciler)
    made.own_writes = SimpleNamespace(check_seen=lambda _: None)
    made.jobs, made.features = SimpleNamespace(get=lambda *_: of), SimpleNamespace(managed_by=True)
    made.writer = SimpleNamespace(event=lambda *event: told.append(event))
    assert await made.reconcile(Request("n", "j")) is None
    assert told == [(of, "Warning", "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")]


OWNER = [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}]
GANG: Any = {"metadata": {"name": "j", "namespace": "n", "uid": "j"}, "status": {"startTime": "x"}, "spec": {
    "parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {"spec": {}}}}


def workload(name: str, group: str = "batch", job: str = "j") -> Any:
    reference = {"apiGroup": group, "kind": "Job", "name": job}
    return {"metadata": {"name": name, "namespace": "n", "ownerReferences": OWNER}, "spec": {
        "controllerRef": reference, "podGroupTemplates": [{"name": "t", "schedulingPolicy": {"basic": {}}}]}}


def group(name: str, of: str = "w", owners: Any = OWNER) -> Any:
    return {"metadata": {"name": name, "namespace": "n", "ownerReferences": owners}, "spec": {
        "workloadRef": {"workloadName": of}, "podGroupTemplateRef": {"workload": {"workloadName": of}}}}


def manager(made: Any, *objects: Any) -> Any:
    """What finds the objects of a Job, where there are these."""
    found: dict[str, list[Any]] = {"Workload": [], "PodGroup": []}
    for each in objects:
        found["Workload" if "podGroupTemplates" in each["spec"] else "PodGroup"].append(each)
    return made(SimpleNamespace(
        client=None, enabled=lambda _: False, lister=lambda resource: Listed(*found[resource.kind])), None)


TWO_WORKLOADS = "found 2 Workloads referencing Job n/j, falling back to default scheduling"
TWO_GROUPS = "found 2 PodGroups referencing Workload n/w, falling back to default scheduling"


@pytest.mark.parametrize("made", [AutomaticGangs, SchedulingManager])
@pytest.mark.parametrize(("objects", "expected", "logged"), [
    ([], "", []), ([workload("w"), group("g")], "g", []),
    ([workload("w"), workload("v"), group("g")], "", [TWO_WORKLOADS]),
    ([workload("w"), group("g"), group("h")], "", [TWO_GROUPS]), ([workload("w"), group("g"), group("h", "other")], "g", []),
    ([workload("w", job="other"), workload("v", group="example.com"), group("g")], "", []),
    ([{"metadata": {"name": "w", "namespace": "n"}, "spec": {"podGroupTemplates": []}}, group("g")], "", []),
])
async def test_which_group_a_job_that_runs_has(
    caplog: pytest.LogCaptureFixture, made: Any, objects: Any, expected: str, logged: list[str],
) -> None:
    """Given a Job that has started, and Workloads and PodGroups / then its group is the one that is
    for it; where there are several, its pods go without, and the log says why.
    """
    with caplog.at_level(logging.ERROR):
        assert await manager(made, *objects).ensure(GANG, []) == expected
    assert [record.getMessage() for record in caplog.records] == logged


@pytest.mark.parametrize("count", [0, 2])
async def test_a_workload_has_one_template(caplog: pytest.LogCaptureFixture, count: int) -> None:
    """Given a Workload of no or two templates for a Job / then 1.36 leaves the Job without a group;
    1.37 refuses it if it is the Job's, and leaves a user's alone.
    """
    of = workload("w")
    of["spec"]["podGroupTemplates"] *= count
    assert await manager(AutomaticGangs, of, group("g")).ensure(GANG, []) == ""
    with pytest.raises(UnsupportedWorkload) as refused:
        await manager(SchedulingManager, of, group("g")).ensure(GANG, [])
    assert str(refused.value) == f"workload n/w for job n/j has {count} PodGroupTemplates, want exactly 1"
    made = manager(SchedulingManager, {**of, "metadata": {"name": "w", "namespace": "n"}}, group("g"))
    made.of_users = True
    assert await made.ensure(GANG, []) == ""
    assert [record.getMessage() for record in caplog.records] == [
        f"the Workload of a user for Job n/j has {count} PodGroupTemplates"]


async def test_a_job_that_runs_gets_no_new_group() -> None:
    """Given a Job that has started, and a Workload without a group / then none is made."""
    assert await manager(SchedulingManager, workload("w")).ensure(GANG, []) == ""
    assert schedulingobjects.is_new(GANG, []) is False
    assert (WORKLOADS.kind, POD_GROUPS.kind) == ("Workload", "PodGroup")


async def test_a_job_does_not_end_before_its_pods_are_deleted(world: Any) -> None:
    """Given a Job past its deadline / when the server deletes no pods / then the Job has no
    condition, and its pod is active; once it does, the Job fails.
    """
    await world.create_job(activeDeadlineSeconds=10)
    outage = Outage(world.cluster, "DELETE", "", code=500)
    await world.advance(12)
    status = (await world.job())["status"]
    assert (status["active"], status.get("conditions")) == (1, None)
    outage.ends()
    await world.advance(60)
    status = (await world.job())["status"]
    assert [each["type"] for each in status["conditions"]] == ["FailureTarget", "Failed"]
    assert (status.get("active"), status["failed"]) == (None, 1)


async def test_a_job_does_not_end_before_its_pods_are_let_go(world: Any) -> None:
    """Given a Job whose pods succeed / when the server takes no finalizer off / then both are
    noted, and neither is counted; once it does, the Job completes.
    """
    await world.create_job(parallelism=2, completions=2)
    pods = await world.active()
    await world.succeed(*pods)
    outage = Outage(world.cluster, "PATCH", *(f"/pods/{each['metadata']['name']}" for each in pods), code=500)
    await world.advance(3)
    status = (await world.job())["status"]
    uids = sorted(each["metadata"]["uid"] for each in pods)
    assert (sorted(status["uncountedTerminatedPods"]["succeeded"]), status.get("succeeded")) == (uids, None)
    assert [each["type"] for each in status["conditions"]] == ["SuccessCriteriaMet"]
    outage.ends()
    await world.advance(60)
    status = (await world.job())["status"]
    assert (status["succeeded"], status["uncountedTerminatedPods"]) == (2, {})
    assert [each["type"] for each in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
