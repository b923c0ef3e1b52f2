"""Whatever comes, and whatever breaks, a request is answered: the server's guard stands around
everything.
"""

import orjson
import pytest

from fakekube.apimachinery.http import Request
from tests.apiserver.conftest import Api


@pytest.mark.parametrize("path", ["/api/v1/namespaces/t/configmaps", "/api/v1/configmaps", "/apis/batch/v1/watch/jobs"])
async def test_what_breaks_the_reading_of_a_request_line_is_a_panic_and_no_more(
    api: Api, path: str, caplog: pytest.LogCaptureFixture,
) -> None:
    """Given a caller in the same process whose query holds what no query can / when its request is
    handled Then it is answered with a Status, it is in the log of requests, and the next one is
    served.
    """
    answer = await api.server.handle(Request("GET", path, {"fieldSelector": [7]}))  # type: ignore[list-item]
    assert (answer.status, orjson.loads(answer.body)["reason"]) == (500, "InternalError")
    assert [record.message.split(" ")[0] for record in caplog.records] == ["panic"]
    assert [(entry.path, entry.code) for entry in api.server.log][-1] == (path, 500)
    assert (await api("GET", "/api/v1/namespaces/t/configmaps")).status == 200


@pytest.mark.parametrize("name", ["watch", "fieldSelector", "labelSelector", "limit", "timeout", "dryRun", "resourceVersion"])
@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/api/v1/namespaces/t/configmaps"), ("GET", "/api/v1/configmaps"), ("POST", "/api/v1/namespaces/t/configmaps"),
    ("DELETE", "/api/v1/namespaces/t/configmaps"),
])
async def test_a_parameter_without_any_value_is_as_good_as_none(api: Api, method: str, path: str, name: str) -> None:
    """Given a query that names a parameter and no value at all, as Go's url.Values can
    When it is handled / then the answer is that of a query without the parameter."""
    body = orjson.dumps({"metadata": {"generateName": "x-"}}) if method == "POST" else b""
    headers = {"content-type": "application/json"} if body else {}
    expected = await api.server.handle(Request(method, path, {}, headers, body))
    answer = await api.server.handle(Request(method, path, {name: []}, headers, body))
    assert (answer.status, answer.stream) == (expected.status, None)
