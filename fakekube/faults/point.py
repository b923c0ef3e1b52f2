"""Where requests and watches meet their faults.

What goes wrong before the commit leaves nothing behind; what goes wrong after it leaves a write
that its sender does not know of, as when a connection is lost: that write's cause names the fault.
"""

import math
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from fakekube.apimachinery import times
from fakekube.apimachinery.causes import CAUSE
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.endpoints import requestinfo
from fakekube.endpoints.openwatches import OpenWatch
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.faults import answers
from fakekube.faults.plan import Fault, Faults, Server
from fakekube.faults.streams import FaultySink

Serve = Callable[[RequestInfo, Request], Awaitable[Response]]
Crash = Callable[[str], Awaitable[None]]
"""Lets a component die and start again; returns once it is dead."""
LEASES = ("coordination.k8s.io", "leases")
THIEF = "fakekube-fault"


class FaultPoint:
    """The interceptor of a cluster that has faults. ``crash`` lets components die."""

    def __init__(self, faults: Faults, server: Server, crash: Crash) -> None:
        self._faults, self._server, self._crash = faults, server, crash
        self._sinks: dict[OpenWatch, FaultySink] = {}
        faults.on_change.append(self._changed)

    async def __call__(self, info: RequestInfo, request: Request, serve: Serve) -> Response:
        """Answer a request, unless something goes wrong with it. Raises APIError."""
        met = self._faults.met_by(info, request)
        if not met and info.verb != "watch":
            return await serve(info, request)
        return await self._answer(met, info, request, serve)

    async def _answer(self, met: list[Fault], info: RequestInfo, request: Request, serve: Serve) -> Response:
        for fault in met:
            if fault.rule.watch is None:
                self._faults.note(fault, info, request)
        for fault in met:
            broken = await self._before(fault, info, request, serve)
            if broken is not None:
                return broken
        cause = CAUSE.get()
        if met and cause is not None and info.fault:
            CAUSE.set(cause._replace(fault=info.fault))
        failure: APIError | None = None
        try:
            response = await serve(info, request)
        except APIError as error:
            failure, response = error, Response(error.code)
        for fault in met:
            response = await self._after(fault, info, response, failed=failure is not None)
        if failure is not None and response.cut is None:
            raise failure
        if info.verb == "watch" and failure is None:
            self._opened(met, response)
        return response

    # before the commit

    async def _before(self, fault: Fault, info: RequestInfo, request: Request, serve: Serve) -> Response | None:
        """The answer that ends it here, or None. Raises APIError."""
        rule = fault.rule
        if rule.stale:
            self._from_a_replica(fault, info, request)
        if rule.compact:
            self._server.compact()
        if rule.lose_lease:
            await _take_lease(info, request, serve, self._faults.clock.time())
        if rule.moment == "after":
            return None
        if rule.latency is not None:
            await self._faults.clock.sleep(rule.latency)
        if rule.crash:
            await self._crash(rule.crash)
        if rule.error is not None:
            return answers.answer(rule, info)
        return Response(503, cut=0) if rule.cut == "before" else None

    def _from_a_replica(self, fault: Fault, info: RequestInfo, request: Request) -> None:
        """Let a list that takes what a cache has be answered from the state that the replica has.
        """
        if info.verb == "list" and request.param("resourceVersion") == "0" and "continue" not in request.query:
            revision = self._stands_at(fault)
            if revision is not None:
                request.query = {**request.query, "resourceVersion": [str(revision)], "resourceVersionMatch": ["Exact"]}
                request.query.pop("limit", None)

    def _stands_at(self, fault: Fault) -> int | None:
        """The version that a replica has, None once it has caught up."""
        rule, now = fault.rule, self._faults.clock.time()
        if rule.behind is None:
            return fault.revision
        if fault.caught_up_at is None:
            fault.revision = max(self._server.oldest_revision, self._server.revision - rule.behind)
            fault.caught_up_at = math.inf if rule.lasting is None else now + rule.lasting
        return fault.revision if now < fault.caught_up_at else None

    # after it

    async def _after(self, fault: Fault, info: RequestInfo, response: Response, *, failed: bool) -> Response:
        rule = fault.rule
        if rule.moment == "after":
            if rule.latency is not None:
                await self._faults.clock.sleep(rule.latency)
            if rule.crash:
                await self._crash(rule.crash)
            if rule.error is not None and not failed and response.status < 400:
                _give_up(response)
                return answers.answer(rule, info)
        if rule.cut == "after":
            _give_up(response)
            response.cut = 0
        elif rule.cut == "body":
            if response.stream is None:
                response.cut = max(1, len(response.body) // 2)
            else:
                _give_up(response)
                response.cut = 1
        return response

    # watches

    def _opened(self, met: list[Fault], response: Response) -> None:
        watch = self._server.watches.latest(response)
        if watch is None or response.cut is not None:
            return
        for fault in met:
            if fault.rule.watch is not None or (fault.rule.stale and self._stands_at(fault) is not None):
                self._strike(fault, watch)

    def _changed(self, fault: Fault) -> None:
        """A fault was added, or removed."""
        if fault.removed:
            self._let_go(fault)
            return
        rule = fault.rule
        if (rule.watch is None and (not rule.stale or rule.behind)) or rule.nth or rule.every or rule.probability is not None:
            return  # those count watches as they are opened
        if rule.after:
            fault.timers.append(self._faults.clock.call_later(rule.after, self._begin, fault, daemon=True))
        else:
            self._begin(fault)

    def _begin(self, fault: Fault) -> None:
        """It is time: watches that are open meet the fault, too."""
        fault.revision = self._server.revision
        for watch in self._server.watches:
            info = watch.info
            form = info.verb, info.group, info.resource, info.subresource
            if fault.is_about(form) and fault.matches(info, watch.request) and fault.counts():
                self._strike(fault, watch)

    def _strike(self, fault: Fault, watch: OpenWatch) -> None:
        rule = fault.rule
        if rule.watch is not None:
            self._faults.note(fault, watch.info, watch.request, watch.component)
        sink = self._sink(watch)
        if rule.watch == "no-bookmarks":
            sink.drops_bookmarks = True
        elif rule.watch == "late":
            sink.be_late(fault, rule.lasting or 0.0)
        elif rule.watch == "stall" or rule.stale:
            if rule.events:
                sink.strike_after(rule.events, lambda: self._hold(fault, sink))
            else:
                self._hold(fault, sink)
        else:
            ends = {"end": sink.end_now, "cut": sink.break_off, "expire": sink.expire}
            end = ends[str(rule.watch)]
            sink.strike_after(rule.events, end if not rule.lasting else lambda: self._hold(fault, sink, then=end))

    def _hold(self, fault: Fault, sink: FaultySink, then: Callable[[], None] | None = None) -> None:
        """Let a watch stand still: for as long as the rule says, or holds; and ``then`` what ends
        it.
        """
        sink.stand_still(fault)
        rule, clock = fault.rule, self._faults.clock
        if then is not None:
            fault.timers.append(clock.call_later(rule.lasting or 0.0, then))
        elif fault.caught_up_at is not None:
            if fault.caught_up_at != math.inf:
                fault.timers.append(clock.call_at(fault.caught_up_at, sink.go_on, fault))
        elif rule.lasting is not None:
            fault.timers.append(clock.call_later(rule.lasting, sink.go_on, fault))
        elif rule.until is not None:
            fault.timers.append(clock.call_at(fault.began + rule.until, sink.go_on, fault))

    def _sink(self, watch: OpenWatch) -> FaultySink:
        sink = self._sinks.get(watch)
        if sink is None:
            made = FaultySink(watch.stream, watch.response, self._faults.clock)
            sink = self._sinks[watch] = made
            watch.stream.divert(made.in_front_of)
            before = watch.stream.on_stop
            watch.stream.on_stop = lambda: self._gone(watch, made, before)
        return sink

    def _gone(self, watch: OpenWatch, sink: FaultySink, before: Callable[[], None] | None) -> None:
        self._sinks.pop(watch, None)
        sink.close()
        if before is not None:
            before()

    def _let_go(self, fault: Fault) -> None:
        for sink in list(self._sinks.values()):
            sink.go_on(fault)
            sink.be_late(fault, 0.0)
            sink.drops_bookmarks = False


def _give_up(response: Response) -> None:
    """Let nobody read an answer that its sender is not to see."""
    if response.stream is not None:
        response.stream.stop()
        response.stream = None


async def _take_lease(info: RequestInfo, request: Request, serve: Serve, now: float) -> None:
    """Let another holder have taken the Lease that a request writes."""
    if (info.group, info.resource) != LEASES or not info.name:
        return
    path = request.path
    found: Any = orjson.loads((await serve(requestinfo.parse("GET", path, {}), _as_server("GET", path, request))).body)
    taken = times.format_micro_time(now)
    found["spec"] |= {
        "holderIdentity": THIEF, "acquireTime": taken, "renewTime": taken,
        "leaseTransitions": found["spec"].get("leaseTransitions", 0) + 1}
    body = orjson.dumps(found)
    await serve(requestinfo.parse("PUT", path, {}), _as_server("PUT", path, request, body))


def _as_server(method: str, path: str, request: Request, body: bytes = b"") -> Request:
    headers = {"user-agent": THIEF, "accept": "application/json", "content-type": "application/json"}
    return Request(method, path, {}, headers, body, request.user, canonical=True)
