"""Asks a cluster what a recording asked, in the same order, and compares the answers.

What the recorded test saw after its cluster had come to rest takes a real cluster some time: a look
that shows something else is repeated for a while, and so is a write that is refused where it was
taken. A write that lost a race against a controller is made again on the newer version. All that
was made is deleted at the end, whatever the end is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import orjson

from fakekube.apimachinery import yaml
from fakekube.apimachinery.http import Frame, Response, Stream, UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.client.transport import TransportError
from fakekube.endpoints import requestinfo
from fakekube.recording import comparison, lines
from fakekube.recording.asking import Target, message_of, tree_of
from fakekube.recording.comparison import Answer, Difference
from fakekube.recording.exchanges import Exchange
from fakekube.recording.outcomes import Outcome, Played
from fakekube.recording.plan import (
    DEFINITIONS,
    NAMESPACES,
    NO_COUNTERPART,
    NOT_OURS,
    REVIEW_GROUPS,
    Conversation,
    Step,
    gives_accounts,
)
from fakekube.recording.removal import Removal
from fakekube.recording.translation import BY_UID_GROUP, Translation

PREFIX = "fakekube-verify-"
LISTING = ("list", "watch")
SENT_HEADERS = ("accept", "content-type", "user-agent")
BUDGET = 3
"""A conversation waits so many times as long in all as for one answer."""


class Interrupted(asyncio.CancelledError):
    """It was cancelled, and what was made is removed, but for what is ``left``."""

    def __init__(self, left: list[str]) -> None:
        super().__init__("interrupted")
        self.left = left


async def play_all(
    target: Target, conversations: list[Conversation], *, suffix: Callable[[], str], wait_seconds: float, jobs: int,
    tell: Callable[[Played], None] = lambda _: None,
) -> list[Played]:
    """Play conversations, some at a time, and remove what they have made; in their order.

    ``suffix`` gives the random part of names. ``wait_seconds`` is how long an answer may take to
    become the recorded one. ``tell`` is told of each that is over. Raises Interrupted where it is
    cancelled.
    """
    free = asyncio.Semaphore(jobs)
    plays = [_Play(target, conversation, f"{PREFIX}{suffix()}-", wait_seconds) for conversation in conversations]

    # a kind has one name for all, so that its makers take turns
    locks = {name: asyncio.Lock() for conversation in conversations for name in conversation.definitions}

    async def run(play: _Play) -> None:
        definitions = sorted(set(play.played.conversation.definitions))
        async with AsyncExitStack() as turns:
            for name in definitions:  # in one order, so that nobody waits for one another
                await turns.enter_async_context(locks[name])
            await turns.enter_async_context(free)
            try:
                await play.run()
            except TransportError as error:
                play.played.failure = str(error)
            finally:
                play.played.left = await play.removal.begin()
            if definitions:
                play.played.left += await play.removal.finish()
            tell(play.played)

    try:
        try:
            async with asyncio.TaskGroup() as group:
                for play in plays:
                    group.create_task(run(play))
        finally:
            await _finish(plays)
    except asyncio.CancelledError:
        raise Interrupted([each for play in plays for each in play.played.left]) from None
    return [play.played for play in plays]


async def _finish(plays: "list[_Play]") -> None:
    """Wait until what was made is gone."""
    async with asyncio.TaskGroup() as group:
        ends = [group.create_task(play.removal.finish()) for play in plays]
    for play, end in zip(plays, ends, strict=True):
        play.played.left = list(dict.fromkeys([*play.played.left, *end.result()]))


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


class _Play:
    """One conversation while it is played."""

    def __init__(self, target: Target, conversation: Conversation, prefix: str, wait_seconds: float) -> None:
        self._target, self._conversation, self._wait_seconds = target, conversation, wait_seconds
        self._budget_seconds = BUDGET * wait_seconds
        self._state_seconds = wait_seconds  # for what controllers write, in all
        self.played, self.removal = Played(conversation), Removal(target)
        self._translation = Translation(
            prefix, conversation.namespaces, conversation.clusterwide, conversation.addon_groups)
        self._watches: list[_Watched] = []
        self._hopeless: dict[str, None] = {}  # paths whose state does not become the recorded one
        self._foreign: dict[str, None] = {}  # definitions that were there before

    async def run(self) -> None:
        """Make namespaces, play the steps, compare what watches told. Raises TransportError."""
        try:
            for name in self._conversation.made:
                await self._make_namespace(self._translation.namespace(name))
            for step in self._conversation.steps:
                await self._end_watches(before=step.exchange.number)
                if step.reason:
                    self._translation.saw(step.exchange.answer)
                else:
                    await self._step(step)
            await self._end_watches()
        finally:
            for watched in self._watches:
                watched.stream.stop()

    async def _make_namespace(self, name: str) -> None:
        self.removal.namespaces[name] = None
        body = orjson.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        query = {"fieldManager": [comparison.OWN_MANAGER]}
        answer = await self._target.ask("POST", "/api/v1/namespaces", query=query, body=body)
        if answer.status >= 300:
            raise TransportError(f"the namespace {name} could not be made: {answer.status} {message_of(answer)}")
        if not gives_accounts(self._conversation.facts):
            return
        base = f"/api/v1/namespaces/{name}"
        paths = f"{base}/serviceaccounts/default", f"{base}/configmaps/kube-root-ca.crt"

        async def is_furnished() -> bool:
            return all([(await self._target.ask("GET", path)).status == 200 for path in paths])

        await self._target.until(is_furnished, self._wait_seconds)

    # steps

    async def _step(self, step: Step) -> None:
        exchange, outcome = step.exchange, Outcome(step)
        is_definition = exchange.info.resource == DEFINITIONS
        if await self._is_foreign(exchange) if is_definition else not self._stays_inside(exchange):
            step.reason = NOT_OURS
            return
        if self._translation.lacks(exchange.info.name):
            step.reason = NO_COUNTERPART
            return
        if step.uncompared:
            await self._answer(exchange)
            return
        self.played.outcomes.append(outcome)
        if exchange.is_watch:
            await self._watch(exchange, outcome)
            return

        async def is_equal() -> bool:
            answer = await self._answer(exchange)
            self._translation.learn(exchange.answer, answer.tree, by_uid=self._is_by_uid(exchange))
            outcome.differences = comparison.differences(exchange, answer, self._translation, self._setting(exchange))
            if not outcome.differences:
                return True
            if exchange.is_read:
                return self._is_hopeless(outcome)
            # what was done cannot be done again; what was refused can
            return exchange.code >= 300 or answer.code < 300 or not await self._may_try_again(exchange, answer, outcome)

        await self._wait(is_equal, outcome)

    def _setting(self, exchange: Exchange) -> comparison.Setting:
        """In what the clusters differ, as far as it is of interest to an exchange."""
        conversation = self._conversation
        return comparison.Setting(
            tuple(name for resource, name in conversation.missing if resource == exchange.info.resource), conversation.idle,
            exchange.info.group in conversation.addon_groups, bool(conversation.facts.get("extra")),
            gives_accounts(conversation.facts))

    def _is_by_uid(self, exchange: Exchange) -> bool:
        """Whether controllers may name what is asked about by a hash of its owner's uid."""
        return exchange.info.group in (BY_UID_GROUP, *self._conversation.addon_groups)

    async def _wait(self, is_over: Callable[[], Awaitable[bool]], outcome: Outcome) -> None:
        """Wait until it is so, as long as one answer may take and all of them together."""
        _, seconds = await self._target.until(is_over, min(self._wait_seconds, self._budget_seconds))
        if _is_state(outcome):
            self._state_seconds -= seconds
            self._hopeless[outcome.step.exchange.path] = None
        else:
            self._budget_seconds = max(0.0, self._budget_seconds - seconds)

    def _is_hopeless(self, outcome: Outcome) -> bool:
        """Whether it was waited long enough for controllers to write what differs."""
        return _is_state(outcome) and (self._state_seconds <= 0 or outcome.step.exchange.path in self._hopeless)

    async def _may_try_again(self, exchange: Exchange, answer: Answer, outcome: Outcome) -> bool:
        """Whether a refused write may be taken later; one that lost a race gets the newer version.
        """
        if any(each.kind == "forbidden" for each in outcome.differences):
            return False
        body = exchange.line.get("body")
        metadata = body.get("metadata") if isinstance(body, dict) else None
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        if answer.code == 409 and isinstance(version, str) and version:
            newer = tree_of(await self._target.ask("GET", self._translation.path(_object_path(exchange))))
            if isinstance(newer, dict) and newer.get("kind") != "Status":
                self._translation.renew(version, newer["metadata"]["resourceVersion"])
        return True

    async def _answer(self, exchange: Exchange) -> Answer:
        response = await self._send(exchange)
        if response.stream is not None:
            response.stream.stop()
        tree = tree_of(response)
        if not exchange.info.namespace and exchange.info.verb in LISTING:
            tree = comparison.own_part(tree, self._translation)
        answer = Answer(response.status, tree, tuple(
            value for name, value in response.headers if name.lower() == "warning"))
        self._note_made(exchange, answer)
        return answer

    async def _send(self, exchange: Exchange) -> Response:
        """Ask what the exchange asked. Raises TransportError."""
        line, info, translation = exchange.line, exchange.info, self._translation
        given: dict[str, str] = line.get("headers") or {}
        headers = {name: given[name] for name in SENT_HEADERS if name in given}
        tree = self._tree_to_send(exchange)
        body = orjson.dumps(tree) if tree is not None else lines.body_of(line)
        if body:  # a client that leaves it out means JSON, and ours would say something else
            headers.setdefault("content-type", "application/json")
        path = translation.path(exchange.path)
        query = translation.query(exchange.query, clusterwide=not info.namespace)
        if path.startswith("/openapi/"):  # whose documents are other ones there
            query.pop("hash", None)
        if info.namespaced and not exchange.is_read:
            self.removal.collections[translation.path(_collection_path(exchange))] = None
        if info.resource == NAMESPACES and exchange.method == "POST" and isinstance(tree, dict):
            # known before it is made, so that it goes even if its answer does not come
            name = (tree.get("metadata") or {}).get("name")
            self.removal.namespaces |= {name: None} if isinstance(name, str) and name.startswith(translation.prefix) else {}
        return await self._target.ask(
            exchange.method, path, query=query, body=body, headers=headers, user=self._user(line))

    def _tree_to_send(self, exchange: Exchange) -> Json:
        """The body as it is sent, where it is JSON or YAML."""
        line, info = exchange.line, exchange.info
        tree = line.get("body")
        if "bodyText" in line and "yaml" in str((line.get("headers") or {}).get("content-type")):
            tree = _yaml(lines.body_of(line))
        if tree is None:
            return None
        clusterwide = not info.namespace or info.resource == NAMESPACES
        named = clusterwide and info.resource != DEFINITIONS and info.group not in REVIEW_GROUPS
        return self._translation.object(tree, clusterwide=named, group=info.group)

    def _user(self, line: Tree) -> UserInfo | None:
        """Who asks, where that was no administrator."""
        name, groups = line.get("user"), line.get("groups") or []
        if not name or comparison.ADMINISTRATORS in groups:
            return None
        return UserInfo(self._translation.text(name), tuple(self._translation.text(group) for group in groups))

    def _note_made(self, exchange: Exchange, answer: Answer) -> None:
        """Remember what is to be removed at the end."""
        info, tree = exchange.info, answer.tree
        if info.namespace or not info.is_resource or answer.code != 201 or not isinstance(tree, dict):
            return
        name = (tree.get("metadata") or {}).get("name")
        if not name or exchange.query.get("dryRun") or info.group in REVIEW_GROUPS:
            return
        if info.resource == NAMESPACES:
            self.removal.namespaces |= {name: None} if name.startswith(self._translation.prefix) else {}
        else:
            self.removal.objects[f"{_collection_path(exchange)}/{name}"] = None

    def _stays_inside(self, exchange: Exchange) -> bool:
        """Whether a request, as it would be sent, touches nothing but what has our names: the last
        check, whatever was planned.
        """
        info, prefix = exchange.info, self._translation.prefix
        if exchange.is_read or info.group in REVIEW_GROUPS:
            return True
        there = requestinfo.parse(exchange.method, self._translation.path(exchange.path), exchange.query)
        if there.namespace:
            return there.namespace.startswith(prefix)
        if there.name:
            return there.name.startswith(prefix)
        tree = self._tree_to_send(exchange)
        metadata = tree.get("metadata") if isinstance(tree, dict) else None
        if exchange.method != "POST" or not isinstance(metadata, dict):
            return False
        return str(metadata.get("name") or metadata.get("generateName") or prefix).startswith(prefix)

    async def _is_foreign(self, exchange: Exchange) -> bool:
        """Whether a definition was there before, which is then left alone."""
        body, name = exchange.line.get("body"), exchange.info.name
        if exchange.method == "POST" and isinstance(body, dict):
            name = str((body.get("metadata") or {}).get("name", ""))
        name = self._translation.text(name)
        path = f"{_collection_path(exchange)}/{name}"
        is_unknown = name and name not in self._foreign and path not in self.removal.objects
        if is_unknown and (await self._target.ask("GET", path)).status == 200:
            self._foreign[name] = None
        return name in self._foreign

    # watches

    async def _watch(self, exchange: Exchange, outcome: Outcome) -> None:
        response = await self._send(exchange)
        if response.stream is None:
            outcome.differences = [Difference("code", "", str(exchange.code), f"{response.status} {message_of(response)}")]
            return
        watched = _Watched(outcome, response.stream)
        response.stream.start(watched)
        self._watches.append(watched)

    async def _end_watches(self, before: int | None = None) -> None:
        """Compare and stop the watches that ended before a request came; all if none is named."""
        for watched in list(self._watches):
            ended_after = watched.outcome.step.exchange.ended_after
            if before is None or (ended_after is not None and ended_after < before):
                await self._compare_events(watched)
                watched.stream.stop()
                self._watches.remove(watched)

    async def _compare_events(self, watched: _Watched) -> None:
        outcome = watched.outcome
        exchange = outcome.step.exchange

        everywhere = not exchange.info.namespace

        async def is_equal() -> bool:
            events = [event for event in watched.events if not everywhere or self._is_ours(event)]
            for told, event in zip(exchange.told, events, strict=False):
                self._translation.learn(told.event, event, by_uid=self._is_by_uid(exchange))
            outcome.differences = comparison.of_events(exchange, events, self._translation, self._setting(exchange))
            return not outcome.differences or self._is_hopeless(outcome)

        await self._wait(is_equal, outcome)

    def _is_ours(self, event: Json) -> bool:
        """Whether an event is about an object in a namespace of ours, or about none."""
        space = comparison.space_of(event) if isinstance(event, dict) else ""
        return not space or space.startswith(self._translation.prefix)


def _is_state(outcome: Outcome) -> bool:
    """Whether an answer differs, and only in what controllers write."""
    return bool(outcome.differences) and all(each.kind == "state" for each in outcome.differences)


def _object_path(exchange: Exchange) -> str:
    """The path without a subresource."""
    segments, parts = exchange.path.rstrip("/").split("/"), exchange.info.parts
    return "/".join(segments[: len(segments) - max(0, len(parts) - 2)])


def _collection_path(exchange: Exchange) -> str:
    """The path without name and subresource."""
    segments, parts = exchange.path.rstrip("/").split("/"), exchange.info.parts
    return "/".join(segments[: len(segments) - max(0, len(parts) - 1)])


def _yaml(body: bytes) -> Json:
    try:
        return yaml.load(body)[0]
    except yaml.YAMLError:
        return None
