"""The objects that a fresh cluster holds before anybody created one: RBAC roles, flow schemas,
namespaces, services.

They stand in ``bootstrap.txt`` beside this file (``tools/bootstrap.py`` makes it) and are read when
somebody first asks for their resource, so that they cost a start nothing. They are those of the
newest release that was recorded; an older one gets the same ones in its own versions. What
controllers add to them ``firstobjects.py`` knows. Upstream:
plugin/pkg/auth/authorizer/rbac/bootstrappolicy, pkg/apis/flowcontrol, pkg/controlplane/controller.
What a server tells of itself is in ``server_objects.py``. Left out: managed fields.
"""

import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import orjson

from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiregistration import local
from fakekube.apis.bootstrap_gates import TABLE
from fakekube.apis.catalog import GROUPS
from fakekube.apis.metrics.declarations import GROUP as METRICS
from fakekube.registry.kind import Kind

RBAC = "rbac.authorization.k8s.io"
FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
AGGREGATE = f"{RBAC}/aggregate-to-"
LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
CORE = "-"

API_SERVICES = GroupResource("apiregistration.k8s.io", "apiservices")
KINDS = {
    GroupResource("", "namespaces"): GroupVersionKind("", "v1", "Namespace"),
    GroupResource("", "services"): GroupVersionKind("", "v1", "Service"),
    GroupResource("scheduling.k8s.io", "priorityclasses"): GroupVersionKind("scheduling.k8s.io", "v1", "PriorityClass"),
    GroupResource("networking.k8s.io", "servicecidrs"): GroupVersionKind("networking.k8s.io", "v1", "ServiceCIDR"),
    GroupResource("networking.k8s.io", "ipaddresses"): GroupVersionKind("networking.k8s.io", "v1", "IPAddress"),
    GroupResource(FLOW_CONTROL, "flowschemas"): GroupVersionKind(FLOW_CONTROL, "v1", "FlowSchema"),
    GroupResource(FLOW_CONTROL, "prioritylevelconfigurations"): GroupVersionKind(
        FLOW_CONTROL, "v1", "PriorityLevelConfiguration"
    ),
    GroupResource(RBAC, "clusterroles"): GroupVersionKind(RBAC, "v1", "ClusterRole"),
    GroupResource(RBAC, "clusterrolebindings"): GroupVersionKind(RBAC, "v1", "ClusterRoleBinding"),
    GroupResource(RBAC, "roles"): GroupVersionKind(RBAC, "v1", "Role"),
    GroupResource(RBAC, "rolebindings"): GroupVersionKind(RBAC, "v1", "RoleBinding"),
}
GATES = ("GenericWorkload", "CompositePodGroup", "WorkloadWithJob", "DRAWorkloadResourceClaims")
"""The feature gates that add roles, or rules to roles (``bootstrap_gates.py``)."""
WITH_GENERATION = ("FlowSchema", "PriorityClass", "PriorityLevelConfiguration")
WITH_STATUS = ("FlowSchema", "PriorityLevelConfiguration")


def bootstrap_objects(
    resource: GroupResource, kinds: Sequence[Kind] | None = None, gates: tuple[str, ...] = (),
) -> list[Tree]:
    """The objects of one resource in their stored form, new trees each time; none for most
    resources.

    They have a name, and neither uid nor creationTimestamp nor resourceVersion. With the ``kinds``
    that a server serves they are in the version that it stores, and there is an APIService for each
    of its groups and versions. ``gates`` are those of GATES that are on.
    """
    if kinds is not None and resource == API_SERVICES:
        return [*local.built_in((*GROUPS, METRICS), kinds), *local.custom(kinds)]
    gvk = KINDS.get(resource)
    if gvk is None:
        return []
    if kinds is not None:
        gvk = _stored(kinds, resource) or gvk
    trees: list[Tree] = orjson.loads(_encoded(resource, gvk, gates))
    return trees


@cache
def _encoded(resource: GroupResource, gvk: GroupVersionKind, gates: tuple[str, ...]) -> bytes:
    """All objects of a resource as JSON: facts of the package, kept for the next cluster of the
    process.
    """
    bodies = _from_rbac_table(gvk.kind, gates) if resource.group == RBAC else _from_json(resource)
    return orjson.dumps([_finished(gvk, body) for body in bodies])


def _finished(gvk: GroupVersionKind, body: Tree) -> Tree:
    if gvk.kind in WITH_GENERATION:
        body["metadata"]["generation"] = 1
    if gvk.kind in WITH_STATUS:
        body["status"] = {}
    if gvk.version in ("v1beta1", "v1beta2") and "limited" in (spec := body.get("spec", {})):
        spec["limited"]["assuredConcurrencyShares"] = spec["limited"].pop("nominalConcurrencyShares")
    return {"kind": gvk.kind, "apiVersion": gvk.api_version, **body}


def _stored(kinds: Sequence[Kind], resource: GroupResource) -> GroupVersionKind | None:
    for kind in kinds:
        if kind.group_resource == resource:
            return kind.conversion.stored if kind.conversion else kind.gvk
    return None


def _lines() -> list[str]:
    data = pkgutil.get_data(__package__, "bootstrap.txt")
    assert data is not None, "the package has its table"
    return data.decode("ascii").splitlines()


def _from_json(resource: GroupResource) -> list[Tree]:
    head = f"object {resource} "
    return [orjson.loads(line.removeprefix(head)) for line in _lines() if line.startswith(head)]


# Roles and bindings: the notation is told at the head of the table.


def _from_rbac_table(kind: str, gates: tuple[str, ...]) -> Iterator[Tree]:
    added = _added(gates) if gates else []
    lines = _lines() + added
    for number, line in enumerate(lines):
        word, _, rest = line.partition(" ")
        if word == kind.lower():
            name, *words = rest.split(" ")
            below = [*_below(lines, number), *_rules_for(name, added)]
            yield _binding(name, *words) if kind.endswith("Binding") else _role(name, words, below)


def _added(gates: tuple[str, ...]) -> list[str]:
    """The lines of the second table that are for these gates."""
    found, wanted = [], False
    for line in TABLE.splitlines():
        if line.startswith("gate "):
            wanted = line.removeprefix("gate ") in gates
        elif wanted:
            found.append(line)
    return found


def _rules_for(name: str, added: list[str]) -> Iterator[str]:
    for number, line in enumerate(added):
        if line.startswith("rules ") and name in line.removeprefix("rules ").split(","):
            yield from _below(added, number)


def _below(lines: list[str], number: int) -> Iterator[str]:
    for line in lines[number + 1 :]:
        if not line.startswith("  "):
            return
        yield line.strip()


def _metadata(name: str, labels: dict[str, str]) -> Tree:
    namespace, _, short = name.rpartition("/")
    place = {"namespace": namespace} if namespace else {}
    return {"name": short, **place, "labels": labels, "annotations": dict(ANNOTATIONS)}


def _role(name: str, words: Iterable[str], rules: Iterable[str]) -> Tree:
    labels, selectors = dict(LABELS), []
    for word in words:
        what, _, roles = word.partition("=")
        if what == "to":
            labels[AGGREGATE + roles] = "true"
        else:
            selectors = [{"matchLabels": {AGGREGATE + role: "true"}} for role in roles.split(",")]
    role = {"metadata": _metadata(name, labels), "rules": [_rule(*line.split(" ")) for line in rules]}
    if selectors:
        role["aggregationRule"] = {"clusterRoleSelectors": selectors}
    return role


def _rule(verbs: str, groups: str, resource_names: str = "", names: str = "") -> dict[str, list[str]]:
    rule = {"verbs": verbs.split(",")}
    if groups.startswith("~"):
        return {**rule, "nonResourceURLs": groups[1:].split(",")}
    rule["apiGroups"] = ["" if group == CORE else group for group in groups.split(",")]
    rule["resources"] = resource_names.split(",")
    if names:
        rule["resourceNames"] = names.split(",")
    return rule


def _binding(name: str, role: str, *subjects: str) -> Tree:
    kind, _, role_name = role.partition("/")
    binding: dict[str, Any] = {"metadata": _metadata(name, dict(LABELS))}
    if subjects:
        binding["subjects"] = [_subject(*subject.split("=", 1)) for subject in subjects]
    binding["roleRef"] = {"apiGroup": RBAC, "kind": kind, "name": role_name}
    return binding


def _subject(kind: str, name: str) -> dict[str, str]:
    if kind == "sa":
        namespace, _, short = name.partition("/")
        return {"kind": "ServiceAccount", "name": short, "namespace": namespace}
    return {"kind": kind.capitalize(), "apiGroup": RBAC, "name": name}
