"""What the scheduler is told of a LeaderWorkerSet: each group is one PodGroup.

Without a word from the user a group is a gang of all its pods; where workers wait for a leader that
is ready, no gang would ever start, and pods are scheduled one by one. Users say it in
``spec.scheduling``, with the fields that a Job has there. No release of LeaderWorkerSet has that.
"""

import copy
from collections.abc import Callable
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube_controllers import workloadbuilder as wb
from fakekube_controllers.leaderworkerset import names

WORKLOADS = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")
POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
PATH, TEMPLATE = "spec.scheduling", "group"


class ForeignObject(ValueError):
    """An object of the name that one of the LeaderWorkerSet is to have, and that is not its own."""


def with_field(definition: Tree) -> Tree:
    """The definition with ``spec.scheduling``."""
    changed = copy.deepcopy(definition)
    for version in changed["spec"]["versions"]:
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        spec["scheduling"] = _object({
            "schedulingPolicy": _object({"basic": _EMPTY, "gang": _object({"minCount": {"type": "integer", "format": "int32"}})}),
            "schedulingConstraints": _object({"topology": _list(_object({"key": _STRING}))}),
            "disruptionMode": _object({"single": _EMPTY, "all": _EMPTY}),
            "resourceClaims": _list(_object({
                "name": _STRING, "resourceClaimName": _STRING, "resourceClaimTemplateName": _STRING}))})
    return changed


def errors_of(lws: ReadOnlyTree, old: ReadOnlyTree | None) -> list[FieldError]:
    """The complaints about how it is scheduled."""
    told, before = (each["spec"].get("scheduling") if each is not None else None for each in (lws, old))
    if old is not None:
        return [invalid(PATH, told, "field is immutable")] if told != before else []
    return wb.Builder(item_of(lws), _options(lws)).validate()


def item_of(lws: ReadOnlyTree) -> wb.WorkloadItem:
    """One group of a LeaderWorkerSet."""
    size = names.size_of(lws)

    def fill_in(config: wb.SchedulingConfig) -> None:
        if config.policy is not None and config.policy.gang is not None and config.policy.gang.min_count is None:
            config.policy.gang.min_count = size

    waits = lws["spec"].get("startupPolicy") == "LeaderReady"
    one_by_one = wb.SchedulingPolicy(basic=wb.BasicSchedulingPolicy())
    policy = one_by_one if waits else wb.SchedulingPolicy(gang=wb.GangSchedulingPolicy())
    priority = (names.leader_template(lws).get("spec") or meta.EMPTY).get("priorityClassName", "")
    default = wb.SchedulingConfig(policy, priority_class_name=priority)
    return wb.WorkloadItem(TEMPLATE, PATH, default, wb.WorkloadInput.of(lws["spec"].get("scheduling")), [fill_in])


def adopt(pod: Tree) -> None:
    """Let a pod that is created belong to its group, in place."""
    labels = meta.labels_of(pod)
    pod["spec"]["schedulingGroup"] = {"podGroupName": f"{labels[names.NAME]}-{labels.get(names.GROUP_INDEX, '')}"}


class SchedulingObjects:
    """The Workload and the PodGroups of LeaderWorkerSets; ``wrote`` is told of what was written."""

    def __init__(
        self, client: Client, lister: Callable[[Resource], Lister], wrote: Callable[[Resource, Tree], None],
    ) -> None:
        self._client, self._lister, self._wrote = client, lister, wrote

    async def ensure(self, lws: Tree, number: int) -> None:
        """Make what is missing of so many groups, write a size that changed, and delete the groups
        that are too many.

        Raises APIError; ForeignObject, WorkloadBuildError.
        """
        builder = wb.Builder(item_of(lws), _options(lws, meta.controller_reference(lws)))
        await self._present(WORKLOADS, builder.build_workload(), lws)
        named = [f"{meta.name_of(lws)}-{index}" for index in range(number)]
        wanted = {name: builder.new_pod_group(name, TEMPLATE) for name in named}
        for group in wanted.values():
            await self._present(POD_GROUPS, group, lws)
        for group in self._lister(POD_GROUPS).controlled_by(meta.uid_of(lws)):
            if meta.name_of(group) not in wanted and not meta.is_deleting(group):
                await self._client.delete(POD_GROUPS, meta.name_of(group), meta.namespace_of(lws), missing_ok=True)

    async def _present(self, resource: Resource, wanted: Tree, lws: ReadOnlyTree) -> None:
        name, namespace = meta.name_of(wanted), meta.namespace_of(lws)
        found = self._lister(resource).get(namespace, name)
        if found is None:
            self._wrote(resource, await self._client.create(resource, wanted))
            return
        if not meta.is_controlled_by(found, lws):
            raise ForeignObject(f"{resource.kind} {namespace}/{name} already exists and is not controlled by the LeaderWorkerSet")
        spec = copy.deepcopy(found["spec"])
        parts = [each if resource == POD_GROUPS else each["podGroupTemplates"][0] for each in (spec, wanted["spec"])]
        gang, wanted_gang = (part["schedulingPolicy"].get("gang") for part in parts)
        if gang is not None and wanted_gang is not None and gang != wanted_gang:
            gang |= wanted_gang
            self._wrote(resource, await self._client.update(resource, {**found, "spec": spec}))


def _options(lws: ReadOnlyTree, owner: ReadOnlyTree | None = None) -> wb.BuildOptions:
    return wb.BuildOptions(
        meta.name_of(lws), meta.namespace_of(lws), owner, [*wb.SchedulingPolicyOption], [*wb.DisruptionModeOption])


_STRING: Tree = {"type": "string"}
_EMPTY: Tree = {"type": "object"}


def _object(properties: Tree) -> Tree:
    return {"type": "object", "properties": properties}


def _list(items: Tree) -> dict[str, Any]:
    return {"type": "array", "items": items, "x-kubernetes-list-type": "atomic"}
