"""Where requests and watches meet their faults.

What goes wrong before the commit leaves nothing behind; what goes wrong after it leaves a write
that its sender does not know of, as when a connection is lost: that write's cause names the fault.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from fakekube.apimachinery import times
from fakekube.apimachinery.causes import CAUSE, Cause
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.endpoints import requestinfo
from fakekube.endpoints.openwatches import OpenWatch
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.versions import version_named
from fakekube.faults import answers
from fakekube.faults.plan import Fault, Faults, Server
from fakekube.faults.streams import FaultySink
from fakekube.util.undisturbed import UNDISTURBED

Serve = Callable[[RequestInfo, Request], Awaitable[Response]]
THIEF = "fakekube-fault"
MOST_AT_ONCE = 20
"""So often somebody is faster with one object at one moment."""


class FaultPoint:
    """The interceptor of a cluster that has faults."""

    def __init__(self, faults: Faults, server: Server) -> None:
        self._faults, self._server = faults, server
        self._sinks: dict[OpenWatch, FaultySink] = {}
        self._touched_at, self._touched = 0.0, Counter[tuple[GroupResource, str, str]]()
        faults.on_change.append(self._changed)

    async def __call__(self, info: RequestInfo, request: Request, serve: Serve) -> Response:
        """Answer a request, unless something goes wrong with it. Raises APIError."""
        if UNDISTURBED.get():
            return await serve(info, request)
        met = self._faults.met_by(info, request)
        if info.verb == "watch":
            return await self._answer_watch(met, info, request, serve)
        return await (self._answer(met, info, request, serve) if met else serve(info, request))

    async def _answer_watch(self, met: list[Fault], info: RequestInfo, request: Request, serve: Serve) -> Response:
        watch: OpenWatch | None = None
        try:
            response = await self._answer(met, info, request, serve)
            watch = self._server.watches.of(response) if response.cut is None else None
        finally:
            if watch is None:
                for fault in met:
                    if fault.rule.watch is not None:
                        fault.is_missed()
        if watch is not None:
            self._opened(met, watch)
        return response

    async def _answer(self, met: list[Fault], info: RequestInfo, request: Request, serve: Serve) -> Response:
        for fault in met:
            if fault.rule.watch is None:
                self._faults.note(fault, info, request)
        is_served = False
        try:
            for fault in met:
                broken = await self._before(fault, info, request, serve)
                if broken is not None:
                    return broken
            is_served = True
        finally:
            if not is_served and request.fault is not None:
                request.fault = request.fault._replace(served=False, told=False)
        cause = CAUSE.get()
        if met and cause is not None and info.fault:
            CAUSE.set(cause._replace(fault=info.fault))
        failure: APIError | None = None
        try:
            response = await serve(info, request)
        except APIError as error:
            failure, response = error, Response(error.code)
        for fault in met:
            response = await self._after(fault, info, request, response, failed=failure is not None)
        if failure is not None and response.cut is None:
            raise failure
        return response

    # before the commit

    async def _before(self, fault: Fault, info: RequestInfo, request: Request, serve: Serve) -> Response | None:
        """The answer that ends it here, or None. Raises APIError."""
        rule = fault.rule
        if rule.stale and info.verb != "watch":
            request.replica = fault.replica
        if rule.compact:
            self._server.compact()
        if rule.lose_lease:
            await _take_lease(fault.name, request, serve, self._faults.clock.time())
        if rule.moment == "after":
            return None
        if rule.latency is not None and not await self._sleep(rule.latency):
            return Response(503, cut=0)
        if rule.crash and await self._server.crash(rule.crash):
            return Response(503, cut=0)
        if rule.error == "Conflict" and self._touch(fault.name, info, request):
            return await serve(info, request)
        if rule.error == "Conflict" and info.verb == "delete":
            resource = GroupResource(info.group, self._server.kind_of(GroupResource(info.group, info.resource)))
            raise answers.deletion_conflict(resource, info.name, version_named(info, request), self._server.revision)
        if rule.error is not None:
            return answers.answer(rule, info)
        return Response(503, cut=0) if rule.cut == "before" else None

    def _touch(self, fault: str, info: RequestInfo, request: Request) -> bool:
        """Let somebody have been faster with the object that a request names. Whoever waits for
        the change that a conflict stands for is told of it.

        False where it is not stored here, and where somebody was faster MOST_AT_ONCE times at this
        moment: who tries again as soon as he is told would do so for ever, and no time would pass.
        """
        cause, now = CAUSE.get(), self._faults.clock.time()
        touched = GroupResource(info.group, info.resource), info.namespace, info.name
        if self._touched_at != now:
            self._touched_at, self._touched = now, Counter()
        self._touched[touched] += 1
        if self._touched[touched] > MOST_AT_ONCE:
            return False
        CAUSE.set(Cause(now, "PUT", request.path, request.user.name if request.user is not None else "", THIEF, None, fault))
        try:
            return self._server.touch(*touched)
        finally:
            CAUSE.set(cause)

    async def _sleep(self, seconds: float) -> bool:
        """Wait; whether the state is still there in which the request came. If not, its connection
        is lost with that. What a predicate asks of virtual time does not wait: time stands for it.
        """
        if self._server.is_asked:
            return True
        state = self._faults.states
        cause = CAUSE.get()
        CAUSE.set(None)  # what others write meanwhile in this context is not this request's
        with self._server.asleep():
            await self._faults.clock.sleep(seconds)
        if cause is not None:
            CAUSE.set(cause._replace(time=self._faults.clock.time()))
        return state == self._faults.states

    # after it

    async def _after(
        self, fault: Fault, info: RequestInfo, request: Request, response: Response, *, failed: bool,
    ) -> Response:
        rule = fault.rule
        if rule.moment == "after":
            if rule.latency is not None and not await self._sleep(rule.latency):
                _give_up(response)
                response.cut = 0
            if rule.crash:
                await self._server.crash(rule.crash)
            if rule.error is not None and not failed and response.status < 400 and response.cut is None:
                _give_up(response)
                if request.fault is not None:
                    request.fault = request.fault._replace(told=False)
                return answers.answer(rule, info)
        if rule.cut == "after":
            _give_up(response)
            response.cut = 0
        elif rule.cut == "body" and response.cut is None:
            if response.stream is None:
                response.cut = max(1, len(response.body) // 2)
            else:
                _give_up(response)
                response.cut = 1
        return response

    # watches

    def _opened(self, met: list[Fault], watch: OpenWatch) -> None:
        for fault in met:
            if fault.rule.stale:
                watch.stream.lag(fault.replica)
            if fault.rule.watch is not None or fault.rule.stale:
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
        ends = {"end": sink.end_now, "cut": sink.break_off, "expire": sink.expire}.get(str(rule.watch))
        if ends is not None and rule.lasting:
            sink.strike_after(fault, rule.events, lambda: self._hold(fault, sink, ends))
        elif ends is not None:
            sink.strike_after(fault, rule.events, ends)
        elif rule.events:
            sink.strike_after(fault, rule.events, lambda: self._change(fault, sink))
        else:
            self._change(fault, sink)

    def _hold(self, fault: Fault, sink: FaultySink, end: Callable[[], None]) -> None:
        """Let a watch stand still before it ends."""
        sink.stand_still(fault)
        sink.timers.append(self._faults.clock.call_later(fault.rule.lasting or 0.0, end))

    def _change(self, fault: Fault, sink: FaultySink) -> None:
        """Let a watch go on otherwise: for as long as the rule says, or holds."""
        rule, clock = fault.rule, self._faults.clock
        if rule.watch == "no-bookmarks":
            sink.drop_bookmarks(fault)
        elif rule.watch == "late":
            sink.be_late(fault, rule.lasting or 0.0)
        elif rule.stale:
            sink.be_behind(fault, fault.replica())
            if rule.lasting is not None and fault.caught_up_at is not None:
                sink.timers.append(clock.call_at(fault.caught_up_at, sink.go_on, fault))
        else:
            sink.stand_still(fault)
            if rule.lasting is not None:
                sink.timers.append(clock.call_later(rule.lasting, sink.go_on, fault))
        if rule.until is not None:
            sink.timers.append(clock.call_at(fault.began + rule.until, sink.go_on, fault))

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


def _give_up(response: Response) -> None:
    """Let nobody read an answer that its sender is not to see."""
    if response.stream is not None:
        response.stream.stop()
        response.stream = None


async def _take_lease(fault: str, request: Request, serve: Serve, now: float) -> None:
    """Let another holder have taken the Lease that a request writes. Raises APIError."""
    path, cause = request.path, CAUSE.get()
    found: Any = orjson.loads((await serve(requestinfo.parse("GET", path, {}), _as_server("GET", path, request))).body)
    taken, held = times.format_micro_time(now), found.get("spec") or {}
    found["spec"] = {
        **held, "holderIdentity": THIEF, "acquireTime": taken, "renewTime": taken,
        "leaseTransitions": held.get("leaseTransitions", 0) + 1}
    CAUSE.set(Cause(now, "PUT", path, request.user.name if request.user is not None else "", THIEF, None, fault))
    try:
        await serve(requestinfo.parse("PUT", path, {}), _as_server("PUT", path, request, orjson.dumps(found)))
    finally:
        CAUSE.set(cause)


def _as_server(method: str, path: str, request: Request, body: bytes = b"") -> Request:
    headers = {"user-agent": THIEF, "accept": "application/json", "content-type": "application/json"}
    return Request(method, path, {}, headers, body, request.user, canonical=True)
