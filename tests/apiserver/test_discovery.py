"""What the server says of itself."""

import pytest

from fakekube.apimachinery.releases import NEWEST
from tests.apiserver.conftest import Api

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


@pytest.mark.spec("API-001", "API-002")
async def test_documents_with_and_without_a_slash(api: Api) -> None:
    """Given the first paths that clients ask / when they end in a slash / then the answer is the
    same.
    """
    for path in ("/version", "/api", "/apis", "/apis/batch", "/apis/batch/v1", "/api/v1"):
        assert (await api("GET", path)).tree == (await api("GET", f"{path}/")).tree
    assert "apiVersion" not in (await api("GET", "/api")).tree
    version = (await api("GET", "/version")).tree
    assert (version["major"], version["minor"]) == ("1", str(NEWEST.minor))
    assert version["gitVersion"].rpartition(".")[0] == f"v{NEWEST.name}"


@pytest.mark.spec("API-003", "API-004")
async def test_aggregated_discovery_is_negotiated(api: Api) -> None:
    """Given both forms of discovery / when v2 is listed anywhere it wins, with a tag that makes the
    next answer 304.
    """
    answer = await api("GET", "/apis", headers={"accept": f"application/json,{V2BETA1},{V2}"})
    assert answer.response.content_type == V2
    (tag,) = answer.headers("ETag")
    assert answer.headers("Cache-Control") == ["public"]
    again = await api("GET", "/apis", headers={"accept": V2, "if-none-match": tag})
    assert (again.status, again.response.body) == (304, b"")
    assert (await api("GET", "/apis", headers={"accept": f"{V2BETA1},application/json"})).tree["kind"] == "APIGroupList"
    assert (await api("GET", "/apis", headers={"accept": V2BETA1})).status == 406


@pytest.mark.spec("API-005")
async def test_resource_list_of_the_core_group(api: Api) -> None:
    """Given /api/v1 / when it is read / then sub-resources name the group and version of what
    travels over them.
    """
    tree = (await api("GET", "/api/v1")).tree
    assert list(tree) == ["kind", "groupVersion", "resources"]
    rows = {row["name"]: row for row in tree["resources"]}
    eviction = {"name": "pods/eviction", "singularName": "", "namespaced": True, "group": "policy", "version": "v1",
                "kind": "Eviction", "verbs": ["create"]}
    assert rows["pods/eviction"] == eviction
    assert rows["serviceaccounts/token"]["group"] == "authentication.k8s.io"
    assert rows["pods"]["storageVersionHash"] == "xPOwRZ+Yhw8="


@pytest.mark.spec("API-009")
async def test_health_checks(api: Api) -> None:
    """Given a server that is well / when it is asked verbosely, leaving a check out / then each
    check has its line.
    """
    assert (await api("GET", "/healthz")).response.body == b"ok"
    assert (await api("GET", "/livez/ping")).response.body == b"ok"
    lines = (await api("GET", "/readyz?verbose&exclude=etcd&exclude=nope")).response.body.decode().splitlines()
    assert lines[0] == "[+]ping ok"
    assert "[+]etcd excluded: ok" in lines
    assert lines[-2:] == ['warn: some health checks cannot be excluded: no matches for "nope"', "readyz check passed"]


@pytest.mark.spec("API-010", "API-011")
async def test_openapi_documents_are_found_by_hash(api: Api) -> None:
    """Given the index of OpenAPI v3 / when its URL is followed it may be kept for ever, and a wrong
    hash is sent on.
    """
    index = await api("GET", "/openapi/v3")
    assert index.response.content_type == "text/plain; charset=utf-8"
    import orjson

    url = orjson.loads(index.response.body)["paths"]["apis/batch/v1"]["serverRelativeURL"]
    document = await api("GET", url)
    assert document.headers("Cache-Control") == ["public, immutable"]
    moved = await api("GET", "/openapi/v3/apis/batch/v1?hash=BAD")
    assert (moved.status, moved.headers("Location")) == (301, [url])
    patch = document.tree["paths"]["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"]["patch"]
    names = [parameter["name"] for parameter in patch["parameters"]]
    assert names == ["dryRun", "fieldManager", "fieldValidation", "force"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "batch", "kind": "Job", "version": "v1"}
    schemas = document.tree["components"]["schemas"]
    assert "io.k8s.api.core.v1.PodTemplateSpec" in schemas
    assert (await api("GET", "/openapi/v3/apis/nope/v1")).status == 404


@pytest.mark.spec("API-013")
async def test_every_answer_has_the_common_headers(api: Api) -> None:
    """Given any request / when it is answered / then Audit-Id (a given one echoed), Cache-Control
    and more are there.
    """
    answer = await api("GET", "/api/v1/namespaces/t/pods/x", headers={"audit-id": "mine"})
    assert answer.headers("Audit-Id") == ["mine"]
    assert answer.headers("Cache-Control") == ["no-cache, private"]
    assert len(answer.headers("X-Kubernetes-Pf-Flowschema-Uid")[0]) == 36


@pytest.mark.parametrize(("path", "status"), [
    ("/", 200), ("/apis", 200), ("/apis/apps", 200), ("/openapi/v3", 200), ("/openapi/v3/nope", 404), ("/api", 405),
    ("/apis/apps/v1", 405), ("/apis/apps/v2", 404), ("/version", 405),
])
async def test_documents_that_look_at_no_method(api: Api, path: str, status: int) -> None:
    """Given a method that is not GET / when a document is asked for / then the aggregator's and the
    index answer as ever.
    """
    assert (await api("POST", path, {})).response.status == status


async def test_the_aggregator_has_its_own_words_for_forms_that_it_does_not_give(api: Api) -> None:
    """Given an Accept header without a known form / when groups are asked for / then 406 in the
    words of a handler.
    """
    for path in ("/apis", "/apis/apps"):
        answer = await api("GET", path, None, {"accept": "text/html"})
        assert (answer.status, answer.message.partition(":")[0]) == (406, "only the following media types are accepted")
    assert (await api("GET", "/apis/apps/v1", None, {"accept": "text/html"})).message.startswith("406: Not Acceptable")
