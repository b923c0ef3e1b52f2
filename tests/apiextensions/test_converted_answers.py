"""What is answered where a webhook has to convert and does not, and what a watch of it is."""

from typing import Any

import pytest

from tests.apiextensions.definitions import custom_object, definition
from tests.apiextensions.test_conversion import CLIENT, V1, V2, VERSIONS, Webhook, turns, webhook
from tests.apiextensions.test_serving import create
from tests.apiserver.conftest import Api, api

__all__ = ["api", "webhook"]

WHY = "conversion webhook for probe.dev/v1, Kind=Widget failed: no"


@pytest.fixture
async def failing(api: Api, webhook: Webhook) -> Webhook:
    """A webhook that says no to everything, once an object is there."""
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    await create(api, custom_object("a", spec={"size": 1}), V1)
    webhook.change = lambda response: {**response, "result": {"status": "Failure", "message": "no"}}
    return webhook


@pytest.mark.parametrize(("method", "path", "code", "reason", "prefix"), [
    ("GET", "/a", 500, "InternalError", "Internal error occurred: "), ("GET", "", 500, "StorageReadError", ""),
    ("DELETE", "/a", 500, "InternalError", "Internal error occurred: "),
])
async def test_what_cannot_be_converted_cannot_be_read(
    api: Api, failing: Webhook, method: str, path: str, code: int, reason: str, prefix: str,
) -> None:
    """Given an object that cannot be converted, when it is read, listed or deleted in that version,
    then 500 says so, with upstream's reason, and it stays; in the stored version it can be read.
    """
    answer = await api(method, f"{V2}{path}")
    assert (answer.status, answer.tree["code"], answer.tree["reason"], answer.message) == (code, code, reason, prefix + WHY)
    assert (await api("GET", f"{V1}/a")).tree["spec"] == {"size": 1}


async def test_a_watch_of_what_is_converted_is_a_watch(api: Api, webhook: Webhook) -> None:
    """Given an object in another version, when it is watched there, then the answer is a watch that
    the server knows, begins with the object, and is gone once it stops.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    await create(api, custom_object("a", spec={"size": 1}), V1)
    answer = (await api("GET", f"{V2}?watch=1")).response
    assert (answer.status, answer.content_type, answer.is_watch) == (200, "application/json", True)
    [known] = [each for each in api.server.services.watches if each.response is answer]
    assert known.info.verb == "watch"
    assert answer.stream is not None
    events: list[Any] = []

    class Ear:
        def send(self, frame: Any) -> None:
            events.append(frame.tree)

        def end(self) -> None:
            events.append(None)

    answer.stream.start(Ear())
    await turns()
    assert [(event["type"], event["object"]["spec"]) for event in events] == [("ADDED", {"width": 1})]
    answer.stream.stop()
    assert list(api.server.services.watches) == []
