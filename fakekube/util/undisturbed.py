"""What is asked beside the experiment: predicates that look how far it is, and manifests that it
begins with. Nothing goes wrong with it on purpose.
"""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

UNDISTURBED: ContextVar[bool] = ContextVar("undisturbed", default=False)


@contextmanager
def undisturbed() -> Iterator[None]:
    """A block whose requests meet no faults, where they are made in this process."""
    token = UNDISTURBED.set(True)
    try:
        yield
    finally:
        UNDISTURBED.reset(token)


async def beside(work: Awaitable[T]) -> T:
    """The same for something that is awaited: what it returns."""
    with undisturbed():
        return await work
