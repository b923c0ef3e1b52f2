"""The resources of events.k8s.io: the core group's Events under other names.

Upstream: pkg/registry/events/rest.
"""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import late
from fakekube.apis.core.selectable import EVENT_OF_GROUP
from fakekube.apis.declaration import Group, Resource, Served

STORED = GroupVersionKind("", "v1", "Event")

GROUP = Group(
    "events.k8s.io",
    17750,
    (
        Resource(
            plural="events",
            kind="Event",
            printer=late.printer("core.printers:EVENT"),
            selectable=EVENT_OF_GROUP,
            short_names=("ev",),
            create_on_update=True,
            collects_dependents=False,
            stored=STORED,
            versions=(
                Served(
                    "v1",
                    to_stored=late.convert("events.conversion:to_core"),
                    from_stored=late.convert("events.conversion:from_core"),
                    only_moves=True,
                    strategy=late.strategy("events.event"),
                ),
            ),
        ),
    ),
)
