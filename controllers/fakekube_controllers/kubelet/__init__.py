"""A kubelet that runs no containers: it simulates them on the cluster's clock, and writes the
status of pods and nodes.

Read ``kubelet.py`` and ``pod_parts.py`` first, then ``pods/workers.py`` (what happens when a pod
changes), ``pods/run.py`` (a pod as a state machine) and ``outcomes/outcome.py`` (how its containers
end).
``docs/kubelet.md`` is the manual. The packages, each with a docstring of its own:

    node        registration, status, leases and addresses of nodes
    pods        admission, life, status and Events of pods
    containers  one container as a state machine
    outcomes    how a container runs and ends, and who decides it
    server      logs, usage, exec, attach and port-forward
    shell       what a command in a container does by default
    stages      KWOK's Stages, which write status instead where there are any (``staged.py``)

Upstream: pkg/kubelet, and KWOK for the idea. Left out: what is in volumes, devices, values from
ConfigMaps and Secrets, postStart hooks, resizes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fakekube.client.resources import NODES, PODS
from fakekube.runtime.builder import controller
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from fakekube_controllers.kubelet.kubelet import Kubelet as Kubelet
    from fakekube_controllers.kubelet.outcomes.outcome import Outcome as Outcome
    from fakekube_controllers.kubelet.server.process import Connection as Connection
    from fakekube_controllers.kubelet.server.process import Process as Process
    from fakekube_controllers.kubelet.shell.session import Result as Result

_LAZY = {
    "Kubelet": "kubelet", "Outcome": "outcomes.outcome", "Connection": "server.process", "Process": "server.process",
    "Result": "shell.session",
}


def _has_nodes(ctx: Context) -> bool:
    """Whether there are nodes to register."""
    return bool(ctx.options.get("nodes"))


component = (
    controller("kubelet")
    .starts_with(NODES, PODS, is_needed=_has_nodes)
    .runs("fakekube_controllers.kubelet.kubelet:Kubelet")
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
