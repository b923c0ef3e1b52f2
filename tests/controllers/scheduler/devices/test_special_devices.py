"""Devices that init containers have before others, and such as would do one by one only."""

from typing import Any

import pytest

from fakekube_controllers.scheduler.devices.special import requests_of
from fakekube_controllers.scheduler.plugins.missing import devices
from tests.controllers.scheduler.devices.cases import claim, device, request, slice_of
from tests.controllers.scheduler.plugins.cases import node

NIC = "example.com/nic"


def container(name: str, count: int) -> Any:
    return {"name": name, "resources": {"requests": {NIC: str(count)}}}


@pytest.mark.parametrize(("wanted", "counts", "used"), [
    (1, {1: 1, 2: 1}, [1]), (2, {1: 1, 2: 1}, [1, 2]), (3, {0: 1, 1: 1, 2: 1}, [1, 2, 0])])
def test_an_init_container_takes_no_more_than_it_needs(wanted: int, counts: Any, used: list[int]) -> None:
    """Given an init container, and two that start later with a device each / then it uses as many
    of these as it needs, in their order, and asks for what is left.
    """
    pod = {"metadata": {"name": "p"}, "spec": {
        "initContainers": [container("i", wanted)], "containers": [container("a", 1), container("b", 1)]}}
    requests, mappings = requests_of(pod, [NIC], {NIC: {"metadata": {"name": "nic"}}}.get)
    assert requests == [{"name": f"container-{number}-request-0", "exactly": {
        "deviceClassName": "nic", "allocationMode": "ExactCount", "count": count}} for number, count in counts.items()]
    assert [each["requestName"] for each in mappings if each["containerName"] == "i"] == [
        f"container-{number}-request-0" for number in used]


@pytest.mark.parametrize(("together", "expected"), [(True, [1, 1]), (False, None)])
def test_devices_have_to_do_together(monkeypatch: pytest.MonkeyPatch, together: bool, expected: Any) -> None:
    """Given a claim with two requests / when devices for each would do alone / then they are
    proposed if they do together, with as few as will do.
    """
    monkeypatch.setattr(devices, "_fits", lambda _, wanted, __, ___: (
        all(each.details["count"] for each in wanted) and (len(wanted) == 1 or together)))
    made: Any = None
    found = devices.missing(
        made, [slice_of([device("a")])], [claim(request("x"), request("y"))], node("n1"))
    assert (found and [each.details["count"] for each in found]) == expected
