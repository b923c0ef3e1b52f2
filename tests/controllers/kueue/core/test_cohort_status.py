"""What a Cohort says of itself."""

import pytest

from fakekube_controllers.kueue.names import COHORTS
from tests.controllers.kueue.core.world import world


@pytest.mark.parametrize("spec", [None, {}, {"parentName": "b"}])
async def test_a_cohort_without_fair_sharing_has_an_empty_status(spec: dict[str, str] | None) -> None:
    """Given no fair sharing, when a Cohort was looked at, then its status is there and empty, is
    Kueue's own, and is not written again.
    """
    async with world() as of:
        await of.create(COHORTS, "a", spec)
        await of.cluster.advance("1s")
        found = await of.get(COHORTS, "a")
        assert found["status"] == {}
        of_status = [entry for entry in found["metadata"].get("managedFields", ()) if entry.get("subresource") == "status"]
        told = [(entry["manager"], entry["fieldsV1"]) for entry in of_status]
        assert told == ([("kueue", {"f:status": {}})] if spec is not None else [])  # nobody owns anything of such a one
        await of.client.patch(COHORTS, "a", body={"metadata": {"labels": {"x": "y"}}})
        await of.cluster.advance("1s")
        again = await of.get(COHORTS, "a")
        assert int(again["metadata"]["resourceVersion"]) == int(found["metadata"]["resourceVersion"]) + 1
