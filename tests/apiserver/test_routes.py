"""Which path and method lead where, and what is said of those that lead nowhere."""

import pytest

from tests.apiserver.conftest import Api

NOT_FOUND = "the server could not find the requested resource"
NOT_ALLOWED = "the server does not allow this method on the requested resource"


@pytest.mark.spec("API-007", "API-008")
@pytest.mark.parametrize("path", [
    "/api/v1/nopes", "/api/v1/namespaces/t/nopes/x", "/apis/batch/v9", "/apis/batch/v9/namespaces/t/jobs", "/api/v2/pods",
    "/api/v1/namespaces/t/nodes", "/api/v1/pods/x", "/api/v1/namespaces/t/configmaps/x/status",
    "/api/v1/namespaces/t/pods/x/log/more",
])
async def test_path_without_a_route_in_a_known_group(api: Api, path: str) -> None:
    """Given a known group / when a path in it leads nowhere / then a Status 404 without details
    says so.
    """
    answer = await api("GET", path)
    assert (answer.status, answer.message, answer.tree["details"]) == (404, NOT_FOUND, {})


@pytest.mark.spec("API-006", "API-008")
@pytest.mark.parametrize("path", ["/nope", "/apis/nope", "/apis/nope.example/v1/things", "/readyz/nope"])
async def test_path_that_nothing_claims(api: Api, path: str) -> None:
    """Given no such group or path / when it is asked for / then 404 in plain text."""
    answer = await api("GET", path)
    assert (answer.status, answer.response.body) == (404, b"404 page not found\n")
    assert answer.headers("X-Content-Type-Options") == ["nosniff"]


@pytest.mark.parametrize(("method", "path"), [
    ("POST", "/api/v1/namespaces/t/configmaps/a"), ("PUT", "/api/v1/namespaces/t/configmaps"), ("POST", "/api/v1/configmaps"),
    ("DELETE", "/api/v1/configmaps"), ("DELETE", "/api/v1/namespaces"), ("GET", "/api/v1/namespaces/t/pods/p/eviction"),
    ("HEAD", "/api/v1/namespaces/t/configmaps"), ("OPTIONS", "/api/v1/namespaces/t/configmaps"), ("POST", "/version"),
    ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"), ("PATCH", "/api/v1/namespaces/t/finalize"),
])
async def test_method_that_a_path_does_not_have(api: Api, method: str, path: str) -> None:
    """Given a path that is there / when it is asked with a method it has not / then 405 in the
    router's words.
    """
    answer = await api(method, path)
    assert (answer.status, answer.message, answer.tree["details"]) == (405, NOT_ALLOWED, {})


@pytest.mark.spec("API-088")
async def test_watch_paths_of_the_old_form(api: Api) -> None:
    """Given objects / when they are watched by /watch/ paths / then all, those of a namespace, or
    the named one is told.
    """
    for name in ("a", "b"):
        await api("POST", "/api/v1/namespaces/t/secrets", {"metadata": {"name": name}})
    for path, names in (("secrets", ["a", "b"]), ("namespaces/t/secrets", ["a", "b"]), ("namespaces/t/secrets/b", ["b"])):
        receiver = await api.watch(f"/api/v1/watch/{path}")
        assert [event["object"]["metadata"]["name"] for event in receiver.events] == names


async def test_deprecated_kind_warns_in_every_answer(api: Api) -> None:
    """Given the Endpoints API / when it is asked, even for what is not there / then a warning names
    its successor.
    """
    answer = await api("GET", "/api/v1/namespaces/t/endpoints/nope")
    assert answer.status == 404
    assert answer.warnings == ['299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"']
