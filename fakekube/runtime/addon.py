"""What an operator brings to a cluster, in one declaration: kinds, objects, controllers, webhooks.

A ``Cluster`` runs it in its own process (``extra=[shop]``), and ``fakekube run shop`` against any
server. A package offers one by an entry point of the group ``fakekube.addons``. Upstream has
nothing of the kind: its counterpart is the folder of manifests and the image that a project ships.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.typed import TypedObject
from fakekube.runtime.builder import Declaration, controller
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from pathlib import Path

    from fakekube.apimachinery.http import Handler
    from fakekube.apimachinery.types import ReadOnlyTree, Tree
    from fakekube.runtime.component import Component
    from fakekube.runtime.why import Answer

Conversion = Callable[["Tree", str], "Tree"]
"""Makes of an object, which is its own to change, what it is in another ``apiVersion``."""
Explainer = Callable[[Context], Iterable[str]]
"""Says what is being waited for and why, from the caches of a context."""
WhyOfContext = Callable[[Context, "ReadOnlyTree"], "Answer | None"]
"""Answers why an object waits, from the caches of a context; None: there is nothing to say."""


FindComponent = Callable[[str], "Component | None"]
"""Finds a component that runs by its name; None where it does not, or has had nothing to do."""


class Webhook(NamedTuple):
    """A function that is asked about writes, as ``Cluster.webhook`` has it.

    It gets a ``fakekube.webhooks.AdmissionRequest``, and with ``has_client`` a client of the
    cluster besides, with ``has_find`` what finds a running component, for what that has in its
    caches. A validating one must not change the object. Webhooks that name the same
    ``configuration`` stand in one configuration object of that name.
    """

    function: Callable[..., Any]
    resources: tuple[str, ...]
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    mutating: bool = False
    name: str = ""
    fields: Mapping[str, Any] = MappingProxyType({})
    configuration: str = ""
    has_client: bool = False
    has_find: bool = False


class AggregatedAPI(NamedTuple):
    """A version of an API group that a Handler answers, as ``Cluster.aggregate`` has it.

    ``name`` is that of its APIService: ``v1.shop.example.com``. Where the answers depend on what
    runs, ``handler_of`` makes the Handler, once a cluster; it is given what finds a running
    component by its name.
    """

    name: str
    handler: "Handler | None" = None
    group_priority: int = 1000
    version_priority: int = 15
    handler_of: "Callable[[FindComponent], Handler] | None" = None

    def made_handler(self, find: "FindComponent") -> "Handler":
        """The Handler of one cluster."""
        if self.handler_of is not None:
            return self.handler_of(find)
        assert self.handler is not None, "an API has a Handler"
        return self.handler


class AddOn(NamedTuple):
    """``kinds`` are custom kinds as typed models; further versions of a kind follow the stored one.

    ``manifests`` are objects to be there before the controllers run: trees, YAML texts, or files
    and directories (their paths). Definitions among them are waited for, and those that
    ``conversions`` names (``webs.example.com``) have a conversion webhook, which is that function.
    ``explainers`` add lines to what ``Stalled`` and ``cluster.explain`` say; ``why`` are, by
    resource, what answers ``Cluster.why`` for its objects.
    """

    name: str
    kinds: tuple[type[TypedObject], ...] = ()
    manifests: "tuple[Tree | str | Path, ...]" = ()
    controllers: tuple[Declaration, ...] = ()
    webhooks: tuple[Webhook, ...] = ()
    apis: tuple[AggregatedAPI, ...] = ()
    conversions: Mapping[str, Conversion] = MappingProxyType({})
    explainers: tuple[Explainer, ...] = ()
    why: Mapping[GroupResource, WhyOfContext] = MappingProxyType({})

    @property
    def components(self) -> tuple[Declaration, ...]:
        """What a manager runs of it."""
        if not self.explainers and not self.why:
            return self.controllers
        explaining = controller(f"{self.name}-explainer").starts_with(is_needed=_always)
        return (*self.controllers, explaining.runs(partial(_Explaining, self.explainers, self.why)))


class _Explaining:
    """A component that does nothing but explain."""

    def __init__(self, explainers: tuple[Explainer, ...], why: Mapping[GroupResource, WhyOfContext]) -> None:
        self._explainers, self._why = explainers, why

    async def start(self, ctx: Context) -> None:
        """Be asked from now on."""
        ctx.explainers.append(partial(self._lines, ctx))
        ctx.why.update({resource: partial(function, ctx) for resource, function in self._why.items()})

    async def stop(self) -> None:
        """Nothing is left to stop."""

    def _lines(self, ctx: Context) -> Iterator[str]:
        for explainer in self._explainers:
            yield from explainer(ctx)


def _always(_: Context) -> bool:
    return True
