"""ResourceClaims: features that are off, and what their status may say; requests about pools."""

from copy import deepcopy

import pytest

from fakekube.apis.resource import resourceclaim, resourceclaimtemplate, resourcepoolstatusrequest
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed

CLAIMS, POOLS = resourceclaim.STRATEGY, resourcepoolstatusrequest.STRATEGY
EXACT = {"deviceClassName": "c", "derivedAttributes": [{"name": "a.b/c", "expression": "1"}]}
UUID = "11111111-2222-3333-4444-555555555555"
RESULT = {"request": "r", "driver": "d.e", "pool": "p", "device": "v"}
OLD = named({"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}, "status": {}})
ALL = ("DRAConsumableCapacity", "DRADeviceBindingConditions", "DRAOptionalNodeOperations", "DRAAdminAccess")


def told(**status):
    """What is wrong with a status, without what follows the value."""
    return [text.partition(": a ")[0] for text in status_changed(CLAIMS, OLD, {"status": status}, World(*ALL))[1]]


def allocation(*results, **devices):
    return {"devices": {"results": list(results), **devices}}


@pytest.mark.parametrize("strategy", [CLAIMS, resourceclaimtemplate.STRATEGY])
def test_derived_attributes_are_dropped_while_the_feature_is_off(strategy):
    """Given a claim or a template with derived attributes / when made while the gate is off / then
    they go, and an update that has them again changes nothing; where the old one has them / they
    stay.
    """
    spec = {"devices": {"requests": [{"name": "r", "exactly": EXACT}]}}
    obj = named({"spec": spec if strategy is CLAIMS else {"spec": spec}})
    made = created(strategy, obj)
    assert "derivedAttributes" not in str(made)
    assert changed(strategy, made, {"spec": obj["spec"]})[1] == []
    used = created(strategy, obj, World("DRADerivedAttributes"))
    assert "derivedAttributes" in str(changed(strategy, used, {})[0])


def test_an_allocation_is_checked_when_it_is_new():
    """Given a claim / when it is allocated what does not fit / then each is told; what fits is
    fine, and stays as it is.
    """
    good = allocation({**RESULT, "shareID": UUID, "skipNodeOperations": ["*"]})
    assert told(allocation=good) == []
    bad = {"request": "x", "driver": "", "pool": "p//P", "device": "V", "shareID": "u", "bindingConditions": ["a", "a"],
           "bindingFailureConditions": ["a"], "skipNodeOperations": ["NodePrepareResources", "x", "x"]}
    path = "status.allocation.devices.results[0]"
    assert [text.split(": ")[0].removeprefix(path) for text in told(allocation=allocation(bad))] == [
        ".request", ".device", ".bindingConditions[1]", ".bindingFailureConditions[0]", ".skipNodeOperations", ".driver", ".pool",
        ".pool", ".shareID", ".skipNodeOperations[2]", ".skipNodeOperations[1]", ".skipNodeOperations[2]"]
    assert told(allocation=allocation(RESULT, config=[{"source": "x", "requests": ["r", "r"]}])) == [
        "status.allocation.devices.config[0].opaque: Required value",
        'status.allocation.devices.config[0].source: Unsupported value: "x": supported values: "FromClaim", "FromClass"',
        'status.allocation.devices.config[0].requests[1]: Duplicate value: "r"']
    many = told(allocation=allocation(*[RESULT] * 33))
    assert many == ["status.allocation.devices.results: Too many: 33: must have at most 32 items"]
    old = {**OLD, "status": {"allocation": good}}
    assert status_changed(CLAIMS, old, {"status": {"allocation": allocation(RESULT)}}, World(*ALL))[1] == [
        "status.allocation: Invalid value: null: field cannot be modified once set"]


def test_who_uses_a_claim():
    """Given a claim / when it is reserved without being allocated, or twice, or while it is deleted
    / then refused.
    """
    pod = {"resource": "pods", "name": "a", "uid": "1"}
    assert told(reservedFor=[pod, {"uid": "2"}]) == [
        "status.reservedFor[1].resource: Required value", "status.reservedFor[1].name: Required value",
        "status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]
    shown = '{"resource":"pods","name":"a","uid":"1"}'
    assert told(reservedFor=[pod, pod], allocation=allocation(RESULT)) == [f"status.reservedFor[1]: Duplicate value: {shown}"]
    old = deepcopy({**OLD, "status": {"allocation": allocation(RESULT), "reservedFor": [pod]}})
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    more = {**old["status"], "reservedFor": [pod, {**pod, "uid": "2"}]}
    what = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
    assert status_changed(CLAIMS, old, {"status": more})[1] == [f"status.reservedFor: Forbidden: {what}"]
    assert status_changed(CLAIMS, old, {"status": {**more, "reservedFor": [pod]}})[1] == []


def test_what_is_said_of_devices():
    """Given a claim / when its status tells of devices that it does not have, twice, with bad data
    / then refused; what it tells of devices that it gives back goes.
    """
    device = {"driver": "d.e", "pool": "p", "device": "v"}
    network = {"interfaceName": "i" * 257, "ips": ["1.2.3.4/24", "1.2.3.4", "FD00::1/64"]}
    assert told(allocation=allocation(RESULT), devices=[device, {**device, "data": [1], "networkData": network}]) == [
        'status.devices[1].data: Invalid value: "<value omitted>": must be a valid JSON object',
        ('status.devices[1].networkData.ips[1]: Invalid value: "1.2.3.4": must be a valid address in CIDR form, '
         "(e.g. 10.9.8.7/24 or 2001:db8::1/64)"),
        'status.devices[1].networkData.ips[2]: Invalid value: "FD00::1/64": must be in canonical form ("fd00::1/64")',
        "status.devices[1].networkData.interfaceName: Too long: may not be more than 256 bytes",
        ('status.devices[1]: Duplicate value: {"driver":"d.e","pool":"p","device":"v","data":[1],"networkData":'
         f'{{"interfaceName":"{"i" * 257}","ips":["1.2.3.4/24","1.2.3.4","FD00::1/64"]}}}}')]
    shown = '{"Driver":"d.e","Pool":"p","Device":"v","ShareID":""}'
    assert told(devices=[device]) == [f"status.devices[0]: Invalid value: {shown}: must be an allocated device in the claim"]
    old = {**OLD, "status": {"allocation": allocation(RESULT), "devices": [device]}}
    obj, wrong = status_changed(CLAIMS, old, {"status": {"devices": [device]}})
    assert (obj["status"], wrong) == ({}, [])


def test_access_of_an_administrator_is_the_namespaces_to_grant():
    """Given a namespace without the label / when a device is allocated with such access / then
    refused, and not where it was there before.
    """
    admin = allocation({**RESULT, "adminAccess": True})
    assert told(allocation=admin) == [
        ("status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires the "
         "`resource.kubernetes.io/admin-access: true` label on the containing namespace")]
    old = {**OLD, "status": {"allocation": admin}}
    assert status_changed(CLAIMS, old, {"status": {"allocation": admin}}, World(*ALL))[1] == []


def test_a_question_about_pools_is_complete_and_stays():
    """Given requests about pools / when asked, answered and changed / then as upstream has it."""
    assert refused(POOLS, named({"spec": {"driver": "", "poolName": "P", "limit": 1001}}))[0] == "spec.driver: Required value"
    fields = [text.partition(": ")[0] for text in refused(POOLS, named({"spec": {"driver": "d", "poolName": "P", "limit": 0}}))]
    assert fields == ["spec.poolName", "spec.limit"]
    made = created(POOLS, named({"spec": {"driver": "d", "defaultPartitionTypeAttribute": "a.b/c"}, "status": {"poolCount": 1}}))
    assert (made["spec"], "status" in made) == ({"driver": "d", "limit": 100}, False)
    assert changed(POOLS, made, {"spec": {"driver": "e"}})[1] == ["spec: Invalid value: null: field is immutable"]
    pool = {"driver": "d", "poolName": "p", "generation": 0, "totalDevices": -1}
    assert [text.partition(": ")[0] for text in status_changed(POOLS, made, {"status": {"pools": [pool]}})[1]] == [
        "status.poolCount", "status.pools[0].generation", "status.pools[0].totalDevices"]
    answered = {**made, "status": {"poolCount": 0}}
    assert status_changed(POOLS, answered, {"status": {"poolCount": 0}})[1] == []
    assert status_changed(POOLS, answered, {"status": {"poolCount": 1}})[1] == [
        'status: Invalid value: {"poolCount":1}: field is immutable']
