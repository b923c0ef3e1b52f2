"""Which form an answer takes."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.endpoints import negotiation
from fakekube.endpoints.answers import encode_yaml
from tests.apiserver.conftest import TABLE, Api

JSON, YAML = "application/json", "application/yaml"


def asking(accept: str, agent: str = "", pretty: str | None = None) -> Request:
    return Request("GET", "/", {} if pretty is None else {"pretty": [pretty]}, {"accept": accept, "user-agent": agent})


@pytest.mark.spec("API-030")
@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/yaml, application/json", YAML),
        ("application/json;q=0.5, application/yaml", YAML),
        ("text/html, */*;q=0.1", JSON),
        ("application/vnd.kubernetes.protobuf,application/json", JSON),
        ("application/json;charset=utf-8", JSON),
    ],
)
def test_media_type(accept: str, media: str) -> None:
    """Given an Accept header / when the form is chosen / then quality counts, then the order, and
    protobuf is passed over.
    """
    request = asking(accept)
    negotiation.check_route(request)
    assert negotiation.negotiate(request).media == media


@pytest.mark.spec("API-030")
@pytest.mark.parametrize("accept", ["text/html", "application/*", ";;nonsense"])
def test_router_refuses(accept: str) -> None:
    """Given only forms that are not on offer / when the router looks / then 406 lists what is,
    streams for collections.
    """
    with pytest.raises(APIError) as caught:
        negotiation.check_route(asking(accept), streams=True)
    assert caught.value.message.startswith("406: Not Acceptable\n\nAvailable representations: application/json, ")
    assert caught.value.message.endswith("application/vnd.kubernetes.protobuf;stream=watch")


@pytest.mark.parametrize("params", ["as=Table;g=meta.k8s.io;v=v2", "as=Chair;g=meta.k8s.io;v=v1", "as=Table", "stream=other"])
def test_handler_refuses(params: str) -> None:
    """Given a transformation that is none / when the handler looks / then 406 in its own words;
    plain JSON beside it is taken.
    """
    with pytest.raises(APIError) as caught:
        negotiation.negotiate(asking(f"{JSON};{params}"))
    assert caught.value.message.startswith("only the following media types are accepted: application/json, application/yaml")
    assert negotiation.negotiate(asking(f"{JSON};{params},{JSON}")).plain


@pytest.mark.spec("API-073")
@pytest.mark.parametrize(
    ("agent", "pretty", "expected"),
    [
        ("curl/8", None, True),
        ("Mozilla/5.0 (X)", None, True),
        ("kubectl/v1", None, False),
        ("curl/8", "false", False),
        ("kubectl/v1", "true", True),
        ("kubectl/v1", "1", True),
        ("curl/8", "", True),
        ("kubectl", "yes", False),
    ],
)
def test_indentation(agent: str, pretty: str | None, expected: bool) -> None:
    """Given a User-Agent and perhaps ?pretty / when the form is chosen / then people get indented
    answers, or who asks.
    """
    assert negotiation.negotiate(asking("", agent, pretty)).pretty is expected


@pytest.mark.spec("API-073")
async def test_bodies_as_they_go_out(api: Api) -> None:
    """Given one object / when it is read plain, pretty and as YAML / then keys keep upstream's
    order, and only plain ends a line.
    """
    await api("POST", "/api/v1/namespaces/t/secrets", {"metadata": {"name": "a", "labels": {"z": "1"}}, "type": "x"})
    plain = (await api("GET", "/api/v1/namespaces/t/secrets/a")).response.body
    assert plain.startswith(b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","namespace":"t","uid":')
    assert plain.endswith(b"}\n")
    pretty = (await api("GET", "/api/v1/namespaces/t/secrets/a?pretty=true")).response.body
    assert pretty.startswith(b'{\n  "kind": "Secret",\n')
    assert pretty.endswith(b"}")
    answer = await api("GET", "/api/v1/namespaces/t/secrets", headers={"accept": YAML})
    assert answer.response.content_type == YAML
    assert answer.response.body.startswith(b"apiVersion: v1\nitems:\n- metadata:\n")


@pytest.mark.spec("API-030")
async def test_write_with_an_impossible_accept_stores_nothing(api: Api) -> None:
    """Given an Accept that cannot be met / when something is created / then 406 comes, indented,
    and nothing is there.
    """
    answer = await api("POST", "/api/v1/namespaces/t/secrets", {"metadata": {"name": "a"}}, {"accept": "text/html"})
    assert answer.status == 406
    assert answer.response.body.startswith(b"{\n")
    assert (await api("GET", "/api/v1/namespaces/t/secrets/a")).status == 404


@pytest.mark.spec("API-070", "API-071", "API-072")
async def test_tables_and_metadata(api: Api) -> None:
    """Given objects / when Tables or metadata are asked for / then rows, or the wrong form is
    refused by name.
    """
    url = "/api/v1/namespaces/t/secrets"
    created = await api("POST", url, {"metadata": {"name": "a"}}, TABLE)
    assert (created.status, created.tree["kind"], created.tree["rows"][0]["cells"][:3]) == (201, "Table", ["a", "Opaque", 0])
    table = (await api("GET", url, headers=TABLE)).tree
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert table["metadata"]["resourceVersion"]
    assert (await api("GET", f"{url}?includeObject=None", headers=TABLE)).tree["rows"][0]["object"] is None
    assert (await api("GET", f"{url}?includeObject=Object", headers=TABLE)).tree["rows"][0]["object"]["type"] == "Opaque"
    assert "includeObject" in (await api("GET", f"{url}?includeObject=Some", headers=TABLE)).message
    metadata = {"accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    assert (await api("GET", f"{url}/a", headers=metadata)).tree["apiVersion"] == "meta.k8s.io/v1"
    wrong = await api("GET", url, headers=metadata)
    assert wrong.message == "you requested PartialObjectMetadata, but the requested object is a list (*core.SecretList)"
    review = {"spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}}
    assert (await api("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, TABLE)).status == 406


@pytest.mark.spec("API-084")
async def test_table_watch_has_columns_once(api: Api) -> None:
    """Given a watch as Tables / when two events come / then only the first has column definitions.
    """
    receiver = await api.watch("/api/v1/namespaces/t/secrets?watch=1", TABLE)
    for name in ("a", "b"):
        await api("POST", "/api/v1/namespaces/t/secrets", {"metadata": {"name": name}})
    first, second = (event["object"]["columnDefinitions"] for event in receiver.events)
    assert first
    assert second is None  # as Go writes a list that was never made, and never []


def test_yaml_is_quoted_as_go_quotes_it() -> None:
    """Given texts that look like something else, that are long, or have lines / when told in YAML /
    then as Go's encoder does.
    """
    long = "word " * 20 + "end"
    texts = {"a": "1", "b": "yes", "c": "y", "d": "x: y", "e": "1e3", "f": "k\nl\n", "g": "plain", "h": "", "i": long}
    told = encode_yaml(texts).decode()
    assert told.startswith(
        "a: \"1\"\nb: \"yes\"\nc: \"y\"\nd: 'x: y'\ne: \"1e3\"\nf: |\n  k\n  l\ng: plain\nh: \"\"\ni: word word")
    assert max(map(len, told.splitlines())) <= 84
