"""Names that the server makes up, in every version of every kind."""

from fakekube.composition.cluster import Cluster
from tests.differential.servers import new_cluster, send
from tests.releases.specimens import NAMES, collection, specimen


async def refused(cluster: Cluster) -> list[tuple[str, str, str]]:
    """What does not get a name, and why."""
    wrong = []
    for kind in cluster.apiserver.resources.kinds:
        if kind.kind in NAMES or not {"create", "get"} <= set(kind.verbs):
            continue
        body = specimen(kind)
        code, answer = await send(cluster, "POST", collection(kind), {**body, "metadata": {"generateName": "made-"}})
        if code != 201 or not answer["metadata"]["name"].startswith("made-"):
            wrong.append((kind.api_version, kind.kind, answer.get("message", "")))
    return wrong


async def test_every_kind_in_every_version_takes_a_name_that_is_made_up() -> None:
    """Given all kinds in all versions, stored ones and others / when an object with generateName is
    created in each Then it gets a name that begins so.
    """
    async with new_cluster(runtime_config="api/all=true") as cluster:
        assert await refused(cluster) == []
