"""What is made of claims for pods and groups, and when they are let go, to the letter."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import PODS
from fakekube.runtime.reconcile import ExpectedError
from fakekube_controllers.ephemeralvolume.controller import EphemeralVolumes
from fakekube_controllers.resourceclaim import generated, has_resource_claims
from fakekube_controllers.resourceclaim.controller import ResourceClaims
from fakekube_controllers.resourceclaim.groups import GroupClaims, claim_names
from tests.controllers.scene import Scene

CLAIMS, TEMPLATES, GROUPS = (SimpleNamespace(plural=name) for name in ("resourceclaims", "resourceclaimtemplates", "podgroups"))
NAME, PROTECTION = "resource.kubernetes.io/pod-claim-name", "resource.kubernetes.io/delete-protection"
GIVEN = {"name": "given", "resourceClaimName": "g"}
MADE = {"name": "made", "resourceClaimTemplateName": "t"}
Objects = list[tuple[Any, Tree]]


def pod(*wanted: Tree, statuses: Tree | None = None, node: str = "", phase: str = "", deleting: bool = False, group: str = "",
        special: str = "") -> Tree:
    metadata: Tree = {"name": "p", "namespace": "x", "uid": "up"} | ({"deletionTimestamp": "t"} if deleting else {})
    spec: Tree = {"resourceClaims": list(wanted)} if wanted else {}
    spec |= ({"nodeName": node} if node else {}) | ({"schedulingGroup": {"podGroupName": group}} if group else {})
    status: Tree = {"phase": phase} if phase else {}
    if statuses:
        status["resourceClaimStatuses"] = [{"name": key, "resourceClaimName": value} for key, value in statuses.items()]
    if special:
        status["extendedResourceClaimStatus"] = {"resourceClaimName": special}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def group(*wanted: Tree, statuses: Tree | None = None, deleting: bool = False) -> Tree:
    found = pod(*wanted, statuses=statuses, deleting=deleting)
    metadata = {**found["metadata"], "name": "g", "uid": "ug"}
    return {**found, "apiVersion": "scheduling.k8s.io/v1", "kind": "PodGroup", "metadata": metadata}


def owned_by(obj: Tree) -> Tree:
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"],
            "controller": True, "blockOwnerDeletion": True}


def claim(name: str = "c", *, owner: Tree | None = None, of: str = "made", reserved: tuple[Tree, ...] = (),
        allocated: bool = False,
          held: bool = False, deleting: bool = False) -> Tree:
    metadata: Tree = {"name": name, "namespace": "x", "uid": "uc"} | ({"deletionTimestamp": "t"} if deleting else {})
    metadata |= {"finalizers": ["x/y", PROTECTION]} if held else {}
    metadata |= {"ownerReferences": [owned_by(owner)], "annotations": {NAME: of}} if owner else {}
    status: Tree = {"reservedFor": list(reserved)} if reserved else {}
    return {"metadata": metadata, "spec": {}, "status": status | ({"allocation": {"a": 1}} if allocated else {})}


TEMPLATE: Tree = {"metadata": {"name": "t", "namespace": "x"}, "spec": {
    "spec": {"devices": {}}, "metadata": {"labels": {"l": "m"}, "annotations": {"k": "v", NAME: "no"}}}}


def scene_of(objects: Objects, *, groups: bool = True) -> tuple[Scene, ResourceClaims]:
    scene, one = Scene(objects), ResourceClaims()
    one.ctx, one.client, one.recorder, one.queue = cast("Any", scene), cast("Any", scene), cast("Any", scene), cast("Any", scene)
    one.resource, one.consistency = cast("Any", CLAIMS), Consistency()
    one.claims, one.templates, one.pods = (cast("Any", scene.lister(each)) for each in (CLAIMS, TEMPLATES, PODS))
    of_groups = GroupClaims(cast("Any", scene), cast("Any", GROUPS), cast("Any", CLAIMS), one.templates)
    one.groups = of_groups if groups else None
    return scene, one


async def done(what: str, objects: Objects, *, name: str = "p", groups: bool = True) -> list[tuple[Any, ...]]:
    scene, one = scene_of(objects, groups=groups)
    await one._sync((what, ObjectKey("x", name)))
    return scene.done


def told(*names: str) -> Tree:
    return {"metadata": {"name": "p"}, "status": {"resourceClaimStatuses": [
        {"name": "made", "resourceClaimName": name} for name in names]}}


FRESH: Tree = {
    "metadata": {"generateName": "p-made-", "namespace": "x", "annotations": {"k": "v", NAME: "made"}, "labels": {"l": "m"},
                 "ownerReferences": [owned_by(pod())]}, "spec": {"devices": {}}}
NEW: list[tuple[Any, ...]] = [("create", "resourceclaims", "", FRESH), ("patch", "pods/status", "p", told("made"))]


@pytest.mark.parametrize(("found", "others", "expected"), [
    (pod(MADE), [(TEMPLATES, TEMPLATE)], NEW), (pod(GIVEN), [(TEMPLATES, TEMPLATE)], []), (pod(), [], []),
    (pod(MADE, deleting=True), [(TEMPLATES, TEMPLATE)], []), (pod(MADE, phase="Failed"), [(TEMPLATES, TEMPLATE)], []),
    (pod(MADE, statuses={"made": "c"}), [(CLAIMS, claim(owner=pod()))], []),
    (pod(MADE, statuses={"made": "gone"}), [(TEMPLATES, TEMPLATE)], NEW),
    (pod(MADE, statuses={"made": "c"}), [(CLAIMS, claim(owner=group())), (TEMPLATES, TEMPLATE)], NEW),
    (pod(MADE), [(CLAIMS, claim(owner=pod())), (TEMPLATES, TEMPLATE)], [("patch", "pods/status", "p", told("c"))]),
    (pod(MADE), [(CLAIMS, claim(owner=pod(), of="other")), (TEMPLATES, TEMPLATE)], NEW),
    # a claim of its group
    (pod(MADE, group="g"), [(GROUPS, group(MADE)), (TEMPLATES, TEMPLATE)], []),
    (pod(MADE, group="g"), [(GROUPS, group(MADE)), (CLAIMS, claim(owner=group()))], [("patch", "pods/status", "p", told("c"))]),
    (pod(MADE, group="g"), [(GROUPS, group({**MADE, "name": "other"})), (TEMPLATES, TEMPLATE)], NEW),
    (pod(MADE, group="g"), [(GROUPS, group({**MADE, "resourceClaimTemplateName": "u"})), (TEMPLATES, TEMPLATE)], NEW),
    (pod(MADE, group="g"), [(TEMPLATES, TEMPLATE)], NEW),
])
async def test_claims_that_a_pod_lacks(found: Tree, others: Objects, expected: list[tuple[Any, ...]]) -> None:
    """Given a pod / then claims that it lacks are made, or found, and told in its status."""
    assert await done("pod", [(PODS, found), *others]) == expected


async def test_a_group_gets_its_claims() -> None:
    """Given a group / then claims that it lacks are made for it, without keeping it, and told."""
    expected = {**FRESH, "metadata": {**FRESH["metadata"], "generateName": "g-made-", "ownerReferences": [
        {key: value for key, value in owned_by(group()).items() if key != "blockOwnerDeletion"}]}}
    status = {"metadata": {"name": "g"}, "status": told("made")["status"]}
    fresh = [("create", "resourceclaims", "", expected), ("patch", "podgroups/status", "g", status)]
    template: Objects = [(TEMPLATES, TEMPLATE)]
    assert await done("group", [(GROUPS, group(GIVEN, MADE)), *template], name="g") == fresh
    assert await done("group", [(GROUPS, group(MADE, deleting=True)), *template], name="g") == []
    assert await done("group", template, name="g") == await done("group", template, name="g", groups=False) == []
    known: Objects = [(GROUPS, group(MADE, statuses={"made": "c"})), (CLAIMS, claim(owner=group())), *template]
    assert await done("group", known, name="g") == []
    status["status"] = told("c")["status"]
    assert await done("group", [(GROUPS, group(MADE)), known[1]], name="g") == [("patch", "podgroups/status", "g", status)]


MISSING = 'resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found'


@pytest.mark.parametrize(("what", "kind", "found"), [
    ("pod", "PodResourceClaim", (PODS, pod(MADE))), ("group", "PodGroupResourceClaim", (GROUPS, group(MADE)))])
async def test_a_template_that_is_missing(what: str, kind: str, found: tuple[Any, Tree]) -> None:
    """Given no template / then that is told and raised."""
    scene, one = scene_of([found])
    with pytest.raises(LookupError, match=MISSING):
        await one._sync((what, ObjectKey("x", found[1]["metadata"]["name"])))
    assert scene.done == [
        ("event", found[1]["metadata"]["name"], "Warning", "FailedResourceClaimCreation", f"{kind} made: {MISSING}")]


async def test_claims_that_the_cache_does_not_show_are_waited_for() -> None:
    """Given a claim that was just made / when the pod is looked at again before the cache shows it
    / then that is put off.
    """
    scene, one = scene_of([(PODS, pod(MADE)), (TEMPLATES, TEMPLATE)])
    await one._sync(("pod", ObjectKey("x", "p")))
    scene.caught_up = False
    with pytest.raises(ExpectedError, match="the cache does not show yet the claims that were made last"):
        await one._sync(("pod", ObjectKey("x", "p")))


FOR_POD = {"resource": "pods", "name": "p", "uid": "up"}
FOR_GROUP = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "ug"}
OTHER = {"resource": "pods", "name": "o", "uid": "uo"}


@pytest.mark.parametrize(("found", "there", "reserved"), [
    (pod(GIVEN, node="n"), claim("g", allocated=True), [FOR_POD]), (pod(GIVEN), claim("g", allocated=True), None),
    (pod(GIVEN, node="n"), claim("g"), None), (pod(GIVEN, node="n"), claim("h", allocated=True), None),
    (pod(GIVEN, node="n"), claim("g", allocated=True, reserved=(OTHER,)), [OTHER, FOR_POD]),
    (pod(GIVEN, node="n"), claim("g", allocated=True, reserved=(FOR_POD,)), None),
    (pod(GIVEN, node="n"), claim("g", allocated=True, reserved=(OTHER,) * 255), [*[OTHER] * 255, FOR_POD]),
    (pod(GIVEN, node="n"), claim("g", allocated=True, reserved=(OTHER,) * 256), None),
    (pod(MADE, node="n", statuses={"made": "c"}), claim(owner=pod(), allocated=True), [FOR_POD]),
    (pod(MADE, node="n", statuses={"made": "c"}, group="g"), claim(owner=group(), allocated=True), [FOR_GROUP]),
    (pod(GIVEN, node="n", group="g"), claim("g", allocated=True), [FOR_POD])])
async def test_claims_are_reserved_for_pods_on_nodes(found: Tree, there: Tree, reserved: list[Tree] | None) -> None:
    """Given a pod with a claim that is allocated / then a pod on a node, or its group, gets it
    reserved once, among 256 at most.
    """
    written = await done("pod", [(PODS, found), (CLAIMS, there), (GROUPS, group(MADE))])
    assert [(each[0], each[1], each[3]["status"]) for each in written] == ([] if reserved is None else [
        ("update", "resourceclaims/status", {"reservedFor": reserved, "allocation": {"a": 1}})])


HELD = {"held": True, "allocated": True}
EMPTIED: tuple[Any, ...] = ("update", "resourceclaims/status", {"reservedFor": []})
STILL = ("update", "resourceclaims/status", {"reservedFor": [FOR_POD], "allocation": {"a": 1}})
FREED, DELETED = ("update", "resourceclaims", ["x/y"]), ("delete", "resourceclaims", {"uid": "uc", "missing_ok": True})
RUNNING, ENDED = pod(GIVEN, node="n", phase="Running"), pod(GIVEN, node="n", phase="Succeeded")


@pytest.mark.parametrize(("found", "there", "expected"), [
    (claim("c", reserved=(FOR_POD,), **cast("Any", HELD)), RUNNING, []),
    (claim("c", reserved=(FOR_POD,), **cast("Any", HELD)), ENDED, [EMPTIED, FREED]),
    (claim("c", reserved=(FOR_POD,), allocated=True), ENDED, [
        ("update", "resourceclaims/status", {"reservedFor": [], "allocation": {"a": 1}})]),
    (claim("c", reserved=(FOR_POD, OTHER), **cast("Any", HELD)), RUNNING, [STILL]),
    (claim("c", reserved=({**FOR_POD, "uid": "former"},), **cast("Any", HELD)), RUNNING, [EMPTIED, FREED]),
    (claim("c", reserved=(FOR_POD,), **cast("Any", HELD)), pod(GIVEN, deleting=True), [EMPTIED, FREED]),
    (claim("c", reserved=(FOR_POD,), **cast("Any", HELD)), pod(GIVEN, deleting=True, node="n"), []),
    (claim("c", reserved=({**FOR_POD, "apiGroup": "other"},), **cast("Any", HELD)), ENDED, []),
    (claim("c", reserved=({**FOR_POD, "resource": "other"},), **cast("Any", HELD)), ENDED, []),
    (claim("c", reserved=(FOR_GROUP,), **cast("Any", HELD)), ENDED, []),
    (claim("c", reserved=({**FOR_GROUP, "uid": "former"},), **cast("Any", HELD)), ENDED, [EMPTIED, FREED]),
    (claim("c", reserved=({**FOR_GROUP, "name": "h"},), **cast("Any", HELD)), ENDED, [EMPTIED, FREED]),
    # one that is to go
    (claim("c", deleting=True, **cast("Any", HELD)), RUNNING, [EMPTIED, FREED]),
    (claim("c", deleting=True, held=True), RUNNING, [FREED]),
    (claim("c", deleting=True, allocated=True), RUNNING, []),
    (claim("c", deleting=True, reserved=(FOR_POD,), **cast("Any", HELD)), RUNNING, []),
    (claim("c", held=True), RUNNING, []), (claim("c", **cast("Any", HELD)), RUNNING, []),
    # one that was made for a pod that has ended
    (claim("c", owner=pod()), ENDED, [DELETED]), (claim("c", owner=pod()), RUNNING, []),
    (claim("c", owner=group()), ENDED, []), (claim("c"), ENDED, []),
    (claim("c", owner={**pod(), "metadata": {"name": "p", "uid": "former"}}), ENDED, []),
    (claim("c", owner=pod(), reserved=(FOR_GROUP,)), ENDED, []), (claim("c", owner=pod(), deleting=True), ENDED, []),
    (claim("c", owner=pod(), reserved=(FOR_POD,), **cast("Any", HELD)), ENDED, [EMPTIED, FREED, DELETED]),
    (claim("c", owner=pod(), reserved=(FOR_POD,), deleting=True, **cast("Any", HELD)), ENDED, [EMPTIED, FREED]),
])
async def test_claims_are_let_go(found: Tree, there: Tree, expected: list[tuple[Any, ...]]) -> None:
    """Given a claim and whom it is reserved for / then who has ended or is gone loses it, it is
    freed once nobody has it, and goes with the pod that it was made for.
    """
    written = await done("claim", [(CLAIMS, found), (PODS, there), (GROUPS, group())], name="c")
    assert [(verb, what, sent.get("status") if what.endswith("status") else (
        sent["metadata"]["finalizers"] if verb == "update" else sent)) for verb, what, _, sent in written] == expected


async def test_without_groups_their_reservations_stay() -> None:
    """Given a cluster that knows no groups / then what is reserved for one stays so."""
    found = claim("c", reserved=({**FOR_GROUP, "uid": "former"},), held=True, allocated=True)
    assert await done("claim", [(CLAIMS, found)], name="c", groups=False) == []
    assert await done("claim", [], name="c") == []


def test_what_is_looked_at() -> None:
    """Given pods, claims and groups / when they come, change and go / then those are looked at
    whose claims may be made, reserved or let go.
    """
    scene, one = scene_of([
        (PODS, pod(MADE, group="g")), (PODS, {**pod(GIVEN, node="n"), "metadata": {"name": "q", "namespace": "x", "uid": "uq"}}),
        (GROUPS, group(MADE))])
    one.pods.add_index("pods by their claims", lambda found: [f"x/{each.get('resourceClaimName')}" for each in found["spec"][
        "resourceClaims"]])

    def queued(call: Any, found: Tree) -> list[tuple[str, str]]:
        scene.queued.clear()
        call(found)
        return [(what, key.name) for what, key in scene.queued]

    assert queued(one._pod_seen, pod(GIVEN)) == [("pod", "p")]
    assert queued(one._pod_seen, pod()) == queued(one._pod_seen, pod(GIVEN, deleting=True, node="n")) == []
    ended = pod(GIVEN, MADE, phase="Failed", statuses={"made": "m"}, special="s")
    assert queued(one._pod_seen, ended) == queued(one._pod_gone, ended) == [("claim", "g"), ("claim", "m"), ("claim", "s")]
    assert queued(one._claim_seen, claim("g")) == [("claim", "g")]
    scene.objects.append(("resourceclaims", claim("g", allocated=True)))
    assert queued(one._claim_seen, claim("g", allocated=True)) == [("claim", "g"), ("pod", "q")]
    assert queued(one._claim_seen, claim(owner=group())) == [("claim", "c"), ("pod", "p")]
    assert queued(one._claim_gone, claim(owner=pod())) == [("pod", "p")]
    assert queued(one._claim_gone, claim(owner=group())) == [("group", "g")]
    assert queued(one._claim_gone, claim(owner={**pod(), "kind": "Other"})) == queued(one._claim_gone, claim()) == []
    assert queued(one._group_seen, group(MADE)) == [("group", "g"), ("pod", "p")]
    assert queued(one._group_seen, group(MADE, deleting=True)) == queued(one._group_seen, group()) == []
    assert queued(one._group_gone, group(GIVEN, MADE, statuses={"made": "m"})) == [("claim", "g"), ("claim", "m")]
    assert claim_names(group(MADE)) == []
    one.groups = None
    assert queued(one._group_seen, group(MADE)) == []


@pytest.mark.parametrize(("found", "expected"), [
    (pod(), False), (pod(GIVEN), True), (pod(special="s"), True), ({"spec": {"resourceClaims": []}}, False)])
def test_whether_a_pod_has_claims(found: Tree, expected: bool) -> None:
    """Given pods / then those with claims of their own or for extended resources have some."""
    assert has_resource_claims(found) is expected


@pytest.mark.parametrize(("owner", "name", "base"), [
    ("p", "made", "p-made-"), ("o" * 50, "n" * 5, "o" * 50 + "-" + "n" * 5 + "-"), ("o" * 51, "n" * 5, "o" * 50 + "-" + "n" * 4),
    ("o" * 200, "n" * 20, "o" * 51 + "-" + "n" * 5)])
def test_the_base_of_generated_names(owner: str, name: str, base: str) -> None:
    """Given names of an owner and an entry / then both, or as much of both as fits 57 letters."""
    templates = SimpleNamespace(get=lambda *_: {"spec": {"spec": {}}})
    found = {"metadata": {"name": owner, "namespace": "x"}}
    made = generated.claim_from(cast("Any", templates), found, {**MADE, "name": name}, {})
    assert made == {"spec": {}, "metadata": {
        "generateName": base, "namespace": "x", "annotations": {NAME: name}, "ownerReferences": [{}]}}


def with_volumes(*volumes: Tree, deleting: bool = False) -> Tree:
    return {**pod(deleting=deleting), "spec": {"volumes": list(volumes)}}


SCRATCH: Tree = {"name": "s", "ephemeral": {"volumeClaimTemplate": {"spec": {"a": 1}, "metadata": {
    "labels": {"l": "m"}, "annotations": {"k": "v"}}}}}


async def test_claims_of_generic_ephemeral_volumes() -> None:
    """Given a pod with generic ephemeral volumes / then it gets the claims that it lacks, and one
    that is somebody else's is told.
    """
    resource = SimpleNamespace(plural="persistentvolumeclaims")
    metadata = {"name": "p-s", "namespace": "x", "ownerReferences": [owned_by(pod())], "labels": {"l": "m"},
                "annotations": {"k": "v"}}
    own = {**claim("p-s"), "metadata": {**metadata}}
    plain: Tree = {"name": "o", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}

    async def done_for(found: Tree, *others: Tree) -> list[tuple[Any, ...]]:
        scene = Scene([(PODS, found), *((resource, each) for each in others)])
        controller = EphemeralVolumes(cast("Any", scene))
        try:
            await controller.reconcile(cast("Any", ObjectKey("x", "p")))
        except ValueError as error:
            return [*scene.done, ("raised", str(error))]
        return scene.done

    made = ("create", "persistentvolumeclaims", "p-s", {"metadata": metadata, "spec": {"a": 1}})
    assert await done_for(with_volumes({"name": "e", "emptyDir": {}}, SCRATCH)) == [made]
    assert await done_for(with_volumes(SCRATCH, plain)) == [made, ("create", "persistentvolumeclaims", "p-o", {
        "metadata": {"name": "p-o", "namespace": "x", "ownerReferences": [owned_by(pod())]}, "spec": {}})]
    assert await done_for(with_volumes(SCRATCH), own) == await done_for(with_volumes(SCRATCH, deleting=True)) == []
    why = "PVC x/p-s was not created for pod x/p (pod is not owner)"
    assert await done_for(with_volumes(SCRATCH), claim("p-s")) == [
        ("event", "p", "Warning", "FailedBinding", f"ephemeral volume s: {why}"), ("raised", why)]
