"""What a pod lacks by its volumes, and volumes that are proposed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import volumes
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.types import NodeInfo
from fakekube_controllers.scheduler.plugins.missing import domains
from fakekube_controllers.scheduler.plugins.node_affinity import label_changes
from fakekube_controllers.scheduler.plugins.topology_counts import HOSTNAME, node_labels


class Proposed(NamedTuple):
    """Objects that are not there: volumes, and the storage of which more can be made."""

    volumes: Sequence[Tree] = ()
    capacities: Sequence[Tree] = ()


def proposed(wanted: Iterable[Change]) -> Proposed:
    """The objects that changes would make."""
    return Proposed(
        [_volume(number, each.details) for number, each in enumerate(wanted) if each.action == changes.CREATE_VOLUME],
        [_capacity(each) for each in wanted if each.action == changes.ADD_STORAGE])


def _volume(number: int, details: Mapping[str, object]) -> Tree:
    spec: Tree = {
        "capacity": {"storage": details["capacity"]}, "accessModes": details["accessModes"],
        "storageClassName": details["storageClassName"], "volumeMode": details["volumeMode"],
        "volumeAttributesClassName": details["volumeAttributesClassName"]}
    metadata = {"name": f"new-{number}", "uid": f"uid of volume new-{number}", "labels": details["labels"]}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Available"}}


def _capacity(change: Change) -> Tree:
    """For the nodes with the node's name as their label."""
    name = change.target.partition("/")[2]
    return {"storageClassName": change.details["storageClassName"], "capacity": change.details["size"],
            "nodeTopology": {"matchLabels": {HOSTNAME: name}}}


def create_claims(pod: ReadOnlyTree, exists: Mapping[str, bool]) -> list[Change] | None:
    """The claims that a pod names and that are not there; None where there are none."""
    found = [changes.create("PersistentVolumeClaim", meta.namespace_of(pod), name)
             for name, is_ephemeral in volumes.claim_names(pod) if not is_ephemeral and not exists[name]]
    return found or None


def create_volume(claim: ReadOnlyTree) -> Change | None:
    """A volume that is fit for a claim; None where none can be."""
    selector = claim["spec"].get("selector")
    wanted: Mapping[str, str] | None = {}
    if selector is not None:
        wanted = domains.labels_for([labels.from_label_selector(selector)])
    return None if wanted is None else changes.create_volume(claim, volumes.class_of(claim), wanted)


def reach(volume: ReadOnlyTree, node: NodeInfo) -> list[Change] | None:
    """A node is to have the labels by which it can reach a volume."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required") or {}
    return _fewest(label_changes(term, node) for term in required.get("nodeSelectorTerms") or ())


def allowed(storage_class: ReadOnlyTree, node: NodeInfo) -> list[Change] | None:
    """A node is to have the labels of which its class makes volumes."""
    own, target = node_labels(node), changes.node_target(node)

    def terms() -> Iterator[list[Change] | None]:
        for term in storage_class.get("allowedTopologies") or ():
            listed = term.get("matchLabelExpressions") or ()
            possible = bool(listed) and all(each.get("values") for each in listed)
            yield [changes.set_label(target, each["key"], each["values"][0]) for each in listed
                   if own.get(each["key"]) not in each["values"]] if possible else None

    return _fewest(terms())


def _fewest(found: Iterable[list[Change] | None]) -> list[Change] | None:
    return min((each for each in found if each is not None), key=len, default=None)
