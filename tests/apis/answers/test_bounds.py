"""The longest text and list that each field takes, and one more."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson
import pytest

from tests.fuzz.conftest import Target

PODS, JOBS = "/api/v1/namespaces/default/pods", "/apis/batch/v1/namespaces/default/jobs"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
CONTAINER = {"name": "c", "image": "i"}
Tree = dict[str, Any]


class Bound(NamedTuple):
    """What is made of a number at ``path``; ``most`` of it is accepted, and of one more is told."""

    path: str
    most: int
    told: str
    make: Callable[[int], Tree]


def job(**spec: Any) -> Tree:
    return {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}, **spec}}


def pod(**spec: Any) -> Tree:
    return {"spec": {"containers": [CONTAINER], **spec}}


def rules(count: int, **rule: Any) -> Tree:
    return {"rules": [rule] * count}


def claim(requests: list[Tree] | None = None, **devices: Any) -> Tree:
    exactly = {"name": "r", "exactly": {"deviceClassName": "c"}}
    return {"spec": {"devices": {"requests": [exactly] if requests is None else requests, **devices}}}


def policy(**spec: Any) -> Tree:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    return {"spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}], **spec}}


def event(**fields: Any) -> Tree:
    return {
        "regarding": {"namespace": "default", "kind": "Pod"}, "type": "Normal", "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "c", "reportingInstance": "i", "action": "a", "reason": "r", **fields}  # fmt: skip


EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
CONDITIONS = [{"type": "A", "status": "True"}]
BOUNDS = [
    Bound(JOBS, 20, "spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items",
          lambda n: job(podFailurePolicy=rules(n, action="Count", onPodConditions=CONDITIONS))),
    Bound(JOBS, 20, "spec.podFailurePolicy.rules[0].onPodConditions: Too many: 21: must have at most 20 items",
          lambda n: job(podFailurePolicy=rules(1, action="Count", onPodConditions=CONDITIONS * n))),
    Bound(JOBS, 255, "spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: must have at most 255 items",
          lambda n: job(podFailurePolicy=rules(1, action="Count", onExitCodes={
              "operator": "In", "values": [*range(1, n + 1)]}))),
    Bound(JOBS, 20, "spec.successPolicy.rules: Too many: 21: must have at most 20 items",
          lambda n: job(completionMode="Indexed", completions=1, successPolicy=rules(n, succeededCount=1))),
    Bound("/apis/batch/v1/namespaces/default/cronjobs", 52,
          'metadata.name: Invalid value: "' + "a" * 53 + '": must be no more than 52 characters',
          lambda n: {"metadata": {"name": "a" * n}, "spec": {"schedule": "* * * * *", "jobTemplate": job()}}),
    Bound(SLICES, 20000, "ports: Too many: 20001: must have at most 20000 items",
          lambda n: {"addressType": "IPv4", "endpoints": [], "ports": [{"name": f"p{each}"} for each in range(n)]}),
    Bound(SLICES, 1000, "endpoints: Too many: 1001: must have at most 1000 items",
          lambda n: {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}] * n}),
    Bound(SLICES, 100, "endpoints[0].addresses: Too many: 101: must have at most 100 items",
          lambda n: {"addressType": "IPv4", "endpoints": [{"addresses": [f"1.2.3.{each}" for each in range(n)]}]}),
    Bound(SLICES, 8, "endpoints[0].hints.forZones: Too many: 9: must have at most 8 items",
          lambda n: {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"], "hints": {
              "forZones": [{"name": f"z{each}"} for each in range(n)]}}]}),
    Bound(PODS, 3, 'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.1","1.1.1.1","1.1.1.1"]: '
          "must not have more than 3 nameservers",
          lambda n: pod(dnsConfig={"nameservers": ["1.1.1.1"] * n})),
    Bound(PODS, 32, "spec.dnsConfig.searches: Invalid value: [" + ",".join(['"a"'] * 33) + "]: "
          "must not have more than 32 search paths",
          lambda n: pod(dnsConfig={"searches": ["a"] * n})),
    Bound(PODS, 20, "spec.containers[0].restartPolicyRules: Too many: 21: must have at most 20 items",
          lambda n: pod(containers=[{**CONTAINER, "restartPolicy": "Never", "restartPolicyRules": [
              {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}] * n}])),
    Bound(PODS, 255, "spec.containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items",
          lambda n: pod(containers=[{**CONTAINER, "restartPolicy": "Never", "restartPolicyRules": [
              {"action": "Restart", "exitCodes": {"operator": "In", "values": [*range(n)]}}]}])),
    Bound("/api/v1/namespaces/default/configmaps", 1024 * 1024, "[]: Too long: may not be more than 1048576 bytes",
          lambda n: {"data": {"a": "x" * n}}),
    Bound(CLAIMS, 32, "spec.devices.requests: Too many: 33: must have at most 32 items",
          lambda n: claim([{"name": f"r{each}", "exactly": {"deviceClassName": "c"}} for each in range(n)])),
    Bound(CLAIMS, 8, "spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 items",
          lambda n: claim([{"name": "r", "firstAvailable": [
              {"name": f"s{each}", "deviceClassName": "c"} for each in range(n)]}])),
    Bound(CLAIMS, 32, "spec.devices.requests[0].exactly.selectors: Too many: 33: must have at most 32 items",
          lambda n: claim([{"name": "r", "exactly": {
              "deviceClassName": "c", "selectors": [{"cel": {"expression": "true"}}] * n}}])),
    Bound(CLAIMS, 32, "spec.devices.constraints: Too many: 33: must have at most 32 items",
          lambda n: claim(constraints=[{"matchAttribute": "a.b/c"}] * n)),
    Bound(CLAIMS, 32, "spec.devices.config: Too many: 33: must have at most 32 items",
          lambda n: claim(config=[{"opaque": {"driver": "a.b", "parameters": {}}}] * n)),
    Bound(CLAIMS, 63, "spec.devices.config[0].opaque.driver: Too long: may not be more than 63 characters",
          lambda n: claim(config=[{"opaque": {"driver": "a" * n, "parameters": {}}}])),
    Bound(CLAIMS, 32, "spec.devices.constraints[0].matchAttribute: Too long: may not be more than 32 bytes",
          lambda n: claim(constraints=[{"matchAttribute": f"a.b/{'c' * n}"}])),
    Bound("/apis/resource.k8s.io/v1/deviceclasses", 32, "spec.config: Too many: 33: must have at most 32 items",
          lambda n: {"spec": {"config": [{"opaque": {"driver": "a.b", "parameters": {}}}] * n}}),
    Bound(POLICIES, 64, "spec.matchConditions: Too many: 65: must have at most 64 items",
          lambda n: policy(matchConditions=[{"name": f"c{each}", "expression": "true"} for each in range(n)])),
    Bound("/apis/networking.k8s.io/v1/ingressclasses", 250, "spec.controller: Too long: may not be more than 250 bytes",
          lambda n: {"spec": {"controller": "a.b/" + "c" * (n - 4)}}),
    Bound("/apis/storage.k8s.io/v1/csinodes", 256, 'spec.drivers[0].nodeID: Invalid value: "' + "a" * 257 + '": '
          "must be 256 characters or less",
          lambda n: {"spec": {"drivers": [{"name": "d", "nodeID": "a" * n}]}}),
    Bound("/apis/storage.k8s.io/v1/storageclasses", 512, "parameters: Too long: may not be more than 512 bytes",
          lambda n: {"provisioner": "p", "parameters": {f"k{each}": "v" for each in range(n)}}),
    Bound("/api/v1/namespaces/default/configmaps", 1024 * 1024, "[]: Too long: may not be more than 1048576 bytes",
          lambda n: {"data": {"a": "x" * 1000}, "binaryData": {"b": b64encode(b"x" * (n - 1000)).decode()}}),
    Bound(EVENTS, 128, 'reason: Invalid value: "": can have at most 128 characters', lambda n: event(reason="r" * n)),
    Bound(EVENTS, 128, 'action: Invalid value: "": can have at most 128 characters', lambda n: event(action="r" * n)),
    Bound(EVENTS, 128, 'reportingInstance: Invalid value: "": can have at most 128 characters',
          lambda n: event(reportingInstance="r" * n)),
    Bound(EVENTS, 1024, 'message: Invalid value: "": can have at most 1024 characters',
          lambda n: event(note="é" * 2 + "n" * (n - 4))),
    Bound("/apis/storage.k8s.io/v1/storageclasses", 256 * 1024, "parameters: Too long: may not be more than 262144 bytes",
          lambda n: {"provisioner": "p", "parameters": {"key": "v" * 1000, "é": "w" * (n - 1005)}}),
    Bound(PODS, 2048, "spec.dnsConfig.searches: Invalid value: [" + ",".join(['"' + "a" * 63 + '"'] * 31 + ['"' + "a" * 65 + '"'])
          + "]: must not have more than 2048 characters (including spaces) in the search list",
          lambda n: pod(dnsConfig={"searches": ["a" * 63] * 31 + ["a" * (n - 1984)]})),
]  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Target]:
    found = Target(runtime_config="api/all=true")
    yield found
    found.loop.close()


def told(server: Target, path: str, tree: Tree) -> list[str]:
    """The causes of a refusal."""
    tree = {**tree, "metadata": {"name": "x", **tree.get("metadata", {})}}
    answer = server.send("POST", path, orjson.dumps(tree), query={"dryRun": "All", "fieldValidation": "Strict"})
    if answer.status == 201:
        return []
    causes = orjson.loads(answer.body)["details"]["causes"]
    return [f"{cause['field']}: {cause['message']}" for cause in causes]


@pytest.mark.parametrize("bound", [pytest.param(bound, id=bound.told.partition(": ")[0]) for bound in BOUNDS])
def test_as_much_as_may_be_and_no_more(server: Target, bound: Bound) -> None:
    """Given as much as a field takes, and one more / when sent / then that is accepted, and this
    refused.
    """
    assert told(server, bound.path, bound.make(bound.most)) == []
    assert told(server, bound.path, bound.make(bound.most + 1)) == [bound.told]
