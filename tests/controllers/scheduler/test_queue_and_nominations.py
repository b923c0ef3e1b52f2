"""The queue tells the nominator of the pods that come, change and go while they wait."""

from itertools import pairwise
from typing import Any

import pytest

from fakekube.util.clock import ManualClock
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.queue import ProfileQueueing, SchedulingQueue
from tests.controllers.scheduler.contexts import framework, plugin

CPU = {"resources": {"requests": {"cpu": "1"}}}


def pod(nominated: str = "", uid: str = "p", **spec: Any) -> Any:
    return {"metadata": {"name": "p", "uid": uid}, "spec": {"schedulerName": "default-scheduler", "containers": [], **spec},
            "status": {"nominatedNodeName": nominated} if nominated else {}}


@pytest.mark.parametrize(("states", "expected"), [
    ([pod("a")], {"a": 0}), ([pod()], {}), ([pod(), pod("a")], {"a": 0}), ([pod("a"), pod("b")], {"b": 0}),
    ([pod("a"), pod()], {}), ([pod("a"), pod("a", containers=[CPU])], {"a": 1000}),
    ([pod("a"), pod("b", uid="q", containers=[CPU])], {"b": 1000}), ([pod("a"), None], {}),
])
def test_nominations_are_as_the_status_of_a_pod_that_waits(states: list[Any], expected: dict[str, int]) -> None:
    """Given a pod that waits / when its status or its requests change, another takes its name, or
    it goes / then it is nominated as it is now.
    """
    nominator = Nominator()
    queueing = ProfileQueueing.of_framework(framework())
    queue = SchedulingQueue(ManualClock(), plugin(PrioritySort), lambda: None, {"default-scheduler": queueing}, nominator)
    queue.add(states[0])
    for old, new in pairwise(states):
        if new is None:
            queue.remove(old)
        elif new["metadata"]["uid"] != old["metadata"]["uid"]:
            queue.remove(old)
            queue.add(new)
        else:
            queue.update(old, new)
    found = {name: nominator.nominated_pods_for_node(name) for name in nominator.nodes()}
    assert {name: sum(each.requests.get("cpu", 0) for each in pods) for name, pods in found.items()} == expected
    assert all(len(pods) == 1 for pods in found.values())
