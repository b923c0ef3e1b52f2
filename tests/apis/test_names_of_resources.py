"""Which resources quotas, limits and containers may name."""

import pytest

from fakekube.apis.core import resource_requirements as resources

STANDARD = (
    "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu",
    "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets",
    "configmaps", "persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers",
    "hugepages-2Mi", "requests.hugepages-1Gi", "example.com/gpu", "requests.example.com/gpu", "count/jobs.batch",
)
NOT_STANDARD = 'p: Invalid value: "{}": must be a standard resource type or fully qualified'


@pytest.mark.parametrize("name", STANDARD)
def test_a_resource_that_there_is(name: str) -> None:
    """given a resource that Kubernetes knows or that has a domain, when it is named, then it may"""
    assert resources.validate_resource_name(name, "p") == []


@pytest.mark.parametrize("name", ["gpu", "replicationcontroller", "pod", "limits.storage", "requests.pods"])
def test_a_resource_that_there_is_not(name: str) -> None:
    """given a resource without a domain that is none of Kubernetes', when it is named, then that is
    refused
    """
    assert [str(error) for error in resources.validate_resource_name(name, "p")] == [NOT_STANDARD.format(name)]


def test_resources_that_are_counted() -> None:
    """given resources of quotas, when one counts objects, then its amount is a whole number"""
    assert {*resources.INTEGER_RESOURCES} == {
        "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
        "services.nodeports", "services.loadbalancers"}


@pytest.mark.parametrize(("name", "native", "extended", "overcommits"), [
    ("cpu", True, False, True), ("hugepages-2Mi", True, False, False), ("example.com/gpu", False, True, False),
    ("kubernetes.io/x", True, False, True), ("x.kubernetes.io/y", True, False, True),
    ("requests.example.com/gpu", False, False, False), (f"example.com/{'g' * 64}", False, False, False),
])
def test_whose_a_resource_is(name: str, native: bool, extended: bool, overcommits: bool) -> None:
    """given a resource, when its domain is looked at, then it is Kubernetes' own or somebody's, and
    may be overcommitted or not
    """
    found = resources.is_native(name), resources.is_extended(name), resources.may_overcommit(name)
    assert found == (native, extended, overcommits)
