"""What a kind of job brings for Kueue to manage it: the abstract methods of ``GenericJob``.

Everything else has a default, and is there for kinds that are otherwise: jobs made of several
objects (groups of pods), jobs that are stopped in their own way, jobs that other clusters may run.
Upstream: pkg/controller/jobframework/interface.go, where each of these is an interface of its own,
and errors.go, stop_reason.go.

A kind of a user's own::

    class Web(GenericJob):
        resource = WEBS

        def is_suspended(self) -> bool:
            return bool(self.spec.get("suspend"))

        def suspend(self) -> None:
            self.spec["suspend"] = True

        async def pod_sets(self, client: Client | None) -> list[Tree]:
            template, count = self.spec["template"], self.spec["replicas"]
            return [{"name": "main", "count": count, "template": template}]

        def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
            podset.expect_podsets(infos, 1)
            self.spec["suspend"] = False
            podset.merge(self.spec["template"], infos[0], self.features)

        def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
            return bool(infos) and podset.restore_pod_spec(self.spec["template"], infos[0])

        def finished(self) -> Finished | None: ...
        def is_active(self) -> bool: ...
        def pods_ready(self) -> bool: ...

    WEB = Integration("example.com/web", WEBS, lambda: Web)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.podset import PodSetInfo

WORKLOAD_DELETED = "WorkloadDeleted"
WORKLOAD_EVICTED = "WorkloadEvicted"
NO_MATCHING_WORKLOAD = "NoMatchingWorkload"
NOT_ADMITTED = "NotAdmitted"
"""Why a job is stopped."""


class UnretryableError(Exception):
    """What went wrong will not go right by trying again: the next event decides."""


class Finished(NamedTuple):
    """A job is over; ``message`` is what its Workload says."""

    message: str
    success: bool


class Matching(NamedTuple):
    """The Workload that a job has, and those that it has besides, which are to go."""

    match: ReadOnlyTree | None
    to_delete: list[ReadOnlyTree]


class GenericJob(ABC):
    """One job, as a reconcile or a webhook sees it.

    ``obj`` comes from a cache in a reconcile, and is read-only but within ``patch``, which gives
    the job a copy of its own: the methods that change it are called there alone. In a
    webhook it is the job's own.
    """

    resource: ClassVar[Resource]
    own_manager: ClassVar[str] = ""
    """Who manages its kind where ``spec.managedBy`` names nobody; empty: it has no such field."""
    obj: Tree

    def __init__(self, features: Features, obj: Tree | None = None) -> None:
        self.features = features
        self.obj = {} if obj is None else obj

    @property
    def key(self) -> ObjectKey:
        """What is reconciled for it."""
        return meta.key_of(self.obj)

    # what every kind says

    @abstractmethod
    def is_suspended(self) -> bool:
        """Whether it waits."""

    @abstractmethod
    def suspend(self) -> None:
        """Let it wait."""

    @abstractmethod
    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """Let it run, with what its podsets get, in their order. PermanentError where it cannot."""

    @abstractmethod
    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """Give its podsets back what they had; whether that changed anything.

        False, and no change, where these are not its podsets.
        """

    @abstractmethod
    def finished(self) -> Finished | None:
        """How it ended; None while it has not."""

    @abstractmethod
    async def pod_sets(self, client: Client | None) -> list[Tree]:
        """The podsets of its Workload: trees with name, count and template, of which nothing below
        the top is to be changed in place.

        ``client`` is None in a webhook. ValueError where it has none that can be made.
        """

    @abstractmethod
    def is_active(self) -> bool:
        """Whether any pod of it runs."""

    @abstractmethod
    def pods_ready(self) -> bool:
        """Whether all its pods are ready, or have succeeded."""

    # what some kinds say besides

    def reclaimable_pods(self) -> list[Tree] | None:
        """How many pods of each podset will not run any more: ``{"name", "count"}``.

        None: its kind gives nothing back before it has finished.
        """
        return None

    def priority_class(self) -> str | None:
        """The PriorityClass that counts, perhaps empty; None: that of its templates."""
        return None

    def skip(self) -> bool:
        """Whether this object is to be left alone."""
        return False

    def is_top_level(self) -> bool:
        """Whether its Workload is its own, whoever owns it."""
        return False

    def is_on_hold(self) -> bool:
        """Whether it wants no quota for now."""
        return False

    def is_workload_active(self) -> bool | None:
        """What ``spec.active`` of its Workload is to be; None: what it is."""
        return None

    def custom_workload_conditions(self, _workload: ReadOnlyTree) -> list[Tree]:
        """Conditions of its Workload that are to be set because they are not so; without a time."""
        return []

    def can_default_managed_by(self) -> bool:
        """Whether another cluster may be made its manager."""
        return bool(self.own_manager) and self.features.MultiKueue and self.managed_by() in (None, self.own_manager)

    def managed_by(self) -> str | None:
        """Whoever manages it, by its own field; None: nobody is named."""
        manager: str | None = self.spec.get("managedBy") if self.own_manager else None
        return manager

    def set_managed_by(self, manager: str | None) -> None:
        """Name its manager, where its kind has a field for that."""
        if self.own_manager:
            self.spec["managedBy"] = manager

    def workload_name_extra(self) -> str:
        """What tells the names of an elastic job's slices apart."""
        return str(meta.generation_of(self.obj))

    def workload_annotations(self) -> dict[str, str]:
        """Annotations that its new Workloads have besides those of every job."""
        return {}

    def pod_sets_sources(self) -> tuple[object, ...] | None:
        """The parts of its object that ``pod_sets`` depends on, besides the gates; None where it
        depends on more.
        """
        return None

    async def custom_annotations(self, _client: Client, _pod_sets: Sequence[ReadOnlyTree]) -> dict[str, str]:
        """Annotations that an elastic job is to have."""
        return {}

    def validate_on_create(self) -> list[FieldError]:
        """Complaints of its kind alone about a new one."""
        return []

    def validate_on_update(self, _old: "GenericJob") -> list[FieldError]:
        """Complaints of its kind alone about a change."""
        return []

    def follows_queue_name(self) -> bool:
        """Whether its Workload, while it has no quota, waits in the queue that the job names."""
        return True

    # what some kinds do in their own way

    async def load(self, framework: Framework, key: ObjectKey) -> bool:
        """Read it from the caches; whether it is going or gone, and its Workloads are to be let go.
        """
        found = framework.jobs.get(*key)
        if found is None:
            self.obj = {"metadata": {"namespace": key.namespace, "name": key.name}}
            return True
        self.obj = found
        return meta.is_deleting(found)

    async def stop(
        self, framework: Framework, infos: list[PodSetInfo] | None, _reason: str, _message: str,
    ) -> list[Tree]:
        """Stop it, once and for all calls; the objects that this call has stopped.

        ``infos``: what its podsets had; None where nobody knows. The reason is one of
        ``WORKLOAD_DELETED`` and its like, of a composable job perhaps with why it was evicted.
        """
        if self.is_suspended():
            return []

        def change() -> None:
            self.suspend()
            if infos is not None:
                self.restore_podsets_info(infos)

        await self.patch(framework, change)
        return [self.obj]

    async def finalize(self, framework: Framework) -> None:  # noqa: B027 - most kinds have nothing to let go
        """Let its objects go, once it has finished."""

    async def patch(self, framework: Framework, change: Callable[[], object], *, subresource: str = "") -> None:
        """Give the job a copy of its object, change that by ``change``, and write what differs;
        nothing where ``change`` returns False.

        APIError; 409 where somebody else has written meanwhile. The object is as it was then.
        """
        old = self.obj

        def update(copied: Tree) -> bool:
            self.obj = copied
            return change() is not False

        written: Tree | None = None
        try:
            written = await framework.patch(self.key, self.resource, old, update, subresource=subresource)
        finally:
            self.obj = written or old

    @property
    def spec(self) -> Tree:
        """``spec`` of its object; empty where there is none."""
        return self.obj.get("spec") or {}

    @property
    def status(self) -> Tree:
        """``status`` of its object; empty where there is none."""
        return self.obj.get("status") or {}


class ComposableJob(GenericJob):
    """A job that is made of several objects: a group of pods. ``obj`` is one of them."""

    @abstractmethod
    def members(self) -> list[Tree]:
        """The objects that Events of it are about."""

    @abstractmethod
    async def run(self, framework: Framework, workload: ReadOnlyTree, infos: list[PodSetInfo], message: str) -> None:
        """Start all members, and say so of each. PermanentError where it cannot be."""

    @abstractmethod
    async def construct_workload(self, framework: Framework) -> Tree:
        """Its Workload, to be created, without priority. UnretryableError if there can be none."""

    @abstractmethod
    def list_child_workloads(self, framework: Framework, key: ObjectKey) -> Sequence[ReadOnlyTree]:
        """All its Workloads, finished ones too."""

    @abstractmethod
    async def find_matching_workloads(self, framework: Framework) -> Matching:
        """The Workload that says what it says, among those that it owns."""

    @abstractmethod
    async def equivalent_to_workload(self, framework: Framework, workload: ReadOnlyTree) -> bool:
        """Whether a Workload says what it says."""

    @abstractmethod
    async def ensure_workload_owned_by_all_members(self, framework: Framework, workload: ReadOnlyTree) -> ReadOnlyTree:
        """Own a Workload that was there before; the Workload as it is then."""
