"""What a cluster had besides what was asked of it: webhooks and controllers of the test's process,
objects that no request has made. They are not there where it is played, and nobody is blamed.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.recording import exchanges
from fakekube.recording.plan import HOOKED, NOT_MADE, Conversation, gives_accounts, other_setup, plan
from fakekube.recording.recorder import Recorder
from fakekube.recording.report import totals
from fakekube.runtime.builder import controller
from tests.recording.test_playing import played, recorded, told


class Copies:
    """Makes a Secret for each ConfigMap."""

    def __init__(self, ctx: Any) -> None:
        self.client = ctx.client

    async def reconcile(self, request: Any) -> None:
        if request.name == "web" and await self.client.get(SECRETS, "web", request.namespace, missing_ok=True) is None:
            await self.client.create(SECRETS, {"metadata": {"name": "web"}}, request.namespace)


COPIES = controller("copies").for_(CONFIG_MAPS).complete(Copies)


def reasons(conversation: Conversation) -> dict[str, str]:
    return {str(step.exchange).partition("/api/v1/namespaces/default/")[2]: step.reason for step in conversation.steps}


async def test_functions_that_are_webhooks() -> None:
    """Given a story in whose process a webhook refuses and changes ConfigMaps / when it is played /
    then writes of ConfigMaps are left out, and those of Secrets are played.
    """
    async def story(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(CONFIG_MAPS, {"metadata": {"name": "before"}})

        @cluster.webhook("configmaps", mutating=True)
        def mark(review: Any) -> None:
            review.object["data"] = {"marked": "yes"}

        await client.create(CONFIG_MAPS, {"metadata": {"name": "after"}})
        await client.create(SECRETS, {"metadata": {"name": "s"}})
        await client.list(CONFIG_MAPS, "default")

    conversation = await recorded(story)
    writes = [(step.exchange.info.resource, step.reason) for step in conversation.steps if step.exchange.method == "POST"]
    assert writes == [("configmaps", HOOKED), ("configmaps", HOOKED), ("secrets", "")]
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster)
        assert (told(result), totals([result]).differ) == ([], 0)


async def test_what_controllers_of_the_process_have_made() -> None:
    """Given a story whose own controller makes a Secret / when it is played without it / then what
    is about the Secret is left out, and lists do not miss it; what the story made is compared.
    """
    async def story(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(CONFIG_MAPS, {"metadata": {"name": "web"}})
        await cluster.settle()
        await client.get(SECRETS, "web")
        await client.patch(SECRETS, "web", body={"metadata": {"labels": {"a": "b"}}})
        await client.list(SECRETS, "default")
        await client.patch(CONFIG_MAPS, "web", body={"data": {"a": "b"}})

    conversation = await recorded(story, extra=[COPIES])
    assert [step.reason for step in conversation.steps if step.exchange.info.name == "web"] == [NOT_MADE, NOT_MADE, ""]
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster)
        assert (told(result), totals([result]).differ) == ([], 0)


async def test_what_controllers_of_the_process_have_made_is_deleted() -> None:
    """Given a story that deletes what its own controller has made, and what it has made itself /
    when it is planned / then the first is left out.
    """
    async def story(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(CONFIG_MAPS, {"metadata": {"name": "web"}})
        await cluster.settle()
        await client.delete(SECRETS, "web")
        await client.delete(CONFIG_MAPS, "web")

    conversation = await recorded(story, extra=[COPIES])
    assert [step.reason for step in conversation.steps if step.exchange.method == "DELETE"] == [NOT_MADE, ""]


async def test_what_was_there_before() -> None:
    """Given a cluster that begins with a snapshot, and one whose recording begins late / when the
    recording is planned / then what is about the objects of before is left out.
    """
    async def story(cluster: Cluster) -> None:
        await cluster.client.get(CONFIG_MAPS, "old")
        with pytest.raises(APIError):
            await cluster.client.get(CONFIG_MAPS, "none")

    async with Cluster(nodes=0, clock="manual") as first:
        await first.client.create(CONFIG_MAPS, {"metadata": {"name": "old"}})
        snapshot = first.snapshot()
        lines: list[bytes] = []
        first.record(Recorder(lines.append))
        await story(first)
        first.record(None)
    recording = exchanges.parse(b"".join(lines).splitlines())
    [(test, name, asked)] = recording.conversations()
    late = plan(test, recording.clusters[name], asked)
    lines.clear()
    async with Cluster(state=snapshot, record=Recorder(lines.append)) as second:
        await story(second)
    recording = exchanges.parse(b"".join(lines).splitlines())
    [(test, name, asked)] = recording.conversations()
    for conversation in (late, plan(test, recording.clusters[name], asked)):
        assert reasons(conversation) == {"configmaps/old": NOT_MADE, "configmaps/none": ""}


@pytest.mark.parametrize(("controllers", "given"), [
    ("*", True), ("*,-serviceaccount", False), ("", False), ("job,serviceaccount", True), ("job", False)])
def test_whether_pods_got_accounts(controllers: str, given: bool) -> None:
    """Given the controllers of a recorded cluster / then it is known whether pods got accounts."""
    assert gives_accounts({"controllers": controllers}) is given


def test_a_cluster_of_several() -> None:
    """Given a cluster of a fleet / when it is planned / then it is not played by itself."""
    assert other_setup({"member": "east"}) == ("other clusters beside it",)
    assert other_setup({"member": ""}) == ()
