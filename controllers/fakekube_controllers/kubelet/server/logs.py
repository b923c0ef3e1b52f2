"""Following what a container logs: its lines are known beforehand, and each is told when its time has come.

Upstream: pkg/kubelet/kuberuntime/logs, which watches a file.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.containers.container import Container

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

Line = tuple[float, str]


class Follower:
    """Follows one run of a container: ``tell`` gets each line but the first ``skip``, ``ended`` is called once, at its end."""

    def __init__(
        self, clock: Clock, container: Container, skip: int, tell: Callable[[Line], None], ended: Callable[[], None],
    ) -> None:
        self._clock, self._container, self._tell, self._ended = clock, container, tell, ended
        self._lines, self._run = container.log, container.restart_count
        self._next = skip
        self._timer: Timer | None = None
        self._over = False

    def look(self) -> None:
        """Tell what is due; called whenever anything may have happened to the container."""
        if self._over:
            return
        container, lines = self._container, self._lines
        running = container.running and container.restart_count == self._run
        until = self._clock.time() if running or container.finished_at is None else container.finished_at
        while self._next < len(lines) and lines[self._next][0] <= until:
            self._next += 1
            self._tell(lines[self._next - 1])
        self._cancel()
        if not running:
            self.close()
        elif self._next < len(lines):
            self._timer = self._clock.call_at(lines[self._next][0], self.look)

    def close(self) -> None:
        """Nothing comes any more: the container has ended, or nobody knows."""
        if not self._over:
            self.stop()
            self._ended()

    def stop(self) -> None:
        """Tell nothing any more. Harmless when it is over."""
        self._over = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
