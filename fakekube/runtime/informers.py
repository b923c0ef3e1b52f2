"""One informer a resource, made when first asked for.

Upstream: client-go/informers' SharedInformerFactory.

A controller may start before the CustomResourceDefinition of what it is for; its cache then fills
as soon as that is there.
"""

from collections.abc import Iterator

from fakekube.apimachinery.presence import ResourcePresence
from fakekube.apimachinery.types import Tree
from fakekube.cache.informer import SharedInformer
from fakekube.cache.mutation import MutationDetector
from fakekube.client.client import Client
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks


class Informers:
    """The caches that all components of a manager share.

    ``detector`` proves that components change nothing of what they are only shown.
    ``consistent`` as for ``Reflector``.
    """

    def __init__(
        self, client: Client, *, clock: Clock, activity: Activity, rng: Rng, tasks: Tasks,
        detector: MutationDetector | None = None, watch_timeout_seconds: float | None = None,
        presence: ResourcePresence | None = None, consistent: bool = False,
    ) -> None:
        self._client, self._clock, self._activity, self._rng, self._tasks = client, clock, activity, rng, tasks
        self.presence = presence
        self.detector, self._watch_timeout_seconds, self._consistent = detector, watch_timeout_seconds, consistent
        self._informers: dict[tuple[Resource, str, str, str], SharedInformer] = {}
        self._started = self._definitions_watched = False

    def get(
        self, resource: Resource, namespace: str = "", label_selector: str = "", field_selector: str = "", *,
        whole: bool = True, since: int | None = None,
    ) -> SharedInformer:
        """The informer of a resource; started at once when the others are.

        ``whole`` False: what came with the cluster is not missed while nobody asks for the
        resource. ``since`` as for ``SharedInformer.start``.
        """
        key = (resource, namespace, label_selector, field_selector)
        informer = self._informers.get(key)
        if informer is None:
            informer = self._informers[key] = SharedInformer(
                self._client, resource, clock=self._clock, activity=self._activity, rng=self._rng, namespace=namespace,
                label_selector=label_selector, field_selector=field_selector, detector=self.detector,
                watch_timeout_seconds=self._watch_timeout_seconds, presence=self.presence,
                consistent=self._consistent,
            )
            if resource != CUSTOM_RESOURCE_DEFINITIONS:
                informer.reflector.on_missing = self._await_definition
            informer.whole = whole
            if self._started:
                informer.start(self._tasks, since)
        elif whole:
            informer.want_whole(self._tasks, since)
        return informer

    def _await_definition(self) -> None:
        """Watch definitions from now on: a new one may be what a cache waits for."""
        if not self._definitions_watched:
            self._definitions_watched = True
            self.get(CUSTOM_RESOURCE_DEFINITIONS).add_handler(self._poke, lambda _, new: self._poke(new))

    def _poke(self, definition: Tree) -> None:
        spec = definition.get("spec") or {}
        for informer in self._informers.values():
            resource = informer.resource
            if (resource.group, resource.plural) == (spec.get("group"), (spec.get("names") or {}).get("plural")):
                informer.reflector.poke()

    def start(self) -> None:
        """Start all, in the order in which they were asked for."""
        self._started = True
        for informer in list(self._informers.values()):
            informer.start(self._tasks)

    def close(self) -> None:
        """End those that wait for a first object; the others end with their tasks."""
        for informer in self._informers.values():
            informer.close()

    def explain(self) -> Iterator[str]:
        """Lines on what is amiss, for people."""
        for informer in self._informers.values():
            yield from informer.explain()
