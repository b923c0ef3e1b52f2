"""Pods of a LeaderWorkerSet that do not say where they belong, writes that are refused, and caches
that are behind: its reconcilers alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.admission_requests import Denied
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONTROLLER_REVISIONS, EVENTS, NODES, PODS, STATEFUL_SETS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.leaderworkerset import podwebhook, tpu, webhooks
from fakekube_controllers.leaderworkerset.controller import LeaderWorkerSetReconciler
from fakekube_controllers.leaderworkerset.features import Features
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS
from fakekube_controllers.leaderworkerset.podcontroller import GroupReconciler, NotOfGroup
from fakekube_controllers.leaderworkerset.rollout import Plan, Rollout
from tests.controllers.leaderworkerset.conftest import label, manifest
from tests.controllers.outages import Outage

NOWHERE = "404 page not found"
TOPOLOGY = "example.com/rack"
REVISION = {"metadata": {
    "name": "l-1", "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z",
    "labels": {label("name"): "l", label("template-revision-hash"): "1"},
    "ownerReferences": [{"kind": "LeaderWorkerSet", "name": "l", "uid": "l", "controller": True}]}, "revision": 1,
    "data": {"spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {"containers": []}}}}}}


def lws(**spec: Any) -> Any:
    found = manifest(**spec)
    found["metadata"] |= {"uid": "l"}
    return found


def pod(name: str = "l-0", *left_out: str, annotations: Any = None, **labels: str) -> Any:
    """A leader, unless labels say otherwise."""
    known = {"name": "l", "group_index": "0", "worker_index": "0", "template_revision_hash": "1", **labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": name, "namespace": "default", "uid": name, "annotations": annotations or {},
        "labels": {label(key.replace("_", "-")): value for key, value in known.items() if key not in left_out}},
        "spec": {"nodeName": "n", "containers": []}, "status": {"phase": "Running"}}


class Parts:
    """What a reconciler is given: objects by resource, a client that refuses what is created."""

    def __init__(self, objects: Any, refusal: APIError | None = None) -> None:
        self.objects, self.refusal, self.client = objects, refusal, self
        self.created: list[Any] = []
        self.told: list[tuple[str, ...]] = []

    def lister(self, resource: Any) -> Any:
        """That of a resource."""
        of = self.objects.get(resource, [])

        def get(_: str, name: str) -> Any:
            return next((each for each in of if each["metadata"]["name"] == name), None)

        return SimpleNamespace(get=get, list=lambda *_: of, controlled_by=lambda _: of)

    def recorder(self, _: str) -> Any:
        """That of Events."""
        return self

    def report(self, _: Any, kind: str, reason: str, action: str, text: str, *, related: Any) -> None:
        """Keep an Event."""
        self.told.append((kind, reason, action, text, related["metadata"]["name"]))

    def enabled(self, _: str) -> bool:
        """No gate is on."""
        return False

    async def create(self, resource: Any, body: Any) -> Any:
        """Refuse it, or keep it."""
        if self.refusal is not None:
            raise self.refusal
        self.created.append((resource.kind, body["metadata"]["name"], body["spec"]["template"]["spec"].get("nodeSelector")))
        return body


def group(of: Any, nodes: Any = (), refusal: APIError | None = None, revision: Any = REVISION, **spec: Any) -> tuple[Any, Any]:
    """The reconciler of a pod, and its parts."""
    parts: Any = Parts({
        PODS: [of], LEADER_WORKER_SETS: [lws(**spec)], NODES: nodes, CONTROLLER_REVISIONS: [revision] if revision else []},
        refusal)
    return GroupReconciler(parts), parts


TERMS = {"annotations": {label("exclusive-topology"): TOPOLOGY}}
OLD_CLUSTER = (
    f"leader pod default/l-0 contains mistake annotation '{label('leader-name')}': requires Kubernetes ≥v1.27 or v1.26 "
    "with StatefulSetStartOrdinal feature")


@pytest.mark.parametrize(("of", "spec", "nodes", "text"), [
    (pod("l-0", "worker_index"), {}, [], f"{label('worker-index')} label is unexpected missing"),
    (pod(), TERMS, [{"metadata": {"name": "n"}}], "node does not have topology label: "),
    ({**pod("worker", worker_index="1"), "status": {"phase": "Running", "containerStatuses": [{"restartCount": 1}]}},
     {"policy": "RecreateGroupOnPodRestart"}, [], "parsing pod name for pod worker"),
])
async def test_pods_that_are_of_no_group(of: Any, spec: Any, nodes: Any, text: str) -> None:
    """Given a pod without an index, a worker whose name has no number, or a leader on a node that
    is in no rack / when it is reconciled / then that is refused, and nothing is made.
    """
    reconciler, parts = group(of, nodes, **spec)
    with pytest.raises(NotOfGroup) as refused:
        await reconciler.reconcile(Request("default", of["metadata"]["name"]))
    assert (str(refused.value), parts.created, parts.told) == (text, [], [])


@pytest.mark.parametrize(("of", "spec", "refusal", "created", "told"), [
    (pod(), {}, None, [("StatefulSet", "l-0", None)],
     [("Normal", "GroupsProgressing", "Create", "Created worker statefulset for leader pod l-0", "l-0")]),
    (pod(), TERMS, None, [("StatefulSet", "l-0", {TOPOLOGY: ""})],
     [("Normal", "GroupsProgressing", "Create", "Created worker statefulset for leader pod l-0", "l-0")]),
    (pod(annotations={label("leader-name"): "l-0"}), {}, None, [], [("Warning", "FailedCreate", "Create", OLD_CLUSTER, "l-0")]),
    (pod(), {}, APIError(409, "AlreadyExists", "there"), [], []),
])
async def test_what_a_leader_gets(of: Any, spec: Any, refusal: Any, created: Any, told: Any) -> None:
    """Given a leader / when it is reconciled / then its workers are made, in no rack where its node
    is gone; nothing is made for one that was taken for a worker, or that has them.
    """
    reconciler, parts = group(of, refusal=refusal, **spec)
    assert await reconciler.reconcile(Request("default", "l-0")) is None
    assert (parts.created, parts.told) == (created, told)


async def test_workers_that_the_server_does_not_make() -> None:
    """Given a server that makes no StatefulSets / when a leader is reconciled / then a warning says
    so, and it is tried again.
    """
    reconciler, parts = group(pod(), refusal=APIError(403, "Forbidden", "not you"))
    with pytest.raises(APIError, match=r"^not you$"):
        await reconciler.reconcile(Request("default", "l-0"))
    text = "Failed to create worker statefulset for leader pod l-0: not you"
    assert parts.told == [("Warning", "FailedCreate", "Create", text, "l-0")]


async def test_workers_of_a_revision_that_is_not_seen_yet() -> None:
    """Given a leader of a revision that the cache does not show / then it is looked at again a
    second later.
    """
    reconciler, parts = group(pod(), revision=None)
    found = await reconciler.reconcile(Request("default", "l-0"))
    assert (found.requeue_after.total_seconds(), parts.created) == (1, [])


@pytest.mark.parametrize(("deleting", "leaders", "satisfied", "seconds"), [
    (True, None, True, None), (False, None, False, 0.005), (False, {"deletionTimestamp": "x"}, True, 5.0),
    (False, {"deletionTimestamp": "x"}, False, 0.005),
])
async def test_when_a_set_is_left_alone(deleting: bool, leaders: Any, satisfied: bool, seconds: float | None) -> None:
    """Given a set that is being deleted, whose cache is behind, or whose StatefulSet of leaders is
    being deleted / when it is reconciled / then nothing is done; the cache is looked at after 5 ms,
    the StatefulSet after 5 s.
    """
    of = lws()
    of["metadata"] |= {"deletionTimestamp": "x"} if deleting else {}
    found = [{"metadata": {"name": "l", **leaders}}] if leaders else []
    parts: Any = Parts({LEADER_WORKER_SETS: [of], STATEFUL_SETS: found})
    reconciler: Any = LeaderWorkerSetReconciler(parts, Features())
    reconciler.consistency = SimpleNamespace(satisfied=lambda _: satisfied)
    again = await reconciler.reconcile(Request("default", "l"))
    assert (again and again.requeue_after.total_seconds()) == seconds


@pytest.mark.parametrize(("method", "path", "said"), [
    ("POST", "/services", ("Warning", "FailedCreate", f"Failed to create headless service for error: {NOWHERE}")),
    ("PATCH", "/statefulsets/l", ("Warning", "FailedCreate", f"Failed to create leader statefulset l: {NOWHERE}")),
])
async def test_what_the_server_does_not_make_is_warned_of(world: Any, method: str, path: str, said: Any) -> None:
    """Given a server that makes no Services, or no StatefulSets / when a set is created / then a
    warning says so; once it makes them, the group comes.
    """
    outage = Outage(world.cluster, method, path)
    await world.create()
    assert said in await world.told()
    events = (await world.client.list(EVENTS, "default")).items
    assert [each["action"] for each in events if each["type"] == "Warning"] == ["Create"]
    outage.ends()
    await world.advance(60)
    assert [*await world.named()] == ["l-0", "l-0-1"]
    assert await world.services() == ["l"]


async def test_a_change_that_the_server_does_not_take_is_warned_of(world: Any) -> None:
    """Given a set with leaders / when it is scaled, and the server changes no StatefulSets / then a
    warning says so.
    """
    await world.create()
    Outage(world.cluster, "PATCH", "/statefulsets/l")
    await world.change({"spec": {"replicas": 2}})
    events = (await world.client.list(EVENTS, "default")).items
    assert [each["action"] for each in events if each["type"] == "Warning"] == ["Update"]
    assert (await world.told())[-1] == ("Warning", "FailedUpdate", f"Failed to update leader statefulset l: {NOWHERE}")


TPU = {"name": "t", "resources": {"limits": {"google.com/tpu": "1"}}}


@pytest.mark.parametrize(("name", "index", "annotations"), [
    ("", "0", {}), ("worker", "1", {}), ("worker", "1", {label("subgroup-size"): "2"})])
def test_a_pod_whose_name_has_no_leader_gets_no_tpu(name: str, index: str, annotations: Any) -> None:
    """Given a leader without a name, or a worker whose name does not tell the leader / when it asks
    for a TPU / then it is refused.
    """
    of = pod(name, annotations=annotations, worker_index=index, subgroup_index="0")
    of["spec"]["containers"] = [TPU]
    with pytest.raises(ValueError, match=rf"^parsing parent name from pod {name}$"):
        tpu.add_variables(of, 2)


def test_a_pod_of_no_set_is_left_alone() -> None:
    """Given a pod without the label of a set / then the webhook changes nothing about it."""
    of = {"metadata": {"labels": {"other": "x"}}, "spec": {}}
    podwebhook.default(SimpleNamespace(shown=of, object=of), features=Features())  # type: ignore[arg-type]
    assert of == {"metadata": {"labels": {"other": "x"}}, "spec": {}}
    podwebhook.default(SimpleNamespace(shown=None, object=None), features=Features())  # type: ignore[arg-type]


MOVING = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1}}


@pytest.mark.parametrize(("name", "spec", "text"), [
    ("9", {}, ('metadata.name: Invalid value: "9": a DNS-1035 label must consist of lower case alphanumeric characters or '
     "'-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
     "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')")),
    ("l", {"replicas": -1}, "spec.replicas: Invalid value: -1: replicas must be equal or greater than 0"),
    ("l", {"replicas": 0}, ""),
])
def test_names_and_replicas_that_are_refused(name: str, spec: Any, text: str) -> None:
    """Given a set whose name begins with a digit, or with less than no replicas / then it is
    refused; none at all are fine.
    """
    def validate() -> None:
        request: Any = SimpleNamespace(object=lws(name=name, rolloutStrategy=MOVING, **spec), old_object=None)
        webhooks.validate(request, features=Features())

    if not text:
        validate()
        return
    with pytest.raises(Denied) as refused:
        validate()
    assert (refused.value.message, refused.value.code, refused.value.reason) == (text, 403, "Forbidden")


@pytest.mark.parametrize(("present", "wanted", "expected"), [
    (1, 3, Plan(1, 3)), (3, 3, Plan(3, 4)), (4, 3, Plan(3, 4)),
    (5, 3, Plan(3, 4, "deleting surge replica l-4")), (6, 3, Plan(3, 4, "deleting surge replicas from l-4 to l-5"))])
def test_a_new_template_waits_for_a_scale_up(present: int, wanted: int, expected: Plan) -> None:
    """Given leaders of an old template, and one group that may be beyond those wanted / when there
    are too few / then they are scaled first, without a surge; else one is added, and more than
    that are deleted.
    """
    moving = {"rollingUpdateConfiguration": {"maxSurge": 1}}
    assert Rollout(lws(replicas=wanted, rolloutStrategy=moving), {"metadata": {}, "spec": {"replicas": present}}
                   ).of_new_revision() == expected
