"""They take for new what a replica tells that is behind (Sieve: stale states).
"""

from fakekube.client.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS
from tests.exploration.buggy.base import Reconciler, create_once, declared, missing_ok, name_of

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


class DeletesByStaleView(Reconciler):
    """Scales down when its cache says so: deletes the claim of a map that is marked, by name.

    A cache that is behind shows a mark that was taken away long since (Sieve: stale states).
    """

    async def is_current(self, found):
        return True

    async def work(self, name, found):
        if found is None:
            return
        if (found.get("data") or {}).get("scale") != "0":
            await create_once(self.client, PERSISTENT_VOLUME_CLAIMS, name, spec=CLAIM)
        elif await self.is_current(found):
            await missing_ok(self.client.delete(PERSISTENT_VOLUME_CLAIMS, name, "default"))


class DeletesByServersView(DeletesByStaleView):
    """Asks the server before it deletes."""

    async def is_current(self, found):
        current = await missing_ok(self.client.get(CONFIG_MAPS, name_of(found), "default"))
        return current is not None and current["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


by_stale_view, by_servers_view = declared("by-stale-view", DeletesByStaleView), declared("by-servers-view", DeletesByServersView)
