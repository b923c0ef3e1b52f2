"""What the pods of one podset get when their job is admitted, and what their template has back when
it is stopped.

Upstream: pkg/podset. Templates are trees with ``metadata`` and ``spec``, as pods are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson

from fakekube.apimachinery import errors, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features

FindFlavor = Callable[[str], ReadOnlyTree | None]
"""The ResourceFlavor of a name."""


class PermanentError(Exception):
    """The job can never be started with what it was to get: trying again would not help."""


class InvalidPodSetInfo(PermanentError):
    """What a job was to get does not belong to its podsets."""

    def __init__(self, text: str) -> None:
        super().__init__(f"invalid podset infos: {text}")


class InvalidPodSetUpdate(PermanentError):
    """Two say otherwise of one key."""

    def __init__(self, what: str, conflict: str, *, check: str = "") -> None:
        where = f"in admission check {go_quote(check)}: " if check else ""
        super().__init__(f"{where}invalid admission check PodSetUpdate: conflict for {what}: {conflict}")
        self.what, self.conflict = what, conflict


class FlavorNotFound(APIError):
    """404 for a ResourceFlavor that was assigned."""

    def __init__(self, name: str) -> None:
        found = errors.not_found(names.RESOURCE_FLAVORS.group_resource, name)
        super().__init__(found.code, found.reason, found.message, found.details)


@dataclass(slots=True)
class PodSetInfo:
    """What is put into the template of a podset, or was in it before."""

    name: str = ""
    count: int = 0
    annotations: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: list[Tree] = field(default_factory=list)
    scheduling_gates: list[Tree] = field(default_factory=list)

    def merge(self, other: "PodSetInfo") -> None:
        """Add what another one has. InvalidPodSetUpdate where both have a key with other values."""
        for what, mine, others in (
            ("annotations", self.annotations, other.annotations), ("labels", self.labels, other.labels),
            ("nodeSelector", self.node_selector, other.node_selector),
        ):
            _refuse_conflict(what, mine, others)
        self.annotations.update(other.annotations)
        self.labels.update(other.labels)
        self.node_selector.update(other.node_selector)
        present = [_matched_toleration(each) for each in self.tolerations]
        self.tolerations += [each for each in other.tolerations if _matched_toleration(each) not in present]
        self.scheduling_gates += [each for each in other.scheduling_gates if each not in self.scheduling_gates]


def expect_podsets(infos: "list[PodSetInfo]", count: int) -> None:
    """InvalidPodSetInfo unless there are so many."""
    if len(infos) != count:
        raise InvalidPodSetInfo(f"expecting {count} podset, got {len(infos)}")


def from_assignment(
    assignment: ReadOnlyTree, pod_set: ReadOnlyTree, flavor_of: FindFlavor, features: Features,
) -> PodSetInfo:
    """What the flavors that a podset was assigned ask for. FlavorNotFound."""
    count = assignment.get("count")
    info = PodSetInfo(name=assignment["name"], count=pod_set.get("count", 0) if count is None else count)
    if features.TopologyAwareScheduling and assignment.get("topologyAssignment") is not None:
        request = pod_set.get("topologyRequest") or meta.EMPTY
        if not any(request.get(each) is not None for each in ("preferred", "required", "unconstrained")):
            info.annotations[names.PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION] = "true"
        info.scheduling_gates.append({"name": names.TOPOLOGY_GATE})
    for name in dict.fromkeys((assignment.get("flavors") or {}).values()):
        flavor = flavor_of(name)
        if flavor is None:
            raise FlavorNotFound(name)
        spec = flavor.get("spec") or meta.EMPTY
        info.node_selector.update(spec.get("nodeLabels") or {})
        info.tolerations += spec.get("tolerations") or ()
    return info


def from_update(update: ReadOnlyTree) -> PodSetInfo:
    """What an admission check wants a podset to get."""
    return PodSetInfo(
        annotations={**(update.get("annotations") or {})}, labels={**(update.get("labels") or {})},
        node_selector={**(update.get("nodeSelector") or {})}, tolerations=[*(update.get("tolerations") or ())])


def from_pod_set(pod_set: ReadOnlyTree) -> PodSetInfo:
    """What the template of a Workload's podset has: what a stopped job gets back."""
    template = pod_set.get("template") or meta.EMPTY
    spec = template.get("spec") or meta.EMPTY
    return PodSetInfo(
        name=pod_set.get("name", ""), count=pod_set.get("count", 0), annotations={**meta.annotations_of(template)},
        labels={**meta.labels_of(template)}, node_selector={**(spec.get("nodeSelector") or {})},
        tolerations=[*(spec.get("tolerations") or ())], scheduling_gates=[*(spec.get("schedulingGates") or ())])


def merge(template: Tree, info: PodSetInfo, features: Features) -> None:
    """Put into a template, or a pod, what it gets; it is the caller's own.

    InvalidPodSetUpdate where it says otherwise already.
    """
    annotations = {**meta.annotations_of(template)}
    for key in _overridable_annotations(info, features):
        if key in info.annotations:
            annotations.pop(key, None)
    spec = template.setdefault("spec", {})
    merged = PodSetInfo(
        annotations=annotations, labels={**meta.labels_of(template)}, node_selector={**(spec.get("nodeSelector") or {})},
        tolerations=[*(spec.get("tolerations") or ())], scheduling_gates=[*(spec.get("schedulingGates") or ())])
    merged.merge(info)
    _put(template, merged)


def restore_pod_spec(template: Tree, info: PodSetInfo) -> bool:
    """Give a template, which is the caller's own, back what it had; whether that changed
    anything.
    """
    before = from_pod_set({"template": template})
    wanted = PodSetInfo(
        annotations=info.annotations, labels=info.labels, node_selector=info.node_selector, tolerations=info.tolerations,
        scheduling_gates=info.scheduling_gates)
    if before == wanted:
        return False
    _put(template, wanted)
    return True


def _put(template: Tree, info: PodSetInfo) -> None:
    metadata, spec = template.get("metadata") or {}, template.setdefault("spec", {})
    template["metadata"] = metadata
    for tree, key, value in (
        (metadata, "annotations", info.annotations), (metadata, "labels", info.labels),
        (spec, "nodeSelector", info.node_selector), (spec, "tolerations", info.tolerations),
        (spec, "schedulingGates", info.scheduling_gates),
    ):
        if value:
            tree[key] = orjson.loads(orjson.dumps(value))
        else:
            tree.pop(key, None)


def _overridable_annotations(info: PodSetInfo, features: Features) -> tuple[str, ...]:
    """What may have another value, of an admission before: a new chain of slices has a new name."""
    if not features.ElasticJobsViaWorkloadSlices:
        return ()
    slice_name = names.WORKLOAD_SLICE_NAME_ANNOTATION
    return (slice_name, names.WORKLOAD_ANNOTATION) if slice_name in info.annotations else (slice_name,)


def _matched_toleration(toleration: ReadOnlyTree) -> tuple[str, ...]:
    """What makes two tolerations the same; how long they tolerate does not count."""
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    return key, operator, toleration.get("value") or "", toleration.get("effect") or ""


def _refuse_conflict(what: str, mine: Mapping[str, str], others: Mapping[str, str]) -> None:
    for key, value in mine.items():
        if key in others and others[key] != value:
            raise InvalidPodSetUpdate(what, f"conflict for key={key}, value1={value}, value2={others[key]}")
