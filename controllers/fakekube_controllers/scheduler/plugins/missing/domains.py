"""The pods of a topology domain, and values of the label that makes a node a part of one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import labels
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.topology_counts import HOSTNAME, node_labels

if TYPE_CHECKING:
    from fakekube.apimachinery.types import ReadOnlyTree

NEW_DOMAIN = "new"
ANY_VALUE = "any"

Selects = Callable[[PodInfo], bool]


def pods_of(snapshot: Snapshot, key: str, domain: str, selects: Selects) -> Iterator[tuple[PodInfo, NodeInfo]]:
    """The pods of a domain that are selected, each with its node."""
    for node in snapshot.all_nodes.infos():
        if node.node is not None and node_labels(node).get(key) == domain:
            yield from ((pod, node) for pod in node.pods.values() if selects(pod))


def delete(found: Sequence[tuple[PodInfo, NodeInfo]], why: str) -> list[Change] | None:
    """These pods are to go; None where one of them is no more than thought of: it is about to have
    its node, with the pod that lacks something.
    """
    if any(not pod.pod["spec"].get("nodeName") for pod, _ in found):
        return None
    return [changes.delete_pod(pod.pod, why, node) for pod, node in found]


def join(node: NodeInfo, key: str, domain: str | None) -> Change:
    """A node is to be part of a domain; None: of a new one."""
    if key == HOSTNAME:
        domain = node.name
    return changes.set_label(changes.node_target(node), key, domain or NEW_DOMAIN)


def new_domain(known: Mapping[str, object]) -> str:
    """A value that no node has."""
    names = (f"{NEW_DOMAIN}{number or ''}" for number in range(len(known) + 1))
    return next(name for name in names if name not in known)


def labels_for(selectors: Sequence[labels.Selector]) -> dict[str, str] | None:
    """Labels that all of these select; None where none are found."""
    found: dict[str, str] = {}
    for selector in selectors:
        for each in selector.requirements:
            if each.operator in (labels.IN, labels.EQUALS, labels.DOUBLE_EQUALS) and found.get(each.key) not in each.values:
                found[each.key] = each.values[0]
            elif each.operator == labels.EXISTS:
                found.setdefault(each.key, ANY_VALUE)
    return found if all(selector.matches(found) for selector in selectors) else None


def selects_alike(namespace: str, selector: labels.Selector) -> Selects:
    """Selects pods of a namespace by their labels."""
    def selects(pod: PodInfo) -> bool:
        metadata: ReadOnlyTree = pod.pod["metadata"]
        return metadata.get("namespace", "") == namespace and selector.matches(metadata.get("labels") or {})

    return selects
