"""A conversation: requests one after the other, and every answer as a client sees it.

``python -m tests.endpoints.conversations.conversation [NAME...]`` holds them and writes down the
answers, for review: the difference to what stood there is the change in behaviour.
"""

import json
import re
import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from fakekube.apimachinery.http import Request
from tests.fuzz.conftest import APPLY, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC, YAML, Ear, Hurried, Target

FOLDER = Path(__file__).parent
MEDIA = {"json": JSON, "merge": MERGE_PATCH, "strategic": STRATEGIC, "jsonpatch": JSON_PATCH, "apply": APPLY, "yaml": YAML}
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
REVISION = re.compile(
    r'("resourceVersion": "|resourceVersion\\+":\\+"|resourceVersion: \\"|current: |in record \(|object meta: |"rv":)([0-9]+)')
TOKEN = re.compile(r"(eyJ[\w-]+)(?:\.(eyJ[\w-]+)\.[\w-]+)?")
HASH = re.compile("[0-9A-F]{128}")
RANDOM = ("Audit-Id", "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid", "Date", "Content-Length")


def conversations() -> list[str]:
    """The names of all."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


def hold(name: str) -> list[str]:
    """Each request, and its answer: status, headers, body, or the frames of a watch."""
    tree = yaml.load((FOLDER / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    target, uids = Target(**tree.get("options", {})), dict[str, str]()
    began = target.storage.revision

    def since(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) - began}"

    try:
        lines = [line for each in tree["requests"] for line in _asked(target, each)]
    finally:
        target.loop.close()
    lines = [TOKEN.sub(_opened, line) for line in lines]
    lines = [UID.sub(lambda found: uids.setdefault(found[0], f"uid-{len(uids)}"), line) for line in lines]
    return [HASH.sub("HASH", REVISION.sub(since, line)) for line in lines]


def _asked(target: Target, request: dict[str, Any]) -> Iterator[str]:
    """``POST PATH?a=b`` with ``body``, ``as`` a media type, and ``headers``."""
    ((line, rest),) = request.items()
    rest = rest or {}
    method, _, url = line.partition(" ")
    path, _, query = url.partition("?")
    body = rest.get("body", b"")
    data = body.encode() if isinstance(body, str) else orjson.dumps(body) if body != b"" else b""
    pairs: dict[str, Any] = dict(pair.partition("=")[::2] for pair in query.split("&") if pair) | rest.get("query", {})
    asked = {name: [value] if isinstance(value, str) else value for name, value in pairs.items()}
    media = MEDIA.get(rest.get("as", "json"), rest.get("as", ""))
    headers = {"content-type": media, "authorization": f"Bearer {target.identity.token}", **rest.get("headers", {})}
    answer = target.loop.run_until_complete(
        target.server.handle(Request(method, path, asked, headers, data, patience=Hurried())))
    yield f"{line} {json.dumps(rest['query']) if 'query' in rest else ''}".strip()
    yield f"    {answer.status} {answer.content_type}"
    for name, value in answer.headers:
        if name not in RANDOM:
            yield f"    {name}: {value}"
    if answer.body:
        yield f"    {_text(answer.body)}"
    if answer.stream is not None:
        ear = Ear()
        answer.stream.start(ear)
        answer.stream.stop()
        for frame in ear.frames:
            yield f"    frame {_text(frame)}"


def _text(data: bytes) -> str:
    try:
        return json.dumps(orjson.loads(data), ensure_ascii=False)
    except orjson.JSONDecodeError:
        return repr(data)


def _opened(token: re.Match[str]) -> str:
    """What a token says, without its signature."""
    return ".".join(urlsafe_b64decode(part + "==").decode() for part in token.groups() if part)


def main(names: list[str]) -> None:
    """Write them down."""
    for name in names or conversations():
        (FOLDER / f"{name}.txt").write_text("\n".join(hold(name)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
