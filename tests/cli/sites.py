"""An operator with a kind of its own, as a user's module would have it."""

from typing import ClassVar

from fakekube.client.resources import CONFIG_MAPS
from fakekube.runtime import AddOn, Context, Request, Resource, controller
from fakekube.types import Definition, Model, Object, empty


class SiteSpec(Model):
    text: str


class Site(Object):
    """A text on the web."""

    resource: ClassVar[Resource] = Resource("example.com", "v1", "sites", "Site")
    definition: ClassVar[Definition] = Definition(short_names=("st",))

    spec: SiteSpec = empty(SiteSpec)


class SiteReconciler:
    def __init__(self, ctx: Context) -> None:
        self.client, self.sites = ctx.client, ctx.lister(Site)

    async def reconcile(self, request: Request) -> None:
        site = self.sites.get(request.namespace, request.name)
        if site is not None:
            await self.client.apply({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": request.name, "namespace": request.namespace},
                "data": {"index.html": site.spec.text}})


NOTE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sites-note", "namespace": "default"}}
sites = AddOn(
    "sites", kinds=(Site,), manifests=(NOTE,),
    controllers=(controller("sites").for_(Site).owns(CONFIG_MAPS).complete(SiteReconciler),))
