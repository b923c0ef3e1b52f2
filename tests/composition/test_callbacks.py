"""What a cluster is told in Python: the plugins of its scheduler, by a function or by its name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube.testing import assert_event
from fakekube_controllers.scheduler.framework.status import unresolvable

POD = {"metadata": {"name": "p", "namespace": "default"},
       "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}


class NoNode:
    """A filter that no node passes."""

    name = "NoNode"

    def __init__(self, args: Any, handle: Any) -> None:
        assert handle.client is not None

    def filter(self, state: Any, pod: Any, node: Any) -> Any:
        return unresolvable("node(s) were not asked for")


def plugins(ctx: Context) -> Sequence[Any]:
    return [NoNode]


MODULE = """
from fakekube_controllers.scheduler.framework.status import unresolvable

class NoNode:
    name = "NoNode"
    def __init__(self, args, handle):
        assert handle.client is not None
    def filter(self, state, pod, node):
        return unresolvable("node(s) were not asked for")

def plugins(ctx):
    return [NoNode]
"""


@pytest.mark.parametrize("given", [plugins, "plugins_by_name:plugins"])
async def test_the_scheduler_runs_the_plugins_that_it_is_given(
    given: Callable[..., Any] | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a function that adds a plugin, or its name, when a pod comes, then that plugin decides;
    without it the pod is scheduled.
    """
    (tmp_path / "plugins_by_name.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    async with Cluster(clock="manual", scheduler_plugins=given) as cluster:
        await cluster.client.create(PODS, POD)
        await cluster.settle()
        assert_event(cluster, about="p", reason="FailedScheduling", message="1 node.s. were not asked for")
    async with Cluster(clock="manual") as cluster:
        await cluster.client.create(PODS, POD)
        await cluster.settle()
        assert (await cluster.client.get(PODS, "p", "default"))["spec"]["nodeName"] == "node-0"
