"""The file of a recording: lines of JSON, to which lines can be added at any time.

    {"type": "cluster", "format": FORMAT, "cluster": "0", "release": "1.37", "time": 0.0, ...}
    {"type": "setup", "cluster": "0", "registered": [{...}]}
    {"type": "request", "cluster": "0", "number": 1, "time": 0.0, "method": "POST", "path": ...,
     "body": {...}, "code": 201, "answer": {...}}
    {"type": "event", "cluster": "0", "number": 2, "time": 0.0, "latest": 3, "event": {...}}
    {"type": "end", "cluster": "0", "number": 2, "time": 0.0, "latest": 4}

``number`` counts the requests of a cluster in the order in which they came; a line comes when the
answer does. ``registered`` are the configurations of webhooks that are functions of the recorded
process. Events are those of the stream that answers the request of that number; ``latest`` is
the number of the request that came last before them. A body is
``body`` where it is JSON, else ``bodyText`` or ``bodyBase64``; answers likewise. Times are Unix
seconds of the cluster's clock. ``fault`` names the faults that a request, or the stream that
answers it, has met; then ``served`` is false where the server did not do what was asked, and
``told`` where the answer is not the one that it gives otherwise.
"""

import base64
from collections.abc import Mapping

import orjson

from fakekube.apimachinery import yaml
from fakekube.apimachinery.http import Frame, Headers, MetFault
from fakekube.apimachinery.types import Json, Tree
from fakekube.endpoints import requestinfo
from fakekube.recording import masking

JSON = "application/json"
FORMAT = "fakekube-recording/1"


class RecordingError(Exception):
    """A file that is no recording; the text says which line and why."""


def dump(line: Tree) -> bytes:
    """One line."""
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def of_answer(
    cluster: str, number: int, test: str, time: float, until: float, method: str, path: str,
    query: Mapping[str, list[str]], headers: Mapping[str, str], canonical: bool, user: str, groups: tuple[str, ...],
    body: bytes, code: int, content_type: str, answer_headers: Headers, answer: bytes, stream: str, fault: MetFault | None = None,
    *, secrets: bool,
) -> bytes:
    """The line of an answered request; without ``secrets`` what is secret is masked.

    ``canonical`` is that of the Request; ``stream`` is ``watch``, ``text`` or ``session`` where the
    answer is no body.
    """
    hide = not secrets and _hides(path)
    line: Tree = {
        "type": "request", "cluster": cluster, "number": number, "time": time, "until": until, "method": method, "path": path,
        "query": query, "headers": headers if secrets else masking.headers(headers)}
    if test:
        line["test"] = test
    if user:
        line["user"], line["groups"] = user, groups
    if body:
        line |= _content("body", body, hide=hide, is_json=canonical)
    line |= {"code": code, "contentType": content_type, "answerHeaders": answer_headers}
    if hide:
        line["masked"] = True
    if fault is not None:
        line |= _of_fault(fault)
    if stream:
        line["stream"] = stream
    elif answer:
        line |= _content("answer", answer, hide=hide, is_json=content_type == JSON)
    return dump(line)


def of_frame(
    cluster: str, number: int, time: float, frame: Frame | None, path: str, latest: int, fault: MetFault | None = None, *,
    secrets: bool,
) -> bytes:
    """The line of a frame, or of the end of a stream, whichever side ended it; ``path`` is what was
    asked for, ``latest`` the number of the latest request, ``fault`` what the stream has met.
    """
    line: Tree = {
        "type": "end" if frame is None else "event", "cluster": cluster, "number": number, "time": time, "latest": latest}
    if fault is not None:
        line |= _of_fault(fault)
    if frame is not None:
        line |= _content("event", frame.data, hide=not secrets and _hides(path), is_json=frame.is_json)
    return dump(line)


def _of_fault(fault: MetFault) -> Tree:
    return {"fault": fault.names, "served": fault.served, "told": fault.told}


def _hides(path: str) -> bool:
    if not any(word in path for word in masking.WORDS):
        return False
    info = requestinfo.parse("GET", path, {})
    return masking.hides(info.resource, info.subresource)


def _content(name: str, data: bytes, *, hide: bool, is_json: bool) -> Tree:
    """A body by what it is: JSON, text or bytes. Of what is hidden and cannot be read, nothing.

    ``is_json`` says that it is JSON for certain, which goes on as it is if it stands on one line.
    """
    if is_json and not hide and data.find(b"\n", 0, -1) < 0:
        return {name: orjson.Fragment(data.rstrip(b"\n"))}
    try:
        tree = orjson.loads(data)
        return {name: masking.masked(tree) if hide else tree}
    except orjson.JSONDecodeError:
        pass
    if hide:
        return _hidden(name, data)
    try:
        return {f"{name}Text": data.decode()}
    except UnicodeDecodeError:
        return {f"{name}Base64": base64.b64encode(data).decode()}


def _hidden(name: str, data: bytes) -> Tree:
    try:
        tree, _ = yaml.load(data)
    except yaml.YAMLError:
        tree = None
    return {name: masking.masked(tree)} if isinstance(tree, dict) else {f"{name}Text": masking.MASK}


def body_of(line: Tree, name: str = "body") -> bytes:
    """The bytes of a body of a line, or none; JSON is written anew."""
    if name in line:
        return orjson.dumps(line[name])
    if f"{name}Text" in line:
        return str(line[f"{name}Text"]).encode()
    return base64.b64decode(line.get(f"{name}Base64", ""))


def tree_of(line: Tree, name: str = "answer") -> Json:
    """A body as a tree, or as a text; None where there is none, or bytes."""
    return line.get(name, line.get(f"{name}Text"))
