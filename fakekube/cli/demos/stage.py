"""What every demonstration has: a cluster, a table that follows it, somebody who tells, and who
waits when asked to.

Everything shown comes from watches and Events, as any client would see it; the story only says what
to look at. With pauses the cluster's clock stands while people read, so that nothing is missed.
``joining.py`` serves the cluster meanwhile.
"""

import asyncio
import functools
import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import import_module
from typing import Any, ClassVar

import click

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos import joining
from fakekube.cli.live import LiveTable
from fakekube.client.resources import EVENTS, PODS, Resource
from fakekube.composition.cluster import Cluster
from fakekube.composition.fleet import Fleet
from fakekube.runtime.demo import Demo, Row
from fakekube.util.entrypoints import EntryPoint, entry_points
from fakekube.util.tasks import Tasks

DEMOS = "fakekube.demos"
CONTINUE = "    [Enter]"
LIMIT = "1h"
"""What is waited for in a story comes within this time of the cluster."""


class Story(ABC):
    """One demonstration; a subclass says the rest.

    ``told`` are the Events worth a line, each with what it means. ``extra`` are
    add-ons that the cluster runs, ``feature_gates`` as ``serve --feature-gates``, ``options`` more
    of the cluster's, and ``seed`` is its seed. With ``members`` it is a fleet, whose first cluster
    is ``cluster``.
    """

    nodes = 2
    feature_gates = ""
    extra: tuple[Any, ...] = ()
    options: ClassVar[Mapping[str, Any]] = {}
    members: tuple[str, ...] = ()
    header: tuple[str, ...] = ("POD", "STATUS", "READY", "NODE")
    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "the controller makes a pod", "Scheduled": "the scheduler picks a node",
        "Started": "the kubelet starts the container", "SuccessfulDelete": "a pod is deleted",
    }

    def __init__(self) -> None:
        self.cluster: Cluster
        self.fleet: Fleet
        self.table: LiveTable
        self.pauses = self.shows_manifests = False
        self.seed = 0
        self._look: Callable[[], bool] | None = None

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree | None:
        """How a container fares, in the words of the annotations; None leaves it to those of the
        pod.
        """
        return None

    def metric(self, query: Any) -> Any:
        """What an adapter of metrics measures, as ``Cluster(on_metric=...)`` has it; None where
        there is none.
        """
        return None

    def follows(self) -> Mapping[Resource, Row]:
        """What the table shows, and how."""
        return {PODS: pod_row}

    @abstractmethod
    async def tell(self) -> None:
        """The story, from its beginning to its end."""

    # what stories are told with

    async def say(self, text: str) -> None:
        """A sentence; then, with pauses, time stands until somebody presses Enter."""
        self.table.say(text)
        if self.pauses:
            self.cluster.clock.pause()
            self.pauses = await _wait_for_enter()
            self.table.skip_line()
            self.cluster.clock.resume()

    async def create(self, manifests: str) -> None:
        """Create what a YAML text holds, and show it when that is wanted."""
        if self.shows_manifests:
            self.table.quote(manifests)
        await self.cluster.load(manifests)

    async def until(self, predicate: Callable[[], Any]) -> Any:
        """Let time run until the table showed something, be it for a moment: it is looked for after
        each change, which may come faster than the clock asks. Returns what was found.
        """
        found: Any = None

        @functools.wraps(predicate)
        def was_so() -> bool:
            nonlocal found
            found = found or predicate()
            return bool(found)

        self._look = was_so
        try:
            await self.cluster.run_until(was_so, within=LIMIT)
        finally:
            self._look = None
        return found

    def look(self) -> None:
        """The table has changed: is what is waited for so?"""
        if self._look is not None:
            self._look()

    async def until_answer(self, predicate: Callable[[], Awaitable[bool]]) -> None:
        """Let time run until the server answers that something is so, and stays so."""
        await self.cluster.run_until(predicate, within=LIMIT)

    async def until_condition(self, resource: Resource, name: str, condition: str) -> None:
        """Let time run until an object of ``default`` has a condition."""
        async def holds() -> bool:
            return meta.is_condition_true(await self.cluster.client.get(resource, name, "default"), condition)

        await self.until_answer(holds)

    async def pass_seconds(self, seconds: float) -> None:
        """Let so much time run."""
        passed, clock = asyncio.Event(), self.cluster.clock
        clock.call_at(clock.time() + seconds, passed.set)
        await self.until(passed.is_set)

    def rows(self, **cells: str) -> list[tuple[str, ...]]:
        """The rows whose cells are these, by the column's name in lower case:
        ``rows(status="Running")``.
        """
        places = {name.lower(): place for place, name in enumerate(self.table.header)}
        return [row for row in self.table.rows.values() if all(row[places[name]] == text for name, text in cells.items())]


def pod_row(pod: Tree) -> tuple[str, ...]:
    """Name, what kubectl calls its status, more or less, whether it is ready, and its node."""
    status = pod.get("status") or {}
    shown = "Terminating" if meta.is_deleting(pod) else status.get("reason") or status.get("phase", "Pending")
    ready = "yes" if meta.is_condition_true(pod, "Ready") else "no"
    return meta.name_of(pod), shown, ready, pod["spec"].get("nodeName", "")


async def _wait_for_enter() -> bool:
    """Whether there is still somebody to wait for.

    Nothing blocks meanwhile, so that Ctrl-C ends it at once.
    """
    click.echo(CONTINUE, nl=False)
    loop = asyncio.get_running_loop()
    pressed = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), pressed.set)
    except (OSError, ValueError, NotImplementedError):  # a file, or nothing at all
        return False
    try:
        await pressed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline() != ""


def run(
    name: str, speed: float, *, pauses: bool, manifests: bool = False, join: bool = False, kubeconfig: str | None = None,
    seed: int = 0,
) -> None:
    """Show a story, ``speed`` times as fast as the wall, with the YAML of what it creates if
    ``manifests`` says so, and serve its cluster until Ctrl-C with ``join``. ``seed`` is the
    cluster's.

    Raises ClickException for a speed that is none, and for a kubeconfig that cannot be written.
    """
    if not speed > 0:
        raise click.ClickException("the speed must be above 0")
    if kubeconfig is not None and not join:
        raise click.ClickException("--kubeconfig is for --join")
    story = story_of(name)
    story.pauses, story.shows_manifests, story.seed = pauses, manifests, seed
    with _quiet_log():
        if join:
            with suppress(asyncio.CancelledError):
                asyncio.run(_play_joined(story, speed, kubeconfig))
        else:
            asyncio.run(play(story, speed))


@contextmanager
def _quiet_log() -> Iterator[None]:
    """Errors alone are logged meanwhile: a line of a log would tear the table."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


@functools.cache
def installed() -> Mapping[str, EntryPoint]:
    """The demonstrations of installed packages, by name."""
    return {point.name: point for point in entry_points(DEMOS)[DEMOS]}


def declared(demo: Demo) -> Story:
    """The demonstration that a package declares."""
    class Declared(Story):
        nodes, extra, header, members = demo.nodes, demo.addons, demo.header, demo.fleet
        options: ClassVar[Mapping[str, Any]] = demo.options
        told: ClassVar[Mapping[str, str]] = demo.told

        def outcome(self, pod: Tree, attempt: int, container: str) -> Tree | None:
            return demo.outcome(pod, attempt, container) if demo.outcome is not None else None

        def follows(self) -> Mapping[Resource, Row]:
            return demo.follows or super().follows()

        async def tell(self) -> None:
            await demo.tell(self)

    return Declared()


def story_of(name: str) -> Story:
    """The demonstration of that name, as on the command line."""
    if name in installed():
        return declared(installed()[name].load()())
    story: Story = import_module(f"fakekube.cli.demos.{name.replace('-', '_')}").Demo()
    return story


async def play(story: Story, clock: str | float) -> None:
    """Tell a story to its end, on a cluster with that clock (see ``ClusterOptions``)."""
    async with _staged(story, clock):
        await _tell(story)


async def _play_joined(story: Story, speed: float, kubeconfig: str | None) -> None:
    """Tell a story on a cluster that others reach, and keep it until it is cancelled."""
    with joining.ended_by_signals():
        async with _staged(story, speed) as cluster, joining.served(cluster, kubeconfig) as line:
            story.table.say("The cluster is open to kubectl in another terminal, once this line was pasted there:")
            story.table.paste(line)
            await _tell(story)
            story.table.say(
                f"The story is over, the cluster stays until Ctrl-C; its time goes {speed:g} times as fast as the wall's.")
            story.table.paste(line)
            await asyncio.Event().wait()


@asynccontextmanager
async def _staged(story: Story, clock: str | float) -> AsyncIterator[Cluster | Fleet]:
    given = {
        "nodes": story.nodes, "clock": clock, "feature_gates": story.feature_gates, "outcome": story.outcome,
        "on_metric": story.metric, "extra": story.extra, "seed": story.seed, **story.options}
    async with Fleet(*story.members, **given) if story.members else Cluster(**given) as made:
        if isinstance(made, Cluster):
            story.cluster = made
        else:
            story.cluster, story.fleet = made.first, made
        async with _show(story):
            yield made


async def _tell(story: Story) -> None:
    await story.tell()
    await story.cluster.settle()
    story.table.end()


@asynccontextmanager
async def _show(story: Story) -> AsyncIterator[None]:
    """The table follows its watches, and Events worth telling become lines."""
    cluster = story.cluster
    story.table = LiveTable(story.header, lambda: f"{cluster.clock.now():%H:%M:%S}")
    telling = asyncio.current_task()

    def give_up(_: BaseException) -> None:
        assert telling is not None
        if len(tasks.failures) == 1:  # a second one must not cancel what is ending
            telling.cancel()  # nobody reads any more, say

    tasks = Tasks(give_up)
    clusters: Mapping[str, Cluster] = story.fleet if story.members else {"": cluster}
    for member, each in clusters.items():
        for resource, row in story.follows().items():
            tasks.spawn(_follow(story, each, member, resource, row), f"demo {resource} {member}")
        tasks.spawn(_follow_events(story, each), f"demo events {member}")
    try:
        yield
    except asyncio.CancelledError:
        if tasks.failures:
            raise tasks.failures[0] from None
        raise
    finally:
        await tasks.close()


async def _follow(story: Story, cluster: Cluster, member: str, resource: Resource, row: Row) -> None:
    whose = (member,) if member else ()
    async for event in await cluster.client.watch(resource):
        key = f"{member}/{resource.plural}/{meta.name_of(event.object)}"
        if event.type == "DELETED":
            story.table.drop(key)
        elif event.type in ("ADDED", "MODIFIED"):
            story.table.put(key, (*row(event.object), *whose))
        story.look()


async def _follow_events(story: Story, cluster: Cluster) -> None:
    async for event in await cluster.client.watch(EVENTS):
        reason = str(event.object.get("reason"))
        # one that comes again is the same Event, counted
        if event.type in ("ADDED", "MODIFIED") and reason in story.told:
            story.table.note(f"{story.told[reason]}: {event.object.get('message', '')}".rstrip(": "))
