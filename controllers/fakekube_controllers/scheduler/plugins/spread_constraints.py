"""The topology spread constraints of a pod: its own, or those that the scheduler gives to pods
without any.

Upstream: plugins/podtopologyspread/common.go, plugins/helper/spread.go.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import orjson

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util.memory import memoized
from fakekube_controllers.scheduler.plugins.topology_counts import HOSTNAME

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
HONOR = "Honor"
ZONE = "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS: tuple[Mapping[str, str | int], ...] = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": SOFT, "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": SOFT, "maxSkew": 5})


class Constraint(NamedTuple):
    """A constraint, its selector parsed, with its defaults.

    ``honors_affinity``, ``honors_taints``: nodes that the pod's node affinity does not take, or
    whose taints it does not tolerate, do not count.
    """

    topology_key: str
    max_skew: int
    selector: labels.Selector
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False


Constraints = tuple[Constraint, ...]


def parsed(
    constraints: Sequence[Mapping[str, object]], action: str, pod_labels: Mapping[str, str], *, match_keys: bool,
) -> Constraints:
    """Those of a list with an action, for a pod with these labels.

    ``match_keys``: whether matchLabelKeys count. Raises SelectorError.
    """
    values: tuple[tuple[str, str], ...] = ()
    if match_keys:
        listed: list[object] = [each.get("matchLabelKeys") for each in constraints]
        if any(listed):
            keys = dict.fromkeys(key for each in listed if isinstance(each, list) for key in each)
            values = tuple((key, pod_labels[key]) for key in keys if key in pod_labels)
    return _parsed(orjson.dumps(constraints), action, values)


@memoized(2048, longest=8192)
def _parsed(text: bytes, action: str, pod_labels: tuple[tuple[str, str], ...]) -> Constraints:
    return tuple(_constraint(each, dict(pod_labels)) for each in orjson.loads(text) if each.get("whenUnsatisfiable") == action)


def _constraint(constraint: Tree, pod_labels: Mapping[str, str]) -> Constraint:
    selector = labels.from_label_selector(constraint.get("labelSelector"))
    matched = {key: pod_labels[key] for key in constraint.get("matchLabelKeys") or () if key in pod_labels}
    if matched and not selector.nothing:
        selector = labels.Selector([*labels.from_set(matched).requirements, *selector.requirements])
    return Constraint(
        constraint["topologyKey"], constraint["maxSkew"], selector, constraint.get("minDomains") or 1,
        (constraint.get("nodeAffinityPolicy") or HONOR) == HONOR, constraint.get("nodeTaintsPolicy") == HONOR)


class Lister(Protocol):
    """Reads the cache of a resource."""

    def get(self, namespace: str, name: str) -> Tree | None:
        """One object, or None."""

    def list(self, namespace: str = "") -> Sequence[Tree]:
        """Those of a namespace."""


class Selecting(NamedTuple):
    """The listers of everything whose selectors make the default one of a pod."""

    services: Lister
    replication_controllers: Lister
    replica_sets: Lister
    stateful_sets: Lister

    def default_selector(self, pod: ReadOnlyTree) -> labels.Selector:
        """The labels that all services want which take the pod, and what its controller selects.

        Empty when there is none of these. Upstream: DefaultSelector.
        """
        namespace, own = meta.namespace_of(pod), meta.labels_of(pod).items()
        merged: dict[str, str] = {}
        for service in self.services.list(namespace):
            wanted = service["spec"].get("selector")
            if wanted is not None and wanted.items() <= own:
                merged.update(wanted)
        owner = meta.controller_of(pod)
        if owner is None:
            return labels.from_set(merged)
        kind, name = (owner.get("apiVersion", ""), owner.get("kind", "")), owner.get("name", "")
        if kind == ("v1", "ReplicationController"):
            controller = self.replication_controllers.get(namespace, name)
            merged.update((controller["spec"].get("selector") or {}) if controller is not None else {})
            return labels.from_set(merged)
        lister = {("apps/v1", "ReplicaSet"): self.replica_sets, ("apps/v1", "StatefulSet"): self.stateful_sets}.get(kind)
        controller = lister.get(namespace, name) if lister is not None else None
        if controller is None:
            return labels.from_set(merged)
        try:
            selected = labels.from_label_selector(controller["spec"].get("selector"))
        except labels.SelectorError:
            return labels.from_set(merged)
        return labels.Selector([*labels.from_set(merged).requirements, *selected.requirements])
