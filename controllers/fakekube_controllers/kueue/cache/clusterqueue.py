"""A ClusterQueue in the cache: its quotas, the Workloads that hold some, and whether it may admit.

Upstream: pkg/cache/scheduler/clusterqueue.go. Left out: metrics, which ask for how things stand.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.cache import spec as specs
from fakekube_controllers.kueue.cache.cohort import Cohort, Leaf
from fakekube_controllers.kueue.cache.localqueue import LocalQueue, LocalQueueReference, update_flavor_usage
from fakekube_controllers.kueue.cache.resource_node import ResourceNode, add_usage, remove_usage
from fakekube_controllers.kueue.cache.spec import ClusterQueueSpec
from fakekube_controllers.kueue.cache.tas import TASCache
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.info import Info, InfoOptions

if TYPE_CHECKING:
    from fakekube_controllers.kueue.resources import FlavorResourceQuantities

PENDING, ACTIVE, TERMINATING = "pending", "active", "terminating"
MAX_MESSAGE = 32 * 1024


class AdmissionCheck(NamedTuple):
    """What the cache knows of an AdmissionCheck."""

    active: bool
    controller: str


class Settings(NamedTuple):
    """What all ClusterQueues of a cache are given. ``tas`` knows about topologies."""

    info_options: InfoOptions = InfoOptions()
    is_pods_ready_tracked: bool = False
    tas: TASCache | None = None


class Problems(NamedTuple):
    """Why a ClusterQueue may not admit, besides that it is stopped."""

    missing_flavors: tuple[str, ...] = ()
    missing_admission_checks: tuple[str, ...] = ()
    inactive_admission_checks: tuple[str, ...] = ()
    multikueue_admission_checks: tuple[str, ...] = ()
    """One is none."""
    provisioning_admission_checks: tuple[str, ...] = ()
    """A problem beside one of MultiKueue."""
    per_flavor_multikueue_admission_checks: tuple[str, ...] = ()


class ClusterQueueState(NamedTuple):
    """What a snapshot shares with the cache; the Workloads in ``workloads`` are not changed by it.
    """

    name: str
    cohort_name: str
    spec: ClusterQueueSpec
    status: str
    allocatable_resource_generation: int
    workloads: Mapping[ObjectKey, Info]
    resource_node: ResourceNode
    problems: Problems
    tas_flavors: Mapping[str, str]


class ClusterQueue(Leaf):
    """See above. ``allocatable_resource_generation`` grows with all that may make room."""

    def __init__(self, name: str, settings: Settings, changed: dict[str, None]) -> None:
        """``changed`` is told the name of a ClusterQueue that is not as the last snapshot saw it.
        """
        self.name = name
        self.parent_cohort = None
        self.spec = ClusterQueueSpec()
        self.resource_node = ResourceNode()
        self.allocatable_resource_generation = 0
        self.status = ""
        self.workloads: dict[ObjectKey, Info] = {}
        self.workloads_not_ready: dict[ObjectKey, None] = {}
        self.admitted_usage: FlavorResourceQuantities = {}
        self.admitted_workloads_count = 0
        self.local_queues: dict[LocalQueueReference, LocalQueue] = {}
        self.problems = Problems()
        self.tas_flavors: Mapping[str, str] = {}
        """The Topology of each flavor that has one."""
        self.is_tas_synced = False
        self._settings = settings
        self._changed = changed
        self._frozen: ClusterQueueState | None = None
        self._are_workloads_shared = False

    @property
    def fair_weight(self) -> float:
        """The weight of its share."""
        return self.spec.fair_weight

    def _touch(self) -> None:
        self._frozen = None
        self._changed[self.name] = None

    def active(self) -> bool:
        """Whether it may admit."""
        return self.status == ACTIVE

    # -- spec -----------------------------------------------------------------------------------

    def update(
        self, cluster_queue: ReadOnlyTree, flavors: Mapping[str, ReadOnlyTree], checks: Mapping[str, AdmissionCheck],
        old_parent: Cohort | None,
    ) -> bool:
        """Take what the object says; its edge in the tree is changed already. Whether the tree is
        another now, by its edges or its quotas.
        """
        old, self.spec = self.spec, specs.read(cluster_queue)
        self._touch()
        self.resource_node.quotas = self.spec.quotas
        changed = not self.allocatable_resource_generation or (
            (old.resource_groups, old.quotas) != (self.spec.resource_groups, self.spec.quotas))
        has_moved = old_parent is not self.parent_cohort
        if changed or has_moved:
            if old_parent is not None and has_moved:
                old_parent.update_tree()
            if self.parent_cohort is None or self.parent_cohort.is_cyclic:
                self.update_resource_node()
            else:
                self.parent_cohort.update_tree()
        self.update_with_flavors(flavors)
        self.update_with_admission_checks(checks)
        return changed or has_moved

    def update_resource_node(self) -> None:
        """Count anew what there is."""
        self.allocatable_resource_generation += 1
        self.resource_node.subtree_quota = {fr: quota.nominal for fr, quota in self.resource_node.quotas.items()}
        self._touch()

    def update_with_flavors(self, flavors: Mapping[str, ReadOnlyTree]) -> None:
        """Take which of its flavors there are."""
        old, tas_flavors, missing = self.tas_flavors, {}, []
        for name in self.spec.flavors:
            flavor = flavors.get(name)
            if flavor is None:
                missing.append(name)
            elif topology := (flavor.get("spec") or meta.EMPTY).get("topologyName"):
                tas_flavors[name] = topology
                if name not in old:
                    self.is_tas_synced = False  # it may come with an empty cache of its domains
        self.tas_flavors = tas_flavors
        self.problems = self.problems._replace(missing_flavors=tuple(missing))
        self._update_status()

    def update_with_admission_checks(self, checks: Mapping[str, AdmissionCheck]) -> None:
        """Take which of its checks there are, and who decides about them."""
        known = {name: checks[name] for name in sorted(self.spec.admission_checks) if name in checks}
        multikueue = tuple(name for name, check in known.items() if check.controller == names.MULTIKUEUE_CONTROLLER_NAME)
        flavors = frozenset(self.spec.flavors)
        self.problems = Problems(
            self.problems.missing_flavors,
            tuple(sorted(name for name in self.spec.admission_checks if name not in checks)),
            tuple(name for name, check in known.items() if not check.active),
            multikueue,
            tuple(
                name for name, check in known.items() if check.controller == names.PROVISIONING_REQUEST_CONTROLLER_NAME),
            tuple(name for name in multikueue if self.spec.admission_checks[name] != flavors))
        self._update_status()

    def terminate(self) -> None:
        """It is being deleted: it admits nothing any more."""
        self.status = TERMINATING
        self._touch()

    def _update_status(self) -> None:
        self._ensure_tas_is_synced()
        self._touch()
        if self.status != TERMINATING:
            self.status = PENDING if self._may_not_admit() else ACTIVE

    def _may_not_admit(self) -> bool:
        found = self.problems
        return bool(
            self.spec.is_stopped or found.missing_flavors or found.missing_admission_checks
            or found.inactive_admission_checks or self._is_tas_violated() or len(found.multikueue_admission_checks) > 1
            or found.per_flavor_multikueue_admission_checks
            or (found.multikueue_admission_checks and found.provisioning_admission_checks))

    def inactive_reason(self) -> tuple[str, str]:
        """The reason and the message of its condition Active."""
        if self.status == TERMINATING:
            return "Terminating", "Can't admit new workloads; clusterQueue is terminating"
        if self.status != PENDING:
            return "Ready", "Can admit new workloads"
        found = list(self._inactive_reasons())
        if not found:
            return "Unknown", "Can't admit new workloads."
        message = f"Can't admit new workloads: {', '.join(text for _, text in found)}."
        return found[0][0], message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE - 3] + "..."

    def _inactive_reasons(self) -> Iterable[tuple[str, str]]:
        found, several = self.problems, ",".join
        if self.spec.is_stopped:
            yield "Stopped", "is stopped"
        if found.missing_flavors:
            yield "FlavorNotFound", f"references missing ResourceFlavor(s): {several(found.missing_flavors)}"
        if found.missing_admission_checks:
            yield "AdmissionCheckNotFound", f"references missing AdmissionCheck(s): {several(found.missing_admission_checks)}"
        if found.inactive_admission_checks:
            yield "AdmissionCheckInactive", f"references inactive AdmissionCheck(s): {several(found.inactive_admission_checks)}"
        multikueue, provisioning = found.multikueue_admission_checks, found.provisioning_admission_checks
        if len(multikueue) > 1:
            yield "MultipleMultiKueueAdmissionChecks", (
                f"Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: {several(multikueue)}")
        if per_flavor := found.per_flavor_multikueue_admission_checks:
            yield "MultiKueueAdmissionCheckAppliedPerFlavor", (
                f"Cannot specify MultiKueue AdmissionCheck per flavor, found: {several(per_flavor)}")
        if multikueue and provisioning:
            yield "MultiKueueWithProvisioningRequest", (
                "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: "
                f"{several(multikueue)}, {several(provisioning)}")
        if self._uses_tas():
            for flavor, topology in self.tas_flavors.items():
                if self._tas_cache_is_missing(flavor):
                    yield "TopologyNotFound", f'there is no Topology "{topology}" for TAS flavor "{flavor}"'

    # -- topologies -----------------------------------------------------------------------------

    def _uses_tas(self) -> bool:
        return bool(self.tas_flavors) and self._settings.info_options.features.TopologyAwareScheduling

    def _tas_cache_is_missing(self, flavor: str) -> bool:
        return self._settings.tas is None or self._settings.tas.get(flavor) is None

    def _is_tas_initialized(self) -> bool:
        return not any(self._tas_cache_is_missing(flavor) for flavor in self.tas_flavors)

    def _is_tas_violated(self) -> bool:
        """Whether a Topology is missing; with MultiKueue those of the workers count."""
        return self._uses_tas() and not self.problems.multikueue_admission_checks and not self._is_tas_initialized()

    def _ensure_tas_is_synced(self) -> None:
        """Count the Workloads again once all Topologies are there."""
        if not self._uses_tas() or not self._is_tas_initialized():
            self.is_tas_synced = False
        elif not self.is_tas_synced:
            for info in list(self.workloads.values()):
                self.add_or_update_workload(info.obj)
            self.is_tas_synced = True

    def is_waiting_for_tas(self) -> bool:
        """Whether its Workloads are not all counted in their domains."""
        return self._uses_tas() and not self.is_tas_synced

    # -- Workloads ------------------------------------------------------------------------------

    def add_or_update_workload(self, obj: ReadOnlyTree) -> None:
        """Count a Workload with quota, in place of what it was before. What it uses is most often
        the same.
        """
        info = Info(obj, self._settings.info_options)
        before = self.workloads.get(info.key)
        if before is not None and _is_counted_alike(before, info):
            self._forget(info.key)
        else:
            self.delete_workload(info.key)
            self._update_workload_usage(info, 1)
        self._own_workloads()[info.key] = info
        if self._settings.is_pods_ready_tracked and not states.is_true(obj, "PodsReady"):
            self.workloads_not_ready[info.key] = None

    def delete_workload(self, key: ObjectKey) -> None:
        """Count a Workload no longer."""
        info = self.workloads.get(key)
        if info is None:
            return
        self._update_workload_usage(info, -1)
        self._forget(key)

    def _forget(self, key: ObjectKey) -> None:
        self.workloads_not_ready.pop(key, None)
        # what is added makes no room, so it does not count
        self.allocatable_resource_generation += 1
        del self._own_workloads()[key]

    def _own_workloads(self) -> dict[ObjectKey, Info]:
        """The Workloads, to be changed: no snapshot has them."""
        self._touch()
        if self._are_workloads_shared:
            self.workloads, self._are_workloads_shared = dict(self.workloads), False
        return self.workloads

    def _update_workload_usage(self, info: Info, sign: int) -> None:
        usage, is_admitted = info.flavor_resource_usage(), states.is_admitted(info.obj)
        change = add_usage if sign > 0 else remove_usage
        for fr, amount in usage.items():
            change(self, fr, amount)
        self._update_workload_tas_usage(info, sign)
        if is_admitted:
            update_flavor_usage(self.admitted_usage, usage, sign)
            self.admitted_workloads_count += sign
        local_queue = self.local_queues.get(local_queue_of(info.obj))
        if local_queue is not None:
            local_queue.update_usage(usage, sign, is_admitted=is_admitted)

    def _update_workload_tas_usage(self, info: Info, sign: int) -> None:
        for flavor, usage in (info.tas_usage() or {}).items():
            cache = self._settings.tas.get(flavor) if self._settings.tas is not None else None
            if cache is None:
                continue
            if sign > 0:
                cache.add_usage(info.key, usage)
            else:
                cache.remove_usage(info.key)

    def add_local_queue(self, key: LocalQueueReference) -> None:
        """Count for a LocalQueue those Workloads that are there already."""
        local_queue = self.local_queues[key] = LocalQueue()
        for info in self.workloads.values():
            if local_queue_of(info.obj) == key:
                local_queue.update_usage(info.flavor_resource_usage(), 1, is_admitted=states.is_admitted(info.obj))

    # -- snapshots ------------------------------------------------------------------------------

    def frozen(self) -> ClusterQueueState:
        """The state as it is; what changes afterwards does not show in it."""
        if self._frozen is None or not self.resource_node.is_shared:
            parent, self._are_workloads_shared = self.parent(), True
            self._frozen = ClusterQueueState(
                self.name, parent.name if parent is not None else "", self.spec, self.status,
                self.allocatable_resource_generation, self.workloads, self.resource_node.shared(), self.problems,
                self.tas_flavors)
        return self._frozen


def _is_counted_alike(before: Info, now: Info) -> bool:
    """Whether two states of a Workload take the same, and count in the same places. What takes
    domains of a topology is counted anew: the topology may be another.
    """
    return (
        before.total_requests == now.total_requests and not now.is_using_tas()
        and states.is_admitted(before.obj) == states.is_admitted(now.obj)
        and local_queue_of(before.obj) == local_queue_of(now.obj))


def local_queue_of(workload: ReadOnlyTree) -> LocalQueueReference:
    """The LocalQueue that a Workload names."""
    return meta.namespace_of(workload), workload["spec"].get("queueName") or ""
