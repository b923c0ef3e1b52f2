"""What the annotations of a pod template ask of the topology, as a podset's ``topologyRequest``.

Upstream: pkg/controller/jobframework/tas.go. Integrations call ``topology_request`` for every
podset, with the label that tells the index of a pod where there is one.
"""

from fakekube.apimachinery import strconv
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import ExpectedError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import constraints

_INT32 = 1 << 31
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")
_FIELDS = (
    ("required", names.PODSET_REQUIRED_TOPOLOGY_ANNOTATION), ("preferred", names.PODSET_PREFERRED_TOPOLOGY_ANNOTATION))


class TopologyRequestError(ExpectedError, ValueError):
    """Annotations that cannot be read; the message is upstream's."""


def topology_request(
    metadata: ReadOnlyTree, features: Features, *, pod_index_label: str | None = None,
    sub_group_index_label: str | None = None, sub_group_count: int | None = None,
) -> Tree | None:
    """The ``topologyRequest`` of a podset whose template has that metadata; None for none.

    ``pod_index_label`` is the label with a pod's index, ``sub_group_index_label`` that with the
    index of the job it belongs to, of ``sub_group_count`` jobs in the podset. Raises
    TopologyRequestError.
    """
    annotations = metadata.get("annotations") or {}
    request = _level(annotations)
    slices = _slices(annotations, features)
    has_slices = names.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS_ANNOTATION in annotations or "podSetSliceSize" in slices
    index = {
        "podIndexLabel": pod_index_label, "subGroupIndexLabel": sub_group_index_label, "subGroupCount": sub_group_count}
    index = {name: value for name, value in index.items() if value is not None}
    if not request and not has_slices and not index:
        return None
    group = annotations.get(names.PODSET_GROUP_NAME_ANNOTATION)
    grouped = group is not None and any(name in annotations for _, name in _FIELDS)
    return {**request, **index, **({"podSetGroupName": group} if grouped else {}), **slices}


def is_tas(pod: ReadOnlyTree) -> bool:
    """Whether a pod, or a template, asks for a topology. Upstream: IsTAS in pkg/util/tas."""
    annotations = pod["metadata"].get("annotations")
    return bool(annotations) and any(name in annotations for name in _ASKING)


def is_explicitly_requesting_tas(podset: ReadOnlyTree) -> bool:
    """Whether a podset of a Workload asks for a topology.

    Upstream: IsExplicitlyRequestingTAS in pkg/workload.
    """
    request = podset.get("topologyRequest")
    return (request is not None and any(request.get(name) is not None for name in _REQUESTING)) or bool(
        request and request.get("podsetSliceRequiredTopologyConstraints"))


_REQUESTING = ("unconstrained", "required", "preferred", "podSetSliceRequiredTopology", "podSetSliceSize")
_ASKING = (
    names.PODSET_PREFERRED_TOPOLOGY_ANNOTATION, names.PODSET_REQUIRED_TOPOLOGY_ANNOTATION,
    names.PODSET_SLICE_REQUIRED_TOPOLOGY_ANNOTATION, names.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS_ANNOTATION,
    names.PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION)


def parse_bool(text: str) -> bool:
    """Go's ParseBool. Raises TopologyRequestError with its text."""
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise TopologyRequestError(f"strconv.ParseBool: parsing {go_quote(text)}: invalid syntax")


def parse_int32(text: str) -> int:
    """Go's ParseInt for 32 bits. Raises TopologyRequestError with its text."""
    try:
        value = strconv.parse_int(text)
    except strconv.NumberError as error:
        raise TopologyRequestError(str(error)) from None
    if not -_INT32 <= value < _INT32:
        raise TopologyRequestError(f"strconv.ParseInt: parsing {go_quote(text)}: value out of range")
    return value


def _level(annotations: ReadOnlyTree) -> Tree:
    for field, name in _FIELDS:
        if name in annotations:
            return {field: annotations[name]}
    unconstrained = annotations.get(names.PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION)
    return {} if unconstrained is None else {"unconstrained": parse_bool(unconstrained)}


def _slices(annotations: ReadOnlyTree, features: Features) -> Tree:
    layers = annotations.get(names.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS_ANNOTATION)
    if features.TASMultiLayerTopology and layers is not None:
        try:
            found = constraints.decode(layers)
        except constraints.ConstraintsError as error:
            raise TopologyRequestError(f"failed to parse multi-layer topology constraints annotation: {error}") from None
        if not 1 <= len(found) <= constraints.MAX_LAYERS:
            raise TopologyRequestError(f"{constraints.LAYER_COUNT}: got {len(found)}")
        return {"podsetSliceRequiredTopologyConstraints": [each.tree() for each in found]}
    topology = annotations.get(names.PODSET_SLICE_REQUIRED_TOPOLOGY_ANNOTATION)
    size = annotations.get(names.PODSET_SLICE_SIZE_ANNOTATION)
    if topology is None or size is None:
        return {}
    return {"podSetSliceRequiredTopology": topology, "podSetSliceSize": parse_int32(size)}
