"""How a controller is declared: ``controller("web").for_(WEBS).owns(PODS).complete(WebReconciler)``.

Upstream: controller-runtime/pkg/builder. The result holds no state: every manager that it is added to runs one of its
own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from fakekube.apimachinery.http import UserInfo
from fakekube.client.resources import Resource
from fakekube.client.typed import TypedObject, resource_of
from fakekube.runtime import handlers
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Controller
from fakekube.runtime.handlers import Mapper
from fakekube.runtime.predicates import Predicate
from fakekube.runtime.reconcile import Reconciler
from fakekube.util.clock import Clock
from fakekube.workqueue.ratelimit import RateLimiter


class Source(NamedTuple):
    """Events of a resource, and the requests that they make."""

    resource: Resource
    mapper: Mapper
    predicate: Predicate | None = None


class Declaration(NamedTuple):
    """A controller that can be run, any number of times."""

    name: str
    sources: tuple[Source, ...]
    factory: Callable[[Context], Reconciler]
    workers: int = 1
    user_agent: str = ""
    user: UserInfo | None = None
    limiter: Callable[[Clock], RateLimiter[Any]] | None = None

    def runnable(self) -> Controller:
        """A controller to be run once."""
        return Controller(
            self.name, self.factory, [(source.resource, source.mapper, source.predicate) for source in self.sources],
            workers=self.workers, limiter=self.limiter, user_agent=self.user_agent, user=self.user,
        )


class Builder(NamedTuple):
    """A controller's declaration in the making; each step returns a new one.

    A resource may be given as the class of its models, as ``for_(Web).owns(Pod)``.
    """

    name: str
    primary: Resource | None = None
    sources: tuple[Source, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()

    def for_(self, resource: Resource | type[TypedObject], *, predicate: Predicate | None = None) -> "Builder":
        """Reconcile objects of this resource. Once, and before ``owns``."""
        assert self.primary is None, "a controller is for one resource"
        primary = resource_of(resource)
        return self._replace(primary=primary, sources=(*self.sources, Source(primary, handlers.to_self, predicate)))

    def owns(self, resource: Resource | type[TypedObject], *, predicate: Predicate | None = None) -> "Builder":
        """Reconcile the controller of every object of this resource that changes."""
        assert self.primary is not None, "say what it is for first"
        return self.watches(resource, handlers.to_owner(self.primary), predicate=predicate)

    def watches(
        self, resource: Resource | type[TypedObject], mapper: Mapper, *, predicate: Predicate | None = None,
    ) -> "Builder":
        """Reconcile what ``mapper(obj)`` makes of every object of this resource that changes."""
        return self._replace(sources=(*self.sources, Source(resource_of(resource), mapper, predicate)))

    def with_options(
        self, *, workers: int = 1, user_agent: str = "", user: UserInfo | None = None,
        limiter: Callable[[Clock], RateLimiter[Any]] | None = None,
    ) -> "Builder":
        """How many reconciles at once, who it is to the server, and how failures back off."""
        settings = (("workers", workers), ("user_agent", user_agent), ("user", user), ("limiter", limiter))
        return self._replace(settings=settings)

    def complete(self, factory: Callable[[Context], Reconciler]) -> Declaration:
        """The declaration. ``factory`` makes a reconciler from a context, once a run."""
        assert self.sources, "a controller without sources never runs"
        return Declaration(name=self.name, sources=self.sources, factory=factory, **dict(self.settings))


def controller(name: str) -> Builder:
    """Begin to declare a controller; ``name`` is also its user agent, and so its field manager."""
    return Builder(name)
