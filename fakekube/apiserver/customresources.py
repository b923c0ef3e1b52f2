"""Where a server begins to look at CustomResourceDefinitions: with the first one, and no sooner.

``fakekube.apiextensions`` does all the rest; a cluster without custom resources never loads it.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.buckets import Buckets
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.stores import Stores
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakekube.apiextensions.serving import CustomResources
    from fakekube.webhooks.client import WebhookClient

DEFINITIONS = GroupResource("apiextensions.k8s.io", "customresourcedefinitions")


def follow_definitions(
    resources: ResourceRegistry, buckets: Buckets, stores: Stores, definitions: Definitions, clock: Clock, rng: Rng,
    webhooks: "Callable[[], WebhookClient]",
) -> None:
    """Serve what the definitions in storage say, those that are there and those that come.

    ``webhooks`` gives what calls webhooks that convert objects.
    """
    made: CustomResources | None = None

    def custom_resources() -> "CustomResources":
        nonlocal made
        if made is None:
            from fakekube.apiextensions.serving import CustomResources

            made = CustomResources(resources, buckets, stores, definitions, clock, rng, webhooks)
        return made

    def listen(bucket: Bucket) -> None:
        if bucket.resource == DEFINITIONS:
            bucket.subscribe(bucket.revision, "", lambda event: custom_resources().changed(event))
            if len(bucket):
                custom_resources().take_over()

    buckets.on_made(listen)
    buckets.existing(DEFINITIONS)  # those of a state that was taken over
