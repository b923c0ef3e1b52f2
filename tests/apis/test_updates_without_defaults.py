"""Updates that leave out what a default gave to the object when it was made."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, STATEFUL_SETS
from fakekube.composition.cluster import Cluster

CONTAINERS = [{"name": "c", "image": "i"}]
LABELS = {"app": "a"}


@pytest.mark.parametrize("strategy", [
    {"type": "RollingUpdate"}, {"type": "RollingUpdate", "rollingUpdate": None}, {"type": "OnDelete"}, None])
@pytest.mark.parametrize("version", ["1.37", "1.29"])
async def test_a_stateful_set_without_its_rolling_update(strategy: Any, version: str) -> None:
    """Given a StatefulSet / when an update leaves fields of its strategy out / then it is taken."""
    async with Cluster(nodes=0, controllers="", clock="manual", kubernetes_version=version) as cluster:
        spec: dict[str, Any] = {
            "selector": {"matchLabels": LABELS}, "serviceName": "s",
            "template": {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}}
        made = await cluster.client.create(STATEFUL_SETS, {"metadata": {"name": "s"}, "spec": spec}, "default")
        made = {**made, "spec": {**made["spec"], "updateStrategy": strategy}}
        found = await cluster.client.update(STATEFUL_SETS, made)
        assert found["spec"]["updateStrategy"]["type"] == (strategy or {}).get("type", "RollingUpdate")


@pytest.mark.parametrize("labels", [{}, LABELS, None])
@pytest.mark.parametrize("version", ["1.37", "1.29"])
async def test_a_job_without_the_labels_of_its_pods(labels: Any, version: str) -> None:
    """Given a Job / when an update leaves out the labels that its template was given / then it is
    refused, as one of a field that stays as it is.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", kubernetes_version=version) as cluster:
        template = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
        made = await cluster.client.create(JOBS, {"metadata": {"name": "j"}, "spec": {"template": template}}, "default")
        changed = {**made["spec"]["template"], "metadata": {"labels": labels}}
        with pytest.raises(APIError) as refused:
            await cluster.client.update(JOBS, {**made, "spec": {**made["spec"], "template": changed}})
        assert (refused.value.code, refused.value.reason) == (422, "Invalid")
