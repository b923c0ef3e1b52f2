"""Whole answers, word for word, where nothing is proposed that would help."""

from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.scheduler.why.applying import POD_GROUPS, PRIORITY_CLASSES, cluster, create, create_node, gang, pod

UNEQUAL = "all pods in a single pod group should have the same priority as the pod group's priority, got 5 and 0"
TRIED = f"""podgroup/default/g was tried once, and is tried again at 2026-01-01T00:00:02Z
  Scheduler: {UNEQUAL}
  attempt 1 at 2026-01-01T00:00:00Z: {UNEQUAL}"""


async def said(running: Cluster, about: str) -> str:
    return str(await running.why(about))


async def test_a_group_whose_pods_do_not_agree_lacks_nothing_that_would_help() -> None:
    """Given a gang with a pod of another priority / then the answer says so, and neither says of a
    node that it would do nor proposes anything; so does that of a pod.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        await create(running.client, PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 5})
        await create(running.client, POD_GROUPS, gang("g", 2))
        await create(running.client, PODS, pod("p0", "g"), pod("p1", "g", priorityClassName="high"))
        await running.settle()
        assert await said(running, "podgroup/g") == TRIED
        inner = "\n".join(f"  {line}" for line in TRIED.splitlines())
        head = f"pod/default/p0 waits with its group g\n  attempt 1 at 2026-01-01T00:00:00Z: {UNEQUAL}"
        assert await said(running, "pod/p0") == f"{head}\n{inner}"


async def test_what_becomes_of_a_pod_is_said() -> None:
    """Given pods of another scheduler, on a node, of a group that is missing / then each answer is
    this / when one has finished, then that is said, on its node as it is.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        await create(running.client, PODS, pod("other", schedulerName="mine"), pod("placed"), pod("member", "gone"))
        await running.settle()
        assert [await said(running, f"pod/{name}") for name in ("other", "placed", "member")] == [
            'pod/default/other waits for a scheduler named "mine"; here runs: default-scheduler',
            "pod/default/placed is on node n1",
            ("pod/default/member waits with its group gone\n  it would go on with: a PodGroup named gone\n"
             "  podgroup/default/gone is not there\n    it would go on with: a PodGroup named gone")]
        await running.client.patch(PODS, "placed", "default", {"status": {"phase": "Succeeded"}}, subresource="status")
        assert await said(running, "pod/placed") == "pod/default/placed has finished"
