"""The sets of a group of pods of which a driver makes the others: story 3 of KEP-976.

The driver, a pod with the annotation ``kueue.x-k8s.io/pod-group-sets``, says what pods the group
will have, and is admitted with quota for all of them. Every other pod says by the label
``kueue.x-k8s.io/pod-group-role`` which set it is of. No release does this: it is behind
PodGroupSets, a gate of our own. A role stands where other groups have the hash of a pod's shape.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.field_errors import FieldError, invalid, required
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod import groups
from fakekube_controllers.kueue.topology import requests

SETS = field_errors.key("metadata.annotations", names.POD_GROUP_SETS_ANNOTATION)
ROLE = field_errors.key("metadata.labels", names.POD_GROUP_ROLE_LABEL)
TOTAL_COUNT = field_errors.key("metadata.annotations", names.POD_GROUP_TOTAL_COUNT_ANNOTATION)
FIELDS, TEMPLATE_FIELDS = ("name", "count", "template"), ("metadata", "spec")
MAX_COUNT = 2**31 - 1


class SetsError(ValueError):
    """The sets of a group cannot be read."""


def parse(text: str, features: Features) -> list[Tree]:
    """The sets that an annotation tells, in YAML or JSON. SetsError.

    Each has ``name`` and ``count``; one without ``template`` is of pods like the driver.
    """
    found = _loaded(text)
    if not isinstance(found, list) or not found:
        raise SetsError("must be a list of sets")
    if len(found) > (most := groups.max_roles(features)):
        raise SetsError(f"must have at most {most} sets")
    read = [_read(each) for each in found]
    if len({each["name"] for each in read}) < len(read):
        raise SetsError("must not have two sets of one name")
    if sum(each["count"] for each in read) > MAX_COUNT:
        raise SetsError("has too many pods")
    return read


def _loaded(text: str) -> Any:
    """What a text says, as JSON; nothing deep, and nothing that stands for more than its length."""
    from fakekube.apimachinery import yaml

    try:
        found = yaml.load_all(text.encode(), aliases=False)
    except yaml.YAMLError as error:
        raise SetsError(f"is no YAML: {f'line {error.line}: ' if error.line else ''}{error.problem}") from error
    except ValueError as error:  # half of a surrogate pair
        raise SetsError(f"is no YAML: {error}") from error
    return found[0] if len(found) == 1 else None


def _read(found: Any) -> Tree:
    if not isinstance(found, dict):
        raise SetsError("must be a list of sets")
    name, count, template = (found.get(field) for field in FIELDS)
    unknown = sorted(found.keys() - FIELDS)
    if unknown:
        raise SetsError(f"has an unknown field {field_errors.go_quote(unknown[0])}: a set has {', '.join(FIELDS)}")
    if not isinstance(name, str) or words.dns1123_label(name):
        raise SetsError("needs a name for each set that a DNS label could be")
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_COUNT:
        raise SetsError(f"needs a count of pods for set {field_errors.go_quote(name)}")
    if template is None:
        return {"name": name, "count": count}
    spec = template.get("spec") if isinstance(template, dict) else None
    containers = spec.get("containers") if isinstance(spec, dict) else None
    if not isinstance(containers, list) or not containers or template.keys() - set(TEMPLATE_FIELDS):
        raise SetsError(f"needs a template with a spec and its containers for set {field_errors.go_quote(name)}, or none at all")
    return {"name": name, "count": count, "template": template}


def has_sets(pod: ReadOnlyTree) -> bool:
    """Whether a pod is the driver of a group."""
    return names.POD_GROUP_SETS_ANNOTATION in meta.annotations_of(pod)


def is_of_sets(pod: ReadOnlyTree) -> bool:
    """Whether a pod is of a group with sets: the driver, or one that says its role."""
    return has_sets(pod) or (
        names.POD_GROUP_ROLE_LABEL in meta.labels_of(pod)
        and names.POD_GROUP_TOTAL_COUNT_ANNOTATION not in meta.annotations_of(pod))


def of_driver(pod: ReadOnlyTree, features: Features) -> list[Tree]:
    """The sets that a driver tells. SetsError."""
    return parse(meta.annotations_of(pod)[names.POD_GROUP_SETS_ANNOTATION], features)


def role_of(pod: ReadOnlyTree, features: Features) -> str:
    """The set that a pod of a group with sets is of: what it says; of a driver that says nothing
    the first set without a template, or the first one. Empty where that cannot be told.
    """
    told = meta.labels_of(pod).get(names.POD_GROUP_ROLE_LABEL, "")
    if told or not has_sets(pod):
        return told
    try:
        found = of_driver(pod, features)
    except SetsError:
        return ""
    first: str = next((each["name"] for each in found if "template" not in each), found[0]["name"])
    return first


def is_worker_of(pod: ReadOnlyTree, ancestor: ReadOnlyTree, features: Features) -> bool:
    """Whether a pod is a worker of the group of the pod above it: a driver may own its workers."""
    group = pods.pod_group_name(pod, features)
    return bool(group) and is_of_sets(pod) and ancestor.get("kind") == "Pod" and pods.pod_group_name(ancestor, features) == group


def total_count(sets: Iterable[ReadOnlyTree]) -> int:
    """How many pods a group is to have."""
    return sum(each["count"] for each in sets)


def driver_first(group: Iterable[Tree]) -> list[Tree]:
    """The pods of a group, those with sets first, and of them those that may still run."""
    return sorted(group, key=lambda pod: (not has_sets(pod), not groups.is_runnable_or_succeeded(pod)))


def pod_sets(sets: Iterable[ReadOnlyTree], driver: ReadOnlyTree, make: groups.MakePodSet, features: Features) -> list[Tree]:
    """The pod sets of the Workload, by their names. Raises TopologyRequestError."""
    found = []
    for each in sets:
        made: Tree = {"name": each["name"], "count": each["count"]}
        template = each.get("template")
        if template is None:
            found.append({**make(driver), **made})
            continue
        made["template"] = {"metadata": template.get("metadata") or {}, "spec": template["spec"]}
        if features.TopologyAwareScheduling:
            request = requests.topology_request(
                made["template"]["metadata"], features, pod_index_label=names.POD_GROUP_POD_INDEX_LABEL)
            if request is not None:
                made["topologyRequest"] = request
        found.append(made)
    return sorted(found, key=lambda each: str(each["name"]))


def is_same(sets: Sequence[ReadOnlyTree], present: Sequence[ReadOnlyTree]) -> bool:
    """Whether a Workload has these sets, each of as many pods."""
    one, other = ({each["name"]: each["count"] for each in found} for found in (sets, present))
    return one == other


def sort_out(group: Sequence[Tree], wanted: Sequence[ReadOnlyTree], now: float) -> groups.Sorted:
    """As for every group; but a pod of no set is one too many, and none is missed that never was.
    """
    roles = {each["name"] for each in wanted}
    known = [pod for pod in group if pods.role_hash(pod) in roles]
    active, inactive = groups.partition(pod for pod in group if pods.role_hash(pod) not in roles)
    found = groups.sort_out(known, wanted, now) if known else groups.Sorted([], [], [], 0)
    failed = sum(not groups.is_runnable_or_succeeded(pod) for pod in found.kept)
    return groups.Sorted(found.kept, found.excess + active, found.replaced + inactive, failed)


def errors_of(pod: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about what a pod says of sets."""
    if not is_of_sets(pod):
        return []
    path = SETS if has_sets(pod) else ROLE
    if not pods.pod_group_name(pod, features):
        return [required(field_errors.key("metadata.labels", names.POD_GROUP_NAME_LABEL), f"{path} is of a group")]
    if not has_sets(pod):
        return []
    annotations = meta.annotations_of(pod)
    try:
        found = of_driver(pod, features)
    except SetsError as error:
        return [invalid(SETS, annotations[names.POD_GROUP_SETS_ANNOTATION], str(error))]
    role, count = role_of(pod, features), annotations.get(names.POD_GROUP_TOTAL_COUNT_ANNOTATION)
    errors = []
    if not any(each["name"] == role and each["count"] for each in found):
        errors.append(invalid(ROLE, role, "must be the name of a set that has pods"))
    if count is not None and count != str(total_count(found)):
        errors.append(invalid(TOTAL_COUNT, count, "must be the sum of the counts of all sets"))
    return errors


def errors_of_update(old: ReadOnlyTree, pod: ReadOnlyTree) -> list[FieldError]:
    """The complaints about a change: sets and roles stay."""
    found = []
    for path, of, key in (
        (SETS, meta.annotations_of, names.POD_GROUP_SETS_ANNOTATION), (ROLE, meta.labels_of, names.POD_GROUP_ROLE_LABEL)):
        if of(old).get(key) != of(pod).get(key):
            found.append(invalid(path, of(pod).get(key), "field is immutable"))
    return found
