"""Annotations for topologies on pod templates: what they ask for, and what is refused."""

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import requests, validation

K = "kueue.x-k8s.io/"
REQUIRED, PREFERRED = f"{K}podset-required-topology", f"{K}podset-preferred-topology"
UNCONSTRAINED = f"{K}podset-unconstrained-topology"
SLICE, SIZE, GROUP = f"{K}podset-slice-required-topology", f"{K}podset-slice-size", f"{K}podset-group-name"
LAYERS = f"{K}podset-slice-required-topology-constraints"
ON, HERE = Features(), "spec.template.metadata.annotations"


def asked(annotations: dict[str, str], **labels: object) -> object:
    return requests.topology_request({"annotations": annotations}, ON, **labels)  # type: ignore[arg-type]


def refusals(annotations: dict[str, str], features: Features = ON) -> list[str]:
    return [str(each) for each in validation.of_template("spec.template.metadata", {"annotations": annotations}, features)]


@pytest.mark.parametrize(("annotations", "wanted"), [
    ({REQUIRED: "rack"}, {"required": "rack"}),
    ({PREFERRED: "rack"}, {"preferred": "rack"}),
    ({UNCONSTRAINED: "true"}, {"unconstrained": True}),
    ({UNCONSTRAINED: "F"}, {"unconstrained": False}),
    ({SLICE: "rack", SIZE: "2"}, {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2}),
    ({SLICE: "rack"}, None),
    ({REQUIRED: "rack", GROUP: "g"}, {"required": "rack", "podSetGroupName": "g"}),
    ({UNCONSTRAINED: "true", GROUP: "g"}, {"unconstrained": True}),
    ({LAYERS: '[{"topology": "rack", "size": 4}]', SLICE: "x", SIZE: "1"},
     {"podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": 4}]}),
    ({}, None),
])
def test_request_of_annotations(annotations: dict[str, str], wanted: object) -> None:
    """Given annotations of a template, when a podset is made, then its request says so."""
    assert asked(annotations) == wanted


def test_request_with_index_labels() -> None:
    """Given no annotation, when the kind of job has an index, then the request tells its labels
    nevertheless.
    """
    labels = asked({}, pod_index_label="i", sub_group_index_label="j", sub_group_count=2)
    assert labels == {"podIndexLabel": "i", "subGroupIndexLabel": "j", "subGroupCount": 2}


@pytest.mark.parametrize(("annotations", "text"), [
    ({UNCONSTRAINED: "maybe"}, 'strconv.ParseBool: parsing "maybe": invalid syntax'),
    ({SLICE: "rack", SIZE: "x"}, 'strconv.ParseInt: parsing "x": invalid syntax'),
    ({SLICE: "rack", SIZE: "3000000000"}, 'strconv.ParseInt: parsing "3000000000": value out of range'),
    ({LAYERS: "[]"}, "topology constraints must contain between 1 and 3 entries: got 0"),
    ({LAYERS: "x"}, ("failed to parse multi-layer topology constraints annotation: invalid character 'x' looking for beginning "
     "of value")),
])
def test_request_that_cannot_be_read(annotations: dict[str, str], text: str) -> None:
    """Given annotations that are no numbers, when a podset is made, then the error is Go's."""
    with pytest.raises(requests.TopologyRequestError) as raised:
        asked(annotations)
    assert str(raised.value) == text


@pytest.mark.spec("KUEUE-170")
@pytest.mark.parametrize(("annotations", "wanted"), [
    ({REQUIRED: "rack"}, []),
    ({REQUIRED: "rack", UNCONSTRAINED: "true"}, [
        ("spec.template.metadata.annotations: Invalid value: must not contain more than one topology annotation: "
        f'["{REQUIRED}", "{PREFERRED}", "{UNCONSTRAINED}"]')]),
    ({UNCONSTRAINED: "maybe"}, [
        f'{HERE}[{UNCONSTRAINED}]: Invalid value: "maybe": must be a boolean value']),
    ({GROUP: "g"}, [
        (f"{HERE}[{GROUP}]: Forbidden: may not be set when neither '{PREFERRED}' nor '{REQUIRED}' "
        "is specified")]),
    ({REQUIRED: "rack", GROUP: "7"}, [
        f'{HERE}[{GROUP}]: Invalid value: "7": must not be a number']),
    ({REQUIRED: "rack", GROUP: "g", SLICE: "rack", SIZE: "1"}, [
        f"{HERE}[{GROUP}]: Forbidden: may not be set when '{SIZE}' is specified",
        f"{HERE}[{GROUP}]: Forbidden: may not be set when '{SLICE}' is specified"]),
    ({SLICE: "rack", SIZE: "x"}, [
        f'{HERE}[{SIZE}]: Invalid value: "x": must be a numeric value']),
    ({SLICE: "rack", SIZE: "0"}, [
        f'{HERE}[{SIZE}]: Invalid value: "0": must be greater than or equal to 1']),
    ({SLICE: "rack"}, [
        f"{HERE}[{SIZE}]: Required value: must be set when '{SLICE}' is specified"]),
    ({SIZE: "2"}, [
        f"{HERE}[{SIZE}]: Forbidden: may not be set when '{SLICE}' is not specified"]),
    ({LAYERS: '[{"topology":"rack","size":16},{"topology":"kubernetes.io/hostname","size":4}]'}, []),
    ({LAYERS: "[]"}, [
        (f'{HERE}[{LAYERS}]: Invalid value: "[]": topology constraints must contain between 1 and 3 '
        "entries")]),
    ({LAYERS: '[{"topology":"rack","size":16},{"topology":"rack","size":5}]'}, [
        f'{HERE}[{LAYERS}][1].topology: Duplicate value: "rack (also at index 0)"',
        f"{HERE}[{LAYERS}][1].size: Invalid value: 5: must evenly divide the parent layer size 16"]),
    ({LAYERS: '[{"topology":"rack","size":0}]', SLICE: "rack", SIZE: "1"}, [
        f"{HERE}[{LAYERS}]: Forbidden: may not be set when '{SLICE}' is specified",
        f"{HERE}[{LAYERS}]: Forbidden: may not be set when '{SIZE}' is specified",
        f"{HERE}[{LAYERS}][0].size: Invalid value: 0: must be greater than or equal to 1"]),
    ({LAYERS: '{"topology": 1}'}, [
        (f'{HERE}[{LAYERS}]: Invalid value: "{{\\"topology\\": 1}}": must be a valid JSON array: json: '
        "cannot unmarshal object into Go value of type []v1beta2.PodsetSliceRequiredTopologyConstraint")]),
])
def test_refused_annotations(annotations: dict[str, str], wanted: list[str]) -> None:
    """Given annotations, when the template is validated, then upstream's words tell which do not go
    together.
    """
    assert refusals(annotations) == wanted


def test_refused_level_name() -> None:
    """Given a level that is no label, when the template is validated, then that is told."""
    [text] = refusals({REQUIRED: "no such level!"})
    assert text.startswith(
        f'{HERE}[{REQUIRED}]: Invalid value: "no such level!": name part must consist of')


def test_layers_need_their_gate() -> None:
    """Given the gate for layers off, when a template has them, then they are forbidden."""
    [text] = refusals({LAYERS: "[]"}, ON._replace(TASMultiLayerTopology=False))
    assert text.endswith("Forbidden: the TASMultiLayerTopology feature gate must be enabled to use this annotation")


@pytest.mark.spec("KUEUE-170")
def test_slices_larger_than_their_podset() -> None:
    """Given a podset of three pods, when its slices are of four, then that is refused."""
    texts = [
        str(each) for annotations in ({SLICE: "rack", SIZE: "4"}, {LAYERS: '[{"topology":"rack","size":4}]'})
        for each in validation.slice_size("spec.template.metadata", {"annotations": annotations}, {"count": 3})]
    assert texts == [
        f'{HERE}[{SIZE}]: Invalid value: "4": must not be greater than pod set count 3',
        f"{HERE}[{LAYERS}]: Invalid value: 4: must not be greater than pod set count 3"]


def podset(name: str, count: int, **request: str) -> dict[str, object]:
    return {"name": name, "count": count, "topologyRequest": {"podSetGroupName": "g", **request}}


@pytest.mark.parametrize(("podsets", "wanted"), [
    ([podset("a", 1, required="rack"), podset("b", 4, required="rack")], []),
    ([podset("a", 1, required="rack")], [
        f'here.a[{GROUP}]: Invalid value: "g": can only define groups of exactly 2 pod sets, got: 1 pod set(s)']),
    ([podset("a", 2, required="rack"), podset("b", 4, required="rack")], [
        f'here.{name}[{GROUP}]: Invalid value: "g": can only define groups where at least one pod set has only 1 replica, '
        "got: 2 replica(s) and 4 replica(s) in the group" for name in "ab"]),
    ([podset("a", 1, required="rack"), podset("b", 4, preferred="rack")], [
        f"here.{name}: Invalid value: must specify '{REQUIRED}' or '{PREFERRED}' topology consistent with 'here.{other}' in "
        "group 'g'" for name, other in (("a", "b"), ("b", "a"))]),
])
def test_groups_of_podsets(podsets: list[dict[str, object]], wanted: list[str]) -> None:
    """Given podsets of one group, when they are validated, then a group is a leader and its workers
    with one request.
    """
    assert [str(each) for each in validation.groups(podsets, {"a": "here.a", "b": "here.b"})] == wanted


@pytest.mark.parametrize(("text", "wanted"), [
    ("null", "constraints must contain between 1 and 3 entries"),
    ("[1]", "cannot unmarshal number into Go value of type v1beta2.PodsetSliceRequiredTopologyConstraint"),
    ('[{"topology": 5}]', "number into Go struct field PodsetSliceRequiredTopologyConstraint.topology of type string"),
    ('[{"size": "2"}]', "string into Go struct field PodsetSliceRequiredTopologyConstraint.size of type int32"),
    ('[{"size": 3000000000}]', "cannot unmarshal number 3000000000 into Go struct field"),
    ("[null]", "name part must be non-empty"),
    ("[" * 100_000, "exceeded max depth"),
])
def test_layers_that_are_no_list_of_layers(text: str, wanted: str) -> None:
    """Given any text in place of layers, when the template is validated, then that is refused."""
    assert any(wanted in each for each in refusals({LAYERS: text}))
