"""Which volumes the claims of a pod would have on a node: what is bound, what can be bound, what
can be made.

Upstream: plugins/volumebinding/binder.go (FindPodVolumes, AssumePodVolumes).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fakekube.apimachinery import labels, meta, quantity
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from fakekube.runtime import volumes
from fakekube.runtime.volumes import NO_PROVISIONER, SELECTED_NODE
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.framework.changes import add_storage
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.types import NodeInfo
from fakekube_controllers.scheduler.plugins import csi_migration
from fakekube_controllers.scheduler.plugins.releases import minor_version
from fakekube_controllers.scheduler.plugins.topology_counts import node_labels

NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NODE_CONFLICT_BEFORE = "node(s) had volume node affinity conflict"
NODE_CONFLICT_SINCE = 33  # the minor number of the release with the newer words
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
NO_SUCH_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

Key = tuple[str, str]


class Decision(NamedTuple):
    """What is to be done for a claim on the chosen node: ``volume`` is to be bound to it, or None:
    one is to be made, out of ``capacity`` where the driver publishes any.
    """

    claim: Tree
    volume: ReadOnlyTree | None
    capacity: ReadOnlyTree | None = None


@dataclass(slots=True)
class PodClaims:
    """The claims of a pod, for one cycle.

    ``more_volumes`` and ``more_capacities`` are only proposed.
    """

    bound: list[Tree] = field(default_factory=list)
    delayed: list[Tree] = field(default_factory=list)
    # by the name of a node that fits
    decided: dict[str, list[Decision]] = field(default_factory=dict)
    more_volumes: Sequence[Tree] = ()
    more_capacities: Sequence[Tree] = ()

    def propose(self, wanted: Changes) -> None:
        """Have the volumes that changes would make."""
        from fakekube_controllers.scheduler.plugins.missing import volumes as missing

        self.more_volumes, self.more_capacities = missing.proposed(wanted)


class VolumeBinder:
    """Decides, and remembers what was decided until everybody can see it."""

    def __init__(self, handle: Handle) -> None:
        self.claims, self.volumes = handle.lister(PERSISTENT_VOLUME_CLAIMS), handle.lister(PERSISTENT_VOLUMES)
        self._classes, self._drivers = handle.lister(STORAGE_CLASSES), handle.lister(CSI_DRIVERS)
        self._capacities, self._csi_nodes = handle.lister(CSI_STORAGE_CAPACITIES), handle.lister(CSI_NODES)
        self._node_conflict = NODE_CONFLICT if minor_version(handle.version) >= NODE_CONFLICT_SINCE else NODE_CONFLICT_BEFORE
        # by the name of a volume, the claim that is about to have it; by a claim, the node where a
        # volume is about to be made for it
        self._taken: dict[str, Key] = {}
        self._selected: dict[Key, str] = {}
        self._pods: dict[str, list[Decision]] = {}  # what was decided, by the pod's uid

    def find_class(self, name: str) -> ReadOnlyTree | None:
        """The StorageClass of a name, or None."""
        return self._classes.get("", name)

    # deciding

    def find(self, claims: PodClaims, node: NodeInfo) -> tuple[list[Decision], list[str]]:
        """What is to be done for the claims on a node, and why they cannot be there; one of the two
        is empty.
        """
        reachable, exist = self._check_bound(claims.bound, node)
        decisions: list[Decision] = []
        why = self._decide(claims, node, decisions) if claims.delayed else ""
        reasons = [] if reachable else [self._node_conflict]
        if why:
            reasons.append(why)
        if not exist:
            reasons.append(NO_SUCH_VOLUME)
        return ([], reasons) if reasons else (decisions, [])

    def _check_bound(self, claims: Sequence[ReadOnlyTree], node: NodeInfo) -> tuple[bool, bool]:
        """Whether all volumes can be used on the node, and whether they exist; up to the first that
        does not.
        """
        for claim in claims:
            volume = self._bound_volume(claim, node)
            if volume is None:
                return True, False
            if not reaches(volume, node):
                return False, True
        return True, True

    def _bound_volume(self, claim: ReadOnlyTree, node: NodeInfo) -> ReadOnlyTree | None:
        """The volume that a claim has, as it is known on a node."""
        volume = self.volumes.get("", claim["spec"]["volumeName"])
        return None if volume is None else csi_migration.on_node(volume, self._csi_nodes.get("", node.name))

    def _decide(self, claims: PodClaims, node: NodeInfo, found: list[Decision]) -> str:
        """Add what is to be done for the claims that wait; why that is impossible, or nothing."""
        to_make = self._matched(claims, node, found)
        if to_make is None:
            return NO_VOLUME
        for claim in to_make:
            why = self._make(claim, node, found, claims.more_capacities)
            if why:
                return why
        return ""

    def _matched(self, claims: PodClaims, node: NodeInfo, found: list[Decision]) -> list[Tree] | None:
        """Add the volumes for the claims that wait; the claims without one, for which one is to be
        made. None where another node was selected for one.
        """
        to_match: list[Tree] = []
        to_make: list[Tree] = []
        for claim in claims.delayed:
            selected = self._selected.get(meta.key_of(claim)) or meta.annotations_of(claim).get(SELECTED_NODE)
            if selected is None:
                to_match.append(claim)
            elif selected == node.name:
                to_make.append(claim)
            else:
                return None
        chosen: dict[str, None] = {}
        for claim in sorted(to_match, key=volumes.requested):
            volume = self._match(claim, node, chosen, claims.more_volumes)
            if volume is None:
                to_make.append(claim)
            else:
                chosen[meta.name_of(volume)] = None
                found.append(Decision(claim, volume))
        return to_make

    def missing(self, claims: PodClaims, node: NodeInfo) -> list[Change] | None:
        """What is to be done so that the claims can be on a node; None where nothing is known."""
        from fakekube_controllers.scheduler.plugins.missing import volumes as missing

        wanted: list[Change] = []
        for claim in claims.bound:
            volume = self._bound_volume(claim, node)
            more = missing.reach(volume, node) if volume is not None and not reaches(volume, node) else []
            if volume is None or more is None:
                return None
            wanted += more
        to_make = self._matched(claims, node, [])
        for claim in to_make or ():
            why, cls = self._make(claim, node, [], claims.more_capacities), self.find_class(volumes.class_of(claim))
            change: Change | None = None
            if why == NOT_ENOUGH_SPACE:
                change = add_storage(node, volumes.class_of(claim), claim["spec"]["resources"]["requests"]["storage"])
            elif why and cls is not None and cls["provisioner"] != NO_PROVISIONER:
                wanted += missing.allowed(cls, node) or ()
            elif why:
                change = missing.create_volume(claim)
            if change is not None:
                wanted.append(change)
        return None if to_make is None else wanted

    def _match(self, claim: Tree, node: NodeInfo, chosen: Mapping[str, None], more: Sequence[Tree]) -> ReadOnlyTree | None:
        """The volume for a claim: the one that it is about to have, or the best that is free."""
        key = meta.key_of(claim)
        name = next((name for name, owner in self._taken.items() if owner == key), None)
        volume = self.volumes.get("", name) if name is not None else None
        if volume is not None:
            return volume if reaches(volume, node) else None

        def is_taken(each: ReadOnlyTree) -> bool:
            return meta.name_of(each) in chosen or meta.name_of(each) in self._taken

        known = self.volumes.list()
        return volumes.best_match(
            claim, [*known, *more] if more else known, is_reachable=lambda each: reaches(each, node), is_taken=is_taken)

    def _make(self, claim: Tree, node: NodeInfo, found: list[Decision], more: Sequence[Tree]) -> str:
        """Add that a volume is to be made; why that is impossible, or nothing."""
        cls = self.find_class(volumes.class_of(claim))
        if cls is None or cls["provisioner"] == NO_PROVISIONER or not _allows(cls, node):
            return NO_VOLUME
        driver = self._drivers.get("", cls["provisioner"])
        asks = "storage" in ((claim["spec"].get("resources") or {}).get("requests") or {})
        if driver is None or not driver["spec"].get("storageCapacity") or not asks:
            found.append(Decision(claim, None))
            return ""
        size = _units(volumes.requested(claim))
        for capacity in (*self._capacities.list(), *more):
            limit = _limit(capacity) if capacity.get("storageClassName") == meta.name_of(cls) else None
            if limit is not None and limit >= size and _has_access(node, capacity):
                found.append(Decision(claim, None, capacity))
                return ""
        return NOT_ENOUGH_SPACE

    # what was decided

    def assume(self, uid: str, decisions: list[Decision], node_name: str) -> None:
        """Keep the volumes that a pod is to have from others, until ``forget``."""
        if not decisions:
            return
        self._pods[uid] = decisions
        for claim, volume, _ in decisions:
            if volume is not None:
                self._taken[meta.name_of(volume)] = meta.key_of(claim)
            else:
                self._selected[meta.key_of(claim)] = node_name

    def forget(self, uid: str) -> None:
        """Let others have them: the pod is bound, or not after all; harmless when there are none.
        """
        for claim, volume, _ in self._pods.pop(uid, ()):
            if volume is not None:
                self._taken.pop(meta.name_of(volume), None)
            else:
                self._selected.pop(meta.key_of(claim), None)

    # scores

    @staticmethod
    def storage(decisions: Sequence[Decision]) -> Iterator[tuple[int, int]]:
        """Bytes that are asked for and bytes that there are, by class.

        Of the volumes to be bound; where there are none, of the capacity out of which some are to
        be made.
        """
        found: dict[str, tuple[int, int]] = {}
        bound = [(claim, volume) for claim, volume, _ in decisions if volume is not None]
        for claim, volume in bound:
            name = volume["spec"].get("storageClassName") or ""
            asked, has = found.get(name, (0, 0))
            found[name] = asked + _units(volumes.requested(claim)), has + _units(volumes.capacity(volume))
        for claim, _, capacity in () if bound else decisions:
            if capacity is not None:
                name = claim["spec"].get("storageClassName") or ""
                has = _units(quantity.parse(capacity.get("capacity") or 0).nano)
                found[name] = found.get(name, (0, 0))[0] + _units(volumes.requested(claim)), has
        yield from found.values()


def reaches(volume: ReadOnlyTree, node: NodeInfo) -> bool:
    """Whether a volume can be used on a node."""
    return volumes.reaches(volume, node.name, node_labels(node))


def _units(nano: int) -> int:
    return -(-nano // quantity.NANO)


def _limit(capacity: ReadOnlyTree) -> int | None:
    """The size of the largest volume that can be made."""
    text = capacity.get("maximumVolumeSize")
    if text is None:
        text = capacity.get("capacity")
    return None if text is None else _units(quantity.parse(text).nano)


def limit_has_grown(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
    """Whether larger volumes can be made than before."""
    before, now = _limit(old), _limit(new)
    return now is not None and (before is None or now > before)


def _has_access(node: NodeInfo, capacity: ReadOnlyTree) -> bool:
    topology = capacity.get("nodeTopology")
    if topology is None:
        return False
    try:
        return labels.selects(topology, node_labels(node))
    except labels.SelectorError:
        return False


def _allows(cls: ReadOnlyTree, node: NodeInfo) -> bool:
    """Whether the class makes volumes for the node."""
    terms = cls.get("allowedTopologies")
    if not terms:
        return True
    own = node_labels(node)
    for term in terms:
        listed = term.get("matchLabelExpressions") or ()
        if listed and all(own.get(each["key"]) in (each.get("values") or ()) for each in listed):
            return True
    return False
