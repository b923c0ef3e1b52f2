"""Which mutating webhooks and policies are asked, in which round."""

from typing import Any

from fakekube import Cluster
from fakekube.webhooks import AdmissionRequest
from tests.admission.test_policies import MAPS, MUTATING, MUTATING_BINDINGS, PLAIN, binding, config_map, json_patch, policy


def adding(key: str) -> dict[str, Any]:
    """A mutation that adds a key, once."""
    kept = f"JSONPatch{{op: 'test', path: '/data/{key}', value: object.data.{key}}}"
    added = f"JSONPatch{{op: 'add', path: '/data/{key}', value: '1'}}"
    return json_patch(f"'{key}' in object.data ? [{kept}] : [{added}]")


async def test_a_webhook_is_asked_only_for_what_it_selects() -> None:
    """Given a mutating function with a selector and a condition / when objects are made / then it
    is asked for those alone that both take in.
    """
    asked: list[str] = []
    async with Cluster(**PLAIN) as cluster:
        @cluster.webhook(
            "configmaps", mutating=True, object_selector={"matchLabels": {"want": "yes"}},
            match_conditions=[{"name": "b", "expression": "object.metadata.name == 'b'"}])
        def marks(request: AdmissionRequest) -> None:
            asked.append(request.name)
            request.object["data"]["marked"] = "1"

        made = [await cluster.client.create(MAPS, config_map(name, labels, k="v")) for name, labels in (
            ("b", {"want": "no"}), ("a", {"want": "yes"}))]
        await cluster.client.delete(MAPS, "b", "default")
        made.append(await cluster.client.create(MAPS, config_map("b", {"want": "yes"}, k="v")))
    assert asked == ["b"]
    assert [tree["data"] for tree in made] == [{"k": "v"}, {"k": "v"}, {"k": "v", "marked": "1"}]


async def test_a_webhook_that_was_not_asked_is_not_asked_again() -> None:
    """Given policies of which one wants to be evaluated again, and a function that covers what is
    written but does not select it / when a later policy changes the object / then there is a second
    round, in which the function is not asked either.
    """
    asked: list[str] = []
    async with Cluster(**PLAIN) as cluster:
        for name, again in (("p", "IfNeeded"), ("q", "Never")):
            await cluster.client.create(MUTATING, policy(
                MUTATING, name, reinvocationPolicy=again, mutations=[adding(name)]))
            await cluster.client.create(MUTATING_BINDINGS, binding(MUTATING_BINDINGS, f"b{name}", name))

        @cluster.webhook("configmaps", mutating=True, object_selector={"matchLabels": {"want": "yes"}})
        def marks(request: AdmissionRequest) -> None:
            asked.append(request.name)

        made = await cluster.client.create(MAPS, config_map(k="v"))
    assert (made["data"], asked) == ({"k": "v", "p": "1", "q": "1"}, [])
