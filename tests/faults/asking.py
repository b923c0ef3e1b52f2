"""Short ways to ask a cluster, and to see what its clients meet."""

from typing import Any

import orjson

from fakekube import Cluster
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.client.resources import CONFIG_MAPS
from fakekube.client.transport import TransportError
from tests.apiserver.conftest import Receiver as Frames

ADMIN = UserInfo("kubernetes-admin", ("system:masters",))
MAPS = "/api/v1/namespaces/default/configmaps"


async def ask(
    cluster: Cluster, method: str, path: str, body: Any = None, agent: str = "test", user: UserInfo = ADMIN, **query: str,
) -> Response:
    """The answer to one request."""
    headers = {"user-agent": agent, "accept": "application/json", "content-type": "application/json"}
    data = orjson.dumps(body) if body is not None else b""
    return await cluster.apiserver.handle(
        Request(method, path, {name: [value] for name, value in query.items()}, headers, data, user))


async def create(cluster: Cluster, name: str, **labels: str) -> Response:
    """The answer to a ConfigMap that is created."""
    return await ask(cluster, "POST", MAPS, {"metadata": {"name": name, "labels": labels}})


async def is_there(cluster: Cluster, name: str) -> bool:
    """Whether a ConfigMap was stored."""
    storage, resource = cluster.apiserver.storage, CONFIG_MAPS.group_resource
    return storage.has(resource) and storage.bucket(resource).get("default", name) is not None


async def outcome(cluster: Cluster, name: str) -> str:
    """What a client in the process meets that creates a ConfigMap."""
    try:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default")
    except TransportError as error:
        return str(error)
    return "created"


def status(response: Response) -> Any:
    """The Status in an answer."""
    return orjson.loads(response.body)


class Receiver(Frames):
    """What comes of a watch."""

    @property
    def names(self) -> list[str]:
        """Of the objects that were told of."""
        return [event["object"]["metadata"]["name"] for event in self.events if event["type"] not in ("BOOKMARK", "ERROR")]


async def watching(cluster: Cluster, agent: str = "test", path: str = MAPS, **query: str) -> Receiver:
    """A watch that has begun."""
    response = await ask(cluster, "GET", path, agent=agent, watch="true", **query)
    receiver = Receiver()
    assert response.stream is not None
    response.stream.start(receiver)
    return receiver
