"""How a kind of job is declared, and which kinds Kueue knows, manages, or meets as owners.

A package offers kinds of its own by entry points of the group ``fakekube.kueue.integrations``.
Upstream: pkg/controller/jobframework/integrationmanager.go.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import Resource
from fakekube.runtime.addon import Webhook
from fakekube.runtime.builder import Declaration
from fakekube.util.entrypoints import entry_points
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import GenericJob

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

GROUP = "fakekube.kueue.integrations"
REPLICA_SET = ("apps/v1", "ReplicaSet")
"""Stands between a Pod and its Deployment, so that it is known without being named."""


class Options(NamedTuple):
    """What the controllers and webhooks of an integration are made for.

    ``kueue`` is there for controllers, where whole Kueue runs.
    """

    configuration: Configuration
    integrations: "Integrations"
    kueue: "Kueue | None" = None


class Integration(NamedTuple):
    """A kind of job.

    ``name`` is that of the framework in a configuration. ``job`` gives the class of its jobs, which
    is imported when the first of them appears; None where there is none. Without ``webhooks`` it
    has those of every job, and without ``controllers`` the one of every job, for which ``watch``
    adds handlers of more events. ``implies`` names integrations that are on where this one is.
    ``webhook`` is the kind's part of the names of its webhooks, as ``job`` in ``mjob.kb.io``; its
    own name in small letters where empty.
    """

    name: str
    resource: Resource
    job: Callable[[], type[GenericJob]] | None
    webhooks: Callable[[Options], Iterable[Webhook]] | None = None
    controllers: Callable[[Options], Iterable[Declaration]] | None = None
    watch: Callable[[Framework, WorkQueue[ObjectKey]], None] | None = None
    implies: tuple[str, ...] = ()
    webhook: str = ""

    def job_class(self) -> type[GenericJob]:
        """The class of its jobs."""
        assert self.job is not None, "who has no class has controllers and webhooks"
        return self.job()


class Integrations:
    """The kinds of jobs that there are, and which of them a configuration enables.

    External ones, ``Kind.version.group``, are managed by somebody else, and owners all the same.
    """

    def __init__(self, configuration: Configuration, known: Iterable[Integration]) -> None:
        self.known = {each.name: each for each in known}
        asked = dict.fromkeys(configuration.integrations.frameworks)
        implied = [name for each in asked if each in self.known for name in self.known[each].implies]
        self.enabled = [self.known[name] for name in dict.fromkeys([*asked, *implied]) if name in self.known]
        self._implied = frozenset(implied) - asked.keys()
        self.absent = [name for name in asked if name not in self.known]
        external = [parsed_kind(text) for text in configuration.integrations.external_frameworks]
        self._known_owners = {_owner_key(each.resource.gvk) for each in self.known.values()} | {
            REPLICA_SET, *map(_owner_key, external)}
        self._managed_owners = {_owner_key(gvk) for gvk in (*(each.resource.gvk for each in self.enabled), *external)}

    def is_known_owner(self, owner: ReadOnlyTree) -> bool:
        """Whether an owner reference names a kind whose own owners matter."""
        return (owner["apiVersion"], owner["kind"]) in self._known_owners

    def is_managed_owner(self, owner: ReadOnlyTree | None) -> bool:
        """Whether an owner reference names a kind that is managed, here or by somebody else."""
        return owner is not None and (owner["apiVersion"], owner["kind"]) in self._managed_owners

    def is_implied(self, name: str) -> bool:
        """Whether an integration is on for the sake of others alone."""
        return name in self._implied


@cache
def of_packages() -> tuple[Integration, ...]:
    """What installed packages offer; read once per process. TypeError for what is no
    Integration.
    """
    found = [point.load() for point in entry_points(GROUP)[GROUP]]
    for each in found:
        if not isinstance(each, Integration):
            raise TypeError(f"the entry points of {GROUP} are Integrations, not {each!r}")
    return tuple(found)


def _owner_key(gvk: GroupVersionKind) -> tuple[str, str]:
    """What references to owners of a kind say: ``apiVersion`` and ``kind``."""
    return gvk.api_version, gvk.kind


def parsed_kind(kind: str) -> GroupVersionKind:
    """The kind that a configuration names as ``Kind.version.group``."""
    name, _, rest = kind.partition(".")
    version, _, group = rest.partition(".")
    return GroupVersionKind(group, version, name)
