"""A demonstration that comes with a package: what ``fakekube demo NAME`` shows of it.

A package offers one by an entry point of the group ``fakekube.demos``, whose name is the command's.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource

Row = Callable[[Tree], tuple[str, ...]]
"""The cells of a table for an object."""


class Demo(NamedTuple):
    """``tell`` tells the story; it gets the stage: ``say``, ``create``, ``until``, ``rows``,
    ``cluster``. ``about`` is one line of help.

    The cluster runs ``addons`` and has so many ``nodes``. The table has a ``header``, and
    ``follows`` says which objects it shows, and how. ``told`` are the reasons of Events worth a
    line, each with what it means. ``outcome(pod, attempt, container)`` says how containers fare.
    ``speed`` is how many times as fast as the wall's time goes. ``options`` are more of the
    cluster's. With names in ``fleet`` there are several clusters with one clock: the first is
    ``cluster``, ``fleet`` has all, and the last column of the table says whose an object is.
    """

    tell: Callable[[Any], Awaitable[None]]
    about: str
    addons: tuple[Any, ...] = ()
    header: tuple[str, ...] = ("POD", "STATUS", "READY", "NODE")
    follows: Mapping[Resource, Row] = MappingProxyType({})
    told: Mapping[str, str] = MappingProxyType({})
    outcome: Callable[[Tree, int, str], Tree | None] | None = None
    nodes: int = 2
    speed: float = 10.0
    options: Mapping[str, Any] = MappingProxyType({})
    fleet: tuple[str, ...] = ()
