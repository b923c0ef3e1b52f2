"""What Kueue reads of a pod, and the gates that it holds pods with.

The role hash of a pod is a digest of what matters for its admission: pods with the same are
interchangeable in a group. It is the digest of JSON as Go writes it, so that a hash here is the one
that upstream computes. Upstream: pkg/util/pod.
"""

from hashlib import sha256
from typing import Any

from fakekube.apimachinery import field_errors, meta, strconv
from fakekube.apimachinery.field_errors import go_json
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import addontables
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features

FINISHED_PHASES = ("Succeeded", "Failed")
HASH_LENGTH = 8
SHAPE = {
    "affinity": "core.Affinity", "nodeSelector": "{}s", "overhead": "{}q", "priority": "i",
    "resourceClaims": "[]core.PodResourceClaim", "runtimeClassName": "s", "tolerations": "[]core.Toleration",
    "topologySpreadConstraints": "[]core.TopologySpreadConstraint",
}
"""The fields of a pod's shape besides its containers, and their types in ``structs.txt``."""
POINTERS = ("affinity", "runtimeClassName", "priority")
CONTAINERS = ("containers", "initContainers")


class LabelError(ValueError):
    """A label that should hold a number does not."""


def has_gate(pod: ReadOnlyTree, name: str) -> bool:
    """Whether a pod, or a template of pods, has a scheduling gate."""
    return any(gate["name"] == name for gate in (pod.get("spec") or meta.EMPTY).get("schedulingGates") or ())


def gate(pod: Tree, name: str) -> bool:
    """Give a pod a scheduling gate, in place; whether it had none of that name."""
    if has_gate(pod, name):
        return False
    pod["spec"]["schedulingGates"] = [*(pod["spec"].get("schedulingGates") or ()), {"name": name}]
    return True


def ungate(pod: Tree, name: str) -> bool:
    """Take a scheduling gate off a pod, in place; whether it was there."""
    if not has_gate(pod, name):
        return False
    kept = [gate for gate in pod["spec"]["schedulingGates"] if gate["name"] != name]
    if kept:
        pod["spec"]["schedulingGates"] = kept
    else:
        del pod["spec"]["schedulingGates"]
    return True


def is_gated(pod: ReadOnlyTree) -> bool:
    """Whether a pod waits for its admission."""
    return has_gate(pod, names.ADMISSION_GATE)


def is_terminated(pod: ReadOnlyTree) -> bool:
    """Whether a pod is over."""
    return (pod.get("status") or meta.EMPTY).get("phase") in FINISHED_PHASES


def is_suspended(pod: ReadOnlyTree) -> bool:
    """Whether a pod waits for its admission, or is over."""
    return is_terminated(pod) or is_gated(pod)


def pod_group_name(pod: ReadOnlyTree, features: Features) -> str:
    """The group of a pod; empty where it is a single one."""
    if features.WorkloadIdentifierAnnotations and (name := meta.annotations_of(pod).get(names.POD_GROUP_NAME_ANNOTATION)):
        return name
    return meta.labels_of(pod).get(names.POD_GROUP_NAME_LABEL, "")


def set_pod_group_name(pod: Tree, name: str, features: Features) -> None:
    """Put a pod into a group, in place."""
    metadata, field = pod["metadata"], "annotations" if features.WorkloadIdentifierAnnotations else "labels"
    metadata[field] = {**(metadata.get(field) or {}), names.POD_GROUP_NAME_ANNOTATION: name}


def number_of_label(pod: ReadOnlyTree, label: str, bound: int) -> int | None:
    """The number that a pod's label holds, below a bound; None where there is no such label.

    Raises LabelError. Upstream: ReadUIntFromLabelBelowBound.
    """
    value = meta.labels_of(pod).get(label)
    if value is None:
        return None
    where = f"incorrect label value {field_errors.go_quote(value)} for Pod {field_errors.go_quote(str(meta.key_of(pod)))}"
    try:
        number = strconv.parse_uint(value)
    except strconv.NumberError as error:
        raise LabelError(f"{where}: invalid unsigned integer: {error}") from error
    if number >= bound:
        raise LabelError(f"{where}: validation error: value should be less than {bound}")
    return number


def role_hash(pod: ReadOnlyTree) -> str:
    """The role of a pod in its group: what its annotation says, or else the hash of its shape."""
    told = meta.annotations_of(pod).get(names.ROLE_HASH_ANNOTATION)
    return told if told is not None else generate_role_hash(pod["spec"])


def generate_role_hash(spec: ReadOnlyTree) -> str:
    """Eight hex digits for the shape of a pod."""
    return sha256(go_json({"spec": spec_shape(spec)}).encode()).hexdigest()[:HASH_LENGTH]


def role_hash_of_kep(pod: ReadOnlyTree) -> str:
    """The role of a pod as KEP-976 tells roles apart: by images, preemption and labels as well.

    Labels of Kueue's own do not count. The KEP names a pod set by the whole digest, which is longer
    than the name of a pod set may be: this is its beginning, as upstream's.
    """
    spec = pod["spec"]
    shape = spec_shape(spec) | {"preemptionPolicy": spec.get("preemptionPolicy")}
    for field in CONTAINERS:
        images = [container.get("image") for container in spec.get(field) or ()]
        shape[field] = [{**each, "image": image} for each, image in zip(shape[field] or (), images, strict=True)]
    labels = {key: value for key, value in meta.labels_of(pod).items() if not key.startswith(f"{names.GROUP}/")}
    text = go_json({"metadata": {"labels": dict(sorted(labels.items()))}, "spec": shape})
    return sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def spec_shape(spec: ReadOnlyTree) -> dict[str, Any]:
    """What matters of a pod's spec for its admission, as Go encodes it: fields in their order."""
    shape = dict[str, Any]()
    for field in sorted((*SHAPE, *CONTAINERS, "resources")):
        value = spec.get(field)
        if field in CONTAINERS:
            shape[field] = [_container_shape(each) for each in value or ()] or None
        elif field != "resources":
            shape[field] = _shown(value if field in POINTERS else value or None, SHAPE[field])
        elif value is not None:
            shape[field] = _shown(value.get("requests") or None, "{}q")
    return shape


def _container_shape(container: ReadOnlyTree) -> dict[str, Any]:
    requests = (container.get("resources") or meta.EMPTY).get("requests")
    return {
        "ports": _shown(container.get("ports") or None, "[]core.ContainerPort"),
        "resources": {"requests": _shown(requests or None, "{}q")}}


def _shown(value: Any, type_: str) -> Any:
    return None if value is None else addontables.structs("fakekube_controllers.kueue").shown(value, type_)
