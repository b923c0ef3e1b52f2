"""The APIServices that a server makes by itself, for the versions that it serves by itself.

Upstream: cmd/kube-apiserver/app/aggregator.go,
pkg/controlplane/controller/crdregistration and kube-aggregator/pkg/controllers/autoregister.
"""

from collections.abc import Sequence

from fakekube.apimachinery.types import Tree
from fakekube.apis.declaration import Group
from fakekube.registry.kind import Kind

MANAGED = "kube-aggregator.kubernetes.io/automanaged"
ALWAYS, ON_START = "true", "onstart"
"""Whether what others change is put right, or nobody cares for it after the start."""
CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY = 1000, 100
OWN_GROUP = "apiregistration.k8s.io"
_FIELDS: Tree = {
    "f:metadata": {"f:labels": {".": {}, f"f:{MANAGED}": {}}},
    "f:spec": {"f:group": {}, "f:groupPriorityMinimum": {}, "f:version": {}, "f:versionPriority": {}},
}


def available(now: str | None) -> Tree:
    """The status of an APIService that this server serves itself."""
    return {"conditions": [{
        "type": "Available", "status": "True", "lastTransitionTime": now, "reason": "Local",
        "message": "Local APIServices are always available"}]}


def built_in(groups: Sequence[Group], kinds: Sequence[Kind]) -> list[Tree]:
    """Those of the built-in ``groups``, in the order of their names, at no time yet."""
    known = {group.name: group for group in groups}
    found = dict.fromkeys((kind.group, kind.version) for kind in kinds if not kind.custom and kind.group != OWN_GROUP)
    return [
        _made(group, version, known[group].priority, version_priority(known[group], version), ON_START)
        for group, version in sorted(found, key=lambda each: f"{each[1]}.{each[0]}")]


def custom(kinds: Sequence[Kind]) -> list[Tree]:
    """Those of the groups that have custom kinds, in the order of their names, at no time yet."""
    theirs = {(kind.group, kind.version) for kind in kinds if not kind.custom}
    found = dict.fromkeys((kind.group, kind.version) for kind in kinds if kind.custom)
    return [
        of_custom(group, version) for group, version in sorted(found, key=lambda each: f"{each[1]}.{each[0]}")
        if (group, version) not in theirs]


def of_custom(group: str, version: str, now: str | None = None) -> Tree:
    """That of a version of a group with custom kinds."""
    tree = _made(group, version, CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY, ALWAYS)
    tree["metadata"]["managedFields"] = [{
        "manager": "kube-apiserver", "operation": "Update", "apiVersion": tree["apiVersion"], "time": now,
        "fieldsType": "FieldsV1", "fieldsV1": _FIELDS}]
    tree["status"] = available(now)
    return tree


def version_priority(group: Group, version: str) -> int:
    """How a version of a built-in group ranks among the others."""
    of_stage = 1 if "alpha" in version else 9 if "beta" in version else 15
    return group.version_priorities.get(version, of_stage)


def _made(group: str, version: str, group_priority: int, version_priority: int, managed: str) -> Tree:
    priorities = {"groupPriorityMinimum": group_priority, "versionPriority": version_priority}
    return {
        "kind": "APIService", "apiVersion": f"{OWN_GROUP}/v1",
        "metadata": {"name": f"{version}.{group}", "labels": {MANAGED: managed}},
        "spec": {"group": group, "version": version, **priorities} if group else {"version": version, **priorities},
        "status": available(None),
    }
