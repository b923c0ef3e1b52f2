"""What has a clock that a test moves: a cluster, and a fleet of several with one clock."""

from collections.abc import Awaitable, Callable

from fakekube.util.driver import Driver
from fakekube.util.durations import Duration

Predicate = Callable[[], "bool | Awaitable[bool]"]


class Timed:
    """Moves its time by ``driver``."""

    driver: Driver

    async def settle(self, *, grace: Duration | None = None) -> None:
        """Return once nothing is left to do at the present time.

        Clients outside are quiet by then; ``grace`` says for how long, in place of the option.
        """
        await self.driver.settle(grace=grace)

    async def advance(self, duration: Duration, *, grace: Duration | None = None) -> None:
        """Let time pass, one timer at a time: ``"1h30m"``, seconds or a timedelta.

        Before each, clients outside are quiet for ``grace``, in real time.
        """
        await self.driver.advance(duration, grace=grace)

    async def run_until(
        self, predicate: Predicate, *, within: Duration | None = None, grace: Duration | None = None,
    ) -> None:
        """Let time pass until ``predicate()`` (plain or async) is true.

        Before time moves, clients outside are quiet for ``grace``, in real time.
        Raises Stalled, which says what is pending, when it is false and nothing is left that could
        make it true; with ``within`` also when so much time has passed.
        """
        await self.driver.run_until(predicate, within=within, grace=grace)
