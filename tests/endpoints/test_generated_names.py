"""Names that the server makes up, in every version of every kind."""

from typing import Any

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


def told(answer: Any) -> list[str]:
    """The fields that an answer complains of."""
    return [cause["field"] for cause in answer["details"]["causes"]]


async def test_a_name_is_looked_at_where_nothing_else_is_wrong() -> None:
    """Given kinds without a rule for names / when one gets a generateName with a slash / then
    that is complained of only where nothing else is wrong, as upstream looks at it last.
    """
    metadata, named = {"generateName": "a/"}, ["metadata.generateName", "metadata.name"]
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    async with new_cluster() as cluster:
        _, answer = await send(cluster, "POST", budgets, {"metadata": metadata, "spec": {"minAvailable": -1}})
        assert told(answer) == ["spec.minAvailable"]
        _, answer = await send(cluster, "POST", budgets, {"metadata": metadata, "spec": {"minAvailable": 1}})
        assert told(answer) == named


async def test_a_declared_rule_looks_at_the_name_alone() -> None:
    """Given a kind of which a declarative rule looks at the name / when a generateName has a
    slash / then the name is complained of; with a name besides, what it begins with is.
    """
    classes, metadata = "/apis/resource.k8s.io/v1/deviceclasses", {"generateName": "a/"}
    async with new_cluster() as cluster:
        _, answer = await send(cluster, "POST", classes, {"metadata": metadata})
        assert told(answer) == ["metadata.name"]
        _, answer = await send(cluster, "POST", classes, {"metadata": {**metadata, "name": "b"}})
        assert answer["details"]["causes"][0]["message"] == "Invalid value: \"a/\": may not contain '/'"
