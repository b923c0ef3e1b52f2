"""An operator with a kind of its own, as a user's module would have it."""

from typing import Any, ClassVar

from fakekube.client.resources import CONFIG_MAPS
from fakekube.runtime import AddOn, Context, Request, Resource, Webhook, controller
from fakekube.types import Definition, Model, Object, empty
from fakekube.webhooks import AdmissionRequest, Denied


class SiteSpec(Model):
    text: str


class Site(Object):
    """A text on the web."""

    resource: ClassVar[Resource] = Resource("example.com", "v1", "sites", "Site")
    definition: ClassVar[Definition] = Definition(short_names=("st",))

    spec: SiteSpec = empty(SiteSpec)


class OldSiteSpec(Model):
    words: str = ""


class OldSite(Object):
    """A site as it used to be."""

    resource: ClassVar[Resource] = Resource("example.com", "v1alpha1", "sites", "Site")

    spec: OldSiteSpec = empty(OldSiteSpec)


def convert(site: dict[str, Any], api_version: str) -> dict[str, Any]:
    old, new = ("words", "text") if api_version == "example.com/v1" else ("text", "words")
    return {**site, "apiVersion": api_version, "spec": {new: site["spec"][old]}}


class SiteReconciler:
    def __init__(self, ctx: Context) -> None:
        self.client, self.sites = ctx.client, ctx.lister(Site)

    async def reconcile(self, request: Request) -> None:
        site = self.sites.get(request.namespace, request.name)
        if site is not None:
            await self.client.apply({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": request.name, "namespace": request.namespace},
                "data": {"index.html": site.spec.text}})


def no_secrets(request: AdmissionRequest) -> None:
    if "secret" in request.object["spec"]["text"]:
        raise Denied("secrets are not published", code=403)
    request.warn("sites are public")


def label(request: AdmissionRequest) -> None:
    request.object["metadata"].setdefault("labels", {})["site"] = request.name


NOTE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sites-note", "namespace": "default"}}
sites = AddOn(
    "sites", kinds=(Site, OldSite), manifests=(NOTE,), conversions={"sites.example.com": convert},
    controllers=(controller("sites").for_(Site).owns(CONFIG_MAPS).complete(SiteReconciler),),
    webhooks=(
        Webhook(no_secrets, ("sites.example.com",)),
        Webhook(label, ("sites.example.com",), operations=("CREATE",), mutating=True)))
