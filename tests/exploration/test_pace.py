"""Who makes again and again what is taken away comes to an end once its watch has caught up."""

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.runtime import controller
from tests.exploration.buggy.base import Reconciler, create_once

CALM = "1:0:eJyLjgUAARUAuQ"
STALLED = {"watch": "stall", "resources": "configmaps", "user_agents": "makes-again", "lasting": "5s"}


class MakesAgain(Reconciler):
    """Makes a Secret that its map owns whenever it sees the map, and no Secret."""

    async def work(self, name, found):
        if found is not None and self.secrets.get("default", name) is None:
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": found["metadata"]["uid"]}
            await create_once(self.client, SECRETS, name, metadata={
                "name": name, "namespace": "default", "ownerReferences": [{**owner, "controller": True}]})


makes_again = controller("makes-again").for_(CONFIG_MAPS).owns(SECRETS).complete(MakesAgain)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("clock", ["manual", "auto"])
async def test_what_is_made_again_and_again_ends_when_the_watch_has_caught_up(clock):
    """Given an operator that makes a Secret again whenever it is gone, and does not hear for five
    seconds that its owner is, when the garbage collector takes it away each time, then that goes
    on, time passes meanwhile, and in the end the Secret is gone.
    """
    async with Cluster(schedule=CALM, clock=clock, extra=[makes_again], nodes=0) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}})
        await cluster.advance("1s")
        cluster.faults.add(STALLED)
        await cluster.client.delete(CONFIG_MAPS, "web", "default")
        await cluster.advance("1m")
        made = [entry.time for entry in cluster.apiserver.log if (entry.verb, entry.resource) == ("create", "secrets")]
        assert (await cluster.client.list(SECRETS, "default")).items == []
    assert 500 < len(made) < 1_000
    assert 4 < made[-1] - made[0] < 6
