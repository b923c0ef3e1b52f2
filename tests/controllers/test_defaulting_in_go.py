"""What the mutating webhooks of JobSet and LeaderWorkerSet make of an object, with the answers of
upstream's managers (0.12.0 and 0.9.0) beside a kube-apiserver 1.37.1.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import Resource

SETS = Resource("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet")
JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
LWS = 'admission webhook "mleaderworkerset.kb.io" denied the request: '
JOBSET = 'admission webhook "mjobset.kb.io" denied the request: '
CANNOT = "json: cannot unmarshal"
PODS_OF_SET, PODS_OF_JOBS = "spec.leaderWorkerTemplate.workerTemplate.spec", "spec.replicatedJobs[0].template.spec.template.spec"


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount,jobset,lws", clock="manual") as cluster:
        yield cluster


def workers(cpu: Any, **container: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", "resources": {"limits": {"cpu": cpu}}, **container}, {"name": "d", "image": "i"}]
    return {"spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {"containers": containers}}}}}


async def test_what_lacks_nothing_stays_as_it_was_written(cluster: Cluster) -> None:
    """Given a LeaderWorkerSet, which got its defaults, when it is changed, then amounts and empty
    fields stay as the patch has them, and what Go would fill in is asked for.
    """
    made = await cluster.client.create(SETS, {"metadata": {"name": "x", "namespace": "default"}, **workers(80)})
    template = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    assert template["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "80"}}
    assert (template["metadata"], template["spec"]["containers"][1]["resources"]) == ({}, {})
    changed = await cluster.client.patch(SETS, "x", "default", workers(90))
    first, second = changed["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    assert (first["resources"], "resources" in second) == ({"limits": {"cpu": 90}}, False)
    hook = {"lifecycle": {"postStart": {"httpGet": {"path": "/"}}}}
    with pytest.raises(APIError) as refused:
        await cluster.client.patch(SETS, "x", "default", workers(90, **hook))
    assert refused.value.message == (
        f'LeaderWorkerSet.leaderworkerset.x-k8s.io "x" is invalid: {PODS_OF_SET}.containers[0].lifecycle.postStart.httpGet.port: '
        "Required value")


@pytest.mark.parametrize(("kind", "spec", "told"), [
    (SETS, {"leaderWorkerTemplate": {"workerTemplate": {}}},
     (f'LeaderWorkerSet.leaderworkerset.x-k8s.io "x" is invalid: {PODS_OF_SET}.containers: Invalid value: "null": '
     f'{PODS_OF_SET}.containers in body must be of type array: "null"')),
    (SETS, {"leaderWorkerTemplate": {"size": "", "workerTemplate": {}}},
     f"{LWS}{CANNOT} string into Go struct field LeaderWorkerTemplate.spec.leaderWorkerTemplate.size of type int32"),
    (SETS, {"leaderWorkerTemplate": {"workerTemplate": {"metadata": "x"}}},
     (f"{LWS}{CANNOT} string into Go struct field PodTemplateSpec.spec.leaderWorkerTemplate.workerTemplate.metadata "
     "of type v1.ObjectMeta")),
    (SETS, {"leaderWorkerTemplate": 5},
     (f"{LWS}{CANNOT} number into Go struct field LeaderWorkerSetSpec.spec.leaderWorkerTemplate of type "
     "v1.LeaderWorkerTemplate")),
    (JOBSETS, {"replicatedJobs": [{"name": "a", "template": {"spec": {"backoffLimit": 0}}}]},
     (f'JobSet.jobset.x-k8s.io "x" is invalid: [{PODS_OF_JOBS}.containers: Invalid value: "null": '
     f'{PODS_OF_JOBS}.containers in body must be of type array: "null", <nil>: Invalid value: null: some validation rules were '
     "not checked because the object was invalid; correct the existing errors to complete validation]")),
    (JOBSETS, {"replicatedJobs": [{"name": "a", "template": -1}]},
     (f"{JOBSET}{CANNOT} number into Go struct field ReplicatedJob.spec.replicatedJobs.template of type "
     "v1.JobTemplateSpec")),
    (JOBSETS, "x", f"{JOBSET}{CANNOT} string into Go struct field JobSet.spec of type v1alpha2.JobSetSpec"),
])
async def test_what_go_cannot_read_and_what_it_writes(cluster: Cluster, kind: Resource, spec: Any, told: str) -> None:
    """Given a new object with values of a wrong type, or without lists that are needed, when it is
    written, then it is refused in the words of upstream: lists that nobody gave are null.
    """
    with pytest.raises(APIError) as refused:
        await cluster.client.create(kind, {"metadata": {"name": "x", "namespace": "default"}, "spec": spec})
    assert refused.value.message == told
