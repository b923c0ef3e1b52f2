"""An HTTP archive has what HAR 1.2 asks for, so that a browser's developer tools open it."""

import json
from typing import Any

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS
from fakekube.recording import exchanges, har
from fakekube.recording.recorder import Recorder

REQUIRED = {
    "log": {"version", "creator", "entries"},
    "creator": {"name", "version"},
    "page": {"startedDateTime", "id", "title", "pageTimings"},
    "entry": {"startedDateTime", "time", "request", "response", "cache", "timings", "pageref"},
    "request": {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"},
    "response": {
        "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize"},
    "content": {"size", "mimeType", "text"},
    "timings": {"send", "wait", "receive"},
}
"""The fields that the format's specification does not call optional."""


async def archive() -> dict[str, Any]:
    lines: list[bytes] = []
    recorder = Recorder(lines.append)
    recorder.test = "test_a.py::test_one"
    async with Cluster(nodes=0, clock="manual", controllers="", record=recorder) as cluster:
        client = cluster.client
        async with await client.watch(CONFIG_MAPS, "default") as events:
            await client.create(CONFIG_MAPS, {"metadata": {"name": "x"}, "data": {"a": "ü"}}, field_manager="me")
            await anext(events)
        await cluster.advance(90)
        await client.delete(CONFIG_MAPS, "x")
    made: dict[str, Any] = json.loads(har.archive(exchanges.parse(b"".join(lines).splitlines())))
    return made


async def test_an_archive_has_all_required_fields() -> None:
    """Given a recording with a write, a watch and a deletion / when an archive is made of it / then
    every object has the fields that HAR 1.2 requires, and times are in order.
    """
    log = (await archive())["log"]
    assert log["version"] == "1.2"
    assert set(log) >= REQUIRED["log"]
    assert set(log["creator"]) == REQUIRED["creator"]
    assert [page["title"] for page in log["pages"]] == ["test_a.py::test_one"]
    assert all(set(page) == REQUIRED["page"] for page in log["pages"])
    for entry in log["entries"]:
        assert set(entry) == REQUIRED["entry"]
        assert set(entry["request"]) - {"postData"} == REQUIRED["request"]
        assert set(entry["response"]) == REQUIRED["response"]
        assert set(entry["response"]["content"]) >= REQUIRED["content"]
        assert set(entry["timings"]) == REQUIRED["timings"]
        assert entry["pageref"] == log["pages"][0]["id"]
    assert [entry["startedDateTime"] for entry in log["entries"]] == [
        "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:01:30.000Z"]


async def test_an_archive_tells_what_was_sent() -> None:
    """Given the same / when its entries are read / then queries, bodies, codes and the events of
    the watch are there.
    """
    watch, create, delete = (await archive())["log"]["entries"]
    assert {"name": "fieldManager", "value": "me"} in create["request"]["queryString"]
    assert set(create["request"]["postData"]) == {"mimeType", "text"}  # it has either a text or params
    assert create["request"]["url"].endswith("/api/v1/namespaces/default/configmaps?fieldManager=me")
    assert json.loads(create["request"]["postData"]["text"])["data"] == {"a": "ü"}
    assert (create["response"]["status"], create["response"]["statusText"]) == (201, "Created")
    assert json.loads(create["response"]["content"]["text"])["metadata"]["name"] == "x"
    assert json.loads(watch["response"]["content"]["text"])["type"] == "ADDED"
    assert (delete["request"]["method"], delete["response"]["status"]) == ("DELETE", 200)
