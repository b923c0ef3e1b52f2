"""The claim that is made for a pod whose extended resources are devices.

It has a request for each container and resource; short-lived init containers use again what long
running ones get. Upstream: plugins/dynamicresources/extendeddynamicresources.go.
"""

from collections.abc import Callable, Sequence

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import ReadOnlyTree, Tree

NAME = "<extended-resources>"
"""Of one that is not written yet."""
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"

ClassOf = Callable[[str], ReadOnlyTree | None]


def special_claim(pod: ReadOnlyTree, uid: str) -> Tree:
    """A claim of a pod without requests: these depend on the node."""
    return {
        "metadata": {
            "namespace": meta.namespace_of(pod), "name": NAME, "uid": uid,
            "generateName": f"{meta.name_of(pod)}-extended-resources-", "annotations": {ANNOTATION: "true"},
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Pod", "name": meta.name_of(pod), "uid": meta.uid_of(pod), "controller": True}]},
        "spec": {}}


def is_written(claim: ReadOnlyTree) -> bool:
    """Whether the server has it."""
    return meta.name_of(claim) != NAME


def is_special(claim: ReadOnlyTree) -> bool:
    """Whether a claim was made for extended resources."""
    return meta.annotations_of(claim).get(ANNOTATION) == "true"


def requests_of(pod: ReadOnlyTree, resources: Sequence[str], class_of: ClassOf) -> tuple[list[Tree], list[Tree]]:
    """The requests for these resources, by name, and which containers use which: the pod's
    ``status.extendedResourceClaimStatus.requestMappings``.
    """
    spec = pod["spec"]
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    inits = len(spec.get("initContainers") or ())
    short = [number for number in range(inits) if containers[number].get("restartPolicy") != "Always"]
    long = [number for number in range(len(containers)) if number not in short]
    requests: list[Tree] = []
    mappings: list[Tree] = []
    for resource in sorted(resources):
        device_class = class_of(resource)
        if device_class is None:
            continue
        name = meta.name_of(device_class)
        by_container: dict[int, Tree] = {}
        for number in long:
            request, used = _request(number, containers[number], resource, name, ())
            mappings += used
            if request is not None:
                by_container[number] = request
        most: Tree | None = None
        short_mappings: list[Tree] = []
        own: dict[str, None] = {}
        for number in short:
            again = [request for at, request in by_container.items() if at >= number]
            request, used = _request(number, containers[number], resource, name, again)
            short_mappings += used
            if request is not None:
                own[request["name"]] = None
                if most is None or most["exactly"]["count"] < request["exactly"]["count"]:
                    most = request
        if most is not None:
            requests.append(most)
            for each in short_mappings:
                if each["requestName"] in own:
                    each["requestName"] = most["name"]  # one after the other they use the same devices
        requests += by_container.values()
        mappings += short_mappings
    return sorted(requests, key=lambda each: str(each["name"])), mappings


def _request(
    number: int, container: ReadOnlyTree, resource: str, class_name: str, again: Sequence[Tree],
) -> tuple[Tree | None, list[Tree]]:
    """What a container needs beyond the requests that it can use again, and all that it uses."""
    asked = (container.get("resources") or {}).get("requests") or {}
    count = quantity.parse(asked[resource]).value if resource in asked else 0
    if not count:
        return None, []
    used: list[str] = []
    for each in again:
        if count <= 0:
            break
        count -= each["exactly"]["count"]
        used.append(each["name"])
    request: Tree | None = None
    if count > 0:
        request_name = f"container-{number}-request-{sorted(asked).index(resource)}"
        request = {"name": request_name, "exactly": {
            "deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}}
        used.append(request_name)
    return request, [{"containerName": container["name"], "resourceName": resource, "requestName": each} for each in used]
