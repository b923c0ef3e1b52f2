"""Documents of paths that name no resource, whole."""

import pytest

from tests.apiserver.conftest import Api


async def test_what_the_root_lists(api: Api) -> None:
    """Given a server / when its root is read / then it lists every group, version and check, sorted
    and once.
    """
    for path in ("/", "/index.html"):
        paths = (await api("GET", path)).tree["paths"]
        assert paths == sorted(set(paths))
        assert {
            "/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/", "/apis/apps", "/apis/apps/v1", "/healthz",
            "/healthz/ping", "/index.html", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/openid/v1/jwks",
            "/readyz", "/version"} <= set(paths)
        assert not any(each.startswith("/api/v1/") or "//" in each for each in paths)


async def test_keys_and_their_issuer(api: Api) -> None:
    """Given a server / when its keys are asked for / then document, types and caching are
    upstream's, by the host that was asked.
    """
    for headers, where in (({}, "https://kubernetes.default.svc"), ({"host": "h:1"}, "https://h:1")):
        answer = await api("GET", "/.well-known/openid-configuration", headers=headers)
        assert answer.tree == {
            "issuer": "https://kubernetes.default.svc", "jwks_uri": f"{where}/openid/v1/jwks",
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"]}
        assert answer.headers("Cache-Control") == ["public, max-age=3600"]
        assert answer.response.content_type == "application/json"
    keys = await api("GET", "/openid/v1/jwks")
    assert (keys.response.content_type, keys.headers("Cache-Control")) == ("application/jwk-set+json", ["public, max-age=3600"])
    assert keys.response.body.startswith(b'{"keys":[{"use":"sig","kty":"RSA","kid":"')


async def test_metrics(api: Api) -> None:
    """Given a server / when its metrics are read / then they count requests and kinds in the text
    form of Prometheus.
    """
    answer = await api("GET", "/metrics")
    assert answer.response.content_type == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.response.body.decode().split("\n")
    assert lines[:2] == ["# HELP apiserver_request_total Requests answered.", "# TYPE apiserver_request_total counter"]
    assert lines[2] == "apiserver_request_total 1"
    assert lines[3:5] == ["# HELP apiserver_resource_kinds Resources served.", "# TYPE apiserver_resource_kinds gauge"]
    assert lines[5] == f"apiserver_resource_kinds {len(api.server.resources.kinds)}"


@pytest.mark.parametrize(("method", "path", "status"), [
    ("POST", "/version", 405), ("POST", "/metrics", 405), ("POST", "/openid/v1/jwks", 405), ("POST", "/api", 405),
    ("POST", "/api/v1", 405), ("POST", "/apis/apps/v1", 405), ("POST", "/.well-known/openid-configuration", 405),
    ("GET", "/apis", 200),
    ("GET", "/apis/apps", 200), ("GET", "/apis/none.example", 404), ("GET", "/apis/apps/v9", 404), ("GET", "/api/v9", 404),
    ("GET", "/nothing", 404), ("GET", "/openapi", 404), ("GET", "/version/", 200), ("GET", "/api/", 200)])
async def test_which_paths_there_are(api: Api, method: str, path: str, status: int) -> None:
    """Given methods and paths / then the router answers as upstream's."""
    assert (await api(method, path)).status == status


AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def test_aggregated_discovery(api: Api) -> None:
    """Given who accepts the aggregated document, in any place / when /api and /apis are read / then
    they get it, with a tag by which it is not sent again; others get the old one.
    """
    for path, group in (("/api", ""), ("/apis", "apps")):
        answer = await api("GET", path, headers={"accept": f"application/json, {AGGREGATED}"})
        assert answer.response.content_type == AGGREGATED
        assert group in [each["metadata"].get("name", "") for each in answer.tree["items"]]
        assert (len(answer.tree["items"]) == 1) is (path == "/api")
        [tag] = answer.headers("ETag")
        assert (answer.headers("Vary"), answer.headers("Cache-Control")) == (["Accept"], ["public"])
        again = await api("GET", path, headers={"accept": AGGREGATED, "if-none-match": tag})
        assert (again.status, again.response.body, again.headers("ETag")) == (304, b"", [tag])
        for other in ("v=v1", "g=other", "as=Other"):
            name = other.partition("=")[0]
            wanted = ";".join(other if part.startswith(f"{name}=") else part for part in AGGREGATED.split(";"))
            plain = await api("GET", path, headers={"accept": f"{wanted}, application/json"})
            assert plain.tree["kind"] == ("APIVersions" if path == "/api" else "APIGroupList")
    listed = (await api("GET", "/api", headers={"host": "h:1"})).tree
    assert listed == {
        "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": "h:1"}]}
