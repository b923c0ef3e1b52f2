"""The pod sets of a Ray cluster's spec, the same for a RayCluster and for the cluster of a RayJob.

Upstream: pkg/controller/jobs/raycluster/common.go.
"""

import copy
from collections.abc import Iterator

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery.field_errors import FieldError, child, forbidden
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names, podset
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.podset import PodSetInfo
from fakekube_controllers.kueue.topology import requests, validation

HEAD = "head"
KUBERAY = "ray.io/kuberay-operator"
AUTOSCALER_RESOURCES = {"cpu": "500m", "memory": "512Mi"}


def groups_of(spec: ReadOnlyTree) -> list[Tree]:
    """The worker groups."""
    return spec.get("workerGroupSpecs") or []


def templates_of(spec: ReadOnlyTree) -> Iterator[Tree]:
    """The templates of the head and of each group of workers, in the order of the pod sets."""
    yield spec["headGroupSpec"]["template"]
    for group in groups_of(spec):
        yield group["template"]


def effective_worker_count(group: ReadOnlyTree) -> int:
    """Pods of a group: its replicas, times the hosts of each."""
    replicas, hosts = group.get("replicas"), group.get("numOfHosts") or 1
    return (1 if replicas is None else replicas) * max(hosts, 1)


def pod_sets(spec: ReadOnlyTree, features: Features) -> list[Tree]:
    """The head's, and one for each group of workers. Raises TopologyRequestError."""
    head = pod_set(HEAD, 1, spec["headGroupSpec"]["template"], features)
    if spec.get("enableInTreeAutoscaling"):
        head["template"] = _with_autoscaler(head["template"], spec)
    workers = [
        pod_set(group["groupName"].lower(), effective_worker_count(group), group["template"], features)
        for group in groups_of(spec)]
    return [head, *workers]


def pod_set(name: str, count: int, template: Tree, features: Features) -> Tree:
    """One pod set. Raises TopologyRequestError."""
    made: Tree = {"name": name, "count": count, "template": template}
    if features.TopologyAwareScheduling:
        made["topologyRequest"] = requests.topology_request(template.get("metadata") or meta.EMPTY, features)
    return made


def _with_autoscaler(template: Tree, spec: ReadOnlyTree) -> Tree:
    """The head as it will be: with the container that the operator puts beside Ray's."""
    chosen = (spec.get("autoscalerOptions") or {}).get("resources")
    resources = chosen or {"requests": AUTOSCALER_RESOURCES, "limits": AUTOSCALER_RESOURCES}
    changed = copy.deepcopy(template)
    changed["spec"]["containers"].append({"name": "autoscaler", "resources": copy.deepcopy(resources)})
    return changed


def run(spec: Tree, infos: list[PodSetInfo], features: Features) -> None:
    """Give the pods what they get. PermanentError where it cannot be."""
    for template, info in zip(templates_of(spec), infos, strict=True):
        podset.merge(template, info, features)


def restore(spec: Tree, infos: list[PodSetInfo]) -> bool:
    """Give the pods back what they had; whether that changed anything."""
    changed = [podset.restore_pod_spec(template, info) for template, info in zip(templates_of(spec), infos, strict=True)]
    return any(changed)


def count_errors(spec: ReadOnlyTree, path: str) -> list[FieldError]:
    """There are not too many groups, and none is called as the head is."""
    found, groups = list[FieldError](), child(path, "workerGroupSpecs")
    count = len(groups_of(spec)) + 1
    if count > names.MAX_PODSETS:
        found.append(field_errors.too_many(groups, count, names.MAX_PODSETS))
    for place, group in enumerate(groups_of(spec)):
        if group["groupName"] == HEAD:
            where = child(field_errors.index(groups, place), "groupName")
            found.append(forbidden(where, f'"{HEAD}" is reserved for the head group'))
    return found


def topology_errors(spec: ReadOnlyTree, sets: list[Tree], features: Features) -> list[FieldError]:
    """What the templates ask of a topology is whole. The paths are those of a RayCluster."""
    found, paths = list[FieldError](), dict[str, str]()
    for place, each in enumerate(sets[:len(groups_of(spec)) + 1]):
        group = field_errors.index("spec.workerGroupSpecs", place - 1) if place else "spec.headGroupSpec"
        metadata = child(group, "template", "metadata")
        paths[each["name"]] = child(metadata, "annotations")
        asked = each["template"].get("metadata") or meta.EMPTY
        found += validation.of_template(metadata, asked, features)
        found += validation.slice_size(metadata, asked, each)
    return found + validation.groups(sets, paths)
