"""What a request line says, by its form alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.endpoints.requestinfo import parse

CASES = {
    "GET /api/v1/namespaces": ("list", "", "v1", "", "namespaces", "", ""),
    "GET /api/v1/namespaces/t": ("get", "", "v1", "t", "namespaces", "", "t"),
    "PUT /api/v1/namespaces/t/finalize": ("update", "", "v1", "t", "namespaces", "finalize", "t"),
    "GET /api/v1/namespaces/t/pods": ("list", "", "v1", "t", "pods", "", ""),
    "DELETE /api/v1/namespaces/t/pods": ("deletecollection", "", "v1", "t", "pods", "", ""),
    "DELETE /apis/batch/v1/namespaces/t/jobs/j": ("delete", "batch", "v1", "t", "jobs", "", "j"),
    "PATCH /apis/batch/v1/namespaces/t/jobs/j/status/": ("patch", "batch", "v1", "t", "jobs", "status", "j"),
    "GET /api/v1/watch/namespaces/t/pods/p": ("watch", "", "v1", "t", "pods", "", "p"),
    "POST /api/v1/nodes": ("create", "", "v1", "", "nodes", "", ""),
    "BREW /api/v1/nodes": ("", "", "v1", "", "nodes", "", ""),
}


@pytest.mark.parametrize("line", CASES)
def test_resource_paths(line: str) -> None:
    """Given a path below a version / when it is parsed / then verb, group, version, namespace,
    resource and name are known.
    """
    method, path = line.split()
    info = parse(method, path, {})
    assert info.is_resource
    assert (info.verb, info.group, info.version, info.namespace, info.resource, info.subresource, info.name) == CASES[line]


@pytest.mark.parametrize(
    ("query", "verb"),
    [
        ({}, "list"),
        ({"watch": ["true"]}, "watch"),
        ({"watch": [""]}, "watch"),
        ({"watch": ["0"]}, "list"),
        ({"watch": ["false"]}, "list"),
    ],
)
def test_watch_is_told_by_the_query(query: dict[str, list[str]], verb: str) -> None:
    """Given a GET of a collection / when watch is given in any form but false and 0 / then the verb
    is watch.
    """
    assert parse("GET", "/api/v1/pods", query).verb == verb


def test_selected_name_counts_as_the_name() -> None:
    """Given a selector of one name / when the request is parsed / then it speaks of that object."""
    assert parse("GET", "/api/v1/pods", {"fieldSelector": ["status.phase=Running,metadata.name=p"]}).name == "p"


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/v1", "/apis/batch/v1", "/version", "/healthz/ping", "/openapi/v3/apis/batch/v1"]
)
def test_other_paths(path: str) -> None:
    """Given a path that names no resource / when it is parsed / then its verb is the method."""
    info = parse("GET", path, {})
    assert not info.is_resource
    assert info.verb == "get"


@given(st.text(alphabet="abc/.", max_size=40), st.sampled_from(["GET", "POST", "DELETE"]))
def test_any_path_can_be_parsed(path: str, method: str) -> None:
    """Given any path / when it is parsed / then nothing breaks, and the parts make up its end."""
    info = parse(method, f"/api/v1/{path}", {})
    assert path.strip("/").endswith("/".join(info.parts).strip("/"))
