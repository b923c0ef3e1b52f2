"""What is asked about writes of draft Workloads and of pods."""

from collections.abc import Sequence

from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.scheduler.draft import groups
from fakekube_controllers.scheduler.draft.definition import OFF, REPLICATED, WORKLOADS

INVALID = 422

async def name_group(request: AdmissionRequest, *, client: Client) -> None:
    """Write on a new pod which group it is in."""
    pod: Tree = request.object
    workloads = (await client.list(WORKLOADS, request.namespace)).items
    found = groups.resolved(pod, workloads)
    if found is None:
        return
    said = {groups.WORKLOAD: found.workload, groups.POD_GROUP: found.group, groups.REPLICA: found.replica}
    metadata = pod["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **{key: value for key, value in said.items() if value}}


def validate(request: AdmissionRequest) -> None:
    """Refuse a Workload that contradicts itself. Raises Denied."""
    workload = request.shown
    faults = faults_of(workload) if workload is not None else []
    if faults:
        raise Denied("; ".join(faults), code=INVALID)


def faults_of(workload: ReadOnlyTree) -> list[str]:
    """What is wrong with the groups of a Workload, by their paths."""
    found: list[str] = []
    listed = groups.groups_of(workload)
    for number, group in enumerate(listed):
        path = f"spec.podGroups[{number}]"
        has_policy = any(groups.number(group, field) is not None for field in ("minCount", "schedulingTimeoutSeconds"))
        mode = groups.mode_of(group)
        if mode == OFF and has_policy:
            found.append(f"{path}: minCount and schedulingTimeoutSeconds are forbidden when gangMode is Off")
        if mode == REPLICATED and not groups.replica_label_of(group):
            found.append(f"{path}.replicatedGangKey: must be metadata.labels['KEY'] when gangMode is Replicated")
        if mode != REPLICATED:
            found += [f"{path}.{field}: forbidden unless gangMode is Replicated"
                      for field in ("replicatedGangKey", "replicas") if group.get(field) is not None]
    return found + _faults_of_selectors(listed)


def _faults_of_selectors(listed: Sequence[ReadOnlyTree]) -> list[str]:
    """Of several selectors the keys are the same, one key has other values, each once."""
    selectors = [selector for group in listed if (selector := groups.selector_of(group))]
    if len(selectors) < 2:
        return []
    if any(selector.keys() != selectors[0].keys() for selector in selectors):
        return ["spec.podGroups: podGroupSelectors must have the same keys"]
    differing = [key for key in selectors[0] if len({selector[key] for selector in selectors}) > 1]
    if len(differing) != 1:
        return ["spec.podGroups: exactly one key may differ between podGroupSelectors"]
    if len({selector[differing[0]] for selector in selectors}) < len(selectors):
        return [f"spec.podGroups: the values of {differing[0]} in podGroupSelectors must be distinct"]
    return []


