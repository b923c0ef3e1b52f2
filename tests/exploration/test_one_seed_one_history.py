"""One seed gives one history, byte for byte, wherever it runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakekube.util.choices import schedule_of
from tests.exploration.history_of_seed import digest

ROOT = Path(__file__).parents[2]


def in_another_process(schedule, environment, module="history_of_seed"):
    return subprocess.run(
        [sys.executable, "-m", f"tests.exploration.{module}", schedule], cwd=ROOT, env=environment,
        capture_output=True, text=True, check=True).stdout


def with_hashes(seed):
    """An environment in which Python hashes by that seed."""
    return {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join([str(ROOT), *sys.path])}


async def test_one_seed_is_one_history_in_every_process():
    """Given a seed, when it runs again here, and in processes with three hash seeds, then the event
    log is the same to the byte, times and uids included; another seed's is another one.
    """
    schedule = schedule_of(5)
    here, deviations = await digest(schedule)
    assert deviations > 20
    assert (await digest(schedule))[0] == here
    assert (await digest(schedule_of(6)))[0] != here
    for hash_seed in ("0", "1", "4711"):
        assert in_another_process(schedule, with_hashes(hash_seed)).split()[0] == here


@pytest.mark.slow
def test_one_seed_is_one_history_of_a_fleet():
    """Given a manager that sends a Job to a worker, and a seed, when it runs in processes with
    three hash seeds, then the event logs of all clusters are the same to the byte.
    """
    first, second, third = (
        in_another_process(schedule_of(5), with_hashes(seed), "history_of_fleet") for seed in ("0", "1", "4711"))
    assert first == second == third
    assert in_another_process(schedule_of(6), with_hashes("0"), "history_of_fleet") != first


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_deviations_of_a_seed_have_its_history(seed):
    """Given the deviations of a seed, when they are replayed from their text, then the event log is
    the same to the byte.
    """
    from fakekube import Cluster
    from fakekube.client.resources import CONFIG_MAPS
    from tests.exploration import operators

    async def run(schedule):
        async with Cluster(schedule=schedule, extra=[operators.two_children]) as cluster:
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}})
            await cluster.settle()
            log = [(event.revision, event.record.data, event.cause)
                   for bucket in cluster.apiserver.storage.buckets for event in bucket.history()]
            return log, cluster.driver.transit.choices.deviations

    log, deviations = await run(schedule_of(seed))
    assert deviations
    assert (await run(schedule_of(seed, deviations))) == (log, deviations)
