"""The plugin by itself: its arguments, its hints, and what it loads."""

import subprocess
import sys

import pytest

from fakekube.composition.cluster import Cluster
from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError
from fakekube_controllers.scheduler.plugins.dynamic_resources import DynamicResources
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from tests.controllers.scheduler.devices.cases import allocation, claim, device_class, devices
from tests.controllers.scheduler.devices.worlds import Devices
from tests.controllers.scheduler.plugins.cases import Handle, hints, plugin_of, pod

GATES = ("DynamicResourceAllocation", "DRASchedulerFilterTimeout", "DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
CLAIM, CHANGED = EventResource.RESOURCE_CLAIM, ActionType.UPDATE
USES = pod(resourceClaims=[{"name": "x", "resourceClaimName": "c"}])


class DeviceHandle(Handle):
    """With what this plugin asks for besides."""

    def __init__(self, *args, **rest):
        super().__init__(*args, **rest)
        self.common, self.groups = {}, None
        self.rng = type("Rng", (), {"fork": lambda self, _: self})()

    def add_handler(self, *_):
        return

    def spawn(self, *_):
        return


def made(*claims):
    return plugin_of(DynamicResources, DeviceHandle(gates=GATES, resourceclaims=list(claims)))


def of(device=None, name="c", **status):
    found = claim(name=name)
    found["metadata"]["resourceVersion"] = "1"
    return found | ({"status": {"allocation": allocation(device), **status}} if device else {})


@pytest.mark.parametrize(("old", "new", "expected"), [
    (None, of(), "QUEUE"), (of(), of("a"), "QUEUE"), (of(), of(), "SKIP"), (None, of(name="other"), "SKIP"),
    (of("a", "other"), of(name="other"), "QUEUE"), (of("a", "other"), None, "QUEUE"), (of(name="other"), None, "SKIP"),
])
def test_which_changes_of_claims_may_help(old, new, expected):
    """Given a pod that uses a claim / when a claim changes / then that may help where it is the
    pod's, or where devices are free now.
    """
    assert hints(made(of()), CLAIM, CHANGED, USES, old, new) == expected


def test_a_pod_whose_claim_is_missing_is_not_helped_by_others():
    """Given a pod whose claim is not there / when another claim is freed / then that does not help;
    a change of the pod helps once the claim is there.
    """
    assert hints(made(), CLAIM, CHANGED, USES, of("a", "other"), of(name="other")) == "SKIP"
    named = EventResource.TARGET_POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    assert hints(made(), *named, USES, USES, USES) == "SKIP"
    assert hints(made(of()), *named, USES, USES, USES) == "QUEUE"


@pytest.mark.parametrize(("args", "gates", "text"), [
    ({"filterTimeout": "-1s"}, GATES, 'filterTimeout: Invalid value: "-1s": must be zero or positive'),
    ({"bindingTimeout": "500ms"}, GATES, 'bindingTimeout: Invalid value: "500ms": must be at least 1 second'),
    ({"filterTimeout": "1s"}, (), "filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled"),
    ({"bindingTimeout": "1s"}, (), "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus"),
    ({"bindingTimeout": "soon"}, GATES, 'time: invalid duration "soon"'),
])
def test_arguments_that_are_refused(args, gates, text):
    """Given arguments that are wrong, or whose gate is off / when the plugin is made / then it is
    refused in upstream's words.
    """
    with pytest.raises(ArgumentsError, match="^" + text.replace('"', '\\"').replace("(", "\\(")):
        plugin_of(DynamicResources, DeviceHandle(gates=gates), **args)


def test_a_class_for_a_resource_may_help_a_pod_that_asks_for_it():
    """Given a pod that asks for an extended resource / when a class is added that stands for it, or
    for another / then only the first helps.
    """
    fit = plugin_of(NodeResourcesFit, DeviceHandle(gates=("DynamicResourceAllocation", "DRAExtendedResource")))
    asks = pod(requests={"example.com/nic": "1"})
    classes = {each: device_class() | {"spec": {"extendedResourceName": f"example.com/{each}"}} for each in ("nic", "gpu")}
    event = EventResource.DEVICE_CLASS, ActionType.ADD
    assert [hints(fit, *event, asks, None, classes[each]) for each in ("nic", "gpu")] == ["QUEUE", "SKIP"]
    assert hints(fit, *event, asks, classes["nic"], classes["nic"]) == "SKIP"
    assert hints(fit, *event, pod(requests={"deviceclass.resource.kubernetes.io/gpu": "1"}), None, device_class()) == "QUEUE"


CONFIGURATION = {"profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}]}


async def test_profiles_do_not_give_one_device_twice():
    """Given two profiles and a device / when a pod of each asks for one / then one pod gets it."""
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **CONFIGURATION}
    async with Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount", scheduler_config=config) as cluster:
        world = Devices(cluster)
        await world.device_class()
        await world.node("n1")
        await world.slice(devices("a"))
        await world.claim("c")
        await world.claim("d")
        await world.pod("p", "c")
        await world.pod("q", "d", schedulerName="other")
        assert await world.where("p", "q") == ["n1", ""]
        assert await world.given("d") is None


def test_nothing_is_loaded_for_pods_without_claims():
    """Given a cluster / when pods without claims are scheduled / then neither the allocator nor CEL
    is loaded.
    """
    script = """
import asyncio, sys
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster

async def main():
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(PODS, {
            "metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        await cluster.settle()
        assert (await cluster.client.get(PODS, "p", "default"))["spec"]["nodeName"]

asyncio.run(main())
print([name for name in sys.modules if "scheduler.devices" in name or name.startswith("fakekube.cel")])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
