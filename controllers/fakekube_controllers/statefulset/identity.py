"""Who a pod of a StatefulSet is: its ordinal, name, labels and volumes.

Upstream: pkg/controller/statefulset/stateful_set_utils.go.
"""


from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import pods
from fakekube.runtime.podcontrol import pod_from_template
from fakekube.runtime.pods import Pod

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
REVISION_LABEL = "controller-revision-hash"
MAX_INT32 = 2**31 - 1


def parent_and_ordinal(pod: Pod) -> tuple[str, int]:
    """The StatefulSet's name and the ordinal that a pod's name consists of; nothing and -1 for any
    other name.
    """
    parent, dash, digits = meta.name_of(pod).rpartition("-")
    if not dash or not digits.isascii() or not digits.isdecimal():
        return "", -1
    number = int(digits)
    return parent, number if number <= MAX_INT32 else -1


def ordinal_of(pod: Pod) -> int:
    """The number in the pod's name, -1 without one."""
    return parent_and_ordinal(pod)[1]


def is_member(owner: ReadOnlyTree, pod: Pod) -> bool:
    """Whether the pod's name says that it belongs to the set."""
    return parent_and_ordinal(pod)[0] == meta.name_of(owner)


def start_of(owner: ReadOnlyTree) -> int:
    """The first ordinal."""
    start: int = (owner["spec"].get("ordinals") or meta.EMPTY).get("start", 0)
    return start


def ordinals_of(owner: ReadOnlyTree) -> range:
    """The ordinals that are to be."""
    start = start_of(owner)
    return range(start, start + owner["spec"].get("replicas", 1))


def pod_name(owner: ReadOnlyTree, ordinal: int) -> str:
    """``web-0``."""
    return f"{meta.name_of(owner)}-{ordinal}"


def claim_name(owner: ReadOnlyTree, template: ReadOnlyTree, ordinal: int) -> str:
    """``data-web-0``."""
    return f"{meta.name_of(template)}-{meta.name_of(owner)}-{ordinal}"


def claim_templates(owner: ReadOnlyTree) -> list[Tree]:
    """The templates of the claims that each pod has."""
    return owner["spec"].get("volumeClaimTemplates") or []


def revision_of(pod: Pod) -> str:
    """The name of the revision that a pod was made from."""
    return meta.labels_of(pod).get(REVISION_LABEL, "")


# states


def is_created(pod: Pod) -> bool:
    """Whether the API server has the pod."""
    return bool((pod.get("status") or meta.EMPTY).get("phase"))


def is_running_and_ready(pod: Pod) -> bool:
    """Whether the pod runs and is ready."""
    return is_created(pod) and pods.phase(pod) == "Running" and pods.is_ready(pod)


def is_unavailable(owner: ReadOnlyTree, pod: Pod, now: float) -> bool:
    """Whether the pod was not ready for long enough, or is on its way out."""
    return pods.is_terminating(pod) or not pods.is_available(pod, owner["spec"].get("minReadySeconds", 0), now)


# pods


def new_pod(owner: ReadOnlyTree, ordinal: int, revision: str) -> Tree:
    """The pod of an ordinal, from the template of ``owner`` and under the name of its revision."""
    pod = pod_from_template(owner["spec"]["template"], owner)
    pod["metadata"]["name"] = pod_name(owner, ordinal)
    pod["metadata"]["labels"] = identity_labels(owner, pod) | {REVISION_LABEL: revision}
    spec = pod["spec"]
    spec["hostname"] = meta.name_of(pod)
    spec.pop("subdomain", None)
    if owner["spec"].get("serviceName"):
        spec["subdomain"] = owner["spec"]["serviceName"]
    if volumes := volumes_of(owner, pod):
        spec["volumes"] = volumes
    return pod


def identity_labels(owner: ReadOnlyTree, pod: Pod) -> dict[str, str]:
    """The pod's labels with those that name it."""
    ordinal = ordinal_of(pod)
    return {**meta.labels_of(pod), POD_NAME_LABEL: pod_name(owner, ordinal), POD_INDEX_LABEL: str(ordinal)}


def volumes_of(owner: ReadOnlyTree, pod: Pod) -> list[Tree]:
    """The pod's volumes: those of its claims, and its other ones."""
    ordinal = ordinal_of(pod)
    own = {
        meta.name_of(template): {
            "name": meta.name_of(template), "persistentVolumeClaim": {"claimName": claim_name(owner, template, ordinal)}}
        for template in claim_templates(owner)
    }
    return [*own.values(), *(volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in own)]


def identity_matches(owner: ReadOnlyTree, pod: Pod) -> bool:
    """Whether the pod is labelled with its own name."""
    return is_member(owner, pod) and meta.labels_of(pod).get(POD_NAME_LABEL) == meta.name_of(pod)


def storage_matches(owner: ReadOnlyTree, pod: Pod) -> bool:
    """Whether the pod has its claims for volumes."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    for template in claim_templates(owner):
        volume = volumes.get(meta.name_of(template), meta.EMPTY)
        source = volume.get("persistentVolumeClaim") or meta.EMPTY
        if source.get("claimName") != claim_name(owner, template, ordinal_of(pod)):
            return False
    return True


def claims_of(owner: ReadOnlyTree, pod: Pod) -> list[Tree]:
    """The claims of a pod, as they are to be created."""
    found = []
    for template in claim_templates(owner):
        metadata = {
            **(template.get("metadata") or {}), "name": claim_name(owner, template, ordinal_of(pod)),
            "namespace": meta.namespace_of(owner),
            "labels": {**meta.labels_of(template), **(owner["spec"]["selector"].get("matchLabels") or {})},
        }
        found.append({**template, "metadata": metadata})
    return found
