"""The list of entries: its order, what may be sent in it, its way through a Scale."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apis.catalog import catalog
from fakekube.managedfields import entries, fieldsv1, scale
from fakekube.managedfields.fieldsv1 import FieldsError
from fakekube.managedfields.manager import FieldManager
from fakekube.managedfields.resetfields import custom_reset_fields, reset_fields_of
from tests.managedfields.world import T0, T1, schema, widget, widgets

REPLICAS = {"f:spec": {"f:replicas": {}}}
MORE = {"f:spec": {"f:paused": {}, "f:replicas": {}}}


def entry(manager: str, fields: Any, operation: str = "Update", version: str = "apps/v1", time: str = T0) -> dict[str, Any]:
    found = {"manager": manager, "operation": operation, "apiVersion": version, "time": time}
    return {**found, "fieldsType": "FieldsV1", "fieldsV1": fields}


@pytest.mark.spec("API-124")
def test_appliers_come_first_then_the_older_then_by_name() -> None:
    """Given entries in any order / when they are encoded / then they stand as upstream sorts them.
    """
    found = [
        entry("b", REPLICAS, time=T1),
        entry("z", REPLICAS),
        entry("a", REPLICAS, time=T1),
        entry("y", REPLICAS, "Apply", time=T1),
    ]
    assert [each["manager"] for each in entries.encode(entries.decode(found))] == ["y", "z", "a", "b"]


def test_times_alone_make_no_difference_worth_writing() -> None:
    """Given two objects / when only times of entries differ / then it is no change; anything else
    is one.
    """
    old = {"metadata": {"name": "a", "managedFields": [entry("a", REPLICAS)]}, "spec": {"replicas": 1}}
    later = {"metadata": {"name": "a", "managedFields": [entry("a", REPLICAS, time=T1)]}, "spec": {"replicas": 1}}
    assert entries.same_but_for_times(later, old)
    assert not entries.same_but_for_times({**later, "spec": {"replicas": 2}}, old)
    assert not entries.same_but_for_times({**later, "metadata": {**later["metadata"], "name": "b"}}, old)
    assert not entries.same_but_for_times({**later, "metadata": {"name": "a"}}, old)
    other = {"name": "a", "managedFields": [entry("b", REPLICAS)]}
    assert not entries.same_but_for_times({**later, "metadata": other}, old)


@pytest.mark.parametrize("tree", [[], {"f": {}}, {"fx": {}}, {"f:a": 1}, {"k:x": {}}, {"i:x": {}}, {"k:[]": {}}])
def test_a_tree_that_is_no_set_is_refused(tree: Any) -> None:
    """Given a tree that no set looks like / when it is read / then FieldsError is raised."""
    with pytest.raises(FieldsError):
        fieldsv1.parse(tree)


def test_elements_are_shown_as_upstream_shows_them() -> None:
    """Given path elements / when they are shown / then fields, keys, values and indexes look like
    in Go.
    """
    path = ("f:a", 'k:{"b":1,"a":"x"}', 'v:"y"', "i:3", "v:true", "v:null")
    assert fieldsv1.path_text(path) == '.a[a="x",b=1][="y"][3][=true][=null]'
    assert fieldsv1.value_element("<&>") == 'v:"\\u003c\\u0026\\u003e"'
    assert fieldsv1.parse(None) == {}


def test_a_scale_shows_who_owns_the_replicas_and_gives_them_back() -> None:
    """Given owners of an object / when a Scale changes hands / then the loser loses them, the
    winner gets an entry.
    """
    parent = [entry("m1", MORE), entry("m0", {"f:spec": {"f:paused": {}}})]
    present = scale.to_scale(parent)
    assert present == [entry("m1", REPLICAS, version="autoscaling/v1")]
    won = [{**entry("m2", REPLICAS, "Apply", "autoscaling/v1", T1), "subresource": "scale"}]
    gained = {**entry("m2", REPLICAS, "Apply"), "subresource": "scale"}
    del gained["time"]
    assert scale.to_parent(parent, won, "apps/v1") == [
        gained,
        entry("m0", {"f:spec": {"f:paused": {}}}),
        entry("m1", {"f:spec": {"f:paused": {}}}),
    ]
    applied = [entry("m1", MORE, "Apply")]
    assert scale.to_parent(applied, scale.to_scale(applied), "apps/v1") == applied


def test_an_updater_of_the_object_has_its_replicas_apart_after_any_write_of_the_scale() -> None:
    """Given an updater of an object / when its Scale is written / then the replicas stand apart,
    and are lost the next time.
    """
    parent = [entry("m1", MORE)]
    apart = entry("m1", REPLICAS)
    del apart["time"]
    once = scale.to_parent(parent, scale.to_scale(parent), "apps/v1")
    assert once == [apart, entry("m1", {"f:spec": {"f:paused": {}}})]
    assert scale.to_scale(once) == []
    assert scale.to_parent(once, [], "apps/v1") == once[1:]


def test_a_signing_requests_approval_cannot_own_the_certificate() -> None:
    """Given a CertificateSigningRequest / when approval is applied with more / then only the
    conditions are owned.
    """
    kind = catalog("1.37").kind("certificates.k8s.io", "v1", "certificatesigningrequests")
    assert kind is not None
    shape = schema("certificates.k8s.io", "v1", "CertificateSigningRequest")
    resets = reset_fields_of(shape, declared=kind.reset_fields)
    manager = FieldManager(shape, "certificates.k8s.io/v1", reset_fields=resets)
    condition = {"type": "Approved", "status": "True"}
    config = {"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1", "metadata": {"name": "c"}}
    config |= {"spec": {"signerName": "x"}, "status": {"certificate": "eA==", "conditions": [condition]}}
    tree = manager.apply(None, config, manager="m", now=T0, subresource="approval")
    (found,) = tree["metadata"]["managedFields"]
    assert list(found["fieldsV1"]["f:status"]) == ["f:conditions"]
    assert "f:spec" not in found["fieldsV1"]


def test_a_custom_resource_without_status_resets_nothing() -> None:
    """Given the rules of custom resources / when there is no status sub-resource / then every field
    can be owned.
    """
    assert custom_reset_fields(has_status=False) == {}
    assert ("f:status",) in custom_reset_fields(has_status=True)[""]


def test_without_a_schema_maps_are_open_and_lists_are_whole() -> None:
    """Given a custom resource without a schema / when it is created / then maps have members and
    lists have not.
    """
    manager = FieldManager(None, "example.com/v1", kind="Widget", metadata=schema("", "v1", "Pod").properties["metadata"])
    tree = widget({"a": {"b": 1}, "l": [{"x": 1}]})
    tree["metadata"]["finalizers"] = ["example.com/f"]
    manager.update(None, tree, manager="m", now=T0)
    (found,) = tree["metadata"]["managedFields"]
    assert found["fieldsV1"] == {
        "f:metadata": {"f:finalizers": {".": {}, 'v:"example.com/f"': {}}},
        "f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}, "f:l": {}},
    }


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"paused": 1}, ".spec.paused: expected boolean, got &{1}"),
        (
            {"template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": {}}}}]}}},
            '.spec.template.spec.containers[name="c"].resources.limits.cpu: expected any scalar, got &{map[]}',
        ),
        ({"template": 1}, ".spec.template: expected map, got &{1}"),
        (
            {"strategy": {"type": {"a": ["x", None, True]}}},
            (".spec.strategy.type: expected string, got &value.valueUnstructured{Value:map[string]interface {}"
            '{"a":[]interface {}{"x", interface {}(nil), true}}}'),
        ),
        (
            {"template": {"spec": {"containers": [{"name": {"b": [1, None], "a": "x"}}]}}},
            ('.spec.template.spec.containers[name=a="x"b=[1,null]].name: expected string, got '
            '&value.valueUnstructured{Value:map[string]interface {}{"a":"x", "b":[]interface {}{1, interface {}(nil)}}}'),
        ),
        (
            {"template": {"spec": {"containers": [{"name": 1e20}]}}},
            (".spec.template.spec.containers[name=1e+20].name: expected string, got "
            "&value.valueUnstructured{Value:1e+20}"),
        ),
        ({"a": 1, "replicas": "x"}, ".spec.a: field not declared in schema"),
        (
            {"replicas": [], "paused": {"b": None}},
            ("errors:\n  .spec.replicas: expected numeric (int or float), got []interface {}\n"
            "  .spec.paused: expected boolean, got &{map[b:<nil>]}"),
        ),
    ],
)  # fmt: skip
def test_types_that_do_not_fit_are_named_as_go_names_them(body: dict[str, Any], text: str) -> None:
    """Given a Deployment with a value of another type / when it is applied / then the text is
    upstream's.
    """
    manager = FieldManager(schema("apps", "v1", "Deployment"), "apps/v1")
    config = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d", "namespace": "n"}, "spec": body}
    with pytest.raises(APIError) as error:
        manager.apply(None, config, manager="m", now=T0)
    assert error.value.message == f"failed to create typed patch object (n/d; apps/v1, Kind=Deployment): {text}"


def test_sets_of_things_that_cannot_be_told_apart_are_refused() -> None:
    """Given sets and keyed lists of wrong things / when they are applied / then upstream's text
    says what is wrong.
    """
    for spec, text in (
        ({"tags": [{}]}, "element 0: associative list without keys has an element that's a map type"),
        ({"tags": [[]]}, "element 0: not supported: associative list with lists as elements"),
        ({"tags": [None]}, "element 0: associative list without keys has an element that's an explicit null"),
        ({"mapped": [None]}, "element 0: associative list with keys may not have a null element"),
        ({"mapped": ["x"]}, "element 0: associative list with keys may not have non-map elements"),
    ):
        with pytest.raises(APIError) as error:
            widgets().apply(None, widget(spec), manager="m", now=T0)
        assert error.value.message.endswith(f".spec.{next(iter(spec))}: {text}")


@pytest.mark.parametrize(("spec", "items"), [
    ({"containers": [{"image": "i"}]}, {"f:containers": {'k:{"name":""}': {".": {}, "f:image": {}}}}),
    ({"imagePullSecrets": [{}]}, {"f:imagePullSecrets": {'k:{"name":""}': {}}}),
    ({"hostAliases": [{"hostnames": ["a"]}]}, {"f:hostAliases": {'k:{"ip":""}': {".": {}, "f:hostnames": {}}}}),
])
def test_keys_that_are_not_given_have_the_zero_value_of_go(spec: dict[str, Any], items: dict[str, Any]) -> None:
    """Given an item without its key / when it is applied / then it is known by what Go would print
    for the key.
    """
    manager = FieldManager(schema("", "v1", "PodTemplate"), "v1")
    config = {"kind": "PodTemplate", "apiVersion": "v1", "metadata": {"name": "d", "namespace": "n"}, "template": {"spec": spec}}
    applied = manager.apply(None, config, manager="m", now="2026-01-01T00:00:00Z", force=False)
    fields = applied["metadata"]["managedFields"][0]["fieldsV1"]["f:template"]["f:spec"]
    assert {name: {key: dict(value) for key, value in below.items()} for name, below in fields.items()} == items


def test_a_raw_extension_is_anything_as_one() -> None:
    """Given a ControllerRevision with data of any form / when it is applied / then the data is
    owned as a whole.
    """
    manager = FieldManager(schema("apps", "v1", "ControllerRevision"), "apps/v1")
    config = {"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": {"name": "d"}, "data": {"x": {"y": 1}}}
    applied = manager.apply(None, config, manager="m", now="2026-01-01T00:00:00Z", force=False)
    assert applied["metadata"]["managedFields"][0]["fieldsV1"]["f:data"] == {}
