"""Small operators with a race, and their mended twins."""

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.runtime import controller

POD = {"containers": [{"name": "main", "image": "web"}]}


def is_web(name):
    return name.startswith("web")


class TwoChildren:
    """Makes a pod of a generated name for each ConfigMap when its cache shows none yet.

    The cache may be behind its own write.
    """

    def __init__(self, ctx):
        self.client, self.maps, self.pods = ctx.client, ctx.lister(CONFIG_MAPS), ctx.lister(PODS)

    def name(self, owner):
        return {"generateName": f"{owner}-"}

    async def reconcile(self, request):
        if not is_web(request.name) or self.maps.get(request.namespace, request.name) is None:
            return
        if any(pod["metadata"].get("labels", {}).get("of") == request.name for pod in self.pods.list(request.namespace)):
            return
        labels = {"of": request.name}
        try:
            await self.client.create(PODS, {
                "metadata": {**self.name(request.name), "namespace": request.namespace, "labels": labels}, "spec": POD})
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise


class OneChild(TwoChildren):
    """The same, with a name that the server takes once only."""

    def name(self, owner):
        return {"name": f"{owner}-0"}


class Overwrites:
    """Counts a ConfigMap's changes in it: from its cache, and without a version."""

    versioned = False

    def __init__(self, ctx):
        self.client, self.maps = ctx.client, ctx.lister(CONFIG_MAPS)

    async def reconcile(self, request):
        found = self.maps.get(request.namespace, request.name)
        if found is None or not is_web(request.name):
            return
        metadata = {name: found["metadata"][name] for name in ("name", "namespace", "resourceVersion")}
        if not self.versioned:
            del metadata["resourceVersion"]
        data = found.get("data") or {}
        if data.get("seen") != data.get("wanted"):
            await self.client.update(
                CONFIG_MAPS, {"metadata": metadata, "data": {**data, "seen": data.get("wanted", "")}})


class Versioned(Overwrites):
    """The same, which is refused when another has written, and tries again."""

    versioned = True


two_children = controller("two-children").for_(CONFIG_MAPS).owns(PODS).complete(TwoChildren)
one_child = controller("one-child").for_(CONFIG_MAPS).owns(PODS).complete(OneChild)
overwrites = controller("overwrites").for_(CONFIG_MAPS).complete(Overwrites)
versioned = controller("versioned").for_(CONFIG_MAPS).complete(Versioned)
