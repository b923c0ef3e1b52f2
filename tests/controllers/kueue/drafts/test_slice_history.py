"""How many slices of the past a job keeps: WorkloadSliceHistory."""

import pytest

from fakekube.client.resources import PODS
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.configfile import reading
from fakekube_controllers.kueue.configfile.model import ConfigurationError
from fakekube_controllers.kueue.configuration import Configuration, WorkloadRetentionPolicy
from fakekube_controllers.kueue.features import Features
from tests.controllers.kueue.jobs.queues import queues
from tests.controllers.world import NAMESPACE

ON = Features(WorkloadSliceHistory=True)


def configuration(limit, features=ON):
    return Configuration(
        features=features, workload_retention=WorkloadRetentionPolicy(preempted_workload_slice_history=limit))


@pytest.mark.parametrize("limit", [0, 1, 2])
async def test_a_job_keeps_its_last_slices(limit):
    """Given a Job that grew three times, then it has the Workload that counts and as many of the
    past as it may keep, the newest; its pods go on to be let in when it grows again.
    """
    async with queues(configuration(limit)) as world:
        await world.queue(9)
        await world.submit("j", 1)
        for size in (2, 3, 4):
            await world.scale(size)
        past = [(size, "WorkloadSliceReplaced") for size in (1, 2, 3)]
        assert await world.slices() == [*past[3 - limit:], (4, "admitted")]
        await world.scale(6)
        listed = (await world.client.list(PODS, NAMESPACE)).items
        assert len([pod for pod in listed if not pods.has_gate(pod, names.ELASTIC_JOB_GATE)]) == 6
        assert await world.usage() == [6]


async def test_without_the_gate_all_are_kept():
    """Given Kueue as it is, when a Job grows three times, then its three old slices are there."""
    async with queues(configuration(0, Features())) as world:
        await world.queue(9)
        await world.submit("j", 1)
        for size in (2, 3, 4):
            await world.scale(size)
        assert len(await world.slices()) == 4


def test_the_configuration_says_how_many():
    """Given a configuration with the gate, then it may say a number, ten being the default; without
    the gate it may not, and never one below zero.
    """
    def read(history, on=True):
        policies = {"workloads": {} if history is None else {"preemptedWorkloadSliceHistory": history}}
        return reading.read({"objectRetentionPolicies": policies, "featureGates": {"WorkloadSliceHistory": on}})

    assert read(3).workload_retention.preempted_workload_slice_history == 3
    assert read(None).workload_retention.preempted_workload_slice_history == 10
    with pytest.raises(ConfigurationError, match="must be greater than or equal to 0"):
        read(-1)
    with pytest.raises(ConfigurationError, match="needs the feature gate WorkloadSliceHistory"):
        read(3, on=False)
