import pytest

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.releases import RELEASES
from fakekube.schema import definitions, structural
from tests.schema.releases import release, schema


def test_an_unknown_release_names_the_known_ones() -> None:
    """given no table for 1.99, when it is loaded, then the error says what there is"""
    with pytest.raises(ValueError, match=r"unknown Kubernetes release '1.99', known are 1.25, "):
        definitions.load("1.99")


@pytest.mark.parametrize("name", [each.name for each in RELEASES])
def test_every_definition_of_every_release_opens(name: str) -> None:
    """given a release, when each definition is opened to its fields, then each has Go facts and
    references lead on
    """
    for definition in release(name).names():
        node = release(name).named(definition)
        assert set(node.properties) == set(node.go.fields if node.go else ())
        for child in node.properties.values():
            assert (child.items is not None) == (child.type == "array")


@pytest.mark.parametrize(("name", "known"), [
    ("1.35", [("v1alpha1", "Workload")]),
    ("1.36", [("v1alpha2", "Workload"), ("v1alpha2", "PodGroup")]),
    ("1.37", [("v1beta1", "Workload"), ("v1alpha3", "CompositePodGroup")]),
])  # fmt: skip
def test_each_release_has_its_own_kinds(name: str, known: list[tuple[str, str]]) -> None:
    """given releases that shaped a group anew, when a kind is looked up, then only its release
    knows it
    """
    for version, kind in known:
        gvk = GroupVersionKind("scheduling.k8s.io", version, kind)
        assert [one for one in ("1.35", "1.36", "1.37") if release(one).schema(gvk)] == [name]


def test_lists_say_how_they_are_keyed() -> None:
    """given a pod's containers and ports, when their schemas are asked, then keys and strategies
    are upstream's
    """
    spec = schema("v1", "Pod").properties["spec"]
    containers = spec.properties["containers"]
    assert (containers.list_type, containers.list_map_keys, containers.merge_key) == ("map", ("name",), "name")
    assert containers.items is not None
    assert containers.items.properties["ports"].list_map_keys == ("containerPort", "protocol")
    assert spec.properties["volumes"].patch_strategy == "merge,retainKeys"
    assert schema("v1", "Pod").properties["metadata"].properties["finalizers"].list_type == "set"


def test_a_field_may_say_more_than_its_definition() -> None:
    """given a Deployment's strategy, a reference with a patch strategy, when it is asked, then it
    has both
    """
    strategy = schema("apps/v1", "Deployment").properties["spec"].properties["strategy"]
    assert strategy.patch_strategy == "retainKeys"
    assert "rollingUpdate" in strategy.properties


def test_definitions_that_hold_themselves_open_step_by_step() -> None:
    """given JSONSchemaProps, when it is followed into itself, then the same node comes back"""
    name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
    node = release().named(name)
    assert node.properties["properties"].additional is node


def test_fields_stand_in_the_order_of_go() -> None:
    """given a Service's spec, when its fields are listed, then ports come first as in Go and not by
    name
    """
    spec = schema("v1", "Service").properties["spec"]
    assert list(spec.properties)[:3] == ["ports", "selector", "clusterIP"]
    assert spec.go is not None
    assert spec.go.fields["sessionAffinity"].type == "v1.ServiceAffinity"
    assert schema("v1", "Pod").properties["spec"].properties["volumes"].items is not None


def test_a_custom_resource_has_the_same_kind_of_schema() -> None:
    """given an openAPIV3Schema, when it becomes a schema, then lists, maps and keywords are found
    in the same places
    """
    node = structural.from_openapi({
        "type": "object",
        "properties": {
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
                      "items": {"type": "object", "properties": {"port": {"type": "integer", "minimum": 1}}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}, "nullable": True},
            "size": {"x-kubernetes-int-or-string": True, "default": 3},
        },
    })  # fmt: skip
    ports = node.properties["ports"]
    assert ports.list_map_keys == ("port",)
    assert ports.items is not None
    assert ports.items.properties["port"].keywords == {"minimum": 1}
    assert node.properties["free"].preserve_unknown
    assert node.properties["labels"].nullable
    assert node.properties["labels"].additional is not None
    assert node.properties["size"].int_or_string
    assert node.properties["size"].default == 3
