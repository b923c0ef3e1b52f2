"""ProvisioningRequests: their names, what they say, and the templates of pods that they name.

Upstream: pkg/controller/admissionchecks/provisioning/provisioning.go, and what makes them in
controller.go.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha1
from typing import Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import Resource
from fakekube_controllers.kueue import names, podset
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.admissibility import adjust_resources

PROVISIONING_REQUESTS = Resource("autoscaling.x-k8s.io", "v1", "provisioningrequests", "ProvisioningRequest")
DEFINITION = "provisioningrequests.autoscaling.x-k8s.io"

ACCEPTED, PROVISIONED, FAILED = "Accepted", "Provisioned", "Failed"
BOOKING_EXPIRED, CAPACITY_REVOKED = "BookingExpired", "CapacityRevoked"
"""Conditions of a ProvisioningRequest."""
REQUEST_ANNOTATION = "autoscaling.x-k8s.io/consume-provisioning-request"
CLASS_ANNOTATION = "autoscaling.x-k8s.io/provisioning-class-name"
HASH_LENGTH = 5
MAX_PREFIX_LENGTH = 252 - HASH_LENGTH
MANAGED_LABEL = {names.MANAGED_LABEL: "true"}

FindFlavor = Callable[[str], ReadOnlyTree | None]


class InconsistentAssignments(Exception):
    """The admission of a Workload does not fit its podsets."""


class MergedPodSet(NamedTuple):
    """A podset, and how many pods it asks for together with those that are as it is."""

    pod_set: ReadOnlyTree
    assignment: ReadOnlyTree
    pods: int


def limit_object_name(name: str) -> str:
    """A name that an object may have: what is too long ends with a hash."""
    if len(name) <= MAX_PREFIX_LENGTH:
        return name
    return f"{name[:MAX_PREFIX_LENGTH]}-{sha1(name.encode(), usedforsecurity=False).hexdigest()[:HASH_LENGTH]}"


def request_name(workload: str, check: str, attempt: int) -> str:
    """That of the request of one attempt."""
    return limit_object_name(f"{workload}-{check}-{attempt}")


def pod_template_name(request: str, pod_set: str) -> str:
    """That of the template of a podset."""
    return limit_object_name(f"ppt-{request}-{pod_set}")


def attempt_of(request: ReadOnlyTree, workload: str, check: str) -> int | None:
    """Which attempt of a check a request is; None for one of another check."""
    prefix = limit_object_name(f"{workload}-{check}-")
    name = meta.name_of(request)
    number = name.removeprefix(prefix)
    return int(number) if name.startswith(prefix) and number.isascii() and number.isdecimal() else None


def is_synced_with_config(request: ReadOnlyTree, config: ReadOnlyTree) -> bool:
    """Whether a request asks for what the config says now."""
    spec, wanted = states.spec_of(request), states.spec_of(config)
    parameters = spec.get("parameters") or {}
    return spec.get("provisioningClassName") == wanted.get("provisioningClassName") and all(
        parameters.get(key) == value for key, value in (wanted.get("parameters") or {}).items())


def _resources_of(pod: ReadOnlyTree) -> Iterator[str]:
    for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        resources = container.get("resources") or meta.EMPTY
        yield from resources.get("requests") or ()
        yield from resources.get("limits") or ()


def _needs_nodes(pod_set: ReadOnlyTree, config: ReadOnlyTree) -> bool:
    managed = states.spec_of(config).get("managedResources") or ()
    pod = pod_set["template"].get("spec") or meta.EMPTY
    return pod_set.get("count", 1) > 0 and (not managed or any(name in managed for name in _resources_of(pod)))


def _assigned(workload: ReadOnlyTree, config: ReadOnlyTree) -> Iterator[tuple[ReadOnlyTree, ReadOnlyTree, int]]:
    """Podsets that need nodes, what they are assigned, and their number of pods.

    Raises InconsistentAssignments.
    """
    admission = states.admission(workload) or meta.EMPTY
    assignments: Mapping[str, Any] = {each["name"]: each for each in admission.get("podSetAssignments") or ()}
    for pod_set in workload["spec"]["podSets"]:
        if not _needs_nodes(pod_set, config):
            continue
        assignment = assignments.get(pod_set["name"])
        if assignment is None:
            raise InconsistentAssignments(f'inconsistent podSet assignments: missing assignment for PodSet "{pod_set["name"]}"')
        count = assignment.get("count", pod_set.get("count", 1))
        if count > 0:
            yield pod_set, assignment, count


def is_needed(workload: ReadOnlyTree, config: ReadOnlyTree) -> bool:
    """Whether nodes are to be asked for at all. Raises InconsistentAssignments."""
    return any(True for _ in _assigned(workload, config))


def merged_pod_sets(workload: ReadOnlyTree, config: ReadOnlyTree) -> list[MergedPodSet]:
    """What is asked for: alike podsets together, if the config says so.

    Raises InconsistentAssignments.
    """
    policy = states.spec_of(config).get("podSetMergePolicy")
    merged: list[MergedPodSet] = []
    for pod_set, assignment, count in _assigned(workload, config):
        for place, each in enumerate(merged):
            if policy is not None and _is_alike(each.pod_set, pod_set, policy):
                merged[place] = each._replace(pods=each.pods + count)
                break
        else:
            merged.append(MergedPodSet(pod_set, assignment, count))
    return merged


def _is_alike(one: ReadOnlyTree, other: ReadOnlyTree, policy: str) -> bool:
    if policy == "IdenticalPodTemplates":
        return bool(one["template"] == other["template"])
    first, second = (each["template"].get("spec") or meta.EMPTY for each in (one, other))
    fields = ("resources", "nodeSelector", "tolerations", "affinity", "resourceClaims")
    return all(_requests(first, field) == _requests(second, field) for field in ("containers", "initContainers")) and all(
        first.get(field) == second.get(field) for field in fields)


def _requests(pod: ReadOnlyTree, field: str) -> list[Any]:
    return [(container.get("resources") or meta.EMPTY).get("requests") for container in pod.get(field) or ()]


def pod_template(workload: ReadOnlyTree, name: str, merged: MergedPodSet, flavor_of: FindFlavor, features: Features) -> Tree:
    """The template of a podset, as its pods will be.

    Raises what ``podset.from_assignment`` and ``podset.merge`` raise.
    """
    alone = {"metadata": {}, "spec": {"podSets": [merged.pod_set]}}
    adjusted = adjust_resources(alone, (), lambda _: None)["spec"]["podSets"][0]["template"]
    template: Tree = copy.deepcopy(dict(adjusted))
    podset.merge(template, podset.from_assignment(merged.assignment, merged.pod_set, flavor_of, features), features)
    return {
        "metadata": {
            "name": name, "namespace": meta.namespace_of(workload), "labels": dict(MANAGED_LABEL),
            "ownerReferences": [meta.controller_reference(workload)]},
        "template": template}


def provisioning_request(workload: ReadOnlyTree, name: str, config: ReadOnlyTree, pod_sets: Sequence[MergedPodSet]) -> Tree:
    """The request of one attempt."""
    wanted = states.spec_of(config)
    parameters = {**(wanted.get("parameters") or {})}
    for key, value in meta.annotations_of(workload).items():
        if key.startswith(names.PROV_REQ_ANNOTATION_PREFIX):
            parameters[key.removeprefix(names.PROV_REQ_ANNOTATION_PREFIX)] = value
    spec: Tree = {
        "provisioningClassName": wanted.get("provisioningClassName", ""),
        "podSets": [
            {"podTemplateRef": {"name": pod_template_name(name, each.pod_set["name"])}, "count": each.pods}
            for each in pod_sets]}
    if parameters:
        spec["parameters"] = parameters
    return {
        "metadata": {
            "name": name, "namespace": meta.namespace_of(workload), "labels": dict(MANAGED_LABEL),
            "ownerReferences": [meta.controller_reference(workload)]},
        "spec": spec}


def pod_set_updates(workload: ReadOnlyTree, request: ReadOnlyTree, config: ReadOnlyTree) -> list[Tree]:
    """What pods get so that they run on the nodes that were made for them."""
    by_template = {pod_template_name(meta.name_of(request), each["name"]): each["name"] for each in workload["spec"]["podSets"]}
    details = states.status_of(request).get("provisioningClassDetails") or {}
    selectors = (states.spec_of(config).get("podSetUpdates") or meta.EMPTY).get("nodeSelector") or ()
    node_selector = {
        each["key"]: details[each["valueFromProvisioningClassDetail"]] for each in selectors
        if each["valueFromProvisioningClassDetail"] in details}
    annotations = {
        REQUEST_ANNOTATION: meta.name_of(request), CLASS_ANNOTATION: states.spec_of(request).get("provisioningClassName", "")}
    return [
        {"name": by_template.get(each["podTemplateRef"]["name"], ""), "annotations": dict(annotations),
         **({"nodeSelector": dict(node_selector)} if node_selector else {})}
        for each in states.spec_of(request).get("podSets") or ()]
