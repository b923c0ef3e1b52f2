"""Strategic merge patches merge lists by key and obey directives."""

import copy
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.patch import strategic_merge
from fakekube.patch.strategic_merge import PatchError
from fakekube.schema import definitions
from fakekube.schema.structural import Schema

NAMES = st.sampled_from("abcd")
IMAGES = st.sampled_from(["x", "y"])
CONTAINERS = st.lists(st.fixed_dictionaries({"name": NAMES, "image": IMAGES}), max_size=4, unique_by=lambda item: item["name"])


@lru_cache
def schema(group: str, version: str, kind: str) -> Schema:
    found = definitions.load("1.37").schema(GroupVersionKind(group, version, kind))
    assert found is not None
    return found


def merged(spec: Any, patch: Any) -> Any:
    """The spec of a Pod after a patch of its spec."""
    return strategic_merge.apply({"spec": spec}, {"spec": patch}, schema("", "v1", "Pod"))["spec"]


def containers(names: str) -> list[dict[str, Any]]:
    return [{"name": name, "image": "x"} for name in names]


def names(spec: Any) -> str:
    return "".join(item["name"] for item in spec["containers"])


@pytest.mark.spec("API-105")
@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"containers": [{"name": "b", "image": "y"}]}, "abc"),
        ({"containers": [{"name": "d"}]}, "dabc"),
        ({"containers": [{"name": "b", "$patch": "delete"}]}, "ac"),
        ({"containers": [{"$patch": "replace"}, {"name": "d"}]}, "d"),
        ({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}, "bca"),
        (
            {
                "$setElementOrder/containers": [{"name": "d"}, {"name": "c"}],
                "containers": [{"name": "d"}, {"name": "c"}],
            },
            "dabc",
        ),
    ],
)
def test_containers_merge_by_name(patch: dict[str, Any], expected: str) -> None:
    """Given three containers / when a patch names some of them / then the list has upstream's
    members and order.
    """
    assert names(merged({"containers": containers("abc")}, patch)) == expected


def test_fields_of_a_named_item_merge() -> None:
    """Given a container / when a patch sets one of its fields / then the others stay."""
    spec = {"containers": [{"name": "a", "image": "x", "env": [{"name": "A", "value": "1"}], "stdin": True}]}
    patch = {"containers": [{"name": "a", "env": [{"name": "B", "value": "2"}], "stdin": None}]}
    assert merged(spec, patch)["containers"] == [
        {"name": "a", "image": "x", "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]}
    ]


@pytest.mark.spec("API-105")
def test_retain_keys_drop_what_is_not_named() -> None:
    """Given a rolling update / when a patch retains the type alone / then its parameters are gone.
    """
    old = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic_merge.apply(old, patch, schema("apps", "v1", "Deployment")) == {"spec": {"strategy": {"type": "Recreate"}}}


def test_finalizers_are_a_list_of_scalars_that_merges() -> None:
    """Given finalizers / when a patch adds and deletes some / then each is there once."""
    pod = schema("", "v1", "Pod")
    old = {"metadata": {"finalizers": ["a/x", "a/y"]}}
    added = strategic_merge.apply(old, {"metadata": {"finalizers": ["a/z", "a/x"]}}, pod)
    assert sorted(added["metadata"]["finalizers"]) == ["a/x", "a/y", "a/z"]
    deleted = strategic_merge.apply(old, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/x"]}}, pod)
    assert deleted["metadata"]["finalizers"] == ["a/y"]


@pytest.mark.parametrize(
    ("labels", "patch", "expected"),
    [
        ({"a": "1"}, {"$patch": "replace", "b": "2"}, {"b": "2"}),
        ({"a": "1"}, {"$patch": "delete"}, {}),
        ({"a": "1"}, {"a": None, "b": "2"}, {"b": "2"}),
    ],
)
def test_maps_obey_directives(labels: dict[str, str], patch: dict[str, Any], expected: dict[str, str]) -> None:
    """Given labels / when a patch of them carries a directive / then it is obeyed."""
    old = {"metadata": {"labels": labels}}
    new = strategic_merge.apply(old, {"metadata": {"labels": patch}}, schema("", "v1", "Pod"))
    assert new == {"metadata": {"labels": expected}}


@pytest.mark.parametrize(
    ("patch", "code", "text"),
    [
        ({"containers": [{"image": "x"}]}, 500, "map: map[image:x] does not contain declared merge key: name"),
        ({"$patch": "merge"}, 500, "unknown patch type: merge in map: map[$patch:merge]"),
        ({"$patch": {"a": [1, None], "b": "x"}}, 500,
         "unknown patch type: map[a:[%!s(int64=1) %!s(<nil>)] b:x] in map: map[$patch:map[a:[1 <nil>] b:x]]"),
        ({"$patch": True}, 500, "unknown patch type: %!s(bool=true) in map: map[$patch:true]"),
        ({"containers": [{"$patch": "merge"}]}, 500, "merging lists cannot yet be specified in the patch"),
        ({"$setElementOrder/containers": ["a"]}, 500, "value for key 0 is not a map"),
        ({"$setElementOrder/containers": "a"}, 500, "expected a []interface {}, but received a string"),
        ({"$retainKeys": "a"}, 400, "invalid patch format of retainKeys"),
        ({"containers": ["a"]}, 500, "list element types are not identical: [[map[image:x name:a]] [a]]"),
        (
            {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "e"}]},
            500,
            "The order in patch list:\n[map[name:e]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
        ),
    ],
)
def test_a_bad_directive_is_refused_in_upstreams_words(patch: dict[str, Any], code: int, text: str) -> None:
    """Given a directive of the wrong shape / when it is applied / then code and text are
    upstream's.
    """
    with pytest.raises(PatchError) as error:
        merged({"containers": containers("a")}, patch)
    assert (error.value.code, error.value.text) == (code, text)


@given(CONTAINERS, CONTAINERS)
def test_merging_containers_is_idempotent_and_leaves_its_input_alone(old: Any, patch: Any) -> None:
    """Given any containers / when a patch is applied twice / then the second time changes nothing.
    """
    before = copy.deepcopy((old, patch))
    once = merged({"containers": old}, {"containers": patch})
    assert merged(once, {"containers": patch}) == once
    assert {item["name"] for item in once["containers"]} == {item["name"] for item in [*old, *patch]}
    assert (old, patch) == before


@pytest.mark.parametrize(("present", "patch", "message"), [
    ([["x"]], [["y"]], "lists of lists are not supported"),
    (["x"], [["y"]], "list element types are not identical"),
    (["x"], ["a", {"b": 1}], "list element types are not identical"),
])
def test_lists_hold_one_kind_of_element(present: Any, patch: Any, message: str) -> None:
    """Given a list of lists, or one of texts and objects / then the patch is refused."""
    with pytest.raises(PatchError, match=message):
        strategic_merge.apply(
            {"metadata": {"finalizers": present}}, {"metadata": {"finalizers": patch}}, schema("", "v1", "Pod"))


def test_a_list_with_a_list_after_a_text_is_not_one_of_lists() -> None:
    """Given a text and then a list / then the kinds differ, which is told rather than that it is a
    list of lists.
    """
    with pytest.raises(PatchError, match="list element types are not identical"):
        strategic_merge.apply(
            {"metadata": {"finalizers": ["x"]}}, {"metadata": {"finalizers": ["y", [1]]}}, schema("", "v1", "Pod"))


def test_directives_in_what_is_new_are_not_kept() -> None:
    """Given a new object with directives within it, at two depths / then it has all but these."""
    patch = {"affinity": {"nodeAffinity": {"x": {"$patch": "delete"}, "y": {"z": [{"$patch": "replace"}, {"w": 1}]}}}}
    found = strategic_merge.apply({"spec": {}}, {"spec": patch}, schema("", "v1", "Pod"))
    assert "$patch" not in str(found)


@pytest.mark.parametrize("patch", [
    {"metadata": {"labels": {"a": {"b": 1}}}}, {"spec": {"nodeSelector": {"a": {"b": 1}}}}])
def test_an_object_in_a_map_of_texts_is_not_merged(patch: Any) -> None:
    """Given a map whose values have no fields / when an object in it is to be merged / then nobody
    knows how, which is told in upstream's words; an object of a struct is merged.
    """
    tree = {"metadata": {"labels": {"a": {"c": 1}}}, "spec": {"nodeSelector": {"a": {"c": 1}}}}
    with pytest.raises(PatchError, match="merging an object in json but data type is not struct, instead is: map"):
        strategic_merge.apply(tree, patch, schema("", "v1", "Pod"))
    spec = {"affinity": {"nodeAffinity": {"x": 1}}}
    assert merged(spec, {"affinity": {"nodeAffinity": {"y": 2}}}) == {"affinity": {"nodeAffinity": {"x": 1, "y": 2}}}


def test_a_new_list_with_an_order_loses_directives_at_every_depth() -> None:
    """Given a list that is new to the object and has an order / when its items hold directives /
    then these are left out, with what they speak of; all else stays.
    """
    item = {"name": "b", "env": [{"name": "x", "$patch": "delete"}, {"name": "y"}], "resources": {"$patch": "replace", "a": 1}}
    found = merged({}, {"$setElementOrder/containers": [{"name": "b"}], "containers": [item]})
    assert found == {"containers": [{"name": "b", "env": [{"name": "y"}]}]}
