"""Lease, RuntimeClass, flow control, devices."""

import pytest

from fakekube.apis.coordination import lease
from fakekube.apis.core import limitrange, node
from fakekube.apis.flowcontrol import flowschema, prioritylevelconfiguration
from fakekube.apis.node import runtimeclass
from fakekube.apis.rbac import role
from fakekube.apis.resource import deviceclass, resourceclaim, resourceclaimtemplate, resourceslice
from fakekube.apis.storage import csinode
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed

EXACT = {"name": "r", "exactly": {"deviceClassName": "c"}}
LISTS = ("ints", "bools", "strings", "versions")


def test_durations_of_a_lease_are_positive():
    """Given a lease of no duration / when made / then refused."""
    assert refused(lease.STRATEGY, named({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}})) == [
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ]


def test_leases_coordinate_elections_behind_a_gate():
    """Given fields of coordinated election / when the gate is off and on / then dropped and kept.
    """
    obj = named({"spec": {"strategy": "OldestEmulationVersion", "preferredHolder": "h"}})
    assert created(lease.STRATEGY, obj)["spec"] == {}
    assert created(lease.STRATEGY, obj, World("CoordinatedLeaderElection"))["spec"] == obj["spec"]


def device_slice(*, skip=None, **attributes):
    spec = {"driver": "d.x", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n",
            "devices": [{"name": "a", "attributes": {"x": attributes}}]}
    return named({"spec": spec if skip is None else {**spec, "skipNodeOperations": skip}}, generation=1)


def test_a_slice_has_fields_of_features_that_are_on_or_that_it_had():
    """Given fields of features that are off / when a slice is made or changed / then they are
    dropped, which counts as a change; one that uses a feature already may go on.
    """
    slices = resourceslice.STRATEGY
    lists = {name: ["a"] for name in LISTS}
    made = created(slices, device_slice(skip=["*"], int=1, **lists))
    assert made["spec"]["devices"][0]["attributes"] == {"x": {"int": 1}}
    assert "skipNodeOperations" not in made["spec"]
    devices = [{"name": "a", "attributes": {"x": {"int": 1, "ints": [2]}}}]
    obj, wrong = changed(slices, made, {"spec": {**made["spec"], "devices": devices}})
    assert (obj["spec"], obj["metadata"]["generation"], wrong) == (made["spec"], 2, [])
    old = created(slices, device_slice(ints=[1]), World("DRAListTypeAttributes"))
    devices = [{"name": "b", "attributes": {"y": {"strings": ["z"]}}}]
    obj, _ = changed(slices, old, {"spec": {**old["spec"], "devices": devices}})
    assert obj["spec"]["devices"] == devices


def test_a_runtime_class_keeps_its_handler():
    """Given a class / when made without handler, and when it changes / then refused."""
    assert refused(runtimeclass.STRATEGY, named()) == ["handler: Required value"]
    old = created(runtimeclass.STRATEGY, named({"handler": "h"}))
    assert changed(runtimeclass.STRATEGY, old, {"handler": "i"})[1] == ["handler: Invalid value: null: field is immutable"]
    assert changed(runtimeclass.STRATEGY, old, {"handler": ""})[1] == [
        "handler: Invalid value: null: field is immutable", "handler: Required value"]


def test_a_long_handler_is_told_in_bytes_when_new_and_in_characters_when_changed():
    """Given a handler of 64 letters / when a class is made with it and when one takes it / then one
    rule or the other tells.
    """
    long, text = "h" * 64, "must be no more than 63"
    assert refused(runtimeclass.STRATEGY, named({"handler": long})) == [f'handler: Invalid value: "{long}": {text} bytes']
    old = created(runtimeclass.STRATEGY, named({"handler": "h"}))
    assert changed(runtimeclass.STRATEGY, old, {"handler": long})[1] == [
        f'handler: Invalid value: "{long}": {text} characters', "handler: Invalid value: null: field is immutable"]


def test_the_spec_of_a_claim_template_stays_and_prints_as_its_internal_type():
    """Given a template / when its labels and requests go / then refused, with Go's names and
    metadata amid them.
    """
    spec = {"metadata": {"labels": {"a": "b"}}, "spec": {"devices": {"requests": [EXACT]}}}
    old = created(resourceclaimtemplate.STRATEGY, named({"spec": spec}))
    change = {"spec": {"metadata": {"labels": {"c": "d", "a": "b"}}, "spec": {"devices": {}}}}
    shown = '{"labels":{"a":"b","c":"d"},"Spec":{"Devices":{"Requests":null,"Constraints":null,"Config":null}}}'
    assert changed(resourceclaimtemplate.STRATEGY, old, change)[1] == [f"spec: Invalid value: {shown}: field is immutable"]


def test_tolerations_of_a_runtime_class_fit_together():
    """Given tolerations that contradict themselves / when made / then refused."""
    tolerations = [{"operator": "Equal"}, {"key": "k", "tolerationSeconds": 1, "effect": "NoSchedule"}]
    assert refused(runtimeclass.STRATEGY, named({"handler": "h", "scheduling": {"tolerations": tolerations}})) == [
        (
            'scheduling.tolerations[0].operator: Invalid value: "Equal": '
            'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        ),
        (
            'scheduling.tolerations[1].effect: Invalid value: "NoSchedule": '
            "effect must be 'NoExecute' when `tolerationSeconds` is set"
        ),
    ]


def test_tolerations_and_amounts_of_a_runtime_class():
    """Given a toleration twice and an odd resource / when made / then refused, as Go shows it."""
    obj = named(
        {
            "handler": "h",
            "overhead": {"podFixed": {"a": "1"}},
            "scheduling": {"tolerations": [{"key": "k"}, {"key": "k", "tolerationSeconds": 1, "effect": ""}]},
        }
    )
    assert refused(runtimeclass.STRATEGY, obj) == [
        'overhead.limits[a]: Invalid value: "a": must be a standard resource type or fully qualified',
        'overhead.limits[a]: Invalid value: "a": must be a standard resource for containers',
        ("scheduling.tolerations[1].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"),
        ('scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"","Value":"","Effect":"","TolerationSeconds":1}'),
    ]


def test_flow_schemas_stand_in_the_middle_of_the_order():
    """Given a schema without precedence / when made / then 1000; level and subjects are required.
    """
    spec = {"priorityLevelConfiguration": {"name": "l"}}
    assert created(flowschema.STRATEGY, named({"spec": spec}))["spec"]["matchingPrecedence"] == 1000
    rules = [{"subjects": [{"kind": "User"}], "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}]
    assert refused(flowschema.STRATEGY, named({"spec": {"matchingPrecedence": 1, "rules": rules}})) == [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
        "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
    ]


def test_priority_levels_get_shares_and_queues():
    """Given a limited level that queues / when made / then its numbers are filled in."""
    limited = {"limitResponse": {"type": "Queue", "queuing": {}}}
    spec = created(prioritylevelconfiguration.STRATEGY, named({"spec": {"type": "Limited", "limited": limited}}))["spec"]
    assert spec["limited"] == {
        "nominalConcurrencyShares": 30,
        "lendablePercent": 0,
        "limitResponse": {"type": "Queue", "queuing": {"handSize": 8, "queues": 64, "queueLengthLimit": 50}},
    }


def level(kind, **limited):
    return named({"spec": {"type": kind, "limited": limited}})


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (named({"spec": {"type": "Limited"}}), ["limited: Required value"]),
        (level("Limited"), ["limited.limitResponse.type: Required value"]),
        (level("Limited", limitResponse={"type": "Queue"}), ["limited.limitResponse.queuing: Required value"]),
        (level("Limited", limitResponse={"type": "Reject", "queuing": {}}), ["limited.limitResponse.queuing: Forbidden"]),
        (
            level("Limited", limitResponse={"type": "Queue", "queuing": {"queues": 1}}),
            ["limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (1)"],
        ),
        (named({"spec": {"type": "Limited", "exempt": {}}}), ["exempt: Forbidden", "limited: Required value"]),
    ],
)
def test_parts_of_a_level_go_with_its_type(obj, expected):
    """Given a level / when a part is missing or out of place / then refused."""
    assert refused(prioritylevelconfiguration.STRATEGY, obj) == [f"spec.{text}" for text in expected]


def test_only_exempt_is_exempt():
    """Given another level of that type / when made / then refused."""
    assert refused(prioritylevelconfiguration.STRATEGY, named({"spec": {"type": "Exempt", "exempt": {}}})) == [
        "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"
    ]


@pytest.mark.parametrize("strategy", [resourceclaim.STRATEGY, resourceclaimtemplate.STRATEGY])
def test_a_request_is_for_one_device(strategy):
    """Given a request that says no more than a class / when made in a claim or template / then it
    is for one.
    """
    spec = {"devices": {"requests": [EXACT]}}
    whole = spec if strategy is resourceclaim.STRATEGY else {"spec": spec}
    made = created(strategy, named({"spec": whole}))["spec"]
    request = (made if strategy is resourceclaim.STRATEGY else made["spec"])["devices"]["requests"][0]
    assert request["exactly"] == {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}


def claim(*requests, **devices):
    return named({"spec": {"devices": {"requests": list(requests), **devices}}})


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (claim({"name": "r"}), ["requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"]),
        (
            claim({"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "All", "count": 2}}),
            ["requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
        ),
        (
            claim(EXACT, constraints=[{"requests": ["other"], "matchAttribute": "a.io/b"}]),
            [
                (
                    'constraints[0].requests[0]: Invalid value: "other": must be the name of a request in the claim '
                    "or the name of a request and a subrequest separated by '/'"
                )
            ],
        ),
        (
            claim(EXACT, constraints=[{"matchAttribute": "b"}]),
            [
                (
                    'constraints[0].matchAttribute: Invalid value: "b": '
                    "a fully qualified name must be a domain and a name separated by a slash"
                )
            ],
        ),
        (
            claim(EXACT, constraints=[{"matchAttribute": f"a.io/{'x' * 33}"}, {"matchAttribute": "/"}]),
            [
                "constraints[0].matchAttribute: Too long: may not be more than 32 bytes",
                'constraints[1].matchAttribute: Invalid value: "": prefix must not be empty',
                'constraints[1].matchAttribute: Invalid value: "": name must not be empty',
            ],
        ),
        (
            claim(EXACT, config=[{"opaque": {"driver": "d" * 64, "parameters": {}}}]),
            ["config[0].opaque.driver: Too long: may not be more than 63 characters"],
        ),
        (claim({"name": "r", "exactly": {"deviceClassName": "c", "tolerations": [{"key": "k", "value": "v"}]}}), []),
        (claim(EXACT, config=[{"opaque": {"driver": "d"}}]), ["config[0].opaque.parameters: Required value"]),
    ],
)
def test_what_is_refused_of_a_claim(obj, expected):
    """Given something wrong in a claim / when made / then it is named."""
    assert refused(resourceclaim.STRATEGY, obj) == [f"spec.devices.{text}" for text in expected]


def test_the_access_of_an_administrator_is_granted_by_the_namespace():
    """Given a claim that asks for it / when made in a namespace without and with the label / then
    refused and taken.
    """
    world, obj = World(), claim({"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": True, "allocationMode": "All"}})
    path = "spec.devices.requests[0].adminAccess"
    for labels, expected in (({}, [path]), ({"resource.kubernetes.io/admin-access": "true"}, [])):
        world.put("", "namespaces", {"metadata": {"name": "t", "labels": labels}})
        found = resourceclaim.STRATEGY.validate_create(obj, [], world.context())
        assert [error.field for error in found] == expected


def test_the_spec_of_a_claim_stays():
    """Given a claim / when its spec changes / then refused."""
    old = created(resourceclaim.STRATEGY, claim(EXACT))
    wrong = changed(resourceclaim.STRATEGY, old, {"spec": {"devices": {}}})[1]
    assert wrong == ["spec: Invalid value: null: field is immutable"]


def test_what_is_declared_is_told_last():
    """Given requests and configuration that lack things / when made / then what upstream declares
    comes last.
    """
    requests = [
        {"name": "", "exactly": {"allocationMode": "Some"}},
        {"name": "b", "firstAvailable": [{"name": "c"}, {"name": "c"}]},
    ]
    config = [{"requests": ["b", "b"], "opaque": {"parameters": {}}}, {"opaque": {"driver": "A", "parameters": [1]}}]
    obj = claim(*requests, config=config, constraints=[{"matchAttribute": "A_/b"}])
    texts = refused(resourceclaim.STRATEGY, obj, World("DRAPrioritizedList"))
    prefix = "spec.devices."
    assert [text.removeprefix(prefix).partition(": ")[0] for text in texts] == [
        "requests[0].name",
        "requests[0].exactly.deviceClassName",
        "config[1].opaque.parameters",
        "requests[0].exactly.allocationMode",
        "requests[1].firstAvailable[1]",
        "requests[1].firstAvailable[0].deviceClassName",
        "requests[1].firstAvailable[1].deviceClassName",
        "constraints[0].matchAttribute",
        "config[0].requests[1]",
        "config[0].opaque.driver",
    ]


def test_no_requests_are_as_good_as_none():
    """Given a claim without requests / when an update sends an empty list / then nothing has
    changed.
    """
    old = created(resourceclaim.STRATEGY, claim())
    assert changed(resourceclaim.STRATEGY, old, {"spec": {"devices": {"requests": []}}})[1] == []


def test_device_classes_select_by_expressions():
    """Given a selector without one / when made / then refused."""
    assert refused(deviceclass.STRATEGY, named({"spec": {"selectors": [{}]}})) == ["spec.selectors[0].cel: Required value"]


def test_a_slice_is_in_one_place():
    """Given slices / when nowhere, and in two places / then refused; devices have names of their
    own.
    """
    spec = {"driver": "d", "pool": {"name": "p", "resourceSliceCount": 1}}
    place = f"spec: Required value: {resourceslice.ONE_PLACE}"
    assert refused(resourceslice.STRATEGY, named({"spec": spec})) == [place]
    both = {**spec, "nodeName": "n", "allNodes": True, "devices": [{"name": "a"}, {"name": "a"}]}
    assert refused(resourceslice.STRATEGY, named({"spec": both})) == [
        f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {resourceslice.ONE_PLACE}, but multiple fields are set',
        'spec.devices[1]: Duplicate value: "a"',
    ]


def test_taints_of_devices_start_now():
    """Given a taint without time / when made / then it is from now on."""
    devices = [{"name": "a", "taints": [{"key": "k", "effect": "NoSchedule"}]}]
    obj = named({"spec": {"driver": "d", "pool": {"name": "p", "resourceSliceCount": 1}, "allNodes": True, "devices": devices}})
    taint = created(resourceslice.STRATEGY, obj)["spec"]["devices"][0]["taints"][0]
    assert taint["timeAdded"] == "2026-01-01T00:00:00Z"


def test_empty_lists_that_are_printed_are_stored_as_null():
    """Given empty lists / when stored / then null, as protobuf cannot tell them apart."""
    assert created(resourceclaim.STRATEGY, claim())["spec"]["devices"] == {"requests": None}
    assert created(role.STRATEGY, named({"rules": []}))["rules"] is None
    assert created(limitrange.STRATEGY, named({"spec": {"limits": []}}))["spec"] == {"limits": None}
    assert created(csinode.STRATEGY, named({"spec": {"drivers": []}}))["spec"] == {"drivers": None}


@pytest.mark.parametrize(("spec", "expected"), [
    ({"podCIDR": "10.0.0.0/24"}, {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}),
    ({"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}, {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24", "fd00::/64"]}),
    ({"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24"]}, {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}),
    ({}, {}),
])
def test_a_nodes_range_of_pods_has_two_names(spec, expected):
    """Given one range or several / then either field has what the other says, the older one first.
    """
    assert created(node.STRATEGY, named({"spec": spec}))["spec"] == expected


def test_a_node_gets_no_config_by_its_status():
    """Given a node / when its status says which configuration it has / then that is dropped, unless
    the node has one from before.
    """
    old = created(node.STRATEGY, named({"spec": {}}))
    told = {"status": {"config": {"error": "x"}, "phase": "Running"}}
    assert "config" not in status_changed(node.STRATEGY, old, told)[0]["status"]
    before = {**old, "status": {**old["status"], "config": {"error": "y"}}}
    assert status_changed(node.STRATEGY, before, told)[0]["status"]["config"] == {"error": "x"}


def test_a_nodes_address_is_told_when_it_is_there_twice():
    """Given an address twice / when the status is written / then the second is told with its type.
    """
    old = created(node.STRATEGY, named({"spec": {}}))
    status = {"addresses": [{"type": "InternalIP", "address": "1.2.3.4"}] * 2}
    _, found = status_changed(node.STRATEGY, old, {"status": status})
    assert found == ['status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"1.2.3.4"}']


@pytest.mark.parametrize(("expression", "said"), [
    ("device.driver == 'gpu.example.com'", None),
    ("device.driver", 'Invalid value: "device.driver": must evaluate to bool or the unknown type, not string'),
    ("device.nam == 'x'", (
        "Invalid value: \"device.nam == 'x'\": compilation failed: ERROR: <input>:1:7: undefined field 'nam'\n"
        " | device.nam == 'x'\n | ......^")),
    ("device.allowMultipleAllocations", (
        'Invalid value: "device.allowMultipleAllocations": compilation failed: ERROR: <input>:1:7: undefined field '
        "'allowMultipleAllocations'\n | device.allowMultipleAllocations\n | ......^")),
    ("lists.range(1000000).all(x, device.driver != '')", "Forbidden: too complex, exceeds cost limit"),
    ("true" + " " * 10_240, "Too long: may not be more than 10240 bytes"),
])
def test_new_selectors_of_devices_compile(expression: str, said: str | None) -> None:
    """Given a selector / when a claim and a class are made with it / then one that is no expression
    of a bool, or costs too much, is refused.
    """
    selectors = [{"cel": {"expression": expression}}]
    claim = {"name": "r", "exactly": {"deviceClassName": "c", "selectors": selectors}}
    expected = [] if said is None else [f"selectors[0].cel.expression: {said}"]
    of_claim = refused(resourceclaim.STRATEGY, named({"spec": {"devices": {"requests": [claim]}}}))
    assert of_claim == [f"spec.devices.requests[0].exactly.{text}" for text in expected]
    assert refused(deviceclass.STRATEGY, named({"spec": {"selectors": selectors}})) == [f"spec.{text}" for text in expected]


def test_stored_selectors_of_devices_stay() -> None:
    """Given a class whose selector was good once / when other things and when a selector change /
    then only new selectors are compiled.
    """
    old = named({"spec": {"selectors": [{"cel": {"expression": "once.good"}}]}})
    assert changed(deviceclass.STRATEGY, old, {"spec": old["spec"] | {"config": []}})[1] == []
    again = changed(deviceclass.STRATEGY, old, {"spec": {"selectors": [{"cel": {"expression": "1"}}]}})[1]
    assert again == [
        'spec.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int']
