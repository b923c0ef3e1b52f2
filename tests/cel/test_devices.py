"""Selectors of devices."""

import pytest

from fakekube.cel import devices, errors

DEVICE = {
    "attributes": {
        "model": {"string": "A100"}, "index": {"int": 2}, "ecc": {"bool": True}, "driverVersion": {"version": "1.2.3"},
        "other.example.com/numa": {"int": 1},
    },
    "capacity": {"memory": {"value": "40Gi"}},
}


def selected(text: str, *, minor: int = 37, stored: bool = True, gates: bool = True) -> bool:
    """Whether the device is selected."""
    of = devices.environment(minor, stored=stored, multiple_allocations=gates, list_attributes=False)
    return devices.matches(devices.compiled(text, of), DEVICE, "gpu.example.com")


@pytest.mark.parametrize(("text", "expected"), [
    ("device.driver == 'gpu.example.com'", True),
    ("device.attributes['gpu.example.com'].model == 'A100'", True),
    ("device.attributes['gpu.example.com'].index > 1 && device.attributes['gpu.example.com'].ecc", True),
    ("device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.2.0'))", True),
    ("device.attributes['other.example.com'].numa == 2", False),
    ("device.capacity['gpu.example.com'].memory.compareTo(quantity('20Gi')) >= 0", True),
    ("cel.bind(gpu, device.attributes['gpu.example.com'], gpu.ecc && gpu.index == 2)", True),
    ("'nowhere.example.com' in device.attributes", False),
    ("device.attributes['nowhere.example.com'].?model.orValue('none') == 'none'", True),
    ("has(device.attributes['gpu.example.com'].vendor)", False),
    ("device.attributes['gpu.example.com'].ecc", True),
    ("device.allowMultipleAllocations", False),
])
def test_a_device_is_selected_by_what_its_driver_says(text: str, expected: bool) -> None:
    """given a device, when a selector is evaluated, then attributes and capacities are at hand"""
    assert selected(text) is expected


def test_what_is_missing_is_an_error() -> None:
    """given a device without an attribute, when it is asked for, then the selector fails"""
    with pytest.raises(errors.EvaluationError, match=r"^no such key: vendor$"):
        selected("device.attributes['gpu.example.com'].vendor == 'x'")


@pytest.mark.parametrize(("text", "said"), [
    ("device.name == 'x'", "compilation failed: ERROR: <input>:1:7: undefined field 'name'"),
    ("device.driver", "must evaluate to bool or the unknown type, not string"),
    ("device.driver.matches('(')", "compilation failed: ERROR: <input>:1:23: invalid matches argument"),
    ("device.driver.find('(') == ''", "program instantiation failed: error parsing regexp: missing closing ): `(`"),
    ("device.driver >", "compilation failed: ERROR: <input>:1:16: Syntax error:"),
])
def test_what_is_no_selector_is_refused(text: str, said: str) -> None:
    """given what gives no bool, when it is compiled, then upstream's words say why"""
    with pytest.raises(devices.SelectorError) as refused:
        selected(text)
    assert str(refused.value).startswith(said)


def test_what_is_new_waits_for_its_gate_and_release() -> None:
    """given a field that a gate brings, when a new selector has it, then the gate counts, and for a
    stored one the release
    """
    text = "device.allowMultipleAllocations"
    assert not selected(text, stored=False)
    with pytest.raises(devices.SelectorError, match="undefined field"):
        selected(text, stored=False, gates=False)
    assert not selected(text, gates=False)
    with pytest.raises(devices.SelectorError, match="undefined field"):
        selected(text, minor=33, gates=False)


@pytest.mark.parametrize(("text", "cost"), [
    ("device.driver == ''", 2),
    ("ATTRS.name", 4),
    ("ATTRS.name == 'fish'", 5),
    ("ATTRS.name.exists(x, x == 'fish')", 389),
    ("ATTRS.name.includes('fish')", 68),
    ("ATTRS.names.all(x, x != '')", 261),
    ("1 in ATTRS.names", 68),
    ("ATTRS.exists_one(x, x == 'services')", 133),
    ("device.attributes.exists_one(x, x == 'dra.example.com')", 164),
    ("ATTRS.services.split('example').size() >= 2", 19),
    ("ATTRS.services.matches('[^a]?sym')", 18),
    ("device.capacity['dra.example.com'].name.isGreaterThan(quantity('1Ki'))", 6),
])
def test_the_estimate_knows_how_large_a_device_may_be(text: str, cost: int) -> None:
    """given expressions on devices, when costs are estimated, then limits of devices bound them"""
    of = devices.environment(37, stored=True, multiple_allocations=True, list_attributes=True)
    assert devices.compiled(text.replace("ATTRS", "device.attributes['dra.example.com']"), of).estimate().max == cost
