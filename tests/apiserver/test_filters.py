"""What every request passes: who asks, what is noted, and what happens when the server itself is
wrong.
"""

import logging

import pytest

from fakekube.apimachinery.http import UserInfo
from tests.apiserver.conftest import Api


@pytest.mark.spec("API-168")
async def test_bearer_tokens(api: Api) -> None:
    """Given a known token, an unknown one and none / when requests carry them / then a user, a 401,
    the administrator.
    """
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    url = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    async def name(headers: dict[str, str]) -> str:
        return str((await api("POST", url, review, headers)).tree["status"]["userInfo"]["username"])

    assert await name({"authorization": "Bearer secret"}) == "robin"
    assert await name({}) == "kubernetes-admin"
    refused = await api("GET", "/nope", headers={"authorization": "Bearer guess"})
    assert (refused.status, refused.message, "details" in refused.tree) == (401, "Unauthorized", False)


async def test_a_token_review_keeps_its_managed_fields(api: Api) -> None:
    """Given a review of a token / when it is answered / then its metadata says who set the fields
    of the question.
    """
    review = {"metadata": {"name": "mine"}, "spec": {"token": "guess"}}
    told = await api("POST", "/apis/authentication.k8s.io/v1/tokenreviews?fieldManager=me", review)
    [entry] = told.tree["metadata"]["managedFields"]
    assert told.tree["metadata"]["name"] == "mine"
    assert (entry["manager"], entry["operation"], entry["fieldsV1"]) == ("me", "Update", {"f:spec": {"f:token": {}}})


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
async def test_system_priority_classes_cannot_be_deleted(api: Api, name: str) -> None:
    """Given a class that comes with the cluster / when it is deleted / then 403 says why, and it is
    still there.
    """
    url = "/apis/scheduling.k8s.io/v1/priorityclasses"
    refused = await api("DELETE", f"{url}/{name}")
    assert (refused.status, refused.tree["reason"]) == (403, "Forbidden")
    assert refused.message == (
        f'priorityclasses.scheduling.k8s.io "{name}" is forbidden: this is a system priority class and cannot be deleted')
    assert (await api("GET", f"{url}/{name}")).status == 200
    await api("POST", url, {"metadata": {"name": "mine"}, "value": 1})
    assert (await api("DELETE", f"{url}/mine")).status == 200


async def test_token_request_for_too_short_a_time(api: Api) -> None:
    """Given an account / when a token for five seconds is asked for / then 422 names the field."""
    await api("POST", "/api/v1/namespaces/t/serviceaccounts", {"metadata": {"name": "bot"}})
    answer = await api(
        "POST", "/api/v1/namespaces/t/serviceaccounts/bot/token", {"spec": {"audiences": [], "expirationSeconds": 5}}
    )
    assert answer.status == 422
    assert answer.tree["details"]["causes"][0]["field"] == "spec.expirationSeconds"


async def test_request_log_tells_what_was_asked(api: Api) -> None:
    """Given requests / when the log is read / then each has its verb, resource, user, agent and
    code.
    """
    await api("GET", "/api/v1/namespaces/t/pods?watch=0", headers={"user-agent": "me/1"}, user=UserInfo("ann"))
    *_, entry = api.server.log
    assert (entry.verb, entry.resource, entry.namespace, entry.user, entry.user_agent, entry.code) == (
        "list",
        "pods",
        "t",
        "ann",
        "me/1",
        200,
    )


async def test_panic_is_an_internal_error(api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Given an endpoint that breaks / when it is asked / then 500 InternalError, and a traceback in
    the log.
    """

    def broken(*_: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr(api.server.routes, "find", broken)
    with caplog.at_level(logging.CRITICAL + 1, logger="fakekube"):
        answer = await api("GET", "/api/v1/pods")
    assert (answer.status, answer.tree["reason"]) == (500, "InternalError")
    assert answer.message == "Internal error occurred: RuntimeError: oops"


async def test_timeout_that_is_no_duration(api: Api) -> None:
    """Given ?timeout= / when it is a duration or not / then it is let pass, or refused in Go's
    words.
    """
    assert (await api("GET", "/api/v1/pods?timeout=1m30s")).status == 200
    answer = await api("GET", "/api/v1/pods?timeout=soon")
    assert answer.message == 'invalid timeout specified in the request URL - time: invalid duration "soon"'


@pytest.mark.spec("API-169")
@pytest.mark.parametrize(("headers", "name", "groups"), [
    ({"impersonate-user": "ann"}, "ann", ["system:authenticated"]),
    ({"impersonate-user": "ann", "impersonate-group": "a, b"}, "ann", ["a", "b", "system:authenticated"]),
    ({"impersonate-user": "system:serviceaccount:t:bot"}, "system:serviceaccount:t:bot",
     ["system:serviceaccounts", "system:serviceaccounts:t", "system:authenticated"]),
    ({"impersonate-user": "system:anonymous"}, "system:anonymous", ["system:unauthenticated"]),
    ({"impersonate-user": ""}, "kubernetes-admin", ["system:masters", "system:authenticated"]),
])
async def test_impersonation(api: Api, headers: dict[str, str], name: str, groups: list[str]) -> None:
    """Given impersonation headers / when a client asks who it is / then it is that user, in the
    groups that follow.
    """
    answer = await api("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, headers)
    user = answer.tree["status"]["userInfo"]
    assert (user["username"], user["groups"]) == (name, groups)


@pytest.mark.spec("API-169")
async def test_impersonation_without_a_user(api: Api) -> None:
    """Given groups but no user / when anything is asked / then 400."""
    answer = await api("GET", "/api", headers={"impersonate-group": "devs"})
    assert answer.status == 400
    assert answer.message.endswith(" without impersonating a user name")
    extra = {"impersonate-user": "ann", "impersonate-uid": "u", "impersonate-extra-probe.dev%2fkey": "b"}
    told = await api("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, extra)
    assert told.tree["status"]["userInfo"]["extra"] == {"probe.dev/key": ["b"]}


WS_TOKEN = "base64url.bearer.authorization.k8s.io."


@pytest.mark.parametrize(("offered", "user"), [
    (f"{WS_TOKEN}c2VjcmV0, v1", "robin"), (f"v1, {WS_TOKEN}c2VjcmV0", "robin"), (f"{WS_TOKEN}, v1", "kubernetes-admin"),
    (f"{WS_TOKEN}c2VjcmV0", None), (f"{WS_TOKEN}a, v1", None), (f"{WS_TOKEN}=!, v1", None), (f"{WS_TOKEN}__4, v1", None),
    (f"{WS_TOKEN}c2VjcmV0, {WS_TOKEN}c2VjcmV0, v1", None), (f"{WS_TOKEN}bm8, v1", None),
])
async def test_tokens_of_browsers(api: Api, offered: str, user: str | None) -> None:
    """Given a token among the sub-protocols of a WebSocket / when it is sound and not alone / then
    it counts, else a 401.
    """
    url = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    headers = {"upgrade": "websocket", "connection": "upgrade", "sec-websocket-protocol": offered}
    answer = await api("POST", url, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}, headers)
    assert answer.status == (201 if user else 401)
    if user:
        assert answer.tree["status"]["userInfo"]["username"] == user
    plain = await api("GET", "/version", headers={"sec-websocket-protocol": offered})
    assert plain.status == 200
