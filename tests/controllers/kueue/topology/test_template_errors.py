"""Which annotations for slices and layers are refused on templates, and what is read of layers."""

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import constraints, validation
from fakekube_controllers.kueue.topology.constraints import Constraint

K, HERE = "kueue.x-k8s.io/", "spec.template.metadata.annotations"
SLICE, SIZE, GROUP = f"{K}podset-slice-required-topology", f"{K}podset-slice-size", f"{K}podset-group-name"
LAYERS, REQUIRED = f"{K}podset-slice-required-topology-constraints", f"{K}podset-required-topology"


@pytest.mark.parametrize(("annotations", "wanted"), [
    ({}, []),
    ({SIZE: "4"}, []),
    ({SIZE: "5"}, [f'{HERE}[{SIZE}]: Invalid value: "5": must not be greater than pod set count 4']),
    ({SIZE: "x"}, [f'{HERE}[{SIZE}]: Invalid value: "x": must be a numeric value']),
    ({LAYERS: '[{"topology": "rack", "size": 4}]'}, []),
    ({LAYERS: '[{"topology": "rack", "size": 5}]'}, [
        f"{HERE}[{LAYERS}]: Invalid value: 5: must not be greater than pod set count 4"]),
    ({LAYERS: "[]"}, []),
    ({LAYERS: "x"}, []),
    ({SIZE: "5", LAYERS: "x"}, [f'{HERE}[{SIZE}]: Invalid value: "5": must not be greater than pod set count 4']),
    ({SIZE: "5", LAYERS: '[{"topology": "rack", "size": 6}, {"topology": "host", "size": 9}]'}, [
        f'{HERE}[{SIZE}]: Invalid value: "5": must not be greater than pod set count 4',
        f"{HERE}[{LAYERS}]: Invalid value: 6: must not be greater than pod set count 4"]),
])
def test_slices_are_no_larger_than_their_podset(annotations: dict[str, str], wanted: list[str]) -> None:
    """Given a podset of four pods, when its template asks for slices, then those of more are
    refused; what cannot be read as layers is another rule's.
    """
    metadata = {"annotations": annotations}
    assert [*map(str, validation.slice_size("spec.template.metadata", metadata, {"count": 4}))] == wanted
    assert validation.slice_size("spec.template.metadata", metadata, None) == []


@pytest.mark.parametrize(("more", "wanted"), [
    ({}, []),
    ({GROUP: "g", REQUIRED: "rack"}, [f"{HERE}[{GROUP}]: Forbidden: may not be set when '{LAYERS}' is specified"]),
    ({SLICE: "rack", SIZE: "2"}, [
        f"{HERE}[{LAYERS}]: Forbidden: may not be set when '{SLICE}' is specified",
        f"{HERE}[{LAYERS}]: Forbidden: may not be set when '{SIZE}' is specified"]),
])
def test_layers_stand_alone(more: dict[str, str], wanted: list[str]) -> None:
    """Given an annotation for layers, when others for slices or groups stand beside it, then each
    is refused.
    """
    annotations = {LAYERS: '[{"topology": "rack", "size": 4}]', **more}
    found = validation.of_template("spec.template.metadata", {"annotations": annotations}, Features())
    assert [*map(str, found)] == wanted


@pytest.mark.parametrize(("text", "wanted"), [
    ("null", []),
    ("[null]", [Constraint("", 0)]),
    ('[{"topology": "rack"}]', [Constraint("rack", 0)]),
    ('[{"size": 2}]', [Constraint("", 2)]),
    ("[{}]", [Constraint("", 0)]),
    ('[{"topology": "rack", "size": -2147483648}, {"topology": "host", "size": 2147483647}]',
     [Constraint("rack", -2147483648), Constraint("host", 2147483647)]),
])
def test_what_layers_leave_out_is_empty(text: str, wanted: list[Constraint]) -> None:
    """Given layers that leave out a level or a size, when they are read, then it is as Go has it:
    empty, or zero.
    """
    assert constraints.decode(text) == wanted


@pytest.mark.parametrize(("size", "shown"), [
    ("2147483648", "number 2147483648"), ("-2147483649", "number -2147483649"), ("true", "bool"), ('"2"', "string")])
def test_sizes_of_layers_are_numbers_of_32_bits(size: str, shown: str) -> None:
    """Given a layer whose size is another, when it is read, then the error is Go's."""
    with pytest.raises(constraints.ConstraintsError) as refused:
        constraints.decode(f'[{{"topology": "rack", "size": {size}}}]')
    assert str(refused.value) == (
        f"json: cannot unmarshal {shown} into Go struct field PodsetSliceRequiredTopologyConstraint.size of type int32")
