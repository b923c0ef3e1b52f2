"""Values that are loaded on first use.

Strategies and printers are most of the code of a server, and a cluster uses a few kinds of seventy.
So a declaration names the module of a strategy or a printer, and discovery and routing never import
it. Upstream has no counterpart: it links everything.
"""

from collections.abc import Callable
from typing import Generic, TypeVar, overload

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Lazy(Generic[T_co]):
    """A value yet to be loaded.

    ``load`` may be called more than once, and gives the same value each time.
    """

    __slots__ = ("load",)

    def __init__(self, load: Callable[[], T_co]) -> None:
        self.load = load


class LazyField(Generic[T]):
    """A field of a frozen dataclass (one without slots) that takes a value or a Lazy one, and
    always gives a value.
    """

    def __init__(self, default: T) -> None:
        self._default = default
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> T: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T:
        if instance is None:
            return self._default  # where dataclasses looks for a field's default
        value: T | Lazy[T] = instance.__dict__[self._name]
        if isinstance(value, Lazy):
            value = instance.__dict__[self._name] = value.load()
        return value

    def __set__(self, instance: object, value: "T | Lazy[T]") -> None:
        instance.__dict__[self._name] = value
