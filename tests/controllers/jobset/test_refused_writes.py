"""What a JobSet does when the server does not make what belongs to it."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.jobset.children import Children
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.status import StatusUpdate
from fakekube_controllers.jobset.sync import CreationFailed, Sync
from tests.controllers.jobset.conftest import manifest, replicated
from tests.controllers.outages import Outage
from tests.controllers.world import pod_template

NOWHERE = "404 page not found"
CLAIMS = [{"templates": [{"metadata": {"name": name}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}} for name in names]}
    for names in (("a", "b", "z"), ("c",))]

MOUNTS = [{"name": name, "mountPath": f"/{name}"} for name in "abzc"]
CONTAINER = {"name": "main", "image": "busybox", "volumeMounts": MOUNTS}


@pytest.mark.parametrize(("path", "reason"), [
    ("/services", "HeadlessServiceCreationFailed"), ("/persistentvolumeclaims", "PVCCreationFailed")])
async def test_jobs_come_after_what_they_need(world: Any, path: str, reason: str) -> None:
    """Given a server that makes no Services, or no claims / when a JobSet is made / then a warning
    says so, and there are no Jobs until the server makes them.
    """
    outage = Outage(world.cluster, "POST", path)
    await world.create(replicated(template=pod_template(containers=[CONTAINER])), volumeClaimPolicies=CLAIMS)
    assert await world.jobs() == {}
    assert await world.told() == [("Warning", reason, NOWHERE)]
    outage.ends()
    await world.advance(60)
    assert [*await world.jobs()] == ["js-w-0"]


async def test_each_policy_makes_claims_up_to_the_first_that_is_refused() -> None:
    """Given claims of two policies / when the server makes none / then the first of each policy is
    tried, and what was said of each is told and is the error; those that are there are no error.
    """
    tried: list[str] = []
    told: list[tuple[str, ...]] = []

    async def create(_: Any, claim: Any) -> Any:
        name = claim["metadata"]["name"]
        tried.append(name)
        raise APIError(409, "AlreadyExists", name) if name == "a-js" else APIError(403, "Forbidden", f"no {name}")

    recorder: Any = SimpleNamespace(report=lambda _, *words: told.append(words[:2] + words[3:]))
    client: Any = SimpleNamespace(create=create)
    services: Any = SimpleNamespace(get=lambda *_: {})
    of = manifest(replicated(), volumeClaimPolicies=CLAIMS)
    of["metadata"]["uid"] = "js"
    sync = Sync(
        client, recorder, StatusUpdate(of, ""), Children((), (), (), ()), [], features=Features(), services=services,
        pods=list, wrote=lambda *_: None, now=0)
    with pytest.raises(CreationFailed) as refused:
        await sync.run()
    assert str(refused.value) == "no b-js\nno c-js"
    assert tried == ["a-js", "b-js", "c-js"]
    assert told == [("Warning", "PVCCreationFailed", "no b-js"), ("Warning", "PVCCreationFailed", "no c-js")]
