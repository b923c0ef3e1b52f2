"""Tables, metadata alone, texts and YAML: what an object is turned into."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request, Response, Sink
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import answers, table
from fakekube.endpoints.negotiation import PROTOBUF, YAML, Form
from fakekube.endpoints.openwatches import Divertible, OpenWatches
from fakekube.endpoints.patchtexts import convert_error, custom_text, in_go_order, patched_text, sorted_keys
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.registry.kind import Column, Printer
from tests.endpoints.reads import POD, World
from tests.endpoints.reads import Sink as Ear
from tests.schema.releases import schema

OBJECT: Tree = {
    "kind": "Pod",
    "apiVersion": "v1",
    "spec": {"x": 1},
    "metadata": {
        "name": "a",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "resourceVersion": "7",
        "annotations": {"f": "1", "g": "2"},
    },
}
METADATA = OBJECT["metadata"]


def made(include: str, **more: Any) -> Tree:
    kind = more.pop("kind", POD)
    return table.table_of(kind, [OBJECT], more.pop("metadata", METADATA), "meta.k8s.io/v1", include, 5.0, **more)


def test_a_table_of_a_kind_without_a_printer() -> None:
    """Given a kind that says nothing of how it prints, then its Table has the names and times of
    objects, with upstream's descriptions.
    """
    shown = made("None")
    assert {key: value for key, value in shown.items() if key != "columnDefinitions"} == {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "7"},
        "rows": [{"cells": ["a", "2026-01-01T00:00:00Z"], "object": None}],
    }
    columns = shown["columnDefinitions"]
    assert [{key: value for key, value in column.items() if key != "description"} for column in columns] == [
        {"name": "Name", "type": "string", "format": "name", "priority": 0},
        {"name": "Created At", "type": "date", "format": "", "priority": 0},
    ]
    assert [column["description"].partition(".")[0] for column in columns] == [
        "Name must be unique within a namespace",
        "CreationTimestamp is a timestamp representing the server time when this object was created",
    ]
    nameless = table.table_of(POD, [{"metadata": {}}], {}, "v", "None", 5.0)
    assert (nameless["rows"], nameless["metadata"]) == ([{"cells": ["", None], "object": None}], {})


def test_a_table_of_a_printer() -> None:
    """Given printers, then rows have their cells at the time, conditions where there are any, and
    what was asked for; one that is given counts before the kind's.
    """
    own = Printer((Column("A", priority=1),), lambda _, now: [now], lambda obj: [{"type": "Completed"}] if obj["spec"] else [])
    shown = made("Object", kind=replace(POD, printer=own))
    assert shown["columnDefinitions"] == [{"name": "A", "type": "string", "format": "", "description": "", "priority": 1}]
    assert shown["rows"] == [{"cells": [5.0], "conditions": [{"type": "Completed"}], "object": OBJECT}]
    other = Printer((Column("B", "date", "f", "d"),), lambda *_: ["b"], lambda _: [])
    shown = made("Metadata", kind=replace(POD, printer=own), printer=other, columns=False)
    assert (shown["columnDefinitions"], shown["rows"]) == (
        None,
        [{"cells": ["b"], "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": METADATA}}],
    )


def test_metadata_alone() -> None:
    """Given objects, then their metadata alone goes without an annotation that stands for a field,
    and without annotations where there are no others; the object stays as it is.
    """

    def partial(annotation: str, obj: Tree) -> Tree:
        found: Tree = table.partial_of(replace(POD, field_annotation=annotation), obj, "v")["metadata"]
        return found

    assert partial("", OBJECT) is partial("none", OBJECT) is METADATA
    assert partial("f", OBJECT) == {**METADATA, "annotations": {"g": "2"}}
    assert partial("f", {"metadata": {"name": "a", "annotations": {"f": "1"}}}) == {"name": "a"}
    assert (partial("f", {}), partial("f", {"metadata": {}})) == ({}, {})
    assert METADATA["annotations"] == {"f": "1", "g": "2"}
    assert table.list_meta({"resourceVersion": "1", "continue": "", "remainingItemCount": 3, "name": "a"}) == {
        "resourceVersion": "1",
        "remainingItemCount": 3,
    }


@pytest.mark.parametrize(
    ("gvk", "expected"),
    [
        (GroupVersionKind("", "v1", "Pod"), "core.Pod"),
        (GroupVersionKind("events.k8s.io", "v1", "Event"), "core.Event"),
        (GroupVersionKind("internal.apiserver.k8s.io", "v1alpha1", "StorageVersion"), "apiserverinternal.StorageVersion"),
        (GroupVersionKind("rbac.authorization.k8s.io", "v1", "Role"), "rbac.Role"),
        (GroupVersionKind("apps", "v1", "X"), "apps.X"),
    ],
)
def test_the_types_that_texts_name(gvk: GroupVersionKind, expected: str) -> None:
    """Given kinds, then upstream's texts name the package of their group's internal types."""
    assert table.internal_type(gvk) == expected


@pytest.mark.parametrize(("word", "expected"), [(None, "Metadata"), ("", "Metadata"), ("Object", "Object"), ("None", "None")])
def test_what_a_row_carries(word: str | None, expected: str) -> None:
    """Given ``includeObject``, then a row carries what it says, metadata where it says nothing."""
    assert table.include_object(Request("GET", "/", {} if word is None else {"includeObject": [word]})) == expected
    with pytest.raises(APIError) as refused:
        table.include_object(Request("GET", "/", {"includeObject": ['so"me']}))
    assert (refused.value.code, refused.value.reason, refused.value.message) == (
        400,
        "BadRequest",
        (
            r'Unable to convert to Table as requested: includeObject: Invalid value: "so\"me": must be '
            "'Metadata', 'Object', 'None', or empty"
        ),
    )


def test_bytes_of_a_tree() -> None:
    """Given a tree, then it is compact and ends a line, or indented and does not, or YAML with
    sorted keys; as protobuf it needs a server that knows messages.
    """
    tree = {"b": [1, {"z": None, "a": True}], "a": "é"}
    assert answers.encode(tree, Form()) == '{"b":[1,{"z":null,"a":true}],"a":"é"}\n'.encode()
    assert answers.encode({"a": 1}, Form(pretty=True)) == b'{\n  "a": 1\n}'
    assert answers.encode(tree, Form(YAML)) == "a: é\nb:\n- 1\n- a: true\n  z: null\n".encode()
    with pytest.raises(APIError) as refused:
        answers.encode(tree, Form(PROTOBUF))
    assert refused.value.code == 406


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("y", '"y"'),
        ("N", '"N"'),
        ("yes", '"yes"'),
        ("yet", "yet"),
        ("1", '"1"'),
        ("-1.5e+3", '"-1.5e+3"'),
        (".5", '".5"'),
        ("1.", '"1."'),
        ("1e", "1e"),
        ("v1.5", "v1.5"),
        ("2026-01-01", '"2026-01-01"'),
        ("null", '"null"'),
        ("a\nb", "|-\n  a\n  b"),
        ("", '""'),
        ("a: b", "'a: b'"),
    ],
)
def test_texts_in_yaml(text: str, expected: str) -> None:
    """Given texts, then those that would be read as something else are quoted, as Go does it."""
    assert answers.encode_yaml({"k": text}).decode() == f"k: {expected}\n"


def test_plain_texts() -> None:
    """Given texts, then no browser may guess what they are."""
    for answer, status, body in (
        (answers.text_answer("ok"), 200, b"ok"),
        (answers.text_answer("x", 500), 500, b"x"),
        (answers.page_not_found(), 404, b"404 page not found\n"),
    ):
        assert (answer.status, answer.body, answer.content_type, answer.headers) == (
            status,
            body,
            "text/plain; charset=utf-8",
            [("X-Content-Type-Options", "nosniff")],
        )
    assert answers.tree_answer({"a": 1}, Form(YAML), 201).content_type == "application/yaml"
    assert answers.tree_answer({"a": 1}, Form()).status == 200


POD_SCHEMA = schema("v1", "Pod")
UNMARSHAL = "json: cannot unmarshal"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{UNMARSHAL} number into Go struct field Pod.spec.hostname of type string", "cannot convert int64 to string"),
        (f"{UNMARSHAL} number 1.5 into Go struct field Pod.spec.hostname of type string", "unrecognized type: string"),
        (f"{UNMARSHAL} string into Go struct field Pod.spec.hostNetwork of type bool", "unrecognized type: bool"),
        (f"{UNMARSHAL} number into Go struct field Pod.spec.hostNetwork of type bool", "unrecognized type: bool"),
        (
            f"{UNMARSHAL} number 1.5 into Go struct field Pod.spec.terminationGracePeriodSeconds of type int64",
            "cannot convert float64 to int64",
        ),
        (f"{UNMARSHAL} bool into Go struct field Pod.spec.priority of type int32", "unrecognized type: int32"),
        (f"{UNMARSHAL} array into Go struct field Pod.spec of type v1.PodSpec", "cannot restore struct from: slice"),
        (f"{UNMARSHAL} object into Go struct field Pod.spec.containers of type []v1.Container", "cannot restore slice from map"),
        (
            f"{UNMARSHAL} array into Go struct field Pod.metadata.labels of type map[string]string",
            "cannot restore map from slice",
        ),
        (f"{UNMARSHAL} object into Go struct field Pod.spec.restartPolicy of type v1.RestartPolicy", "unrecognized type: string"),
        (
            f"{UNMARSHAL} number into Go struct field Pod.metadata.creationTimestamp of type string",
            f"{UNMARSHAL} number into Go value of type string",
        ),
        (
            f"{UNMARSHAL} number 1.5 into Go struct field Pod.spec.containers.livenessProbe.httpGet.port of type int32",
            f"{UNMARSHAL} number 1.5 into Go value of type int32",
        ),
        (f"{UNMARSHAL} bool into Go value of type string", "unrecognized type: string"),
        ("illegal base64 data at input byte 3", "error decoding from json: illegal base64 data at input byte 3"),
        ("anything else", "anything else"),
    ],
)
def test_errors_in_the_words_of_the_converter(text: str, expected: str) -> None:
    """Given an error of the decoder about a pod, then it has the words of the converter, by the Go
    type of the field.
    """
    assert convert_error(text, POD_SCHEMA) == expected


def test_the_order_in_which_go_prints() -> None:
    """Given a pod, then fields stand as its Go types have them, keys of maps sorted, unknown ones
    last; what a patch touched is sorted at every level on the way.
    """
    pod: Tree = {
        "zoo": 1,
        "spec": {"hostname": "h", "containers": [{"image": "i", "name": "c"}], "nodeSelector": {"b": "1", "a": "2"}},
        "metadata": {"labels": {"b": "1", "a": "2"}, "name": "p"},
        "apiVersion": "v1",
        "kind": "Pod",
    }
    ordered = in_go_order(pod, POD_SCHEMA)
    assert ordered == pod
    assert list(ordered) == ["kind", "apiVersion", "metadata", "spec", "zoo"]
    assert [list(ordered["spec"]), list(ordered["spec"]["nodeSelector"]), list(ordered["spec"]["containers"][0])] == [
        ["containers", "nodeSelector", "hostname"],
        ["a", "b"],
        ["name", "image"],
    ]
    assert list(in_go_order({"b": 1, "a": 2}, None)) == ["b", "a"]
    text = patched_text(pod, POD_SCHEMA, paths=["/spec/containers/0/image", "/metadata/x~1y/z", "/top"])
    assert text == (
        '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"2","b":"1"},"name":"p"},"spec":{"containers":[{"image":"i",'
        '"name":"c"}],"hostname":"h","nodeSelector":{"a":"2","b":"1"}},"zoo":1}'
    )
    text = patched_text(pod, POD_SCHEMA, merged={"spec": {"containers": [{}]}})
    assert '"spec":{"containers":[{"image":"i","name":"c"}],"hostname":"h","nodeSelector":' in text
    assert patched_text({"b": {"d": 1, "c": 2}, "a": 1}, None) == '{"a":1,"b":{"d":1,"c":2}}'
    assert custom_text({"b": {"d": 1, "c": 2}, "a": 1}) == '{"a":1,"b":{"c":2,"d":1}}'
    assert list(sorted_keys({"b": [{"d": 1, "c": 2}], "a": 1})["b"][0]) == ["c", "d"]


class Stream:
    """A watch that somebody may stop."""

    on_stop: Callable[[], None] | None = None

    def divert(self, through: Any) -> None:
        raise AssertionError

    def lag(self, replica: Any) -> None:
        raise AssertionError

    def stop(self) -> None:
        if self.on_stop is not None:
            self.on_stop()


def test_watches_are_known_while_they_are_open() -> None:
    """Given watches that a component and nobody opened, when they are looked for, then they are
    there in their order, each by its answer, until they stop.
    """
    watches, responses = OpenWatches(), [Response(200) for _ in range(3)]
    streams: list[Divertible] = [Stream() for _ in range(3)]
    info, request = RequestInfo("/", "watch"), Request("GET", "/")
    token = ACTING.set(Acting("deployment", "k", "5"))
    try:
        assert watches.opened(streams[0], info, request, responses[0]) is responses[0]
    finally:
        ACTING.reset(token)
    watches.opened(streams[1], info, request, responses[1])
    assert [(each.stream, each.component, each.info, each.request) for each in watches] == [
        (streams[0], "deployment", info, request),
        (streams[1], "", info, request),
    ]
    found = watches.of(responses[0])
    assert found is not None
    assert (found.stream, watches.of(Response(200))) == (streams[0], None)
    for stream in (streams[0], streams[0]):
        stream.stop()
    watches.opened(streams[2], info, request, responses[2])
    assert [each.stream for each in watches] == streams[1:]


def test_a_stream_may_be_diverted_before_and_after_it_begins() -> None:
    """Given a watch, when what it sends is led through another sink, before it begins and later,
    then that sink gets it, and what is in front of it no more.
    """
    world, first, second = World(), Ear(), Ear()
    sink = world.watch(resourceVersion="1")

    def through(to: Ear) -> Any:
        def lead(before: Sink) -> Sink:
            return to

        return lead

    world.make("a")
    sink.stream.divert(through(first))
    world.make("b")
    sink.stream.divert(through(second))
    world.make("c")
    assert [each.story for each in (sink, first, second)] == [["ADDED a 2"], ["ADDED b 3"], ["ADDED c 4"]]
