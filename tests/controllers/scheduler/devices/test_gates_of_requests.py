"""Requests for devices that ask for what a gate has off."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.devices.model import AllocationError
from fakekube_controllers.scheduler.devices.requests import RequestReader

CAPACITY = {"requests": {"memory": "1Gi"}}
PLAIN: Any = {"name": "r", "exactly": {"deviceClassName": "c"}}
WITH_CAPACITY: Any = {"name": "r", "exactly": {"deviceClassName": "c", "capacity": CAPACITY}}
LISTED: Any = {"name": "r", "firstAvailable": [{"name": "a"}, {"name": "b"}]}
LISTED_CAPACITY: Any = {"name": "r", "firstAvailable": [{"name": "a"}, {"name": "b", "capacity": CAPACITY}]}
NO_LIST = "claim n/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled"
NO_CAPACITY = "claim n/c, {}: has capacity requests, but the DRAConsumableCapacity feature is disabled"


@pytest.mark.parametrize(("request_", "lists", "capacity", "told"), [
    (PLAIN, False, False, ""), (WITH_CAPACITY, False, True, ""), (WITH_CAPACITY, True, False, NO_CAPACITY.format("request r")),
    (LISTED, True, False, ""), (LISTED, False, True, NO_LIST), (LISTED_CAPACITY, True, True, ""),
    (LISTED_CAPACITY, True, False, NO_CAPACITY.format("subrequest b")), (LISTED_CAPACITY, False, False, NO_LIST),
])
def test_what_a_gate_brings(request_: Any, lists: bool, capacity: bool, told: str) -> None:
    """Given a request with alternatives or capacity / when the gate that brings it is off / then
    the claim cannot be allocated, and the first of it that is wrong is told.
    """
    features: Any = SimpleNamespace(prioritized_list=lists, consumable_capacity=capacity)
    reader = RequestReader(features, lambda _: None, lambda *_: [])
    if not told:
        reader._check_features("n/c", request_)
        return
    with pytest.raises(AllocationError) as refused:
        reader._check_features("n/c", request_)
    assert str(refused.value) == told
