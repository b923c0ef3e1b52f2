"""What OpenAPI says of kinds, to the last field, and how its documents are found and kept."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.openapi.documents import V2_PROTOBUF, V3_PROTOBUF, OpenAPI
from fakekube.schema import descriptions
from tests.endpoints.openapi.documents import FOLDER, TEXTS, Things, ask, built_in, kinds, served, written

LEASES = "apis/coordination.k8s.io/v1"


@pytest.fixture(autouse=True)
def undescribed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptions are those of the test, whatever is installed."""
    monkeypatch.setattr(descriptions, "load", lambda _: None)
    monkeypatch.setattr(descriptions, "are_installed", lambda: False)


def digest_of(openapi: OpenAPI, name: str) -> str:
    found = orjson.loads(ask(openapi, "/openapi/v3").body)["paths"][name]["serverRelativeURL"]
    prefix = f"/openapi/v3/{name}?hash="
    assert found.startswith(prefix)
    return str(found.removeprefix(prefix))


def test_what_the_documents_say_of_a_few_kinds() -> None:
    """Given kinds of all sorts, when the documents of both versions are read, then they are so."""
    told = written(None)
    files = {file.stem for file in FOLDER.glob("*.txt") if not file.stem.endswith("-described")}
    assert set(told) == files
    for name, lines in told.items():
        assert lines == (FOLDER / f"{name}.txt").read_text().splitlines(), name


def test_what_a_described_document_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given descriptions of a kind and of some fields, when its document is read, then they are
    where they belong, and nothing stands where there is none.
    """
    monkeypatch.setattr(descriptions, "load", lambda _: TEXTS)
    name = "v3-apis-coordination.k8s.io-v1-described"
    assert written(TEXTS)[name] == (FOLDER / f"{name}.txt").read_text().splitlines()


def test_the_index_names_groups_and_versions_in_order() -> None:
    """Given kinds, when the index is read, then it has each group and version, sorted, each with a
    hash of its own that is the same whenever it is asked for.
    """
    openapi, _ = served()
    index = ask(openapi, "/openapi/v3/")
    assert (index.status, index.content_type) == (200, "text/plain; charset=utf-8")
    paths = orjson.loads(index.body)["paths"]
    assert list(paths) == [
        "api",
        "api/v1",
        "apis",
        "apis/authentication.k8s.io",
        "apis/authentication.k8s.io/v1",
        "apis/coordination.k8s.io",
        "apis/coordination.k8s.io/v1",
        "apis/node.k8s.io",
        "apis/node.k8s.io/v1",
        "apis/x-y.example",
        "apis/x-y.example/v1",
        "version",
    ]
    hashes = [digest_of(openapi, name) for name in paths]
    assert len(dict.fromkeys(hashes)) == len(hashes)
    assert all(len(digest) == 128 and digest == digest.upper() for digest in hashes)
    assert ask(served()[0], "/openapi/v3").body == index.body
    assert digest_of(openapi, "version") == hashlib.sha512(b"1.37\nversion").hexdigest().upper()


def test_hashes_are_of_what_a_document_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given descriptions, when they are installed, then the hash of a document without kinds is
    that of the release, its name, and that there are some.
    """
    monkeypatch.setattr(descriptions, "are_installed", lambda: True)
    openapi, _ = served()
    assert digest_of(openapi, "version") == hashlib.sha512(b"1.37\nversionwith descriptions").hexdigest().upper()


@pytest.mark.parametrize("change", ["verbs", "subresources", "digest", "words", "added", "kinds"])
def test_a_hash_differs_where_the_document_does(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given clients that keep a document by its hash, when verbs, sub-resources, what a definition
    publishes, descriptions or fields are others, then so is the hash of that group alone.
    """
    leases, *_, things = kinds()
    before, resources = served()
    known = {name: digest_of(before, name) for name in (LEASES, "apis/x-y.example/v1")}
    if change == "verbs":
        resources.install(replace(leases, verbs=("get",)))
    elif change == "subresources":
        resources.install(replace(leases, subresources=()))
    elif change == "digest":
        resources.install(replace(things, published=Things("two")))
    elif change == "kinds":
        resources.install(replace(leases, plural="releases"))
    elif change == "words":
        monkeypatch.setattr(descriptions, "are_installed", lambda: True)
        before, _ = served()
    else:
        monkeypatch.setattr(before._definitions, "added", "more")
        resources.note_change()
    differs = [name for name, digest in known.items() if digest_of(before, name) != digest]
    expected = {"digest": ["apis/x-y.example/v1"], "words": list(known), "added": list(known)}
    assert differs == expected.get(change, [LEASES])


def test_a_document_may_be_kept_for_ever_where_its_hash_is_named() -> None:
    """Given the document of a group, when it is asked for with its hash, without and with another,
    or by who has it, then headers say how long it may be kept, and where it is.
    """
    openapi, _ = served()
    digest = digest_of(openapi, LEASES)
    tag = [("ETag", f'"{digest}"'), ("Vary", "Accept")]
    kept = [("Cache-Control", "public, immutable"), ("Expires", "Fri, 01 Jan 2027 00:00:00 GMT")]

    def told(answer: Response) -> tuple[int, str, list[tuple[str, str]], bool]:
        return answer.status, answer.content_type, answer.headers, bool(answer.body)

    path = f"/openapi/v3/{LEASES}"
    assert told(ask(openapi, path)) == (200, "application/json", tag, True)
    assert told(ask(openapi, path, {"hash": digest})) == (200, "application/json", tag + kept, True)
    assert told(ask(openapi, path, {"hash": ""})) == (200, "application/json", tag, True)
    assert told(ask(openapi, path, {"hash": "other"})) == (
        301,
        "",
        [("Location", f"{path}?hash={digest}"), ("Cache-Control", "no-cache, private")],
        False,
    )
    assert told(ask(openapi, path, if_none_match=f'"{digest}"')) == (304, "", tag, False)
    assert told(ask(openapi, path, {"hash": digest}, if_none_match=f'"{digest}"')) == (304, "", tag + kept, False)
    assert told(ask(openapi, path, if_none_match=digest)) == (200, "application/json", tag, True)
    assert told(ask(openapi, "/openapi/v3/apis/nothing")) == (404, "", [], False)
    v2 = ask(openapi, "/openapi/v2")
    names = [name for name, _ in v2.headers]
    assert (v2.status, v2.content_type, names, v2.headers[1:]) == (
        200,
        "application/json",
        ["ETag", "Vary", "Vary"],
        [("Vary", "Accept-Encoding"), ("Vary", "Accept")],
    )
    assert told(ask(openapi, "/openapi/v2", if_none_match=v2.headers[0][1])) == (304, "", v2.headers, False)


@pytest.mark.parametrize(
    ("path", "media", "answer"),
    [
        ("/openapi/v2", V2_PROTOBUF, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
        (f"/openapi/v3/{LEASES}", V3_PROTOBUF, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"),
    ],
)
def test_which_form_a_document_has(path: str, media: tuple[str, ...], answer: str) -> None:
    """Given Accept headers, when a document is asked for, then the one of protobuf's two names that
    comes before anything that JSON would do for gives protobuf, else it is JSON, or 406.
    """
    openapi, _ = served()
    for accept, expected in (
        *((name, answer) for name in media),
        (f"{media[0]};q=0.5,text/html", answer),
        (f"application/json,{media[0]}", ""),
        (f"{media[0]};q=0.5,*/*", ""),
        ("application/*", ""),
        ("", ""),
        (f"{media[0]},*/*", answer),
    ):
        assert ask(openapi, path, accept=accept).content_type == (expected or "application/json"), accept
    with pytest.raises(APIError) as refused:
        ask(openapi, path, accept="text/html")
    assert (refused.value.code, refused.value.message) == (406, "only the following media types are accepted: application/json")
    assert [name[-12:] for name in media] == (
        ["1.0+protobuf", ".v1+protobuf"] if path.endswith("v2") else ["1.0+protobuf", "1.0+protobuf"]
    )


def test_documents_are_made_anew_when_kinds_change() -> None:
    """Given documents that were read, when a kind goes, then those of its group are gone, those of
    the others are as before, and the whole one is another.
    """
    openapi, resources = served()
    nodes, v2 = ask(openapi, "/openapi/v3/apis/node.k8s.io/v1"), ask(openapi, "/openapi/v2")
    assert ask(openapi, "/openapi/v2").body is v2.body, "a document is made once"
    resources.remove(kinds()[0])
    assert ask(openapi, f"/openapi/v3/{LEASES}").status == 404
    assert ask(openapi, "/openapi/v3/apis/node.k8s.io/v1").body == nodes.body
    again = ask(openapi, "/openapi/v2")
    assert again.headers[0] != v2.headers[0]
    assert not any(path.startswith(f"/{LEASES}") for path in orjson.loads(again.body)["paths"])


class Others:
    """A server behind this one."""

    def __init__(self, paths: Tree) -> None:
        self.paths = paths
        self.v3 = {"apis/other.example/v1": "/openapi/v3/apis/other.example/v1?hash=THEIRS"}

    def has_v2(self) -> bool:
        return bool(self.paths)

    def merged_v2(self, own: Callable[[], Tree]) -> Tree:
        tree = own()
        return tree | {"paths": tree["paths"] | self.paths}


def test_what_other_servers_say_is_told_with_it() -> None:
    """Given another server behind this one, when the index and the whole document are read, then
    they have what it says; the tag of the whole document is that of its bytes.
    """
    openapi, _ = served(built_in("coordination.k8s.io", "leases"))
    alone = ask(openapi, "/openapi/v2")
    openapi.others = Others({})
    assert ask(openapi, "/openapi/v2").headers == alone.headers
    index = orjson.loads(ask(openapi, "/openapi/v3").body)["paths"]
    assert index["apis/other.example/v1"] == {"serverRelativeURL": "/openapi/v3/apis/other.example/v1?hash=THEIRS"}
    openapi, _ = served(built_in("coordination.k8s.io", "leases"))
    openapi.others = Others({"/theirs": {}})
    merged = ask(openapi, "/openapi/v2")
    assert orjson.loads(merged.body)["paths"]["/theirs"] == {}
    assert merged.headers[0] == ("ETag", f'"{hashlib.sha512(merged.body).hexdigest().upper()}"')
    assert b"/theirs" in ask(openapi, "/openapi/v2", accept=V2_PROTOBUF[0]).body
