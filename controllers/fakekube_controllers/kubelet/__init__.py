"""A kubelet that runs nothing: it decides how pods fare, on the cluster's clock, and says so in their status.

Read ``kubelet.py`` first, then ``podrun.py`` (a pod's life as a chain of instants) and ``outcomes.py`` (who decides how it ends);
``podruns.py`` keeps the runs of all pods, of those that have ended as data;
``nodeagent.py`` speaks for the nodes, ``streams.py`` answers exec, attach, port-forward and logs that are followed, ``stages``
lets KWOK's Stages decide instead. ``docs/kubelet.md`` is the manual.
Upstream: pkg/kubelet, and KWOK for the idea. Left out: volumes, devices, references to ConfigMaps and Secrets, postStart hooks,
resizes.
"""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fakekube.client.resources import NODES, PODS
from fakekube.runtime.lazy import LazyController

if TYPE_CHECKING:
    from fakekube_controllers.kubelet.kubelet import Kubelet as Kubelet
    from fakekube_controllers.kubelet.outcomes import Outcome as Outcome
    from fakekube_controllers.kubelet.process import Connection as Connection
    from fakekube_controllers.kubelet.process import Process as Process
    from fakekube_controllers.kubelet.process import Result as Result

_LAZY = {"Kubelet": "kubelet", "Outcome": "outcomes", "Connection": "process", "Process": "process", "Result": "process"}


def _has_nodes(options: Mapping[str, Any]) -> bool:
    """Whether there are nodes to register."""
    return bool(options.get("nodes"))


component = partial(
    LazyController, "kubelet", "fakekube_controllers.kubelet.kubelet:Kubelet", NODES, PODS, user_agent="kubelet",
    is_needed=_has_nodes)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
