"""The resources of events.k8s.io: the core group's Events under other names. Upstream: pkg/registry/events/rest."""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import selecting
from fakekube.apis.core.printers import EVENT as PRINTER
from fakekube.apis.declaration import Group, Resource, Served
from fakekube.apis.events import conversion, event

STORED = GroupVersionKind("", "v1", "Event")

GROUP = Group(
    "events.k8s.io",
    17750,
    (
        Resource(
            plural="events",
            kind="Event",
            printer=PRINTER,
            selectable=selecting.EVENT_OF_GROUP,
            short_names=("ev",),
            create_on_update=True,
            stored=STORED,
            versions=(
                Served("v1", to_stored=conversion.to_core, from_stored=conversion.from_core, strategy=event.STRATEGY),
            ),
        ),
    ),
)
