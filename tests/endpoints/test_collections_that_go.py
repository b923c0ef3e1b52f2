"""Deleting a collection: who has a turn between, what admission is told, what is gone already."""

from typing import Any

import pytest

from fakekube.endpoints import delete
from fakekube.registry.attributes import AdmitAll, Attributes
from tests.apiserver.conftest import Api

LEASES = "/apis/coordination.k8s.io/v1/namespaces/t/leases"


async def make(api: Api, count: int) -> None:
    for number in range(count):
        assert (await api("POST", LEASES, {"metadata": {"name": f"l{number:02}"}})).status == 201


@pytest.mark.parametrize(("count", "turns"), [(1, []), (16, []), (17, [16]), (33, [16, 32])])
async def test_others_have_a_turn_after_sixteen_objects(
    api: Api, monkeypatch: pytest.MonkeyPatch, count: int, turns: list[int],
) -> None:
    """Given a collection, when it is deleted, then others have a turn after each sixteen objects,
    as long as there are more.
    """
    await make(api, count)
    left: list[int] = []

    async def turn() -> None:
        left.append(count - len((await api("GET", LEASES)).tree["items"]))

    monkeypatch.setattr(delete, "turn", turn)
    answer = await api("DELETE", LEASES)
    assert (answer.status, len(answer.tree["items"]), left) == (200, count, turns)
    assert (await api("GET", LEASES)).tree["items"] == []


async def test_what_admission_is_told_of_one_of_many(api: Api) -> None:
    """Given a collection, when it is deleted, then admission is asked about each object as one of
    many; what another deletes meanwhile is not in the answer, and a refusal ends it.
    """
    await make(api, 4)
    seen: list[tuple[str, bool, bool]] = []

    class Listening(AdmitAll):
        async def admit(self, attrs: Attributes) -> None:
            seen.append((attrs.name, attrs.ctx.of_collection, attrs.ctx.dry_run))
            if attrs.name == "l00":
                api.server.stores.admission = AdmitAll()
                await api("DELETE", f"{LEASES}/l01")
                api.server.stores.admission = self

    api.server.stores.admission = Listening()
    dry: Any = await api("DELETE", f"{LEASES}?dryRun=All&fieldSelector=metadata.name=l03")
    assert (dry.status, seen) == (200, [("l03", True, True)])
    answer = await api("DELETE", LEASES)
    assert [item["metadata"]["name"] for item in answer.tree["items"]] == ["l00", "l02", "l03"]
    assert seen[1:] == [("l00", True, False), ("l02", True, False), ("l03", True, False)]
    await api("POST", LEASES, {"metadata": {"name": "one"}})
    await api("DELETE", f"{LEASES}/one")
    assert seen[-1] == ("one", False, False)
