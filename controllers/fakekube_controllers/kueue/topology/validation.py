"""Which annotations for topologies may stand together on a pod template.

Upstream: pkg/controller/jobframework/tas_validation.go. Integrations' webhooks call
``of_template`` with the path of the template's metadata; when that finds nothing, ``slice_size``
and ``groups`` with the podsets. Left unchecked, as upstream: whether layers go from coarse to fine,
which only the topology tells.
"""

import itertools
from collections.abc import Mapping, Sequence

from fakekube.apimachinery import field_errors, strconv
from fakekube.apimachinery import names as words
from fakekube.apimachinery.field_errors import OMITTED, FieldError, child, forbidden, go_quote, index, invalid, key
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import constraints, requests

REQUIRED, PREFERRED = names.PODSET_REQUIRED_TOPOLOGY_ANNOTATION, names.PODSET_PREFERRED_TOPOLOGY_ANNOTATION
UNCONSTRAINED = names.PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION
SLICE_REQUIRED, SLICE_SIZE = names.PODSET_SLICE_REQUIRED_TOPOLOGY_ANNOTATION, names.PODSET_SLICE_SIZE_ANNOTATION
LAYERS, GROUP = names.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS_ANNOTATION, names.PODSET_GROUP_NAME_ANNOTATION
AT_LEAST_ONE = "must be greater than or equal to 1"


def of_template(path: str, metadata: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about the annotations of one template's metadata, which stands at ``path``.

    Upstream: ValidateTASPodSetRequest.
    """
    annotations = metadata.get("annotations") or {}
    path = child(path, "annotations")
    found: list[FieldError] = []
    if sum(name in annotations for name in (REQUIRED, PREFERRED, UNCONSTRAINED)) > 1:
        listed = ", ".join(map(go_quote, (REQUIRED, PREFERRED, UNCONSTRAINED)))
        found.append(invalid(path, OMITTED, f"must not contain more than one topology annotation: [{listed}]"))
    for name in (REQUIRED, PREFERRED, SLICE_REQUIRED):
        if name in annotations:
            found += _label_name(key(path, name), annotations[name])
    found += _group_name(path, annotations)
    found += _unconstrained(path, annotations)
    found += _slice_size(path, annotations)
    if SLICE_REQUIRED in annotations and SLICE_SIZE not in annotations:
        found.append(field_errors.required(key(path, SLICE_SIZE), f"must be set when '{SLICE_REQUIRED}' is specified"))
    if SLICE_SIZE in annotations and SLICE_REQUIRED not in annotations:
        found.append(forbidden(key(path, SLICE_SIZE), f"may not be set when '{SLICE_REQUIRED}' is not specified"))
    return [*found, *_layers(path, annotations, features)]


def slice_size(path: str, metadata: ReadOnlyTree, podset: ReadOnlyTree | None) -> list[FieldError]:
    """The complaints about slices that are larger than their podset.

    Upstream: ValidateSliceSizeAnnotationUpperBound.
    """
    if podset is None:
        return []
    annotations, path = metadata.get("annotations") or {}, child(path, "annotations")
    count, found = podset["count"], list[FieldError]()
    if SLICE_SIZE in annotations:
        text = annotations[SLICE_SIZE]
        try:
            size = requests.parse_int32(text)
        except requests.TopologyRequestError:
            return [invalid(key(path, SLICE_SIZE), text, "must be a numeric value")]
        if size > count:
            found.append(invalid(key(path, SLICE_SIZE), text, f"must not be greater than pod set count {count}"))
    if LAYERS in annotations:
        try:
            layers = constraints.decode(annotations[LAYERS])
        except constraints.ConstraintsError:
            return found
        if layers and layers[0].size > count:
            found.append(invalid(key(path, LAYERS), layers[0].size, f"must not be greater than pod set count {count}"))
    return found


def groups(podsets: Sequence[ReadOnlyTree], annotations_paths: Mapping[str, str]) -> list[FieldError]:
    """The complaints about groups of podsets, which are two: one pod that leads, and its workers.

    ``annotations_paths`` tells where the annotations of a podset stand, by the podset's name.
    Upstream: ValidatePodSetGroupingTopology.
    """
    grouped: dict[str, list[ReadOnlyTree]] = {}
    for podset in podsets:
        group = (podset.get("topologyRequest") or {}).get("podSetGroupName")
        if group is not None:
            grouped.setdefault(group, []).append(podset)
    found: list[FieldError] = []
    for group, members in grouped.items():
        paths = [annotations_paths[each["name"]] for each in members]
        if len(members) != 2:
            text = f"can only define groups of exactly 2 pod sets, got: {len(members)} pod set(s)"
            found += [invalid(key(path, GROUP), group, text) for path in paths]
            continue
        counts = [each["count"] for each in members]
        if 1 not in counts:
            text = "can only define groups where at least one pod set has only 1 replica, got: "
            text += f"{counts[0]} replica(s) and {counts[1]} replica(s) in the group"
            found += [invalid(key(path, GROUP), group, text) for path in paths]
        if not _consistent(*(each["topologyRequest"] for each in members)):
            text = f"must specify '{REQUIRED}' or '{PREFERRED}' topology consistent with '{{}}' in group '{group}'"
            found += [invalid(path, OMITTED, text.format(other)) for path, other in zip(paths, reversed(paths), strict=True)]
    return found


def _consistent(one: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    asked = [(each.get("required"), each.get("preferred")) for each in (one, other)]
    return asked[0] == asked[1] and asked[0] != (None, None)


def _label_name(path: str, text: str) -> list[FieldError]:
    return field_errors.complaints(path, text, words.qualified_name(text))


def _group_name(path: str, annotations: ReadOnlyTree) -> list[FieldError]:
    if GROUP not in annotations:
        return []
    path, name, found = key(path, GROUP), annotations[GROUP], list[FieldError]()
    if strconv.is_uint(name):
        found.append(invalid(path, name, "must not be a number"))
    for other in (SLICE_SIZE, SLICE_REQUIRED):
        if other in annotations:
            found.append(forbidden(path, f"may not be set when '{other}' is specified"))
    if PREFERRED not in annotations and REQUIRED not in annotations:
        found.append(forbidden(path, f"may not be set when neither '{PREFERRED}' nor '{REQUIRED}' is specified"))
    return found


def _unconstrained(path: str, annotations: ReadOnlyTree) -> list[FieldError]:
    if UNCONSTRAINED not in annotations:
        return []
    try:
        requests.parse_bool(annotations[UNCONSTRAINED])
    except requests.TopologyRequestError:
        return [invalid(key(path, UNCONSTRAINED), annotations[UNCONSTRAINED], "must be a boolean value")]
    return []


def _slice_size(path: str, annotations: ReadOnlyTree) -> list[FieldError]:
    if SLICE_SIZE not in annotations:
        return []
    text = annotations[SLICE_SIZE]
    try:
        size = requests.parse_int32(text)
    except requests.TopologyRequestError:
        return [invalid(key(path, SLICE_SIZE), text, "must be a numeric value")]
    return [invalid(key(path, SLICE_SIZE), text, AT_LEAST_ONE)] if size < 1 else []


def _layers(path: str, annotations: ReadOnlyTree, features: Features) -> list[FieldError]:
    if LAYERS not in annotations:
        return []
    here, text = key(path, LAYERS), annotations[LAYERS]
    if not features.TASMultiLayerTopology:
        return [forbidden(here, "the TASMultiLayerTopology feature gate must be enabled to use this annotation")]
    found = [
        forbidden(here, f"may not be set when '{name}' is specified")
        for name in (SLICE_REQUIRED, SLICE_SIZE) if name in annotations]
    if GROUP in annotations:
        found.append(forbidden(key(path, GROUP), f"may not be set when '{LAYERS}' is specified"))
    try:
        layers = constraints.decode(text)
    except constraints.ConstraintsError as error:
        return [*found, invalid(here, text, f"must be a valid JSON array: {error}")]
    if not 1 <= len(layers) <= constraints.MAX_LAYERS:
        return [*found, invalid(here, text, constraints.LAYER_COUNT)]
    for place, layer in enumerate(layers):
        found += _label_name(child(index(here, place), "topology"), layer.topology)
        if layer.size < 1:
            found.append(invalid(child(index(here, place), "size"), layer.size, AT_LEAST_ONE))
    seen: dict[str, int] = {}
    for place, layer in enumerate(layers):
        first = seen.setdefault(layer.topology, place)
        if first != place:
            shown = f"{layer.topology} (also at index {first})"
            found.append(field_errors.duplicate(child(index(here, place), "topology"), shown))
    for place, (outer, inner) in enumerate(itertools.pairwise(layers), start=1):
        if inner.size > 0 and outer.size % inner.size:
            text = f"must evenly divide the parent layer size {outer.size}"
            found.append(invalid(child(index(here, place), "size"), inner.size, text))
    return found
