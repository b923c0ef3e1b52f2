"""What a kind is without being told, what follows from what it is told, and the registry of all."""

from dataclasses import fields, replace

import pytest

from fakekube.apimachinery.gvk import GroupKind, GroupResource, GroupVersionKind
from fakekube.registry.kind import Column, Conversion, Kind, Printer, ScalePaths, Selectable, Subresource, strategy_of
from fakekube.registry.lazy import Lazy
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.strategy import DEFAULT, Strategy

JOB = Kind(group="batch", version="v1", kind="Job", plural="jobs", singular="job", namespaced=True)


def test_what_a_kind_is_that_says_no_more_than_its_names() -> None:
    """Given a kind with names alone, then it has all verbs, no behaviour, and upstream's usual
    rules.
    """
    assert {field.name: getattr(JOB, field.name) for field in fields(Kind)} == {
        "group": "batch",
        "version": "v1",
        "kind": "Job",
        "plural": "jobs",
        "singular": "job",
        "namespaced": True,
        "verbs": ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        "short_names": (),
        "categories": (),
        "subresources": (),
        "strategy": None,
        "printer": None,
        "selectable": Selectable(),
        "conversion": None,
        "table": True,
        "tracks_generation": False,
        "create_on_update": False,
        "unconditional_update": True,
        "delete_returns_object": False,
        "orphan_by_default": False,
        "collects_dependents": True,
        "field_annotation": "",
        "metadata_checks": ("update",),
        "storage_path": "",
        "status_keeps_metadata": False,
        "reset_fields": None,
        "pod_template": (),
        "selector_is_map": False,
        "scale_paths": None,
        "deprecation": "",
        "orphan_warning": "",
        "name_rule": "subdomain",
        "served_by_default": True,
        "gate": "",
        "custom": False,
        "published": None,
        "codec": None,
        "own_list_kind": "",
        "refuses_new": False,
    }
    assert strategy_of(JOB) is DEFAULT
    assert (Selectable().labels, Selectable().values, dict(Selectable().aliases), Selectable().unknown) == (
        (),
        None,
        {},
        '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"',
    )
    status = Subresource("status", ("get",))
    assert (replace(JOB) == JOB, replace(status) == status, len({JOB, replace(JOB)})) == (False, False, 2)
    assert [getattr(status, field.name) for field in fields(Subresource)] == ["status", ("get",), None, None, None, True]
    assert Column("a") == ("a", "string", "", "", 0)
    assert Printer((), lambda *_: []).conditions is None
    assert ScalePaths(".a", ".b").selector == ""
    assert Conversion(JOB.gvk, dict, dict).remote is None


def test_what_follows_from_the_names_of_a_kind() -> None:
    """Given kinds, when they are asked for what errors and discovery name, then it follows from
    their names, and from the version that is stored.
    """
    assert (repr(JOB), JOB.api_version, JOB.gvk) == (
        "Kind(batch/v1, Kind=Job)",
        "batch/v1",
        GroupVersionKind("batch", "v1", "Job"),
    )
    assert (JOB.list_kind, replace(JOB, own_list_kind="Jobs").list_kind) == ("JobList", "Jobs")
    assert JOB.group_resource == JOB.storage_resource == GroupResource("batch", "jobs")
    assert JOB.group_kind == GroupKind("batch", "Job")
    other = replace(JOB, group="other", conversion=Conversion(JOB.gvk, dict, dict))
    assert other.group_resource == GroupResource("other", "jobs")
    assert (other.storage_resource, other.group_kind) == (GroupResource("batch", "jobs"), GroupKind("batch", "Job"))
    status, scale = Subresource("status", ("get",)), Subresource("scale", ("get",))
    below = replace(JOB, subresources=(status, scale))
    assert [below.subresource(name) for name in ("status", "scale", "log")] == [status, scale, None]
    assert replace(JOB, group="").api_version == "v1"


def test_custom_kinds_stand_behind_all_others_the_most_stable_first() -> None:
    """Given kinds of the server's own and of definitions, when they are listed, then the own ones
    stay as they were, the others follow by group, version and plural.
    """

    def custom(group: str, version: str, plural: str = "things") -> Kind:
        return replace(JOB, group=group, version=version, plural=plural, custom=True)

    own = [replace(JOB, group=group, version=version) for group, version in (("z", "v1"), ("a", "v1beta1"), ("a", "v1"))]
    sorted_ones = [
        custom("b", "v2"),
        custom("b", "v1", "as"),
        custom("b", "v1"),
        custom("b", "v2beta1"),
        custom("b", "v1beta2"),
        custom("b", "v1alpha1"),
        custom("b", "foo"),
        custom("c", "v1"),
    ]
    registry = ResourceRegistry([*reversed(sorted_ones), *own])
    assert list(registry.kinds) == [*own, *sorted_ones]
    assert registry.kinds is registry.kinds
    assert own[0].discovery_order == own[2].discovery_order == (False, "", (), "", "")


def test_what_the_registry_knows_of_groups_and_versions() -> None:
    """Given kinds, when the registry is asked for groups, versions and what is stored, then it
    answers of what is served, and of a resource's stored version, or the first of a definition's.
    """
    older = replace(JOB, version="v1beta1", conversion=Conversion(JOB.gvk, dict, dict))
    stored = GroupVersionKind("x.example", "v1", "Thing")
    thing = replace(JOB, group="x.example", kind="Thing", plural="things", custom=True)
    unstored = [replace(thing, version=version, conversion=Conversion(stored, dict, dict)) for version in ("v2", "v3")]
    registry = ResourceRegistry([JOB, older, *unstored])
    assert registry.kind("batch", "v1beta1", "jobs") is older
    assert registry.kind("batch", "v2", "jobs") is None
    assert [registry.has_group(group) for group in ("batch", "x.example", "")] == [True, True, False]
    assert [registry.is_custom(group) for group in ("batch", "x.example", "none")] == [False, True, False]
    assert [
        registry.has_version(*pair) for pair in (("batch", "v1"), ("batch", "v1beta1"), ("batch", "v3"), ("x.example", "v1"))
    ] == [True, True, False, False]
    assert dict(registry.stored) == {JOB.group_resource: JOB, thing.group_resource: unstored[1]}
    registry.install(thing)
    assert registry.stored[thing.group_resource] is thing
    assert registry.generation == 1
    registry.note_change()
    assert registry.generation == 2
    other = replace(thing, singular="other")
    registry.install(other)
    assert (registry.kind("x.example", "v1", "things"), len(registry.kinds)) == (other, 5)
    registry.remove(replace(JOB, plural="none"))
    assert (registry.generation, len(registry.kinds), registry.pending) == (4, 5, {})


def test_every_observer_is_told_of_every_change() -> None:
    """Given two observers, when kinds come and go, then each is told of each, in the order in which
    they came, and whether it was the last version of its resource.
    """
    registry, told = ResourceRegistry(), []
    for name in ("one", "two"):
        registry.on_change(lambda kind, last, name=name: told.append((name, kind.version, last)))  # type: ignore[misc]
    other = replace(JOB, version="v2", conversion=Conversion(JOB.gvk, dict, dict))
    registry.install(JOB, other)
    registry.remove(JOB)
    registry.remove(other)
    registry.remove(other)
    assert told == [
        (name, *each)
        for each in (("v1", False), ("v2", False), ("v1", False), ("v2", True), ("v2", True))
        for name in ("one", "two")
    ]


def test_a_field_gives_a_value_whether_it_was_to_be_loaded_or_not() -> None:
    """Given fields that take values yet to be loaded, when they are asked for, then they are loaded
    then, once, and one kind's are not another's.
    """
    loaded: list[str] = []

    def load() -> Strategy:
        loaded.append("x")
        return Strategy()

    one, two = replace(JOB, strategy=Lazy(load)), replace(JOB, strategy=Lazy(load))
    assert loaded == []
    assert one.strategy is one.strategy
    assert loaded == ["x"]
    assert two.strategy is not one.strategy
    assert loaded == ["x", "x"]
    assert strategy_of(one) is one.strategy
    given = Strategy()
    assert replace(JOB, strategy=given).strategy is given
    assert (Kind.strategy, JOB.strategy) == (None, None)


@pytest.mark.parametrize("plural", ["jobs", "none"])
def test_a_kind_that_was_replaced_is_no_longer_the_one_that_is_stored(plural: str) -> None:
    """Given a registry that was asked, when another kind takes the place of one, then the answers
    follow.
    """
    registry = ResourceRegistry([JOB])
    assert registry.stored[JOB.group_resource] is JOB
    other = replace(JOB, plural=plural, short_names=("j",))
    registry.remove(JOB)
    registry.install(other)
    assert dict(registry.stored) == {other.group_resource: other}
