"""Which rules an aggregated ClusterRole is given, and when it is looked at; and PodGroups that are
held by their pods.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CLUSTER_ROLES, PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.clusterroleaggregation.controller import ClusterRoleReconciler
from fakekube_controllers.podgroupprotection.controller import PodGroupProtection
from tests.controllers.scene import Scene

GET = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
NAMED = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}
URL = {"verbs": ["get"], "nonResourceURLs": ["/x"]}


def role(name: str, *rules: Tree, part: str = "", selects: tuple[str, ...] | None = None) -> tuple[Any, Tree]:
    found: Tree = {"metadata": {"name": name, "labels": {"part": part} if part else {}}}
    found |= {"rules": list(rules)} if rules else {}
    if selects is not None:
        chosen = [{"matchLabels": {"part": each}} for each in selects]
        found["aggregationRule"] = {"clusterRoleSelectors": chosen or None}
    return CLUSTER_ROLES, found


@pytest.mark.parametrize(("roles", "rules"), [
    ([role("all", selects=("1",)), role("b", URL, part="1"), role("a", GET, NAMED, part="1")], [GET, NAMED, URL]),
    ([role("all", selects=("2", "1")), role("a", GET, part="1"), role("b", URL, part="2")], [URL, GET]),
    ([role("all", selects=("1", "2")), role("a", GET, part="1"), role("b", GET, URL, part="2")], [GET, URL]),
    ([role("all", GET, selects=("1",)), role("a", GET, part="1")], None),
    ([role("all", {**GET, "resourceNames": []}, selects=("1",)), role("a", {**GET, "nonResourceURLs": []}, part="1")], None),
    ([role("all", GET, selects=("1",))], []), ([role("all", GET, selects=())], []), ([role("all", selects=())], None),
    ([role("all", GET, URL, selects=("1",)), role("a", URL, GET, part="1")], [URL, GET]),
    ([role("all", URL, part="1", selects=("1",)), role("a", GET, part="1")], [GET]),
    ([role("all", GET), role("a", URL)], None), ([], None)])
async def test_the_rules_of_an_aggregated_role(roles: list[Any], rules: list[Tree] | None) -> None:
    """Given roles / then one with a rule for it is given the rules of those that it selects, in the
    order of selectors and names, each once, and none of its own; what is so is not written.
    """
    scene = Scene(roles)
    await ClusterRoleReconciler(cast("Any", scene)).reconcile(Request("", "all"))
    body = {"metadata": {"name": "all"}, **({"rules": rules} if rules else {})}
    assert scene.done == ([] if rules is None else [("patch", "clusterroles", "all", body)])


def pod(*, group: str = "g", phase: str = "Running", namespace: str = "x") -> Tree:
    spec: Tree = {"schedulingGroup": {"podGroupName": group}} if group else {}
    return {"metadata": {"name": "p", "namespace": namespace}, "spec": spec, "status": {"phase": phase}}


GROUPS = SimpleNamespace(plural="podgroups")
FINALIZER = "scheduling.k8s.io/podgroup-protection"


def group(*finalizers: str, deleting: bool = True) -> Tree:
    metadata: Tree = {"name": "g", "namespace": "x", "finalizers": list(finalizers)}
    return {"metadata": metadata | ({"deletionTimestamp": "t"} if deleting else {})}


def protection(*objects: tuple[Any, Tree]) -> tuple[Scene, PodGroupProtection]:
    scene, one = Scene(objects), PodGroupProtection()
    one.client, one.queue, one.resource = cast("Any", scene), cast("Any", scene), cast("Any", GROUPS)
    one.groups, one.pods = cast("Any", scene.lister(GROUPS)), cast("Any", scene.lister(PODS))
    one.pods.add_index("active pods of a group", lambda each: [] if each["status"]["phase"] == "Failed" else ["x/g"])
    return scene, one


@pytest.mark.parametrize(("found", "pods", "left"), [
    (group(FINALIZER, "x/y"), [], ["x/y"]), (group(FINALIZER), [pod()], None), (group(FINALIZER), [pod(phase="Failed")], []),
    (group("x/y"), [], None), (group(FINALIZER, deleting=False), [], None), (None, [], None)])
async def test_when_a_group_is_let_go(found: Tree | None, pods: list[Tree], left: list[str] | None) -> None:
    """Given a group that is to go / then it loses its finalizer once no pod of it is left."""
    scene, one = protection(*((PODS, each) for each in pods), *([(GROUPS, found)] if found else []))
    await one._sync(ObjectKey("x", "g"))
    assert [(each[0], each[1], each[3]["metadata"].get("finalizers", [])) for each in scene.done] == (
        [] if left is None else [("update", "podgroups", left)])


def test_which_groups_are_looked_at() -> None:
    """Given groups and pods / then groups that are to go and are held are looked at, and those of
    pods that end or go.
    """
    scene, one = protection()
    for found in (group(FINALIZER, deleting=False), group("x/y")):
        one._group_seen(found)
    one._pod_seen(pod())
    one._pod_seen(pod(group="", phase="Failed"))
    one._pod_gone(pod(group=""))
    assert scene.queued == []
    one._group_seen(group(FINALIZER))
    one._pod_seen(pod(phase="Succeeded"))
    one._pod_gone(pod())
    assert scene.queued == [ObjectKey("x", "g")] * 3
