"""Selectors of devices, compiled and remembered.

The only module of controllers that reads CEL: a selector means the same to the scheduler as to the
server, which has checked it. Upstream: selectorsMatch of the allocator, cel/cache.go.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cel import devices, errors
from fakekube.cel.environment import Program
from fakekube.util.memory import Memo
from fakekube.util.turns import UNITS, TakesLong, Turn, in_turns
from fakekube_controllers.scheduler.devices.model import AllocationError, TakesTooLong

KEPT = 100_000  # answers
COMPILED = 256
MAX_UNITS = 100 * UNITS
"""Of all selectors in one cycle; what was found out by then is kept for the next."""
HINT = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"

Key = tuple[str, str, str, str]


class Selectors:
    """The selectors of one scheduler.

    What each says of a device is kept as long as its slice does not change. ``spawn`` runs beside
    the cycles what takes longer than a turn: it is known when the pod is tried again.
    """

    def __init__(
        self, minor: int, *, multiple_allocations: bool, list_attributes: bool,
        spawn: Callable[[Coroutine[Any, Any, object], str], None],
    ) -> None:
        self._environment = devices.environment(
            minor, stored=True, multiple_allocations=multiple_allocations, list_attributes=list_attributes)
        self._spawn = spawn
        self._programs: Memo[str, Program] = Memo(COMPILED)
        self._answers: Memo[Key, bool | str] = Memo(KEPT)
        self._slow: dict[Key, bool | str | None] = {}  # None: it is being found out
        self._units = MAX_UNITS

    def begin(self) -> None:
        """A cycle begins."""
        self._units = MAX_UNITS

    def match(self, where: str, selectors: Any, of: ReadOnlyTree, device: ReadOnlyTree, device_text: str) -> bool:
        """Whether all selectors take a device of a slice; ``where`` names who has them.

        Raises AllocationError for one that cannot be asked, TakesTooLong for one that is not done.
        """
        for number, selector in enumerate(selectors or ()):
            text = selector["cel"]["expression"]
            try:
                answer = self._answer(text, of, device)
            except devices.SelectorError as error:
                raise AllocationError(f"{where}: selector #{number}: CEL compile error: {error}") from None
            if isinstance(answer, str):
                raise AllocationError(f"{where}: selector #{number} on device {device_text}: CEL runtime error: {answer}")
            if not answer:
                return False
        return True

    def _program(self, text: str) -> Program:
        program = self._programs.get(text)
        if program is None:
            program = devices.compiled(text, self._environment)
            self._programs.put(text, program)
        return program

    def _answer(self, text: str, of: ReadOnlyTree, device: ReadOnlyTree) -> bool | str:
        """What a selector says of a device, or what went wrong."""
        key = text, meta.uid_of(of), meta.resource_version_of(of), device["name"]
        known = self._answers.get(key)
        if known is not None:
            return known
        if key in self._slow:
            found = self._slow[key]
            if found is None:
                raise TakesTooLong
            del self._slow[key]
        else:
            program, driver = self._program(text), of["spec"]["driver"]
            if self._units < 0:
                raise TakesTooLong
            turn = Turn()
            try:
                found = _evaluated(program, device, driver, turn)
                self._units -= UNITS - turn.left
            except TakesLong:
                if len(self._slow) >= KEPT:
                    self._slow.clear()
                self._slow[key] = None
                self._spawn(self._find_out(key, program, device, driver), "selecting devices")
                raise TakesTooLong from None
        self._answers.put(key, found)
        return found

    async def _find_out(self, key: Key, program: Program, device: ReadOnlyTree, driver: str) -> None:
        self._slow[key] = await in_turns(lambda turn: _evaluated(program, device, driver, turn))


def _evaluated(program: Program, device: ReadOnlyTree, driver: str, turn: Turn) -> bool | str:
    tree: Tree = dict(device)
    try:
        return devices.matches(program, tree, driver, turn)
    except errors.CelError as error:
        text = str(error)
        return text + HINT if "no such key:" in text else text
