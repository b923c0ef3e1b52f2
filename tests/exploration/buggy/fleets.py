"""An operator of one cluster that writes to another: it makes a copy there, and notes that it did.
"""

import yaml

from fakekube.apimachinery.errors import APIError
from fakekube.client.kubeconfig import client_of
from fakekube.client.resources import CONFIG_MAPS
from fakekube.runtime import controller


class CopiesThenNotes:
    """Makes a copy of a generated name, and notes it here afterwards: what dies between the two
    makes a second one.

    The kubeconfig of the other cluster is in the ConfigMap.
    """

    def __init__(self, ctx):
        self.ctx, self.client, self.maps = ctx, ctx.client, ctx.lister(CONFIG_MAPS)

    def name(self, key):
        return {"generateName": f"{key.name}-"}

    async def reconcile(self, request):
        found = self.maps.get(request.namespace, request.name)
        if found is None or "kubeconfig" not in found.get("data", {}) or "copied" in found["data"]:
            return
        there = client_of(
            yaml.safe_load(found["data"]["kubeconfig"]), "the other cluster", user_agent=self.ctx.name,
            find=self.ctx.options["find_cluster"])
        try:
            await there.create(CONFIG_MAPS, {"metadata": {**self.name(request), "namespace": request.namespace}})
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise
        metadata = {name: found["metadata"][name] for name in ("name", "namespace", "resourceVersion")}
        await self.client.update(CONFIG_MAPS, {"metadata": metadata, "data": {**found["data"], "copied": "yes"}})


class CopiesOnce(CopiesThenNotes):
    """The same, with a name that the server takes once only."""

    def name(self, key):
        return {"name": f"{key.name}-0"}


copies_then_notes = controller("copies-then-notes").for_(CONFIG_MAPS).complete(CopiesThenNotes)
copies_once = controller("copies-once").for_(CONFIG_MAPS).complete(CopiesOnce)
