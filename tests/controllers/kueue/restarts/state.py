"""What is left at the end of a play, without what two plays may differ in; and what holds of it."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from fakekube import Cluster
from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.workload import states

GROUPS = (names.GROUP, "apps", "batch", "jobset.x-k8s.io", "leaderworkerset.x-k8s.io", "ray.io")
DIFFERS = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
"""Of metadata: who came first, when, and how many writes it took."""
HASH_OF_UID = re.compile(r"-[0-9a-f]{5}$")
RANDOM = re.compile(r"[a-z0-9]{5}$")
LEGITIMATE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-*"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r'"accumulatedPastExecutionTimeSeconds": \d+'), '"accumulatedPastExecutionTimeSeconds": "<time>"'),
    (re.compile(r"fakekube://[0-9a-f]+"), "<time of a container's start>"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r'"podName": "[^"]*"'), '"podName": "*"'),
    # the scheduler replaces a slice, and the job's controller does where that did not come to it
    (re.compile(r"a workload \(UID: <[^>]*>, JobUID: (<[^>]*>)?\) due to workload slice aggregation"), "a new workload slice"))
"""What may differ besides, and what stands in its place, in this order: chance, times, uids of
what is gone, and who was the first to do what two do.
"""

Objects = Mapping[str, list[Tree]]
"""By the name of a cluster."""


async def objects_of(cluster: Cluster) -> list[Tree]:
    """All that Kueue reads and writes, in the order of discovery and of names."""
    found: list[Tree] = []
    for resource in await cluster.client.resources(verbs=("list", "watch")):
        if resource.group in GROUPS or (resource.group, resource.plural) == ("", "pods"):
            found += [
                {"apiVersion": resource.api_version, "kind": resource.kind, **item}
                for item in (await cluster.client.list(resource)).items]
    return found


def comparable(objects: Objects) -> list[str]:
    """A line an object, sorted: the same for two plays that ended in the same state.

    Besides LEGITIMATE, versions and what is made of chance or of a uid in names are taken out.
    """
    aliases: dict[str, str] = {}
    for found in objects.values():
        for obj in found:
            name, alias = meta.name_of(obj), _stable_name(obj)
            aliases[obj["metadata"]["uid"]] = f"<uid of {alias}>"
            if alias != name:
                aliases[name] = alias
    lines = []
    for member, found in objects.items():
        for obj in found:
            metadata = {key: value for key, value in obj["metadata"].items() if key not in DIFFERS}
            text = json.dumps(_ordered({**obj, "metadata": metadata}), sort_keys=True)
            for name in sorted(aliases, key=lambda each: (-len(each), each)):
                text = text.replace(name, aliases[name])
            for pattern, instead in LEGITIMATE:
                text = pattern.sub(instead, text)
            lines.append(f"{member} {text}")
    return sorted(lines)


def difference(found: list[str], expected: list[str]) -> list[str]:
    """The fields of objects that are in one of two ends only, with ``+`` or ``-``."""
    if found == expected:
        return []
    more, less = Counter(found) - Counter(expected), Counter(expected) - Counter(found)
    fields = [Counter(line for obj in each.elements() for line in _fields_of(obj)) for each in (more, less)]
    told = [*(f"+ {line}" for line in (fields[0] - fields[1]).elements())]
    told += [f"- {line}" for line in (fields[1] - fields[0]).elements()]
    return sorted(told, key=lambda line: line[2:]) or ["the same fields are in other objects"]


def _fields_of(line: str) -> list[str]:
    member, _, text = line.partition(" ")
    obj = json.loads(text)
    return [f"{member} {obj['kind']} {obj['metadata']['name']} {path}" for path in _leaves(obj, "")]


def _leaves(tree: Any, path: str) -> Iterable[str]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from _leaves(value, f"{path}.{key}")
    elif isinstance(tree, list) and tree:
        for place, value in enumerate(tree):
            named = value.get("name") or value.get("type") if isinstance(value, dict) else None
            yield from _leaves(value, f"{path}[{named or place}]")
    else:
        yield f"{path}={tree}"


def _stable_name(obj: Tree) -> str:
    name = meta.name_of(obj)
    if obj["kind"] == "Workload":
        return HASH_OF_UID.sub("-*", name)
    return RANDOM.sub("*", name) if "generateName" in obj["metadata"] else name


def _ordered(obj: Tree) -> Tree:
    """Lists that are sets, in one order: conditions by type, owners and finalizers by name."""
    status = obj.get("status") or {}
    if "conditions" in status:
        obj = {**obj, "status": {**status, "conditions": sorted(status["conditions"], key=lambda each: str(each["type"]))}}
    if "ownerReferences" in obj["metadata"]:
        owners = sorted(obj["metadata"]["ownerReferences"], key=lambda each: str(each["name"]))
        obj = {**obj, "metadata": {**obj["metadata"], "ownerReferences": owners}}
    return obj


# what holds of every end


def faults(objects: Objects) -> list[str]:
    """What is wrong with an end, in words."""
    return [f"{member}: {fault}" for member, found in objects.items() for check in CHECKS for fault in check(_by_kind(found))]


def _by_kind(objects: Iterable[Tree]) -> dict[str, list[Tree]]:
    found: dict[str, list[Tree]] = defaultdict(list)
    for each in objects:
        found[each["kind"]].append(each)
    return found


def _usage(objects: Mapping[str, list[Tree]]) -> Iterable[str]:
    """Usage is the sum of reservations."""
    for queue in objects["ClusterQueue"]:
        expected: Counter[tuple[str, str]] = Counter()
        for workload in objects["Workload"]:
            admission = states.status_of(workload).get("admission") or {}
            if admission.get("clusterQueue") != meta.name_of(queue) or not states.has_active_quota_reservation(workload):
                continue
            expected.update(_reserved(workload))
        shown: dict[Any, int] = {
            (flavor["name"], resource["name"]): quantity.parse(resource["total"]).milli_value
            for flavor in queue["status"]["flavorsReservation"] for resource in flavor["resources"]}
        if shown != {key: expected[key] for key in shown}:
            yield f"queue {meta.name_of(queue)} shows {shown}, and {dict(expected)} is reserved"


def _reserved(workload: Tree) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    back = {each["name"]: each["count"] for each in workload["status"].get("reclaimablePods") or ()}
    asked = {each["name"]: each["count"] for each in workload["spec"]["podSets"]}  # fewer, where a job has shrunk
    for podset in workload["status"]["admission"]["podSetAssignments"]:
        count = podset.get("count") or 1
        left = max(min(count, asked[podset["name"]]) - back.get(podset["name"], 0), 0)
        for resource, flavor in (podset.get("flavors") or {}).items():
            total = quantity.parse(podset["resourceUsage"][resource]).milli_value
            found[flavor, resource] += total * left // count
    return found


def _slices(objects: Mapping[str, list[Tree]]) -> Iterable[str]:
    """A job has one slice with quota and one that waits, at most."""
    counts: Counter[tuple[str, bool]] = Counter()
    for workload in objects["Workload"]:
        owner = meta.controller_of(workload)
        if owner is not None and not states.is_finished(workload) and "component-workload-index" not in json.dumps(
                workload["metadata"].get("annotations", {})):
            counts[f"{owner['kind']} {owner['name']}", states.has_quota_reservation(workload)] += 1
    for (owner_name, has_quota), count in counts.items():
        if count > 1:
            yield f"{owner_name} has {count} slices {'with quota' if has_quota else 'that wait'}"


def _gates(objects: Mapping[str, list[Tree]]) -> Iterable[str]:
    """No pod of a Workload that was admitted here waits behind one of Kueue's gates."""
    workloads = {meta.name_of(each): each for each in objects["Workload"]}
    for pod in objects["Pod"]:
        annotations, labels = meta.annotations_of(pod), meta.labels_of(pod)
        for gate in (names.ADMISSION_GATE, names.TOPOLOGY_GATE):
            name = annotations.get(names.WORKLOAD_ANNOTATION) or labels.get(names.POD_GROUP_NAME_LABEL) or annotations.get(
                names.POD_GROUP_NAME_ANNOTATION, "")
            workload = workloads.get(name)
            if workload is None or not pods.has_gate(pod, gate) or pods.is_terminated(pod):
                continue
            if states.is_admitted(workload) and not states.is_evicted(workload) and not states.cluster_name(workload):
                yield f"pod {meta.name_of(pod)} has the gate {gate}, and {name} is admitted"


def _finalizers(objects: Mapping[str, list[Tree]]) -> Iterable[str]:
    """Nothing of a Workload that has ended, or is gone, is held."""
    for each in (obj for found in objects.values() for obj in found):
        if not meta.is_deleting(each):
            continue
        held = [finalizer for finalizer in meta.finalizers_of(each) if finalizer.startswith(names.GROUP)]
        if held and each["kind"] != "Pod":
            yield f"{each['kind']} {meta.name_of(each)} is deleted, and held by {held}"
    workloads = {meta.name_of(each): each for each in objects["Workload"]}
    for pod in objects["Pod"]:
        group = meta.labels_of(pod).get(names.POD_GROUP_NAME_LABEL)
        if group and names.POD_FINALIZER in meta.finalizers_of(pod):
            workload = workloads.get(group)
            if (workload is not None and states.is_finished(workload)) or (workload is None and pods.is_terminated(pod)):
                yield f"pod {meta.name_of(pod)} is held, and its group has ended"


CHECKS = (_usage, _slices, _gates, _finalizers)
