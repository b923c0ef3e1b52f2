"""The logs of containers: what they have logged until now, and lines as they come.

A container's lines are known when it starts; each is served when its time has come. Upstream:
pkg/kubelet/kuberuntime/logs, which reads and watches a file.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.cache.lister import Lister
from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.pods.runs import PodRuns

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

Line = tuple[float, str]
"""When it was logged (Unix seconds), and the text."""


class ContainerLogs:
    """The logs of all containers, and who follows them."""

    def __init__(self, clock: Clock, pods: Lister, runs: PodRuns) -> None:
        self._clock, self._pods, self._runs = clock, pods, runs
        self._followers: dict[str, dict[LogFollower, None]] = {}  # by the pod's uid

    def lines(self, namespace: str, name: str, container: str, *, previous: bool = False) -> list[Line] | None:
        """The lines that a container has logged until now; None when there is no such container, or
        it never ran.

        ``previous``: those of its last run before this one.
        """
        pod = self._pods.get(namespace, name)
        run = self._runs.find(pod) if pod is not None else None
        found = run.container(container) if run is not None else None
        if found is None or (found.started_at is None and not previous):
            return None
        if previous:
            return found.previous_log if found.restart_count else None
        end = found.finished_at if found.finished_at is not None else self._clock.time()
        return [(at, line) for at, line in found.log if at <= end]

    def follow(
        self, pod: ReadOnlyTree, container: str, skip: int, on_line: Callable[[Line], None], on_end: Callable[[], None],
    ) -> Callable[[], None]:
        """Call ``on_line`` for each line but the first ``skip``, now and as they come, and
        ``on_end`` once the container ends.

        A container that is not known has ended. Call what is returned to follow no more.
        """
        run = self._runs.find_for_change(pod)
        found = run.container(container) if run is not None else None
        if found is None:
            on_end()
            return lambda: None
        return self.follow_container(meta.uid_of(pod), found, skip, on_line, on_end)

    def follow_container(
        self, uid: str, container: Container, skip: int, on_line: Callable[[Line], None], on_end: Callable[[], None],
    ) -> Callable[[], None]:
        """The same for a container of the pod with this uid."""
        followers = self._followers.setdefault(uid, {})

        def end() -> None:
            followers.pop(follower, None)
            on_end()

        follower = LogFollower(self._clock, container, skip, on_line, end)
        followers[follower] = None
        follower.update()

        def stop() -> None:
            follower.stop()
            followers.pop(follower, None)

        return stop

    def pod_synced(self, uid: str) -> None:
        """Something may have happened to a pod."""
        if uid in self._followers:
            for follower in list(self._followers[uid]):
                follower.update()

    def pod_gone(self, uid: str) -> None:
        """A pod was deleted: following it ends."""
        for follower in list(self._followers.pop(uid, ())):
            follower.close()

    def close(self) -> None:
        """End everything that is followed."""
        for uid in list(self._followers):
            self.pod_gone(uid)


class LogFollower:
    """Follows one run of a container; see ``ContainerLogs.follow``."""

    def __init__(
        self, clock: Clock, container: Container, skip: int, on_line: Callable[[Line], None], on_end: Callable[[], None],
    ) -> None:
        self._clock, self._container, self._on_line, self._on_end = clock, container, on_line, on_end
        self._lines, self._run = container.log, container.restart_count
        self._next = skip
        self._timer: Timer | None = None
        self._over = False

    def update(self) -> None:
        """Serve the lines that are due; called whenever anything may have happened to the
        container.
        """
        if self._over:
            return
        container, lines = self._container, self._lines
        running = container.running and container.restart_count == self._run
        until = self._clock.time() if running or container.finished_at is None else container.finished_at
        while self._next < len(lines) and lines[self._next][0] <= until:
            self._next += 1
            self._on_line(lines[self._next - 1])
        self._cancel()
        if not running:
            self.close()
        elif self._next < len(lines):
            self._timer = self._clock.call_at(lines[self._next][0], self.update)

    def close(self) -> None:
        """Nothing comes any more: the container has ended, or its pod is gone."""
        if not self._over:
            self.stop()
            self._on_end()

    def stop(self) -> None:
        """Serve nothing any more. Harmless when it is over."""
        self._over = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
