"""Declared controllers as the parts of one component, which gives them what they share.

Upstream has one process and one manager for each project; here a manager runs many projects, and a
project whose controllers share state (caches, queues) is one component of it.
"""

from functools import partial
from typing import TYPE_CHECKING

from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.lazy import LazyController, LazyStarter

if TYPE_CHECKING:
    from fakekube.runtime.component import Runnable


class Parts:
    """The parts of one component that has started with ``ctx``, in the order of their start."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._running: list[Runnable] = []
        self._contexts: dict[str, Context] = {}
        self._starter = LazyStarter(ctx.presence) if ctx.presence is not None else None

    async def start(self, declaration: Declaration) -> None:
        """Start a controller, or let it wait for what it starts with.

        ValueError when there is one of that name.
        """
        part = declaration.runnable()
        if any(part.name == each.name for each in self._running):
            raise ValueError(f"there is a controller {part.name!r} already")
        self._running.append(part)
        context = partial(self._context_of, part.name)
        if self._starter is None or not isinstance(part, LazyController) or part.is_needed(self._ctx):
            await part.start(context())
        else:
            part.wait(context)
            self._starter.add(part)

    async def stop(self) -> None:
        """Stop all of them, the last first; their contexts go with the component's."""
        if self._starter is not None:
            self._starter.close()
        while self._running:
            await self._running.pop().stop()
        self._contexts.clear()

    def _context_of(self, name: str) -> Context:
        if name not in self._contexts:
            self._contexts[name] = self._ctx.child(name)
        return self._contexts[name]
