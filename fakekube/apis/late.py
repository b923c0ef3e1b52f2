"""Names of what a kind does, for declarations: ``late.strategy("core.pod")`` is loaded when a Pod
is first written.

A name is that of a module below ``fakekube.apis`` and, after a colon, of a value in it. One that
does not exist, or is something else, is a TypeError or an ImportError at first use; the tests
resolve all of them.
"""

from importlib import import_module
from typing import TypeVar

from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Convert, Printer
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy

T = TypeVar("T")


def strategy(where: str) -> Lazy[Strategy]:
    """The strategy in a module: ``core.pod`` for its STRATEGY, ``scheduling.v1alpha2:WORKLOAD`` for
    another one.
    """
    where = where if ":" in where else f"{where}:STRATEGY"
    return Lazy(lambda: _checked(_load(where), Strategy, where))


def subresource(where: str) -> Lazy[Strategy]:
    """The strategy of a sub-resource: ``core.pod:resize`` is the entry ``resize`` of its
    SUBRESOURCES.
    """
    module, _, name = where.partition(":")
    return Lazy(lambda: _checked(_checked(_load(f"{module}:SUBRESOURCES"), dict, where)[name], Strategy, where))


def printer(where: str) -> Lazy[Printer]:
    """A printer: ``batch.printers:JOB``."""
    return Lazy(lambda: _checked(_load(where), Printer, where))


def columns(*fields: tuple[str, str]) -> Lazy[Printer]:
    """A printer whose cells are fields, between Name and Age: ``("Holder", "spec.holderIdentity")``
    each.

    A name may say more: ``Times:integer`` its type, ``Times:integer+`` that ``-o wide`` alone shows
    it.

    A printer that computes a cell stands in the group's ``printers.py``.
    """
    def load() -> Printer:
        from fakekube.apis.printing import AGE, NAME, column, table

        return table(NAME, *(column(*field) for field in fields), AGE)

    return Lazy(load)


def convert(where: str) -> Convert:
    """A conversion: ``autoscaling.conversion:to_v2``."""
    def converted(tree: Tree) -> Tree:
        function: Convert = _load(where)  # type: ignore[assignment]  # what it gives is checked by the tests of each
        return function(tree)

    return converted


def _load(where: str) -> object:
    module, _, name = where.partition(":")
    return getattr(import_module(f"fakekube.apis.{module}"), name)


def _checked(value: object, kind: type[T], where: str) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{where} is no {kind.__name__}")
    return value
