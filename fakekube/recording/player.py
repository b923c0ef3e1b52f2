"""Asks a cluster what a recording asked, in the same order, and compares the answers.

What the recorded test saw after its cluster had come to rest takes a real cluster some time: a look
that shows something else is repeated for a while, and so is a write that is refused where it was
taken. A write that lost a race against a controller is made again on the newer version. All that
was made is deleted at the end, whatever the end is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from fakekube.apimachinery import yaml
from fakekube.apimachinery.http import Frame, Request, Response, Stream, UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.client.transport import Transport, TransportError
from fakekube.recording import comparison, lines
from fakekube.recording.comparison import Answer, Difference
from fakekube.recording.exchanges import Exchange
from fakekube.recording.plan import DEFINITIONS, NAMESPACES, NOT_OURS, REVIEW_GROUPS, Conversation, Step
from fakekube.recording.translation import Translation
from fakekube.util.clock import Clock

PREFIX = "fakekube-verify-"
SENT_HEADERS = ("accept", "content-type", "user-agent", "if-none-match")
PATIENCE_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)
GONE_SECONDS = 60.0
ADMINISTRATORS = "system:masters"
BACKGROUND = b'{"propagationPolicy":"Background"}'
JSON = {"content-type": "application/json", "accept": "application/json", "user-agent": "fakekube"}


@dataclass
class Outcome:
    """What became of a step that was played; ``seconds`` is how long it was waited for."""

    step: Step
    differences: list[Difference] = field(default_factory=list)
    failure: str = ""


@dataclass
class Played:
    """What became of a conversation."""

    conversation: Conversation
    outcomes: list[Outcome] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # what could not be removed
    failure: str = ""  # why it was not played to its end


class _Watched:
    """The events of a watch, as they come; a Sink."""

    def __init__(self, outcome: Outcome, stream: Stream) -> None:
        self.outcome, self.stream = outcome, stream
        self.events: list[Json] = []

    def send(self, frame: Frame) -> None:
        """Take an event."""
        try:
            self.events.append(orjson.loads(frame.data))
        except orjson.JSONDecodeError:
            self.events.append(frame.data.decode(errors="replace"))

    def end(self) -> None:
        """Nothing follows; what came is compared later."""


class Player:
    """Plays conversations on the cluster behind a transport.

    ``suffix`` gives the random part of names. ``wait_seconds`` is how long an answer may take to
    become the recorded one; ``tell`` is told of each step that was played.
    """

    def __init__(
        self, transport: Transport, clock: Clock, suffix: Callable[[], str], *, wait_seconds: float = 10.0,
        tell: Callable[[Outcome], None] = lambda _: None,
    ) -> None:
        self._transport, self._clock, self._suffix = transport, clock, suffix
        self._wait_seconds, self._tell = wait_seconds, tell

    async def play(self, conversation: Conversation) -> Played:
        """Play one conversation, and remove what it has made. Raises nothing but cancellation."""
        play = _Play(self, conversation, f"{PREFIX}{self._suffix()}-")
        try:
            await play.run()
        except TransportError as error:
            play.played.failure = str(error)
        finally:
            play.played.left = await play.remove_all()
        return play.played

    async def ask(
        self, method: str, path: str, *, query: Any = None, body: bytes = b"", headers: Any = JSON, user: UserInfo | None = None,
    ) -> Response:
        """One request, as another user if one is named. Raises TransportError."""
        return await self._transport.request(Request(method, path, query or {}, headers, body, user))

    async def until(self, is_over: Callable[[], Awaitable[bool]], seconds: float) -> bool:
        """Ask again and again, for so long; whether it became true."""
        end, turn = self._clock.time() + seconds, 0
        while not await is_over():
            pause = PATIENCE_SECONDS[min(turn, len(PATIENCE_SECONDS) - 1)]
            if self._clock.time() + pause > end:
                return False
            await self._clock.sleep(pause)
            turn += 1
        return True


class _Play:
    """One conversation while it is played."""

    def __init__(self, player: Player, conversation: Conversation, prefix: str) -> None:
        self._player, self.played = player, Played(conversation)
        self._conversation = conversation
        self._translation = Translation(prefix, conversation.namespaces, conversation.clusterwide)
        self._namespaces: dict[str, None] = {}  # there
        self._objects: dict[str, None] = {}  # their paths, of those without a namespace
        self._watches: list[_Watched] = []
        self._hopeless: dict[str, None] = {}  # paths whose state does not become the recorded one
        self._foreign: dict[str, None] = {}  # definitions that were there before

    async def run(self) -> None:
        """Make namespaces, play the steps, compare what watches told. Raises TransportError."""
        for name in self._conversation.made:
            await self._make_namespace(self._translation.namespace(name))
        for step in self._conversation.steps:
            if not step.reason:
                await self._step(step)
        for watched in self._watches:
            await self._compare_events(watched)
            self._player._tell(watched.outcome)

    async def _make_namespace(self, name: str) -> None:
        self._namespaces[name] = None
        body = orjson.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        answer = await self._player.ask(
            "POST", "/api/v1/namespaces", query={"fieldManager": [comparison.OWN_MANAGER]}, body=body)
        if answer.status >= 300:
            raise TransportError(f"the namespace {name} could not be made: {answer.status} {_message(answer)}")
        controllers = str(self._conversation.facts.get("controllers", "*"))
        if controllers != "*" and "serviceaccount" not in controllers.split(","):
            return

        async def is_furnished() -> bool:
            base = f"/api/v1/namespaces/{name}"
            paths = f"{base}/serviceaccounts/default", f"{base}/configmaps/kube-root-ca.crt"
            return all([(await self._player.ask("GET", path)).status == 200 for path in paths])

        await self._player.until(is_furnished, self._player._wait_seconds)

    # steps

    async def _step(self, step: Step) -> None:
        exchange, outcome = step.exchange, Outcome(step)
        if exchange.info.resource == DEFINITIONS and await self._is_foreign(exchange):
            step.reason = NOT_OURS
            return
        self.played.outcomes.append(outcome)
        if exchange.is_watch:
            await self._watch(exchange, outcome)
            return
        seconds = 0.0 if self._is_hopeless(exchange) else self._player._wait_seconds

        async def is_equal() -> bool:
            answer = await self._answer(exchange)
            self._translation.learn(exchange.answer, answer.tree)
            outcome.differences = comparison.differences(exchange, answer, self._translation)
            if not outcome.differences:
                return True
            if exchange.is_read:
                return False
            # what was done cannot be done again; what was refused can
            return exchange.code >= 300 or answer.code < 300 or not await self._may_try_again(exchange, answer)

        await self._player.until(is_equal, seconds)
        if outcome.differences and all(each.kind == "state" for each in outcome.differences):
            self._hopeless[_thing(exchange)] = None
        self._player._tell(outcome)

    def _is_hopeless(self, exchange: Exchange) -> bool:
        return exchange.is_read and _thing(exchange) in self._hopeless

    async def _may_try_again(self, exchange: Exchange, answer: Answer) -> bool:
        """Whether a refused write may be taken later; one that lost a race gets the newer version.
        """
        if any(each.kind == "forbidden" for each in comparison.differences(exchange, answer, self._translation)):
            return "serviceaccount" in str(answer.tree) or "service account" in str(answer.tree)
        body = exchange.line.get("body")
        metadata = body.get("metadata") if isinstance(body, dict) else None
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        if answer.code == 409 and isinstance(version, str) and version:
            path = self._translation.path("/".join(exchange.path.split("/")[: _parts(exchange)]))
            newer = _tree(await self._player.ask("GET", path))
            if isinstance(newer, dict) and newer.get("kind") != "Status":
                self._translation.renew(version, newer["metadata"]["resourceVersion"])
        return True

    async def _answer(self, exchange: Exchange) -> Answer:
        response = await self._send(exchange)
        if response.stream is not None:
            response.stream.stop()
        answer = Answer(response.status, _tree(response), tuple(
            value for name, value in response.headers if name.lower() == "warning"))
        self._note_made(exchange, answer)
        return answer

    async def _send(self, exchange: Exchange) -> Response:
        """Ask what the exchange asked. Raises TransportError."""
        line, info, translation = exchange.line, exchange.info, self._translation
        given: dict[str, str] = line.get("headers") or {}
        headers = {name: given[name] for name in SENT_HEADERS if name in given}
        body = lines.body_of(line)
        tree = line.get("body")
        if "bodyText" in line and "yaml" in headers.get("content-type", ""):
            tree = _yaml(body)
        if tree is not None:
            clusterwide = not info.namespace or info.resource == NAMESPACES
            named = clusterwide and info.resource != DEFINITIONS and info.group not in REVIEW_GROUPS
            body = orjson.dumps(translation.object(tree, clusterwide=named))
        if info.resource == NAMESPACES and exchange.method == "POST" and isinstance(tree, dict):
            name = (tree.get("metadata") or {}).get("name")
            if isinstance(name, str):
                self._namespaces[f"{translation.prefix}{name}"] = None
        if body:  # a client that leaves it out means JSON, and ours would say something else
            headers.setdefault("content-type", "application/json")
        path = exchange.path if info.resource == DEFINITIONS else translation.path(exchange.path)
        return await self._player.ask(
            exchange.method, path, query=translation.query(exchange.query), body=body, headers=headers,
            user=self._user(line))

    def _user(self, line: Tree) -> UserInfo | None:
        """Who asks, where that was no administrator."""
        name, groups = line.get("user"), line.get("groups") or []
        if not name or ADMINISTRATORS in groups:
            return None
        return UserInfo(self._translation.text(name), tuple(self._translation.text(group) for group in groups))

    def _note_made(self, exchange: Exchange, answer: Answer) -> None:
        """Remember what is to be removed at the end."""
        info, tree = exchange.info, answer.tree
        if info.namespace or not info.is_resource or answer.code != 201 or not isinstance(tree, dict):
            return
        name = (tree.get("metadata") or {}).get("name")
        if not name or exchange.query.get("dryRun"):
            return
        if info.resource == NAMESPACES:
            self._namespaces[name] = None
        elif info.group not in REVIEW_GROUPS:
            path = "/".join(exchange.path.split("/")[: _parts(exchange) - (1 if info.name else 0)])
            self._objects[f"{path}/{name}"] = None

    async def _is_foreign(self, exchange: Exchange) -> bool:
        """Whether a definition was there before, which is then left alone."""
        name = exchange.info.name
        if exchange.method == "POST":
            body = exchange.line.get("body")
            name = str(((body or {}).get("metadata") or {}).get("name", "")) if isinstance(body, dict) else ""
        path = f"/apis/apiextensions.k8s.io/v1/{DEFINITIONS}/{name}"
        if name in self._foreign:
            return True
        if name and path not in self._objects and (await self._player.ask("GET", path)).status == 200:
            self._foreign[name] = None
            return True
        return False

    # watches

    async def _watch(self, exchange: Exchange, outcome: Outcome) -> None:
        response = await self._send(exchange)
        if response.stream is None:
            answer = Answer(response.status, _tree(response))
            outcome.differences = [Difference("code", "", str(exchange.code), f"{answer.code} {_message(response)}")]
            self._player._tell(outcome)
            return
        watched = _Watched(outcome, response.stream)
        response.stream.start(watched)
        self._watches.append(watched)

    async def _compare_events(self, watched: _Watched) -> None:
        exchange = watched.outcome.step.exchange

        async def is_equal() -> bool:
            for told, event in zip(exchange.told, watched.events, strict=False):
                self._translation.learn(told.event, event)
            watched.outcome.differences = comparison.of_events(exchange, watched.events, self._translation)
            return not watched.outcome.differences

        await self._player.until(is_equal, self._player._wait_seconds)
        watched.stream.stop()

    # the end

    async def remove_all(self) -> list[str]:
        """Remove what was made; what is left after a while."""
        for watched in self._watches:
            watched.stream.stop()
        left = []
        try:
            for path in reversed(self._objects):
                await self._player.ask("DELETE", path, body=BACKGROUND)
            for name in self._namespaces:
                await self._player.ask("DELETE", f"/api/v1/namespaces/{name}", body=BACKGROUND)
            for name in self._namespaces:
                left += [] if await self._is_removed(name) else [f"namespace {name}"]
        except TransportError as error:
            left = [*(f"namespace {name}" for name in self._namespaces), str(error)]
        return left

    async def _is_removed(self, name: str) -> bool:
        async def is_gone() -> bool:
            return (await self._player.ask("GET", f"/api/v1/namespaces/{name}")).status == 404

        if await self._player.until(is_gone, self._player._wait_seconds):
            return True
        await self._let_go(name)
        return await self._player.until(is_gone, GONE_SECONDS)

    async def _let_go(self, name: str) -> None:
        """Take the finalizers off what is left in a namespace of ours."""
        collections = dict.fromkeys(
            "/".join(step.exchange.path.split("/")[: _parts(step.exchange) - (1 if step.exchange.info.name else 0)])
            for step in self._conversation.played
            if step.exchange.info.namespaced)
        for collection in collections:
            path = self._translation.path(collection)
            if f"/{name}/" not in path:
                continue
            found = _tree(await self._player.ask("GET", path))
            for item in found.get("items") or () if isinstance(found, dict) else ():
                if item["metadata"].get("finalizers"):
                    await self._player.ask(
                        "PATCH", f"{path}/{item['metadata']['name']}", body=b'{"metadata":{"finalizers":null}}',
                        headers={**JSON, "content-type": "application/merge-patch+json"})


def _parts(exchange: Exchange) -> int:
    """How many segments the path of an exchange has up to the name, or without one the resource."""
    segments, info = exchange.path.rstrip("/").split("/"), exchange.info
    return len(segments) - max(0, len(info.parts) - 2)


def _thing(exchange: Exchange) -> str:
    """What a look is about, whatever its form and its selectors are."""
    return exchange.path


def _tree(response: Response) -> Json:
    if not response.body:
        return None
    try:
        tree: Json = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        return response.body.decode(errors="replace")
    return tree


def _yaml(body: bytes) -> Json:
    try:
        return yaml.load(body)[0]
    except yaml.YAMLError:
        return None


def _message(response: Response) -> str:
    tree = _tree(response)
    return str(tree.get("message", "")) if isinstance(tree, dict) else ""


async def play_all(player: Player, conversations: list[Conversation], jobs: int) -> list[Played]:
    """Play conversations, some at a time; in their order."""
    free = asyncio.Semaphore(jobs)

    async def play(conversation: Conversation) -> Played:
        async with free:
            return await player.play(conversation)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(play(conversation)) for conversation in conversations]
    return [task.result() for task in tasks]
