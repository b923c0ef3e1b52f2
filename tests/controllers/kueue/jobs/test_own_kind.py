"""A kind that a package brings by an entry point lives as the kinds here do."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import FRAMEWORKS, Configuration, Integrations
from fakekube_controllers.kueue.jobframework.integrations import of_packages
from tests.controllers.kueue.jobs.conftest import QUEUE, condition_of
from tests.controllers.kueue.jobs.web import WEB, WEBS, Web
from tests.controllers.world import NAMESPACE, pod_template

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "webs.example.com"},
    "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "webs", "singular": "web", "kind": "Web"},
        "versions": [{
            "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture
def configuration(tmp_path, monkeypatch):
    """The kind is found by its package, and enabled."""
    metadata = tmp_path / "webs-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(
        f"[fakekube.kueue.integrations]\nweb = {WEB.job().__module__}:WEB\n")
    monkeypatch.syspath_prepend(tmp_path)
    of_packages.cache_clear()
    yield Configuration(integrations=Integrations(frameworks=(*FRAMEWORKS, "example.com/web")))
    of_packages.cache_clear()


async def create(jobs):
    """Serve the kind, which nobody did when Kueue started, and create one."""
    await jobs.cluster.client.apply(DEFINITION)
    await jobs.advance(1)
    return await jobs.client.create(WEBS, manifest("w", labels=QUEUE))


def manifest(name="x", **metadata):
    return {"metadata": {"name": name, "namespace": NAMESPACE, **metadata}, "spec": {"replicas": 2, "template": pod_template()}}


async def web(jobs):
    return await jobs.client.get(WEBS, "w", NAMESPACE)


async def test_a_kind_of_ones_own_waits_runs_stops_and_ends(jobs):
    """Given a kind of a package's, served after Kueue has started When one of it is created,
    admitted, evicted, admitted again, and ends Then it does what a Job does."""
    assert (await create(jobs))["spec"]["suspend"] is True
    await jobs.advance(1)
    workload = await jobs.workload()
    assert workload["metadata"]["name"].startswith("web-w-")
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("web", 2)]
    await jobs.admit(workload)
    assert (await web(jobs))["spec"]["template"]["spec"]["nodeSelector"] == {"zone": "a"}
    await jobs.evict(await jobs.workload())
    assert (await web(jobs))["spec"] == {"replicas": 2, "suspend": True, "template": {**pod_template(), "metadata": {}}}
    await jobs.admit(await jobs.workload())
    await jobs.client.patch(WEBS, "w", NAMESPACE, {"status": {"ready": 2}}, subresource="status")
    await jobs.advance(1)
    assert condition_of(await jobs.workload(), "PodsReady")[0] == "True"
    await jobs.client.patch(WEBS, "w", NAMESPACE, {"status": {"ready": 0, "outcome": "bad"}}, subresource="status")
    await jobs.advance(1)
    assert condition_of(await jobs.workload(), "Finished") == ("True", "Failed", "It ended: bad")


async def test_a_kind_of_ones_own_has_the_webhook_of_all(jobs):
    """Given such a kind When one of it says nonsense to Kueue, or is to be elastic Then it is
    refused."""
    await create(jobs)
    with pytest.raises(APIError, match=r'admission webhook "vweb.kb.io" denied the request: .*should be greater than 0'):
        await jobs.client.create(WEBS, manifest(labels={names.MAX_EXEC_TIME_SECONDS_LABEL: "0"}))
    with pytest.raises(APIError, match=r'elastic job is not supported for "example.com/v1, Kind=Web"'):
        await jobs.client.create(WEBS, manifest(annotations={names.ELASTIC_JOB_ANNOTATION: "true"}))
    await jobs.client.patch(WEBS, "w", NAMESPACE, {"spec": {"suspend": False}})
    with pytest.raises(APIError, match=r"metadata.labels\[kueue.x-k8s.io/queue-name\]: .* field is immutable"):
        await jobs.client.patch(WEBS, "w", NAMESPACE, {"metadata": {"labels": {names.QUEUE_LABEL: "r"}}, "spec": {
            "suspend": False}})


class Broken(Web):
    """One whose author has made a mistake."""

    def finished(self):
        raise RuntimeError("a mistake")


async def test_a_kind_that_raises_stops_nobody_else(jobs, monkeypatch, caplog):
    """Given a kind whose integration raises When one of it and a Job are queued Then the mistake is
    told with its place, the Job is admitted, and the one runs when the mistake is mended."""
    monkeypatch.setattr(Web, "finished", Broken.finished)
    await create(jobs)
    await jobs.advance(1)
    told = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert {str(error) for error in told} == {"a mistake"}
    await jobs.create()
    await jobs.advance(1)
    assert [each for each in await jobs.workloads() if each["metadata"]["name"].startswith("job-")]
    monkeypatch.undo()
    await jobs.advance(600)
    assert [each for each in await jobs.workloads() if each["metadata"]["name"].startswith("web-w-")]
