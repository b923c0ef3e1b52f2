"""A trace in Chrome's trace event format, which Perfetto and chrome://tracing open.

A track for each component and each client; on it a slice for each reconcile, and in that one for
each request that changed something; an arrow from each change to those that it led to. A history
knows when a request came and not how long it took: a request is one microsecond long.

Format: "Trace Event Format", by the authors of Chrome's catapult; JSON Object Format.
"""

from collections.abc import Iterator
from itertools import groupby

from fakekube.apimachinery.types import Tree
from fakekube.tracing.steps import Causes, Step, action_of, component_of, moments
from fakekube.util.treediff import shown

PROCESS = 1


def of(causes: Causes) -> Tree:
    """The trace as a JSON object of that format."""
    told = list(zip(causes.steps, moments(causes), strict=True))
    tracks: dict[str, list[tuple[Step, int]]] = {}
    for step, moment in told:
        tracks.setdefault(component_of(step), []).append((step, moment))
    events = [_name("process_name", 0, f"fakekube: {causes.object}")]
    at: dict[int, tuple[int, int]] = {}  # by revision, track and time
    for number, (track, on_it) in enumerate(tracks.items(), 1):
        events += [_name("thread_name", number, track), _sorted(number), *_slices(number, on_it)]
        at |= {step.revision: (number, moment) for step, moment in on_it}
    for step, moment in told:
        if step.led_by:
            events += _arrow(step, at[step.led_by], (at[step.revision][0], moment))
    return {
        "traceEvents": events, "displayTimeUnit": "ms",
        "otherData": {"object": causes.object, "seed": causes.seed, "started": causes.started}}


def _slices(track: int, on_it: list[tuple[Step, int]]) -> Iterator[Tree]:
    for (component, key, acted_on), group in groupby(on_it, lambda entry: (entry[0].component, entry[0].key, entry[0].acted_on)):
        together = list(group)
        if component:
            begin, end = together[0][1], together[-1][1] + 1
            args = {name: text for name, text in (("component", component), ("key", key), ("acted on", acted_on)) if text}
            yield _slice(f"{component} {key}".rstrip(), "reconcile", track, begin, end - begin, args)
        for step, moment in together:
            yield _slice(action_of(step), "request", track, moment, 1, _args(step))


def _args(step: Step) -> Tree:
    args: Tree = {"version": step.revision, "object": step.object, "change": step.type}
    if step.request is not None:
        args |= {"method": step.request.method, "path": step.request.path, "user": step.request.user,
                 "user agent": step.request.user_agent}
    if step.origin:
        args["cause"] = {
            "Server": "the server itself", "Request": "only the request is known",
            "Component": "a component that acted on no change that is known",
            "Forgotten": f"version {step.acted_on}, which is not retained"}[step.origin]
    if step.left_out:
        args["changes left out before it"] = step.left_out
    if step.fault:
        args["fault"] = step.fault
    if step.fields:
        args["fields"] = {field.path: f"{shown(field.old)} -> {shown(field.new)}" for field in step.fields}
    return args


def _arrow(step: Step, cause: tuple[int, int], effect: tuple[int, int]) -> list[Tree]:
    arrow = {"name": "led to", "cat": "cause", "id": step.revision, "pid": PROCESS}
    return [
        {**arrow, "ph": "s", "tid": cause[0], "ts": cause[1]},
        {**arrow, "ph": "f", "bp": "e", "tid": effect[0], "ts": effect[1]}]


def _slice(name: str, category: str, track: int, begin: int, length: int, args: Tree) -> Tree:
    return {"name": name, "cat": category, "ph": "X", "pid": PROCESS, "tid": track, "ts": begin, "dur": length, "args": args}


def _name(what: str, track: int, name: str) -> Tree:
    return {"name": what, "ph": "M", "pid": PROCESS, "tid": track, "args": {"name": name}}


def _sorted(track: int) -> Tree:
    return {"name": "thread_sort_index", "ph": "M", "pid": PROCESS, "tid": track, "args": {"sort_index": track}}
