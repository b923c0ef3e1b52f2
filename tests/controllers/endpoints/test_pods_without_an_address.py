"""Pods of a Service whose Endpoints are of the other family of addresses."""

from typing import Any

import pytest

from fakekube_controllers.endpoints import endpointscontroller


@pytest.mark.parametrize(("families", "ips", "expected"), [
    (["IPv4"], ["10.0.0.1"], "10.0.0.1"), (["IPv6"], ["10.0.0.1"], None), (["IPv6"], ["10.0.0.1", "fd00::1"], "fd00::1"),
    (["IPv4", "IPv6"], ["fd00::1"], None),
])
def test_a_pod_adds_the_address_of_the_services_first_family(families: Any, ips: Any, expected: Any) -> None:
    """Given a ready pod with addresses / then the Endpoints of a Service have the one of its first
    family; a pod without one adds nothing.
    """
    service = {"metadata": {"name": "s", "namespace": "n"}, "spec": {
        "ipFamilies": families, "clusterIP": "None", "selector": {"a": "b"}}}
    ready = {"type": "Ready", "status": "True"}
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"nodeName": "n1", "containers": []}, "status": {
        "phase": "Running", "podIP": ips[0], "podIPs": [{"ip": ip} for ip in ips], "conditions": [ready]}}
    found = endpointscontroller._subsets(service, pod)
    assert [address["ip"] for each in found for address in each["addresses"]] == ([] if expected is None else [expected])
