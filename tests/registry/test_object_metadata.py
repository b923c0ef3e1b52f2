"""What may stand in an object's metadata, when it is new and when it changes, rule by rule."""

from dataclasses import replace
from typing import Any

import pytest

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import as_told
from fakekube.registry import metadata
from fakekube.registry.kind import Kind
from fakekube.registry.strategy import WriteContext
from fakekube.util.rng import Rng
from tests.registry.test_hooks import Quiet

MAP = Kind(group="", version="v1", kind="ConfigMap", plural="configmaps", singular="configmap", namespaced=True)
NODE = replace(MAP, kind="Node", plural="nodes", namespaced=False)
THING = replace(MAP, group="x.example", kind="Thing", plural="things", custom=True)


def told(errors: list[Any], minor: int = 37) -> list[tuple[str, str]]:
    """Field and text of each, without what names may look like."""
    return [(error.field, error.cause()["message"].partition(" must consist")[0]) for error in as_told(errors, minor)]


def new(kind: Kind = MAP, minor: int = 37, **meta: Any) -> list[tuple[str, str]]:
    where = {"namespace": "n"} if kind.namespaced else {}
    return told(metadata.validate_object_meta({"metadata": {"name": "a", **where, **meta}}, kind), minor)


def changed(old: Tree, change: Tree, kind: Kind = MAP, minor: int = 36, subresource: str = "") -> list[tuple[str, str]]:
    """What is told of a change, in the order in which checks find it."""
    ctx = WriteContext(Quiet(), Rng(0), "2026-01-01T00:00:00Z", UserInfo("ann"), subresource=subresource)
    ctx.cluster.release = f"1.{minor}"
    before = {"name": "a", "namespace": "n", **old}
    after = {name: value for name, value in {**before, **change}.items() if value is not None}
    found = metadata.validate_object_meta_update({"metadata": after}, {"metadata": before}, kind, ctx)
    return [(error.field, error.cause()["message"].partition(" must consist")[0]) for error in found]


@pytest.mark.parametrize(
    ("kind", "meta", "expected"),
    [
        (MAP, {}, []),
        (NODE, {}, []),
        (MAP, {"namespace": ""}, [("metadata.namespace", "Required value")]),
        (MAP, {"namespace": "a.b"}, [("metadata.namespace", 'Invalid value: "a.b": must not contain dots')]),
        (MAP, {"namespace": "A"}, [("metadata.namespace", 'Invalid value: "A": a lowercase RFC 1123 label')]),
        (MAP, {"namespace": "a_b"}, [("metadata.namespace", 'Invalid value: "a_b": a lowercase RFC 1123 label')]),
        (MAP, {"namespace": "a-1"}, []),
        (MAP, {"namespace": "1a"}, []),
        (MAP, {"namespace": "a" * 63}, []),
        (
            MAP,
            {"namespace": "a" * 64},
            [("metadata.namespace", f'Invalid value: "{"a" * 64}": must be no more than 63 characters')],
        ),
        (NODE, {"namespace": "n"}, [("metadata.namespace", "Forbidden: not allowed on this type")]),
        (MAP, {"name": ""}, [("metadata.name", "Required value: name or generateName is required")]),
        (replace(MAP, name_rule="label"), {"name": "a.b"}, [("metadata.name", 'Invalid value: "a.b": must not contain dots')]),
        (
            replace(MAP, name_rule="label"),
            {"generateName": "a.b-"},
            [("metadata.generateName", 'Invalid value: "a.b-": must not contain dots')],
        ),
        (MAP, {"generation": 0}, []),
        (MAP, {"generation": -1}, [("metadata.generation", "Invalid value: -1: must be greater than or equal to 0")]),
        (MAP, {"finalizers": ["kubernetes", "orphan"]}, []),
        (MAP, {"finalizers": ["foregroundDeletion", "a/b"]}, []),
        (
            MAP,
            {"finalizers": ["a"]},
            [
                (
                    "metadata.finalizers[0]",
                    'Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified',
                )
            ],
        ),
        (replace(MAP, group="apiregistration.k8s.io"), {"finalizers": ["a"]}, []),
        (replace(MAP, group="apiextensions.k8s.io"), {"finalizers": ["a"]}, []),
        (THING, {"finalizers": ["a"]}, []),
        (
            MAP,
            {"finalizers": ["orphan", "foregroundDeletion"]},
            [
                (
                    "metadata.finalizers",
                    'Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
                )
            ],
        ),
    ],
)
def test_metadata_of_a_new_object(kind: Kind, meta: Tree, expected: list[tuple[str, str]]) -> None:
    """Given metadata, then what is wrong with it is told, and nothing else."""
    assert new(kind, **meta) == expected


def owner(**change: Any) -> Tree:
    return {
        name: value
        for name, value in {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", **change}.items()
        if value is not None
    }


EVENT = (
    'Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner'
)
VERSION = "must be <group>/<version> or <version>"
PATH = "metadata.ownerReferences"


@pytest.mark.parametrize(
    ("references", "now", "older"),
    [
        ([owner(apiVersion="a/b")], [], []),
        ([owner(apiVersion="apps/v1", kind="Event")], [], []),
        (
            [owner(), owner(apiVersion="a/b/c")],
            [(f"{PATH}[1].apiVersion", f'Invalid value: "a/b/c": {VERSION}')],
            [(f"{PATH}.apiVersion", 'Invalid value: "a/b/c": version must not be empty')],
        ),
        (
            [owner(apiVersion="a/")],
            [(f"{PATH}[0].apiVersion", f'Invalid value: "a/": {VERSION}')],
            [(f"{PATH}.apiVersion", 'Invalid value: "a/": version must not be empty')],
        ),
        (
            [owner(apiVersion=None)],
            [(f"{PATH}[0].apiVersion", "Required value: must not be empty")],
            [(f"{PATH}.apiVersion", 'Invalid value: "": version must not be empty')],
        ),
        (
            [owner(kind="", name=None, uid="")],
            [(f"{PATH}[0].{name}", "Required value: must not be empty") for name in ("kind", "name", "uid")],
            [(f"{PATH}.{name}", 'Invalid value: "": must not be empty') for name in ("kind", "name", "uid")],
        ),
        ([owner(kind="Event")], [(f"{PATH}[0]", EVENT)], [(PATH, EVENT)]),
    ],
)
def test_owners_of_an_object(references: list[Tree], now: list[tuple[str, str]], older: list[tuple[str, str]]) -> None:
    """Given owners, then what is wrong with one is told by its place, in the release's words."""
    assert new(ownerReferences=references) == now
    assert new(minor=36, ownerReferences=references) == older


def test_one_owner_alone_is_the_controller() -> None:
    """Given three owners that say they control, then each but the first is told with it."""
    references = [owner(), *(owner(kind=kind, name=kind.lower(), controller=True) for kind in ("A", "B", "C"))]
    found = [text.partition(": Only")[2] for _, text in new(ownerReferences=references)]
    assert found == [
        f' one reference can have Controller set to true. Found "true" in references for A/a and {other}'
        for other in ("B/b", "C/c")
    ]
    assert new(ownerReferences=[owner(), owner(uid="v", controller=True), owner(uid="w", controller=False)]) == []


ENTRY = {"manager": "m", "operation": "Update", "fieldsType": "FieldsV1"}


@pytest.mark.parametrize(
    ("change", "now", "older"),
    [
        ({}, [], []),
        ({"operation": "Apply"}, [], []),
        ({"fieldsType": ""}, [], []),
        ({"manager": "m" * 128}, [], []),
        ({"subresource": "s" * 256}, [], []),
        ({"manager": "é" * 64}, [], []),
        ({"manager": "é" * 65}, [("manager", "Too long: may not be more than 128 bytes")], None),
        (
            {"manager": "m" * 129, "subresource": "s" * 257},
            [
                ("manager", "Too long: may not be more than 128 bytes"),
                ("subresource", "Too long: may not be more than 256 bytes"),
            ],
            None,
        ),
        (
            {"operation": ""},
            [("operation", "Required value: must not be empty")],
            [("operation", 'Invalid value: "": must be `Apply` or `Update`')],
        ),
        (
            {"operation": "Other"},
            [("operation", 'Unsupported value: "Other": supported values: "Apply", "Update"')],
            [("operation", 'Invalid value: "Other": must be `Apply` or `Update`')],
        ),
        ({"fieldsType": "V2"}, [("fieldsType", 'Invalid value: "V2": must be `FieldsV1`')], None),
    ],
)
def test_entries_of_managed_fields(
    change: Tree,
    now: list[tuple[str, str]],
    older: list[tuple[str, str]] | None,
) -> None:
    """Given entries, then what is wrong with the second is told by its place."""
    for minor, expected in ((37, now), (36, now if older is None else older)):
        assert new(minor=minor, managedFields=[ENTRY, {**ENTRY, **change}]) == [
            (f"metadata.managedFields[1].{field}", text) for field, text in expected
        ]


LABELS = ("metadata.labels", 'Invalid value: "a b": name part')
ANNOTATIONS = ("metadata.annotations", 'Invalid value: "a b": name part')
OPERATION = ("metadata.managedFields[0].operation", 'Unsupported value: "X": supported values: "Apply", "Update"')
BOTH = (
    "metadata.finalizers",
    'Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
)
STANDARD = ("metadata.finalizers[0]", 'Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified')
Told = list[tuple[str, str]]


def fixed(name: str, shown: str) -> Told:
    return [(f"metadata.{name}", f"Invalid value: {shown}: field is immutable")]


@pytest.mark.parametrize(
    ("change", "whole", "changes", "standard"),
    [
        ({}, [], [], []),
        ({"managedFields": [ENTRY], "resourceVersion": "9"}, [], [], []),
        ({"labels": {"a": "b"}}, [], [], []),
        ({"labels": {"a b": "c"}}, [LABELS], [LABELS], []),
        ({"annotations": {"a b": "c"}}, [ANNOTATIONS], [ANNOTATIONS], []),
        ({"managedFields": [{**ENTRY, "operation": "X"}]}, [OPERATION], [OPERATION], []),
        ({"finalizers": ["a"]}, [], [], [STANDARD]),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, [BOTH], [], []),
        ({"name": "b"}, [], fixed("name", '"b"'), []),
        ({"name": "b/c"}, [("metadata.name", "Invalid value: \"b/c\": may not contain '/'")], fixed("name", '"b/c"'), []),
        ({"namespace": "m"}, [], fixed("namespace", '"m"'), []),
        ({"uid": "u"}, [], fixed("uid", '"u"'), []),
        ({"generation": 2}, [], [("metadata.generation", "Invalid value: 2: must not be decremented")], []),
        ({"generation": 3}, [], [], []),
        ({"generation": 4}, [], [], []),
        ({"deletionGracePeriodSeconds": 5}, [], fixed("deletionGracePeriodSeconds", "5"), []),
        ({"deletionTimestamp": "t"}, [], fixed("deletionTimestamp", '"t"'), []),
        ({"creationTimestamp": "t"}, [], fixed("creationTimestamp", '"t"'), []),
    ],
)
def test_metadata_of_a_changed_object(change: Tree, whole: Told, changes: Told, standard: Told) -> None:
    """Given a change, then the whole and the change are looked at, and by 1.36 and before what the
    validation of the kind looks at again; since 1.37 a built-in kind tells nothing twice.
    """

    def again(*checks: str, subresource: str = "") -> Told:
        return changed({"generation": 3}, change, replace(MAP, metadata_checks=checks), subresource=subresource)

    once, update, as_new = whole + changes, changes + standard, whole + standard
    assert [again(), again("update")] == [once, once + update]
    assert [again("whole"), again("update", "whole")] == [once + as_new, once + update + as_new]
    assert again("whole", subresource="status") == once + update
    assert changed({"generation": 3}, change, minor=37) == list(dict.fromkeys(once + standard))
    assert changed({"generation": 3}, change, THING, minor=37) == once + changes


def test_what_was_there_before_is_not_looked_at_again() -> None:
    """Given parts that are wrong and were so before, when something else changes, then they are not
    told; finalizers and the generation are.
    """
    old = {
        "labels": {"a b": "c"},
        "annotations": {"a b": "c"},
        "ownerReferences": [owner(kind="")],
        "managedFields": [{**ENTRY, "operation": "X"}],
    }
    assert changed(old, {"labels": {"a": "b"}}) == []
    assert changed(old, {"annotations": {"a": "b"}}) == []
    assert changed({"finalizers": ["a b/c/d"]}, {"labels": {"a": "b"}})[0][0] == "metadata.finalizers"


def test_finalizers_of_what_is_deleted_only_go() -> None:
    """Given an object that is being deleted, then finalizers may go, and those that come are told,
    sorted.
    """
    old = {"deletionTimestamp": "t", "finalizers": ["a/a", "b/b"]}
    assert changed(old, {"finalizers": ["b/b"]}, minor=37) == []
    assert changed(old, {"finalizers": ["c/d", "b/b", "c/c"]}, minor=37) == [
        (
            "metadata.finalizers",
            (
                "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
                '[]string{"c/c", "c/d"}'
            ),
        )
    ]
    assert changed({"finalizers": ["a/a"]}, {"finalizers": ["c/c"]}, minor=37) == []


def test_what_no_update_changes_is_put_back() -> None:
    """Given a body, when what is the server's is put back, then a generation, a creation and a
    deletion are the stored ones, and only a deletion that the stored one has not stays, to be told.
    """
    meta: Tree = {"name": "a", "generation": 9, "creationTimestamp": "t", "deletionTimestamp": "u"}
    metadata.restore(meta, {"creationTimestamp": "c"})
    assert meta == {"name": "a", "creationTimestamp": "c", "deletionTimestamp": "u"}
    meta = {"name": "a", "deletionGracePeriodSeconds": 7}
    metadata.restore(meta, {"generation": 2, "deletionTimestamp": "d", "deletionGracePeriodSeconds": 3})
    assert meta == {"name": "a", "generation": 2, "deletionTimestamp": "d", "deletionGracePeriodSeconds": 7}
    meta = {}
    metadata.restore(meta, {"deletionGracePeriodSeconds": 3})
    assert meta == {"deletionGracePeriodSeconds": 3}
    meta = dict.fromkeys(("labels", "annotations", "finalizers", "ownerReferences", "name", "managedFields"), "new")
    metadata.restore_whole(meta, {"labels": "old", "annotations": "old", "name": "old"})
    assert meta == {"labels": "old", "annotations": "old", "name": "new", "managedFields": "new"}


def test_owners_that_are_there_twice_are_dropped() -> None:
    """Given owners, then one that is there again, its fields in whatever order, is dropped with a
    warning; of one owner, or different ones, nothing is said.
    """
    ctx = WriteContext(Quiet(), Rng(0), "t", UserInfo("ann"))
    for references in ([], [owner()], [owner(), owner(uid="v")], [owner(), owner(controller=True)]):
        meta: Tree = {"ownerReferences": references}
        metadata.dedupe_owner_references(meta, ctx)
        assert meta["ownerReferences"] is references
    metadata.dedupe_owner_references({}, ctx)
    assert ctx.warnings == []
    turned = dict(reversed(owner().items()))
    meta = {"ownerReferences": [owner(), owner(uid=None), turned, owner(uid=None), owner(uid="w")]}
    metadata.dedupe_owner_references(meta, ctx)
    assert meta["ownerReferences"] == [owner(), owner(uid=None), owner(uid="w")]
    assert ctx.warnings == [
        (
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
            "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u, "
        )
    ]


def test_names_that_are_made_up() -> None:
    """Given bases, then 58 characters of one stand before five others."""
    assert metadata.generate_name("a" * 58, Rng(0))[:-5] == metadata.generate_name("a" * 59, Rng(0))[:-5] == "a" * 58
    assert len(metadata.generate_name("ab", Rng(0))) == 7
