"""A recording as an HTTP archive, which browsers' developer tools open.

Format: HAR 1.2. A watch is one entry whose content has an event a line, as it was sent.
"""

from datetime import UTC, datetime
from http import HTTPStatus
from importlib import metadata
from typing import Any
from urllib.parse import quote

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.client.http import PATH_SAFE
from fakekube.recording import lines
from fakekube.recording.exchanges import Exchange, Recording

HTTP_VERSION = "HTTP/1.1"
HOST = "http://127.0.0.1"


def archive(recording: Recording) -> bytes:
    """The text of the archive."""
    creator = {"name": "fakekube", "version": metadata.version("fakekube")}
    pages = [
        {"startedDateTime": _moment(exchanges[0].line["time"]), "id": _page(test, cluster), "title": test or f"cluster {cluster}",
         "pageTimings": {}}
        for test, cluster, exchanges in recording.conversations()]
    entries = [_entry(exchange) for exchange in recording.exchanges]
    return orjson.dumps(
        {"log": {"version": "1.2", "creator": creator, "pages": pages, "entries": entries}}, option=orjson.OPT_INDENT_2)


def _page(test: str, cluster: str) -> str:
    return f"{cluster} {test}".strip()


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entry(exchange: Exchange) -> Tree:
    line = exchange.line
    ends = exchange.told[-1].time if exchange.told else float(line.get("until") or line["time"])
    milliseconds = max(0.0, (ends - line["time"]) * 1000)
    entry = {
        "pageref": _page(exchange.test, exchange.cluster), "startedDateTime": _moment(line["time"]), "time": milliseconds,
        "request": _request(exchange), "response": _response(exchange), "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0}}
    fault = exchange.fault
    if fault is not None:
        how = "" if fault.served else "; the server did not do what was asked"
        entry["comment"] = f"met the fault {fault.names}{how}"
    return entry


def _request(exchange: Exchange) -> Tree:
    pairs = [(name, value) for name, values in exchange.query.items() for value in values]
    text = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
    body = lines.body_of(exchange.line)
    headers: dict[str, Any] = exchange.line.get("headers") or {}
    made: Tree = {
        "method": exchange.method, "url": f"{HOST}{quote(exchange.path, safe=PATH_SAFE)}{'?' if text else ''}{text}",
        "httpVersion": HTTP_VERSION, "cookies": [], "headers": _named(headers.items()), "queryString": _named(pairs),
        "headersSize": -1, "bodySize": len(body)}
    if body:
        made["postData"] = {
            "mimeType": headers.get("content-type", "application/json"), "text": body.decode(errors="replace")}
    return made


def _response(exchange: Exchange) -> Tree:
    line = exchange.line
    content: Tree = {"mimeType": line.get("contentType", "")}
    if exchange.told:
        text = "".join(_event(told.event) for told in exchange.told)
    elif "answerBase64" in line:
        text, content["encoding"] = line["answerBase64"], "base64"
    else:
        text = lines.body_of(line, "answer").decode()
    size = len(lines.body_of(line, "answer")) if not exchange.told else len(text.encode())
    return {
        "status": exchange.code, "statusText": _phrase(exchange.code), "httpVersion": HTTP_VERSION, "cookies": [],
        "headers": _named(line.get("answerHeaders") or ()), "content": {"size": size, **content, "text": text},
        "redirectURL": "", "headersSize": -1, "bodySize": size}


def _event(event: Any) -> str:
    return event if isinstance(event, str) else f"{orjson.dumps(event).decode()}\n"


def _named(pairs: Any) -> list[Tree]:
    return [{"name": str(name), "value": str(value)} for name, value in pairs]


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return ""
