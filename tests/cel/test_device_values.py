"""What selectors see of a device, and what they are refused for."""

from typing import Any

import pytest

from fakekube.cel import devices, errors
from fakekube.cel.library import quantities, semvers

DRIVER = "gpu.example.com"


def environment(minor: int = 37) -> Any:
    """All that selectors of a release may use."""
    return devices.environment(minor, stored=True, multiple_allocations=True, list_attributes=True)


def test_a_device_as_a_value() -> None:
    """given a device with attributes of every kind, when its value is made, then names without a
    domain stand under the driver's, and other domains are empty
    """
    value = devices.value_of({
        "attributes": {
            "a": {"string": "x"}, "b": {"int": 0}, "c": {"bool": False}, "d": {"version": "1.2.3"},
            "e": {"versions": ["1.2.3", "2.0.0-a"]}, "f": {"strings": ["x", "y"]}, "g": {"ints": [1, 2]}, "h": {"bools": [True]},
            "other.example.com/a": {"int": 7}, "other.example.com/b": {"int": 8}, f"{DRIVER}/own": {"int": 9},
        },
        "capacity": {"memory": {"value": "1Gi"}, "other.example.com/cores": {"value": 3}},
        "allowMultipleAllocations": True,
    }, DRIVER)
    assert value == {
        "driver": DRIVER, "allowMultipleAllocations": True,
        "attributes": {
            DRIVER: {
                "a": "x", "b": 0, "c": False, "d": semvers.to_semver("1.2.3"),
                "e": [semvers.to_semver("1.2.3"), semvers.to_semver("2.0.0-a")], "f": ["x", "y"], "g": [1, 2], "h": [True],
                "own": 9},
            "other.example.com": {"a": 7, "b": 8}},
        "capacity": {
            DRIVER: {"memory": quantities.to_quantity("1Gi")},
            "other.example.com": {"cores": quantities.to_quantity("3")}}}
    assert (value["attributes"]["none"], value["capacity"]["none"]) == ({}, {})


@pytest.mark.parametrize("device", [{}, {"attributes": None, "capacity": None}, {"allowMultipleAllocations": False}])
def test_a_device_that_says_nothing(device: dict[str, Any]) -> None:
    """given a device without attributes, when its value is made, then all of it is empty"""
    assert devices.value_of(device, "d") == {
        "driver": "d", "allowMultipleAllocations": False, "attributes": {}, "capacity": {}}


@pytest.mark.parametrize(("attribute", "said"), [
    ({}, "unsupported attribute value"),
    ({"version": "1"}, "No Major.Minor.Patch elements found"),
    ({"versions": ["1.2.3", "1"]}, "No Major.Minor.Patch elements found"),
])
def test_an_attribute_that_is_none(attribute: dict[str, Any], said: str) -> None:
    """given an attribute without a value, or with a version that is none, then that is an error"""
    with pytest.raises(errors.EvaluationError) as failed:
        devices.value_of({"attributes": {"a": attribute}}, DRIVER)
    assert str(failed.value) == said


@pytest.mark.parametrize(("text", "said"), [
    ("1", "must evaluate to bool or the unknown type, not int"),
    ("device", "must evaluate to bool or the unknown type, not kubernetes.DRADevice"),
    ("device.attributes", "must evaluate to bool or the unknown type, not map(string, map(string, dyn))"),
    ("device.capacity", "must evaluate to bool or the unknown type, not map(string, map(string, kubernetes.Quantity))"),
    ("device.capacity['a'].b", "must evaluate to bool or the unknown type, not kubernetes.Quantity"),
    ("device.driver.find('(') == ''", "program instantiation failed: error parsing regexp: missing closing ): `(`"),
    ("name", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'name' (in container '')\n | name\n | ^"),
])
def test_what_is_no_selector(text: str, said: str) -> None:
    """given what gives no bool, when it is compiled, then the whole text says why"""
    with pytest.raises(devices.SelectorError) as refused:
        devices.compiled(text, environment())
    assert str(refused.value) == said


@pytest.mark.parametrize(("text", "found"), [
    ("device.attributes['gpu.example.com'].a", "CEL result of type dyn could not be converted to bool"),
    ("device.attributes['gpu.example.com'].b", True),
    ("dyn(1)", "CEL result of type dyn could not be converted to bool"),
    ("device.attributes['gpu.example.com'].z", "no such key: z"),
    ("device.attributes['z'].z", "no such key: z"),
    ("device.capacity['z'].z.isInteger()", "no such key: z"),
    ("device.attributes['gpu.example.com'].l.includes('y')", True),
    ("device.attributes['gpu.example.com'].a.includes('x')", True),
    ("device.attributes['gpu.example.com'].a == 'y'", False),
    ("device.allowMultipleAllocations", True),
    ("device.attributes.exists(d, d == 'gpu.example.com')", True),
    ("cel.bind(x, device.driver, x == 'gpu.example.com')", True),
])
def test_what_a_selector_gives(text: str, found: bool | str) -> None:
    """given a device, when a selector is run, then it gives a bool, or says why there is none"""
    device = {
        "attributes": {"a": {"string": "x"}, "b": {"bool": True}, "l": {"strings": ["x", "y"]}},
        "allowMultipleAllocations": True}
    program = devices.compiled(text, environment())
    if isinstance(found, bool):
        assert devices.matches(program, device, DRIVER) is found
        return
    with pytest.raises(errors.EvaluationError) as failed:
        devices.matches(program, device, DRIVER)
    assert str(failed.value) == found


@pytest.mark.parametrize(("minor", "stored", "multiple", "lists"), [
    (33, True, False, False), (34, True, True, False), (35, True, True, False), (36, True, True, True), (37, True, True, True),
    (34, False, False, False), (37, False, False, False),
])
def test_what_releases_bring_without_gates(minor: int, stored: bool, multiple: bool, lists: bool) -> None:
    """given no gates, when a stored selector of a release is compiled, then it may use what this
    release knows; a new one may not
    """
    of = devices.environment(minor, stored=stored, multiple_allocations=False, list_attributes=False)
    found = []
    for text in ("device.allowMultipleAllocations", "device.attributes['a'].b.includes('c')"):
        try:
            devices.compiled(text, of)
            found.append(True)
        except devices.SelectorError:
            found.append(False)
    assert found == [multiple, lists]


@pytest.mark.parametrize(("text", "least", "most"), [
    ("device.driver == device.driver", 5, 11), ("device.driver.size() > 0", 4, 4), ("device.driver.startsWith('a')", 3, 3),
    ("device.allowMultipleAllocations", 2, 2), ("device.attributes.all(d, d != '')", 3, 131),
    ("device.attributes.all(d, device.attributes[d].all(n, n != ''))", 3, 4355),
])
def test_limits_of_devices_bound_estimates(text: str, least: int, most: int) -> None:
    """given selectors, when their cost is estimated, then the sizes of devices bound it"""
    assert tuple(devices.compiled(text, environment()).estimate()) == (least, most)


def test_the_limits_are_upstreams() -> None:
    """given the limits of selectors and devices, then they are those of upstream's API"""
    assert (devices.MAX_LENGTH, devices.MAX_COST, devices.MAX_DOMAIN, devices.MAX_ID, devices.MAX_DRIVER) == (
        10240, 1000000, 63, 32, 63)
    assert (devices.MAX_NAMES, devices.MAX_VALUE, devices.MAX_VALUES) == (32, 64, 48)
