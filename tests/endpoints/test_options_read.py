"""Options as they are read: of requests, of lists, of writes and of deletes."""

from dataclasses import replace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.endpoints.listoptions import ListOptions, field_label, parse_list_options, parse_resource_version
from fakekube.endpoints.options import (
    WriteOptions,
    delete_options,
    delete_options_of_query,
    manager_errors,
    manager_or_user_agent,
    write_options,
)
from fakekube.endpoints.requestinfo import RequestInfo, parse
from fakekube.registry.deletion import DeleteOptions
from fakekube.registry.kind import Kind, Selectable
from tests.endpoints.reads import CONFIG_MAP, POD, WIDGET, told

NODE = Kind(group="", version="v1", kind="Node", plural="nodes", singular="node", namespaced=False)


def request(**query: str | list[str]) -> Request:
    return Request("POST", "/", {name: [value] if isinstance(value, str) else value for name, value in query.items()})


def of(info: RequestInfo) -> tuple[Any, ...]:
    return (
        info.verb,
        info.group,
        info.version,
        info.namespace,
        info.resource,
        info.subresource,
        info.name,
        info.namespaced,
        info.watch_path,
        info.parts,
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GET /api/v1/namespaces/t/pods/p/log", ("get", "", "v1", "t", "pods", "log", "p", True, False, ["pods", "p", "log"])),
        ("HEAD /api/v1/nodes/n", ("get", "", "v1", "", "nodes", "", "n", False, False, ["nodes", "n"])),
        (
            "GET /api/v1/namespaces/t/status",
            ("get", "", "v1", "t", "namespaces", "status", "t", False, False, ["namespaces", "t", "status"]),
        ),
        ("GET /apis/a/v2/watch", ("list", "a", "v2", "", "watch", "", "", False, False, ["watch"])),
        ("GET /apis/a/v2/watch/things", ("watch", "a", "v2", "", "things", "", "", False, True, ["things"])),
        (
            "POST /apis/a/v2/watch/namespaces/t",
            ("watch", "a", "v2", "t", "namespaces", "", "t", False, True, ["namespaces", "t"]),
        ),
        ("GET /apis/a/v2/namespaces", ("list", "a", "v2", "", "namespaces", "", "", False, False, ["namespaces"])),
        ("GET /apis/a/v2", ("get", "", "", "", "", "", "", False, False, [])),
        ("DELETE /api/v1", ("delete", "", "", "", "", "", "", False, False, [])),
        ("GET //api/v1/pods", ("get", "", "", "", "", "", "", False, False, [])),
        ("PATCH /api/v1/a/b/c/d", ("patch", "", "v1", "", "a", "c", "b", False, False, ["a", "b", "c", "d"])),
    ],
)
def test_what_a_path_says(line: str, expected: tuple[Any, ...]) -> None:
    """Given a request line, then it says all of this, by its form alone."""
    method, path = line.split()
    info = parse(method, path, {})
    assert of(info) == expected
    assert (info.path, info.is_resource, info.field_selector, info.label_selector) == (path, bool(info.parts), "", "")
    assert (info.warnings, info.audit_annotations, info.impersonator, info.impersonation_constraint, info.fault) == (
        [],
        {},
        None,
        "",
        "",
    )
    assert (info.decision, info.dry_run, info.conditional) == (None, False, False)


@pytest.mark.parametrize(
    ("method", "query", "expected"),
    [
        ("GET", {"fieldSelector": "a=b", "labelSelector": "c"}, ("list", "", "a=b", "c")),
        ("GET", {"fieldSelector": "metadata.name=x", "watch": "1"}, ("watch", "x", "metadata.name=x", "")),
        ("GET", {"fieldSelector": "a=b, metadata.name == x "}, ("list", "x", "a=b, metadata.name == x ", "")),
        ("GET", {"fieldSelector": "metadata.name!=x,b=c"}, ("list", "", "metadata.name!=x,b=c", "")),
        ("GET", {"fieldSelector": "metadata.name"}, ("list", "", "metadata.name", "")),
        ("DELETE", {"fieldSelector": "metadata.name=x", "labelSelector": "c"}, ("deletecollection", "", "metadata.name=x", "c")),
        ("POST", {"fieldSelector": "metadata.name=x", "labelSelector": "c"}, ("create", "", "", "")),
    ],
)
def test_what_a_query_says_of_a_collection(method: str, query: dict[str, str], expected: tuple[str, ...]) -> None:
    """Given selectors, when a collection is asked for, then authorization sees them, and one name
    that they confine it to.
    """
    info = parse(method, "/api/v1/pods", {name: [value] for name, value in query.items()})
    assert (info.verb, info.name, info.field_selector, info.label_selector) == expected


def test_lists_without_options() -> None:
    """Given no query, when options of a list are read, then nothing is asked for; every option is
    read by its name.
    """
    plain = parse_list_options({}, POD, watch=False)
    assert [getattr(plain, name) for name in ListOptions.__slots__] == [None, None, "", "", 0, "", None, False, None]
    full = parse_list_options(
        {
            name: [value]
            for name, value in {
                "labelSelector": "a=b",
                "fieldSelector": "metadata.name=x",
                "resourceVersion": "5",
                "limit": "7",
                "timeoutSeconds": "9",
                "allowWatchBookmarks": "1",
                "resourceVersionMatch": "Exact",
            }.items()
        },
        POD,
        watch=False,
    )
    assert (str(full.labels), full.exact_field("metadata.name"), full.exact_field("spec.nodeName"), full.selects_all) == (
        "a=b",
        "x",
        None,
        False,
    )
    assert (full.resource_version, full.resource_version_match, full.limit, full.timeout_seconds, full.allow_bookmarks) == (
        "5",
        "Exact",
        7,
        9,
        True,
    )
    assert parse_list_options({"continue": ["t"]}, POD, watch=False).continue_token == "t"
    assert parse_list_options({"limit": ["5"]}, POD, watch=True).limit == 5


@pytest.mark.parametrize(("flag", "expected"), [("0", False), ("false", False), ("FALSE", False), ("", True), ("no", True)])
def test_flags_of_a_watch(flag: str, expected: bool) -> None:
    """Given a flag, then anything but 0 and false is true."""
    assert parse_list_options({"allowWatchBookmarks": [flag]}, POD, watch=True).allow_bookmarks is expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, (True, "NotOlderThan")),
        ({"resourceVersion": "0"}, (True, "NotOlderThan")),
        ({"resourceVersion": "5"}, (None, "")),
        ({"sendInitialEvents": "0", "resourceVersionMatch": "NotOlderThan"}, (False, "NotOlderThan")),
    ],
)
def test_what_a_watch_begins_with(query: dict[str, str], expected: tuple[bool | None, str]) -> None:
    """Given a watch, then one from nothing asks for a list by itself, where the gate is on."""
    asked = {name: [value] for name, value in query.items()}
    options = parse_list_options(asked, POD, watch=True)
    assert (options.send_initial_events, options.resource_version_match) == expected
    if "sendInitialEvents" not in query:
        options = parse_list_options(asked, POD, watch=True, watch_list=False)
        assert (options.send_initial_events, options.resource_version_match) == (None, "")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("spec.nodeName=n", ("spec.nodeName", "n")),
        ("metadata.name=x,spec.host=n", ("spec.nodeName", "n")),
        ("spec.nodeName!=n", None),
        ("spec.nodeName=", None),
        ("metadata.namespace=x", None),
    ],
)
def test_the_field_that_narrows_a_list_most(selector: str, expected: tuple[str, str] | None) -> None:
    """Given field selectors, then a field with one text is known, metadata's and empty ones not."""
    assert parse_list_options({"fieldSelector": [selector]}, POD, watch=False).narrowest_field() == expected
    assert ListOptions().narrowest_field() is None


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [
        (POD, "metadata.namespace", "metadata.namespace"),
        (NODE, "metadata.namespace", "metadata.namespace"),
        (NODE, "metadata.name", "metadata.name"),
        (POD, "spec.host", "spec.nodeName"),
        (POD, "x", "field label not supported: x"),
        (WIDGET, "metadata.namespace", "metadata.namespace"),
        (CONFIG_MAP, "x", '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
    ],
)
def test_labels_of_fields(kind: Kind, label: str, expected: str) -> None:
    """Given a label, then the storage's name for it, or 400 in the kind's words."""
    if not expected.startswith(("field", '"x"')):
        assert field_label(kind, label) == expected
        return
    with pytest.raises(APIError) as refused:
        field_label(kind, label)
    assert told(refused.value) == (400, "BadRequest", expected)


def test_labels_of_fields_without_namespaces() -> None:
    """Given kinds without namespaces that have labels of their own, or are of a definition, then
    the label of the namespace is none, in the common words where the kind has no others.
    """
    own = replace(NODE, selectable=Selectable(("spec.x",), unknown=""))
    for kind in (own, replace(NODE, custom=True)):
        with pytest.raises(APIError):
            field_label(kind, "metadata.namespace")
    with pytest.raises(APIError, match=r"^field label not supported: metadata.namespace$"):
        field_label(own, "metadata.namespace")
    assert field_label(own, "spec.x") == "spec.x"


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("0", 0), ("5", 5), ("18446744073709551615", 2**64 - 1)])
def test_versions_as_numbers(text: str, expected: int) -> None:
    """Given a version, then it is a number of 64 bits."""
    assert parse_resource_version(text) == expected


def test_options_of_a_write() -> None:
    """Given queries, when options of a write are read, then admission sees what was given, and
    nothing else is asked for.
    """
    plain = write_options(request(), "CreateOptions")
    tree = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
    assert plain == WriteOptions(False, "", "Warn", False, tree)
    assert plain.tree == tree
    assert WriteOptions().tree == {}
    full = write_options(request(dryRun=["All", "All"], fieldManager="m", fieldValidation="Strict"), "UpdateOptions")
    assert full == WriteOptions(
        True,
        "m",
        "Strict",
        False,
        {
            "kind": "UpdateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "dryRun": ["All", "All"],
            "fieldManager": "m",
            "fieldValidation": "Strict",
        },
    )
    assert write_options(request(pretty="1"), "PatchOptions") == WriteOptions(
        False, "", "Warn", False, {"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1"}
    )
    for word, force in (("1", True), ("false", False), ("0", False), ("", True)):
        assert write_options(request(fieldManager="m", force=word), "PatchOptions", apply=True) == WriteOptions(
            False,
            "m",
            "Warn",
            force,
            {"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "m", "force": force},
        )
    with pytest.raises(APIError) as nobody:
        write_options(request(), "PatchOptions", apply=True)
    assert nobody.value.message == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


@pytest.mark.parametrize(
    ("agent", "manager"),
    [
        ("kubectl/v1.37 (linux)", "kubectl"),
        ("", "unknown"),
        ("/x", "unknown"),
        ("a" * 128, "a" * 128),
        ("a" * 129, "a" * 128),
        ("é" * 65, "é" * 64),
        ("a" + "é" * 64, "a" + "é" * 63),
        ("a\tb", "ab"),
        ("\t", "unknown"),
        ("plain", "plain"),
    ],
)
def test_who_owns_what_a_write_sets(agent: str, manager: str) -> None:
    """Given a User-Agent, then the manager is what stands before the first slash, what does not
    print left out, in 128 bytes at most; a given one counts first.
    """
    assert manager_or_user_agent("", agent) == manager
    assert manager_or_user_agent("given", agent) == "given"


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        ("m" * 128, []),
        ("m" * 129, ["Too long: may not be more than 128 bytes"]),
        ("é" * 64, []),
        ("é" * 65, ["Too long: may not be more than 128 bytes"]),
        ("m" * 33, []),
        ("a\x01", ['Invalid value: "a\\x01": invalid character U+0001 (at position 1)']),
        ("é\u200b" + "m" * 40, [f'Invalid value: "é\\u200b{"m" * 40}": invalid character U+200B (at position 2)']),
    ],
)
def test_names_of_managers(manager: str, expected: list[str]) -> None:
    """Given names of managers, then those with more than 128 bytes, and characters that do not
    print, are told, these by their positions in bytes.
    """
    found = manager_errors(manager)
    assert [error.cause()["message"] for error in found] == expected
    assert {error.field for error in found} <= {"fieldManager"}


def test_options_of_a_delete() -> None:
    """Given a query, or a body, when the options of a delete are read, then each has its place."""
    nothing = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    assert delete_options_of_query({}) == (DeleteOptions(None, None, None, None, None, nothing), False)
    query = {"gracePeriodSeconds": ["5", "6"], "propagationPolicy": ["Orphan"], "dryRun": ["All"]}
    tree = {**nothing, "gracePeriodSeconds": 5, "propagationPolicy": "Orphan", "dryRun": ["All"]}
    assert delete_options_of_query(query) == (DeleteOptions(5, "Orphan", None, None, None, tree), True)
    for word, orphan in (("true", True), ("false", False), ("0", False), ("False", True), ("", True)):
        assert delete_options_of_query({"orphanDependents": [word]})[0] == DeleteOptions(
            None, None, orphan, None, None, {**nothing, "orphanDependents": orphan}
        )
    unsafe = "ignoreStoreReadErrorWithClusterBreakingPotential"
    for word, is_unsafe in (("true", True), ("False", False), ("0", False)):
        assert delete_options_of_query({unsafe: [word]})[0].raw == {**nothing, unsafe: is_unsafe}
    body = {"preconditions": {"uid": "u", "resourceVersion": "7"}, "gracePeriodSeconds": 0, "dryRun": []}
    assert delete_options(body) == (DeleteOptions(0, None, None, "u", "7", body), False)
    with pytest.raises(APIError) as refused:
        delete_options({unsafe: True, "gracePeriodSeconds": 1, "preconditions": {}, "orphanDependents": True})
    assert [(cause["field"], cause["message"]) for cause in refused.value.causes] == [
        (unsafe, f"Invalid value: true: cannot be set together with .{name}")
        for name in ("orphanDependents", "gracePeriodSeconds", "preconditions")
    ]
