"""What a check wants pods to get is put into the template of the job that starts."""

import pytest

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.admissionchecks.deciding import Decision, admission_check
from fakekube_controllers.kueue.names import QUEUE_LABEL, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World

TOLERATION = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
UPDATE = {
    "name": "main", "labels": {"team": "a"}, "annotations": {"note": "b"}, "nodeSelector": {"pool": "c"},
    "tolerations": [TOLERATION]}


async def started(of: World, **template: Tree) -> tuple[Tree, Tree]:
    """A Job whose template says this, and its Workload, after the check was Ready."""
    pod = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}], "restartPolicy": "Never"}
    spec = {"template": {"metadata": template.pop("metadata", {}), "spec": {**pod, **template}}}
    await of.create(JOBS, "j", spec, labels={QUEUE_LABEL: "q"})
    await of.cluster.advance("2s")
    [workload] = (await of.client.list(WORKLOADS, NAMESPACE)).items
    return await of.get(JOBS, "j"), workload


@pytest.mark.spec("KUEUE-082")
@pytest.mark.parametrize("conflicts", [False, True])
async def test_pods_get_what_a_check_says(conflicts: bool) -> None:
    """Given a check that is Ready with labels, annotations, a node selector and a toleration, then
    the job starts with them; where its template says otherwise, then the Workload has failed to
    start.
    """
    check = admission_check("c", decide=lambda _: Decision("Ready", "", [UPDATE]))
    async with Cluster(nodes=0, controllers="job", clock="manual", extra=[addon(), check]) as cluster:
        of = World(cluster)
        await of.queues(admissionChecksStrategy={"admissionChecks": [{"name": "c"}]})
        job, workload = await started(of, **({"nodeSelector": {"pool": "mine"}} if conflicts else {}))
        if conflicts:
            assert job["spec"]["suspend"] is True
            [finished] = [each for each in workload["status"]["conditions"] if each["type"] == "Finished"]
            assert finished["reason"] == "FailedToStart"
            return
        template = job["spec"]["template"]
        assert job["spec"]["suspend"] is False
        assert (template["metadata"]["labels"]["team"], template["metadata"]["annotations"]["note"]) == ("a", "b")
        assert (template["spec"]["nodeSelector"], template["spec"]["tolerations"]) == ({"pool": "c"}, [TOLERATION])
