"""How a controller is declared:
``controller("web").for_(WEBS).owns(PODS).complete(WebReconciler)``.

Upstream: controller-runtime/pkg/builder. The result holds no state: every manager that it is added
to runs one of its own. A reconciler that is given by its path, ``package.module:class``, is
imported when the first object of what the controller is for appears (``lazy.py`` says why): a
cluster without such objects does not pay for it.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from fakekube.apimachinery.http import UserInfo
from fakekube.client.resources import Resource
from fakekube.client.typed import TypedObject, resource_of
from fakekube.runtime import handlers
from fakekube.runtime.component import Component, Runnable
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Controller
from fakekube.runtime.handlers import Mapper
from fakekube.runtime.lazy import LazyController, Trigger
from fakekube.runtime.predicates import Predicate
from fakekube.runtime.reconcile import Reconciler
from fakekube.util.clock import Clock
from fakekube.workqueue.ratelimit import RateLimiter


class Source(NamedTuple):
    """Events of a resource, and the requests that they make."""

    resource: Resource
    mapper: Mapper
    predicate: Predicate | None = None


class Options(NamedTuple):
    """What ``Builder.with_options`` sets."""

    user_agent: str = ""
    user: UserInfo | None = None
    workers: int = 1
    queue: str = ""
    limiter: Callable[[Clock], RateLimiter[Any]] | None = None


class Declaration(NamedTuple):
    """A controller that can be run, any number of times.

    ``make`` makes the component that does the work. ``starts_with`` is None for one that starts at
    once.
    """

    name: str
    make: Callable[[], Component]
    options: Options
    starts_with: tuple[Trigger, ...] | None = None
    is_needed: Callable[[Context], bool] | None = None

    def runnable(self) -> Runnable:
        """A controller to be run by one manager."""
        triggers, is_needed = (self.starts_with, self.is_needed) if self.starts_with is not None else ((), _always)
        return LazyController(
            self.name, self.make, *triggers, user_agent=self.options.user_agent, user=self.options.user, is_needed=is_needed)


class Builder(NamedTuple):
    """A controller's declaration in the making; each step returns a new one.

    A resource may be given as the class of its models, as ``for_(Web).owns(Pod)``.
    """

    name: str
    primary: Source | None = None
    sources: tuple[Source, ...] = ()
    options: Options = Options()
    triggers: tuple[Trigger, ...] = ()
    is_needed: Callable[[Context], bool] | None = None

    def for_(self, resource: Resource | type[TypedObject], *, predicate: Predicate | None = None) -> "Builder":
        """Reconcile objects of this resource. Once, and before ``owns``."""
        assert self.primary is None, "a controller is for one resource"
        source = Source(resource_of(resource), handlers.to_self, predicate)
        return self._replace(primary=source, sources=(*self.sources, source))

    def owns(self, resource: Resource | type[TypedObject], *, predicate: Predicate | None = None) -> "Builder":
        """Reconcile the controller of every object of this resource that changes."""
        assert self.primary is not None, "say what it is for first"
        return self.watches(resource, handlers.to_owner(self.primary.resource), predicate=predicate)

    def watches(
        self, resource: Resource | type[TypedObject], mapper: Mapper, *, predicate: Predicate | None = None,
    ) -> "Builder":
        """Reconcile what ``mapper(obj)`` makes of every object of this resource that changes.

        A reconciler that needs its caches to tell, or that delays keys, adds handlers in its
        ``setup(queue)`` instead.
        """
        return self._replace(sources=(*self.sources, Source(resource_of(resource), mapper, predicate)))

    def starts_with(
        self, *triggers: Trigger | type[TypedObject], is_needed: Callable[[Context], bool] | None = None,
    ) -> "Builder":
        """Start with the first object of one of these, in place of the resource that the controller
        is for.

        Each is a resource, a resource and a function that tells which objects count, or
        ``lazy.OWNED``. Where ``is_needed(ctx)`` is true, which may ask the manager's context for
        gates and options, the controller starts at once.
        """
        named = tuple(resource_of(each) if isinstance(each, type) else each for each in triggers)
        return self._replace(triggers=named, is_needed=is_needed)

    def with_options(
        self, *, user_agent: str | None = None, user: UserInfo | None = None, workers: int | None = None,
        queue: str | None = None, limiter: Callable[[Clock], RateLimiter[Any]] | None = None,
    ) -> "Builder":
        """Who it is to the server, how many reconciles run at once, its queue's name in metrics,
        how failures back off.

        What is not given stays. By default one reconcile runs at a time, and user agent and queue
        have the controller's name.
        """
        given: dict[str, Any] = {
            "user_agent": user_agent, "user": user, "workers": workers, "queue": queue, "limiter": limiter}
        options = self.options._replace(**{name: value for name, value in given.items() if value is not None})
        return self._replace(options=options)

    def complete(self, reconciler: Callable[[Context], Reconciler] | str) -> Declaration:
        """The declaration.

        ``reconciler`` makes a reconciler from a context, once a run, or is the path of what does.
        """
        assert self.sources or self.triggers or self.is_needed, "a controller without sources never runs"
        return self._declare(partial(_reconciling, self.name, self.sources, self.options, reconciler), reconciler)

    def runs(self, component: Callable[[], Component] | str) -> Declaration:
        """The declaration of a component with a ``start`` and ``stop`` of its own; ``component``
        makes it, or is its path.
        """
        assert not self.sources, "a component registers its own handlers"
        return self._declare(partial(_component, component), component)

    def _declare(self, make: Callable[[], Component], factory: Callable[..., Any] | str) -> Declaration:
        triggers: tuple[Trigger, ...] | None = self.triggers
        if not triggers and self.is_needed is None:
            triggers = _first_of(self.primary) if isinstance(factory, str) else None
        return Declaration(self.name, make, self.options, triggers, self.is_needed)


def controller(name: str) -> Builder:
    """Begin to declare a controller; ``name`` is also its user agent, and so its field manager."""
    return Builder(name)


def _always(_: Context) -> bool:
    return True


def _first_of(primary: Source | None) -> tuple[Trigger, ...]:
    assert primary is not None, "say what it is for, or what it starts with"
    return (primary.resource if primary.predicate is None else (primary.resource, primary.predicate.create),)


def _reconciling(
    name: str, sources: tuple[Source, ...], options: Options, reconciler: Callable[[Context], Reconciler] | str,
) -> Controller:
    return Controller(name, _load(reconciler), sources, **options._asdict())


def _component(component: Callable[[], Component] | str) -> Component:
    made: Component = _load(component)()
    return made


def _load(given: Callable[..., Any] | str) -> Callable[..., Any]:
    """What is at a path."""
    if not isinstance(given, str):
        return given
    module, _, attribute = given.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found
