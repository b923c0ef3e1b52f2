"""A Workload that a JobSet finds, and that lacks templates of some of its replicated jobs."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.jobset.scheduling import WORKLOADS, SchedulingObjects, item_of
from tests.controllers.jobset.conftest import manifest, replicated


@pytest.mark.parametrize("left_out", [[], ["b"], ["a", "b"]])
async def test_groups_are_made_of_the_templates_that_there_are(left_out: list[str]) -> None:
    """Given a JobSet whose Workload is there, with templates of some replicated jobs / then it gets
    groups for these, and none for the others.
    """
    made: list[Any] = []
    found: dict[str, Any] = {}

    async def create(resource: Any, body: Any) -> Any:
        made.append((resource.kind, body["metadata"]["name"]))
        if resource == WORKLOADS:
            found[body["metadata"]["name"]] = body
        return body

    of = manifest(replicated("a"), replicated("b"), scheduling={"schedulingPolicy": {"basic": {}}})
    of["metadata"]["uid"] = "js"
    client: Any = SimpleNamespace(create=create)

    def lister(resource: Any) -> Any:
        return SimpleNamespace(get=lambda _, name: found.get(name) if resource == WORKLOADS else None)

    objects = SchedulingObjects(client, lister, lambda *_: None, delegates=False)
    assert item_of(of) is not None
    await objects.ensure(of)
    [workload] = found.values()
    [root] = workload["spec"]["compositePodGroupTemplates"]
    root["compositePodGroupTemplates"] = [
        each for each in root["compositePodGroupTemplates"] if not any(f"-{name}" in each["name"] for name in left_out)]
    made.clear()
    await objects.ensure(of)
    assert [name for kind, name in made if kind == "PodGroup"] == [
        f"js-{name}-0" for name in ("a", "b") if name not in left_out]
    assert len([name for kind, name in made if kind == "CompositePodGroup"]) == 3 - len(left_out)
