"""The causes of an object's state in a cluster: ``Cluster.trace`` asks here, ``fakekube.tracing``
answers.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.times import parse_time
from fakekube.composition.objectnames import object_named
from fakekube.composition.storedkinds import Kinds
from fakekube.tracing.reading import Asked, trace
from fakekube.util import turns

if TYPE_CHECKING:
    from fakekube.client.client import Client
    from fakekube.composition.snapshot import Snapshot
    from fakekube.tracing.trace import Trace


async def of_object(
    client: "Client", snapshot: "Snapshot", what: str, *, namespace: str, field: str, last: int,
) -> "Trace":
    """The trace of an object, named as kubectl does. Raises APIError; see ``Cluster.trace``."""
    resource, name = await object_named(client, what)
    options = snapshot.options
    asked = Asked(Kinds(options).stored_as(resource), namespace if resource.namespaced else "", name, last, field)

    def read(turn: turns.Turn) -> "Trace":
        return trace(snapshot.storage, asked, started=parse_time(snapshot.started), seed=options.seed, turn=turn)

    try:
        return read(turns.Turn())
    except turns.TakesLong:
        return await turns.in_turns(read)
