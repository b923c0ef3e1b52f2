"""Jobs that say more of themselves: that they want no quota now, or whether they may run at all."""

from typing import Any

import pytest

from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.workload import reservation
from tests.controllers.kueue.jobs import conftest, test_own_kind
from tests.controllers.kueue.jobs.web import WEBS, Web
from tests.controllers.world import NAMESPACE

configuration = test_own_kind.configuration
create: Any = test_own_kind.create
condition_of: Any = conftest.condition_of


async def tell(jobs: Any, **status: Any) -> None:
    """Write into the status of the job, and let the controllers see it."""
    await jobs.client.patch(WEBS, "w", NAMESPACE, {"status": status}, subresource="status")
    await jobs.advance(1)


async def test_a_job_on_hold_has_no_quota(jobs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a job that says that it is on hold, when it has no Workload, then none is made; when it
    has quota, then that is given back, and its Workload waits until the job wants it.
    """
    monkeypatch.setattr(Web, "is_on_hold", lambda self: bool(self.status.get("held")))
    await create(jobs)
    await tell(jobs, held=True)
    first = await jobs.workloads()
    for each in first:
        await jobs.client.delete(names.WORKLOADS, each["metadata"]["name"], NAMESPACE)
    await jobs.advance(2)
    assert await jobs.workloads() == []
    await tell(jobs, held=False)
    admission = {"clusterQueue": "cq", "podSetAssignments": [{"name": "web", "count": 2}]}
    await jobs.write_status(
        await jobs.workload(), lambda changed: reservation.set_quota_reservation(changed, admission, now=0.0))
    assert condition_of(await jobs.workload(), "QuotaReserved")[0] == "True"
    await tell(jobs, held=True)
    workload = await jobs.workload()
    assert condition_of(workload, "QuotaReserved") == ("False", "OnHold", "Job is on hold")
    assert "admission" not in workload["status"]
    await tell(jobs, held=True, again=1)
    assert (await jobs.workload())["metadata"]["resourceVersion"] == workload["metadata"]["resourceVersion"]


async def test_a_workload_is_as_active_as_its_job_says(jobs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a job that says whether its Workload is active, when it says otherwise, then the
    Workload is so; one that says nothing leaves it as it is.
    """
    monkeypatch.setattr(Web, "is_workload_active", lambda self: self.status.get("active"))
    await create(jobs)
    await jobs.advance(1)
    assert (await jobs.workload())["spec"].get("active", True) is True
    await tell(jobs, active=False)
    assert (await jobs.workload())["spec"]["active"] is False
    await tell(jobs, active=None)
    assert (await jobs.workload())["spec"]["active"] is False
    await tell(jobs, active=True)
    assert (await jobs.workload())["spec"]["active"] is True
