"""What a StatefulSet does in one step, and what it writes and says of pods and claims."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS
from fakekube_controllers.statefulset.podcontrol import StatefulPodControl
from fakekube_controllers.statefulset.update import Features, Revisions, Update
from tests.controllers.scene import Scene

HASH, NAME, INDEX = "controller-revision-hash", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
NOW = 1000.0


def owner(*, status: Tree | None = None, strategy: str = "RollingUpdate", rolling: Tree | None = None, deleting: bool = False,
          **spec: Any) -> Tree:
    update = {"type": strategy} | ({"rollingUpdate": rolling} if rolling is not None else {})
    metadata: Tree = {"name": "web", "namespace": "x", "uid": "set",
        "generation": 3} | ({"deletionTimestamp": "t"} if deleting else {})
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "status": status or {}, "spec": {
        "replicas": 3, "selector": {}, "template": template, "updateStrategy": update, **spec}}


def pod(number: int, revision: str = "new", *, ready: bool = True, leaving: bool = False, phase: str = "Running",
        since: int = 1) -> Tree:
    labels = {HASH: revision, NAME: f"web-{number}", INDEX: str(number)}
    stamp = f"1970-01-01T00:{since // 60:02}:{since % 60:02}Z"
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{number}", "namespace": "x", "uid": f"u{number}",
            "labels": labels,
                                  **({"deletionTimestamp": "t"} if leaving else {})}, "spec": {}, "status": {
            "phase": phase, "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": stamp}]}}


class Control:
    """Notes what is done to pods; ``stale`` is a pod whose claims are a former one's."""

    def __init__(self, stale: str = "", wrong: str = "") -> None:
        self.done: list[tuple[str, ...]] = []
        self.stale, self.wrong, self.recorder = stale, wrong, Scene()

    async def create(self, _: Tree, one: Tree) -> None:
        self.done.append(("create", one["metadata"]["name"], one["metadata"]["labels"][HASH]))

    async def delete(self, _: Tree, one: Tree) -> None:
        self.done.append(("delete", one["metadata"]["name"]))

    async def update_pod(self, _: Tree, one: Tree) -> None:
        self.done.append(("update", one["metadata"]["name"]))

    async def create_missing_claims(self, _: Tree, one: Tree) -> None:
        self.done.append(("claims", one["metadata"]["name"]))

    async def keep_claims(self, _: Tree, one: Tree) -> None:
        self.done.append(("keep", one["metadata"]["name"]))

    def claims_are_right(self, _: Tree, one: Tree) -> bool:
        return bool(one["metadata"]["name"] != self.wrong)

    def has_stale_claim(self, _: Tree, one: Tree) -> bool:
        return bool(one["metadata"]["name"] == self.stale)


def revision(name: str) -> Tree:
    return {"metadata": {"name": name}, "data": {"spec": {"template": {"spec": {"containers": []}}}}}


async def run(
    found: Tree, pods: list[Tree], *, control: Control | None = None, current: str = "old", several: bool = True,
        recreate: bool = True,
) -> tuple[list[tuple[str, ...]], Tree]:
    """What is done but for updates that change nothing, and the status."""
    control = control or Control()
    update = Update(
        found, pods, Revisions(revision(current), revision("new"), 2), cast("Any", control), Features(several, recreate), NOW)
    await update.run()
    return [each for each in control.done if each[0] != "update"], update.status


READY = [pod(0), pod(1), pod(2)]
OLD = [pod(number, "old") for number in range(3)]
PARALLEL: Any = {"podManagementPolicy": "Parallel"}


@pytest.mark.parametrize(("found", "pods", "done"), [
    # one after the other, each once its predecessor is available
    (owner(), [], [("create", "web-0", "new")]), (owner(), READY[:1], [("create", "web-1", "new")]), (owner(), READY, []),
    (owner(), [pod(0, ready=False)], []), (owner(), [pod(0, leaving=True)], []),
    (owner(), [pod(0, phase="Pending")], [("claims", "web-0")]),
    (owner(minReadySeconds=10), [pod(0, since=991)], []), (owner(minReadySeconds=10), [pod(0, since=990)],
        [("create", "web-1", "new")]),
    (owner(), [pod(0, phase="Failed")], [("delete", "web-0")]), (owner(), [pod(0, phase="Succeeded", leaving=True)], []),
    (owner(ordinals={"start": 5}), [], [("create", "web-5", "new")]), (owner(replicas=0), [], []),
    (owner(**PARALLEL), [pod(0, ready=False)], [("create", "web-1", "new"), ("create", "web-2", "new")]),
    (owner(**PARALLEL), [pod(0, phase="Failed"), pod(1), pod(2)], [("delete", "web-0")]), (owner(deleting=True), [], []),
    # of which revision
    (owner(rolling={"partition": 1}), [], [("create", "web-0", "old")]),
    (owner(rolling={"partition": 1}), READY[:1], [("create", "web-1", "new")]),
    (owner(rolling={"partition": 1}, ordinals={"start": 2}), [], [("create", "web-2", "old")]),
    (owner(rolling={}), [], [("create", "web-0", "new")]), (owner(status={"currentReplicas": 1}), [],
        [("create", "web-0", "old")]),
    (owner(status={"currentReplicas": 1}), READY[:1], [("create", "web-1", "new")]),
    (owner(strategy="OnDelete", status={"currentReplicas": 1}), [], [("create", "web-0", "new")]),
    # those that are too many, the last one first
    (owner(replicas=1), READY, [("delete", "web-2")]), (owner(replicas=1), [pod(0), pod(1), pod(2, leaving=True)], []),
    (owner(replicas=1), [pod(0), pod(1), pod(2, ready=False)], [("delete", "web-2")]),
    (owner(replicas=1), [pod(0), pod(1, ready=False), pod(2, ready=False)], []),
    (owner(replicas=1), [pod(0), pod(1, ready=False), pod(2)], [("delete", "web-2")]),
    (owner(replicas=1, **PARALLEL), [pod(0), pod(1, ready=False), pod(2, leaving=True)], [("delete", "web-1")]),
    (owner(replicas=2, ordinals={"start": 1}), READY, [("delete", "web-0")]),
    (owner(replicas=0), [pod(0), {**pod(1), "metadata": {**pod(1)["metadata"], "name": "web"}}], [("delete", "web-0")]),
])
async def test_one_step_towards_the_pods_that_are_to_be(found: Tree, pods: list[Tree], done: list[tuple[str, ...]]) -> None:
    """Given a set and its pods / when a step is made / then this is done, and no more."""
    assert (await run(found, pods))[0] == done


@pytest.mark.parametrize(("rolling", "more", "pods", "several", "done"), [
    (None, {}, OLD, True, ["web-2"]), (None, {}, OLD, False, ["web-2"]), ({"partition": 3}, {}, OLD, True, []),
    ({"partition": 2}, {}, [pod(0, "old"), pod(1, "old"), pod(2)], True, []),
    ({"partition": 1}, {}, [*OLD[:2], pod(2)], True, ["web-1"]),
    ({"partition": 1}, {}, [*OLD[:2], pod(2)], False, ["web-1"]), ({"maxUnavailable": 2}, {}, OLD, True, ["web-2", "web-1"]),
    ({"maxUnavailable": 2}, {}, OLD, False, ["web-2"]), ({"maxUnavailable": "67%"}, {}, OLD, True, ["web-2", "web-1"]),
    ({"maxUnavailable": "66%"}, {}, OLD, True, ["web-2"]), ({"maxUnavailable": 0}, {}, OLD, True, ["web-2"]),
    ({"maxUnavailable": 9}, {}, OLD, True, ["web-2", "web-1", "web-0"]),
    ({"maxUnavailable": 2}, PARALLEL, [pod(0, "old"), pod(1, "old"), pod(2, ready=False)], True, ["web-1"]),
    ({"maxUnavailable": 1}, PARALLEL, [pod(0, "old"), pod(1, "old"), pod(2, ready=False)], True, []),
    ({"maxUnavailable": 1}, PARALLEL, [pod(0, "old", ready=False), pod(1, "old", ready=False), pod(2, "old")], True,
        ["web-1", "web-0"]),
    ({"maxUnavailable": 3}, PARALLEL, [pod(0, "old", ready=False), pod(1, "old"), pod(2, "old")], True,
        ["web-0", "web-2", "web-1"]),
    ({"maxUnavailable": 2}, PARALLEL, [pod(0, "old"), pod(1, "old"), pod(2, "old", leaving=True)], True, ["web-1"]),
    (
        {"maxUnavailable": 1}, {**PARALLEL, "replicas": 4},
        [pod(0, "old", ready=False), pod(1, "old", ready=False), pod(2, "old"), pod(3, "old")], True, ["web-1", "web-0"]),
    (None, PARALLEL, [pod(0, "old"), pod(1, "old"), pod(2, ready=False)], False, []),
    (None, PARALLEL, [pod(0, "old"), pod(1, "old", ready=False), pod(2)], False, ["web-1"]),
    (None, PARALLEL, [pod(0, "old"), pod(1, "old"), pod(2, "old", leaving=True)], False, []),
])
async def test_which_old_pods_are_replaced(
    rolling: Tree | None, more: Tree, pods: list[Tree], several: bool, done: list[str],
) -> None:
    """Given old pods / then the last ones go first, as many as may be unavailable, and in parallel
    sets those first that are of no use; where the release knows no such number one by one.
    """
    found, status = await run(owner(rolling=rolling, **more), pods, several=several)
    assert found == [("delete", name) for name in done]
    before = sum(one["metadata"]["labels"][HASH] == "old" and "deletionTimestamp" not in one["metadata"] for one in pods)
    assert status["currentReplicas"] == before - len(done)


async def test_the_status_of_a_step() -> None:
    """Given a set of two revisions / then the status tells them, the collisions and what there is;
    conditions stay.
    """
    known = [{"type": "x"}]
    assert (await run(owner(status={"conditions": known}), [*OLD[:2], pod(2, ready=False)]))[1] == {
        "observedGeneration": 3, "currentRevision": "old", "updateRevision": "new", "collisionCount": 2, "replicas": 3,
        "readyReplicas": 2, "availableReplicas": 2, "currentReplicas": 2, "updatedReplicas": 1, "conditions": known}


async def test_claims_of_former_pods_and_of_those_that_go() -> None:
    """Given a pod whose claim is about to go with the former one / then it waits; those of pods
    that go are given to whom the policy has them.
    """
    assert (await run(owner(), [], control=Control(stale="web-0")))[0] == []
    assert (await run(owner(replicas=1), READY, control=Control(wrong="web-1")))[0] == [("keep", "web-1"), ("delete", "web-2")]


def progress(reason: str, message: str, status: str = "True") -> list[Tree]:
    return [{"type": "Progressing", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "1970-01-01T00:16:40Z"}]


GOING = progress("RecreateInProgress", "Deleting old revision pods")
WAITING = progress("RecreateInProgress", "Waiting for new-revision pods to be created")


@pytest.mark.parametrize(("pods", "current", "done", "conditions"), [
    (OLD, "old", [("delete", "web-0"), ("delete", "web-1"), ("delete", "web-2")], GOING),
    ([pod(0, "old", leaving=True), pod(1)], "old", [], GOING),
    ([pod(9, "old")], "old", [("delete", "web-9")], GOING), ([], "old", [("create", "web-0", "new")], WAITING),
    (READY, "old", [], WAITING), (READY, "new", [], None)])
async def test_recreation(pods: list[Tree], current: str, done: list[tuple[str, ...]], conditions: list[Tree] | None) -> None:
    """Given the strategy Recreate / then all old pods go before a new one comes, and that is told.
    """
    found, status = await run(owner(strategy="Recreate"), pods, current=current)
    assert (found, status.get("conditions")) == (done, conditions)


async def test_recreation_without_its_gate() -> None:
    """Given the strategy Recreate where the gate is off / then a warning, and an error."""
    control = Control()
    text = "statefulset x/web uses Recreate strategy but feature gate StatefulSetRecreateStrategy is disabled"
    with pytest.raises(APIError, match=text) as failed:
        await run(owner(strategy="Recreate"), OLD, control=control, recreate=False)
    assert (failed.value.code, failed.value.reason, control.done) == (422, "Invalid", [])
    assert control.recorder.done == [("event", "web", "Warning", "UnknownStrategy", text)]


# what is written of pods and claims

DATA = {"metadata": {"name": "data"}, "spec": {"s": 1}}


def claim(*references: Tree, name: str = "data-web-0", deleting: bool = False) -> tuple[Any, Tree]:
    metadata: Tree = {"name": name, "namespace": "x"} | ({"deletionTimestamp": "t"} if deleting else {})
    return PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata | ({"ownerReferences": list(references)} if references else {})}


def control_of(*claims: tuple[Any, Tree]) -> tuple[Scene, StatefulPodControl, list[str]]:
    scene, wrote = Scene(claims), list[str]()
    control = StatefulPodControl(
        cast("Any", scene), cast("Any", scene), cast("Any", scene.lister(PERSISTENT_VOLUME_CLAIMS)),
        lambda resource, _: wrote.append(resource.plural))
    return scene, control, wrote


def told(scene: Scene) -> list[tuple[Any, ...]]:
    """Writes by verb, kind and name, and Events."""
    return [each[2:] if each[0] == "event" else each[:3] for each in scene.done]


CLAIMED = owner(volumeClaimTemplates=[DATA, {**DATA, "metadata": {"name": "log"}}])
POD_MADE = ("create", "pods", "web-0")
IN_SET = "Pod web-0 in StatefulSet web"


async def test_a_pod_is_made_after_its_claims() -> None:
    """Given a set with two claim templates of which one claim is there / then the other one is made
    and then the pod, and both are told.
    """
    scene, control, wrote = control_of(claim())
    await control.create(CLAIMED, pod(0))
    assert told(scene) == [
        ("create", "persistentvolumeclaims", "log-web-0"), ("Normal", "SuccessfulCreate",
            f"Create Claim log-web-0 {IN_SET} success"),
        POD_MADE, ("Normal", "SuccessfulCreate", f"Create {IN_SET} successful")]
    assert wrote == ["persistentvolumeclaims", "pods"]


@pytest.mark.parametrize(("refused", "there", "events", "text"), [
    ((403, "Forbidden"), [], [
        ("Warning", "FailedCreate", f"Create Claim data-web-0 for {IN_SET} failed error: no"),
        ("Warning", "FailedCreate", f"Create Claim log-web-0 for {IN_SET} failed error: no"),
        ("Warning", "FailedCreate",
         f"Create {IN_SET} failed error: [failed to create PVC data-web-0: no, failed to create PVC log-web-0: no]")],
     "[failed to create PVC data-web-0: no, failed to create PVC log-web-0: no]"),
    ((409, "AlreadyExists"), [claim()], [
        ("Warning", "FailedCreate", f"Create {IN_SET} failed error: failed to create PVC log-web-0: no")],
     "failed to create PVC log-web-0: no"),
    ((403, "Forbidden"), [claim(deleting=True), claim(name="log-web-0")], [
        ("Warning", "FailedCreate", f"Create {IN_SET} failed error: pvc data-web-0 is being deleted")],
     "pvc data-web-0 is being deleted")])
async def test_claims_that_cannot_be_made(
    refused: tuple[int, str], there: list[tuple[Any, Tree]], events: list[tuple[str, ...]], text: str,
) -> None:
    """Given claims that cannot be made / then no pod is made, and that is told and raised."""
    scene, control, wrote = control_of(*there)
    scene.refuse["create", "persistentvolumeclaims"] = APIError(*refused, "no")
    with pytest.raises(APIError) as failed:
        await control.create(CLAIMED, pod(0))
    assert (str(failed.value), told(scene), wrote) == (text, events, [])


@pytest.mark.parametrize(("verb", "refused", "event"), [
    ("create", (403, "Forbidden"), ("Warning", "FailedCreate", f"Create {IN_SET} failed error: no")),
    ("create", (409, "AlreadyExists"), None), ("delete", (403, "Forbidden"),
        ("Warning", "FailedDelete", f"Delete {IN_SET} failed error: no")),
    ("update", (403, "Forbidden"), ("Warning", "FailedUpdate", f"Update {IN_SET} failed error: no")),
    ("update", (409, "Conflict"), None)])
async def test_pods_that_cannot_be_written(verb: str, refused: tuple[int, str], event: tuple[str, ...] | None) -> None:
    """Given a pod that cannot be made, changed or deleted / then that is told and raised; a race is
    raised alone.
    """
    scene, control, wrote = control_of()
    scene.refuse[verb, "pods"] = APIError(*refused, "no")
    call = {"create": control.create, "delete": control.delete, "update": control.update_pod}[verb]
    with pytest.raises(APIError, match="no"):
        await call(owner(), {**pod(0), "metadata": {"name": "web-0", "namespace": "x"}})
    assert (told(scene), wrote) == ([event] if event else [], [])


async def test_a_pod_is_deleted_and_mended() -> None:
    """Given pods / then a deletion is told, and labels and volumes that lack are put back with the
    claims; a pod that is right is let alone.
    """
    scene, control, wrote = control_of()
    await control.delete(owner(), pod(0))
    await control.update_pod(owner(), pod(0))
    assert (told(scene), wrote) == ([
        ("delete", "pods", "web-0"), ("Normal", "SuccessfulDelete", f"Delete {IN_SET} successful")], [])
    scene, control, wrote = control_of()
    await control.update_pod(owner(volumeClaimTemplates=[DATA]), {**pod(0), "metadata": {"name": "web-0", "namespace": "x"}})
    assert told(scene) == [
        ("create", "persistentvolumeclaims", "data-web-0"), ("Normal", "SuccessfulCreate",
            f"Create Claim data-web-0 {IN_SET} success"),
        ("update", "pods", "web-0"), ("Normal", "SuccessfulUpdate", f"Update {IN_SET} successful")]
    sent = scene.done[2][3]
    assert sent["metadata"]["labels"] == {NAME: "web-0", INDEX: "0"}
    assert sent["spec"] == {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}]}
    assert wrote == ["persistentvolumeclaims", "pods"]


BY_SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "set", "controller": True,
    "blockOwnerDeletion": True}
CONFLICT = ("Warning", "ConflictingController", (
    "PersistentVolumeClaim data-web-0 has a conflicting OwnerReference that acts as a manging controller, the retention policy "
    "is ignored for this claim"))


@pytest.mark.parametrize(("references", "done", "right"), [
    ([], [("update", "persistentvolumeclaims", "data-web-0")], False), ([BY_SET], [], True),
    ([{**BY_SET, "kind": "Other", "uid": "other"}], [CONFLICT], True)])
async def test_claims_are_given_to_whom_the_policy_has_them(references: list[Tree], done: list[Any], right: bool) -> None:
    """Given a claim that goes with its set / then it gets its owner, or a warning why not."""
    scene, control, wrote = control_of(claim(*references))
    found = owner(volumeClaimTemplates=[DATA], persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete",
        "whenScaled": "Retain"})
    assert control.claims_are_right(found, pod(0)) is right
    await control.keep_claims(found, pod(0))
    assert told(scene) == done
    assert wrote == (["persistentvolumeclaims"] if not right else [])
    scene.refuse["update", "persistentvolumeclaims"] = APIError(403, "Forbidden", "no")
    if not right:
        with pytest.raises(APIError, match="could not update claim data-web-0 for delete policy ownerRefs: no"):
            await control.keep_claims(found, pod(0))


def test_a_claim_of_the_pod_that_was() -> None:
    """Given a claim that goes with a former pod / then it is stale where claims go with pods."""
    former = {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": "former"}
    _, control, _ = control_of(claim(former))
    for scaled, expected in (("Delete", True), ("Retain", False)):
        found = owner(volumeClaimTemplates=[DATA], persistentVolumeClaimRetentionPolicy={"whenScaled": scaled})
        assert control.has_stale_claim(found, pod(0)) is expected
        assert control.has_stale_claim(found, pod(1)) is False
