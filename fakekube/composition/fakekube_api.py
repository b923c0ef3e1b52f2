"""What a cluster answers beside Kubernetes, below ``/fakekube/v1``, for clients in any language.

    GET  /fakekube/v1/clock        what time it is, which clock that is, whether it stands
    POST /fakekube/v1/clock        {"advance": "1h30m"}, {"paused": true},
                                   {"set": "2026-02-01T00:00:00Z"}
    GET  /fakekube/v1/controllers  the names of the controllers, and which of them run
    POST /fakekube/v1/controllers  {"stop": "scheduler"}; start and restart likewise
    GET  /fakekube/v1/snapshot     all of the cluster as a file, for ``fakekube serve --from``
                                   and ``fakekube diff``
    GET  /fakekube/v1/why          why ``?object=pod/x&namespace=default`` waits, and what would let
                                   it go on; ``&output=text`` for people
    GET  /fakekube/v1/trace        what led to the state of ``?object=pod/x``; ``&field=`` and
                                   ``&last=`` choose, ``&output=`` is json, text or chrome
    GET  /fakekube/v1/faults       what goes wrong on purpose, how often it was met, and by whom
    POST /fakekube/v1/faults       one more fault, or a plan of some (docs/faults.md)
    DELETE /fakekube/v1/faults     no faults any more; ``?name=x``: not that one

What is POSTed is a query or a body; that is JSON and says so, or says nothing.

Errors are Status objects, as everywhere. Nothing here is Kubernetes'.
"""

from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apimachinery import errors, times
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.composition.options import OptionError
from fakekube.util.clusterclock import ClockError, ClusterClock
from fakekube.util.tasks import turn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fakekube.apiserver.apiserver import APIServer
    from fakekube.composition.controllermanager import ControllerManager
    from fakekube.composition.snapshot import Snapshot
    from fakekube.faults.plan import Faults
    from fakekube.runtime.why import Answer
    from fakekube.tracing.trace import Trace
    from fakekube.util.activity import Activity

    Why = Callable[..., Awaitable[Answer]]
    TraceOf = Callable[..., Awaitable[Trace]]

PREFIX = "/fakekube/v1"
API_VERSION = "fakekube.dev/v1"
JSON, TEXT = "application/json", "text/plain; charset=utf-8"
CLOCK_FIELDS = ("advance", "set", "paused")
CONTROLLER_FIELDS = ("stop", "start", "restart")
WHY_FIELDS = ("object", "namespace", "output")
TRACE_FIELDS = ("object", "namespace", "field", "last", "output")
LATEST_MEETINGS = 100
FAULTS_IN_A_TURN = 100
MAX_LAST, MAX_LAST_DIGITS = 1_000, 9


def install(
    apiserver: "APIServer", *, clock: ClusterClock, activity: "Activity", take_snapshot: "Callable[[], Snapshot]",
    controllers: "ControllerManager", why: "Why", trace: "TraceOf", faults: "Callable[[], Faults]",
) -> None:
    """Let a cluster's server answer these paths.

    ``activity`` is that of the cluster, held while a request is answered.
    """
    api = FakekubeAPI(clock, activity, take_snapshot, controllers, why, trace, faults)
    apiserver.extra_paths |= {
        f"{PREFIX}/clock": api.clock, f"{PREFIX}/controllers": api.controllers, f"{PREFIX}/snapshot": api.snapshot,
        f"{PREFIX}/why": api.why, f"{PREFIX}/trace": api.trace, f"{PREFIX}/faults": api.faults}


class FakekubeAPI:
    """The answers of one cluster."""

    def __init__(
        self, clock: ClusterClock, activity: "Activity", take_snapshot: "Callable[[], Snapshot]",
        controllers: "ControllerManager", why: "Why", trace: "TraceOf", faults: "Callable[[], Faults]",
    ) -> None:
        self._faults = faults
        self._clock, self._activity, self._take_snapshot = clock, activity, take_snapshot
        self._controllers, self._why, self._trace = controllers, why, trace

    async def clock(self, request: Request) -> Response:
        """The clock, after what the request does to it.

        Raises APIError 400 and 409, with the clock as it was; 405.
        """
        if request.method == "POST":
            await self._move(_clock_wanted(request))
        elif request.method != "GET":
            raise errors.method_not_allowed()
        clock = self._clock
        return _json({
            "kind": "Clock", "apiVersion": API_VERSION, "now": times.format_micro_time(clock.time()),
            "unixSeconds": clock.time(), "mode": clock.mode, "factor": clock.factor, "paused": clock.paused,
        })

    async def controllers(self, request: Request) -> Response:
        """The controllers, after what the request does to one of them.

        Raises APIError 400 for an unknown controller or field; 405.
        """
        if request.method == "POST":
            await self._change_controller(fields_wanted(request, CONTROLLER_FIELDS))
        elif request.method != "GET":
            raise errors.method_not_allowed()
        items = [{"name": name, "running": running} for name, running in self._controllers.states.items()]
        return _json({"kind": "ControllerList", "apiVersion": API_VERSION, "items": items})

    async def _change_controller(self, wanted: Tree) -> None:
        actions = [action for action in CONTROLLER_FIELDS if action in wanted]
        if len(actions) > 1:
            raise errors.bad_request(f"give either {' or '.join(actions)}")
        action = actions[0]
        name = wanted[action]
        if not isinstance(name, str):
            raise errors.bad_request(f"{action} is no name of a controller")
        try:
            if action != "start":
                await self._controllers.stop_controller(name)
            if action != "stop":
                await self._controllers.start_controller(name)
        except OptionError as error:
            raise errors.bad_request(str(error)) from error

    async def faults(self, request: Request) -> Response:
        """The faults, after what the request does to them.

        Raises APIError 400 for what is no plan, 404 for a name that none has, 405; nothing has
        changed then.
        """
        faults = self._faults()
        if request.method == "POST":
            await self._add_faults(faults, _body(request))
        elif request.method == "DELETE":
            name = request.param("name")
            found = faults.named(name)
            if name and found is None:
                raise errors.APIError(404, "NotFound", f"there is no fault {name!r}", {"name": name})
            for fault in [found] if found is not None else faults:
                fault.remove()
        elif request.method != "GET":
            raise errors.method_not_allowed()
        items: list[Tree] = []
        for fault in faults:
            items.append({
                "name": fault.name, "what": fault.rule.what, "seen": fault.seen, "met": fault.met,
                "rule": fault.rule.model_dump(mode="json", by_alias=True, exclude_defaults=True)})
            if not len(items) % FAULTS_IN_A_TURN:
                await turn()
        meetings = [
            {**meeting._asdict(), "time": times.format_micro_time(meeting.time)}
            for meeting in faults.meetings[-LATEST_MEETINGS:]]
        return _json({"kind": "FaultList", "apiVersion": API_VERSION, "items": items, "meetings": meetings})

    @staticmethod
    async def _add_faults(faults: "Faults", plan: Tree) -> None:
        from fakekube.faults.rules import FaultError, rules_in

        try:
            await faults.add_in_turns(rules_in(plan))
        except FaultError as error:
            raise errors.bad_request(str(error)) from None

    async def snapshot(self, request: Request) -> Response:
        """All of the cluster, as a file. Raises APIError 405."""
        if request.method != "GET":
            raise errors.method_not_allowed()
        return Response(200, self._take_snapshot().encode(), "application/gzip")

    async def why(self, request: Request) -> Response:
        """Why an object waits. Raises APIError 400 for what names none, 404, 405."""
        if request.method != "GET":
            raise errors.method_not_allowed()
        wanted, output = _about_object(request, WHY_FIELDS, ("json", "text"))
        answer = await self._why(str(wanted["object"]), namespace=str(wanted.get("namespace") or "default"))
        if output == "text":
            return Response(200, f"{answer}\n".encode(), TEXT)
        return _json({"kind": "Why", "apiVersion": API_VERSION, **answer.tree()})

    async def trace(self, request: Request) -> Response:
        """What led to an object's state. Raises APIError 400 for what names none, 404, 405, 410."""
        if request.method != "GET":
            raise errors.method_not_allowed()
        wanted, output = _about_object(request, TRACE_FIELDS, ("json", "text", "chrome"))
        last = str(wanted.get("last", 20))
        if not last.isdecimal() or len(last) > MAX_LAST_DIGITS:
            raise errors.bad_request("last is no number of changes")
        if not 0 < int(last) <= MAX_LAST:
            raise errors.bad_request(f"last is more than {MAX_LAST:,}, or all: so many are told of a snapshot, by trace --from")
        found = await self._trace(
            str(wanted["object"]), namespace=str(wanted.get("namespace") or "default"), field=str(wanted.get("field") or ""),
            last=int(last))
        return Response(200, encoded_trace(found, output), TEXT if output == "text" else JSON)

    async def _move(self, wanted: Tree) -> None:
        """Move first and pause afterwards: a move that is refused has changed nothing."""
        clock = self._clock
        paused = _boolean(wanted)
        # time does not move while a request is worked on; this one moves it
        resume_work = self._activity.suspend()
        try:
            if "advance" in wanted:
                await clock.advance(wanted["advance"])
            elif "set" in wanted:
                await clock.set(str(wanted["set"]))
            if paused is not None:
                (clock.pause if paused else clock.resume)()
        except ClockError as error:
            raise errors.bad_request(str(error)) from error
        finally:
            if resume_work is not None:
                resume_work()


def _about_object(request: Request, fields: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Tree, str]:
    """What is asked about an object, and the form of the answer. Raises APIError 400."""
    wanted = fields_wanted(request, fields)
    if "object" not in wanted:
        raise errors.bad_request("name an object: object=pod/NAME")
    output = wanted.get("output", "json")
    if output not in outputs:
        raise errors.bad_request(f"output is neither {' nor '.join(outputs)}")
    return wanted, str(output)


def fields_wanted(request: Request, fields: tuple[str, ...]) -> Tree:
    """The fields of the body and of the query.

    Raises APIError 415 for a body that says it is no JSON, as a page's form does; 400 for what is
    none.
    """
    body = _body(request)
    wanted: Tree = {name: values[0] for name, values in request.query.items()} | body
    unknown = [name for name in wanted if name not in fields and name not in ("kind", "apiVersion")]
    if unknown:
        raise errors.bad_request(f"unknown field {unknown[0]!r}: known are {', '.join(fields)}")
    if not any(name in wanted for name in fields):
        raise errors.bad_request(f"nothing to do: give one of {', '.join(fields)}")
    return wanted


def _body(request: Request) -> Tree:
    """The fields of the body. Raises APIError 415 and 400 as ``_wanted``."""
    kind = request.headers.get("content-type")
    if kind is not None and kind.partition(";")[0].strip().lower() != JSON:
        raise errors.unsupported_media_type(f"the body is to be {JSON}, and its Content-Type is {go_quote(kind)}")
    try:
        body: Any = orjson.loads(request.body) if request.body else {}
    except orjson.JSONDecodeError as error:
        raise errors.bad_request(f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise errors.bad_request("the body is no JSON object")
    return body


def _clock_wanted(request: Request) -> Tree:
    """What is wanted of the clock. Raises APIError 400 also for two that exclude each other."""
    wanted = fields_wanted(request, CLOCK_FIELDS)
    if "advance" in wanted and "set" in wanted:
        raise errors.bad_request("give either advance or set")
    if not isinstance(wanted.get("advance", 0), str | int | float) or isinstance(wanted.get("advance"), bool):
        raise errors.bad_request("advance is no duration: say 1h30m, 90s or a number of seconds")
    return wanted


def _boolean(wanted: Tree) -> bool | None:
    value = wanted.get("paused")
    if value is None or isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise errors.bad_request("paused is neither true nor false")


def _json(tree: Tree) -> Response:
    return Response(200, orjson.dumps(tree, option=orjson.OPT_APPEND_NEWLINE))

def encoded_trace(found: "Trace", output: str) -> bytes:
    """A trace as ``text``, ``json`` or ``chrome``."""
    if output == "text":
        return f"{found}\n".encode()
    tree = found.chrome() if output == "chrome" else {"kind": "Trace", "apiVersion": API_VERSION, **found.tree()}
    return orjson.dumps(tree, option=orjson.OPT_APPEND_NEWLINE)
