"""What the Workload of pods is composed of. Upstream: constructPodSet and
constructWorkload in pkg/controller/jobs/pod/pod_controller.go.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import ComposableJob, UnretryableError
from fakekube_controllers.kueue.jobs.pod import groups
from fakekube_controllers.kueue.jobs.pod.groups import CannotCompose
from fakekube_controllers.kueue.topology import requests


def pod_set_of(pod: ReadOnlyTree, features: Features) -> Tree:
    """The pod set of a single pod. Raises TopologyRequestError."""
    spec = deepcopy(pod["spec"])
    made: Tree = {"name": names.DEFAULT_PODSET_NAME, "count": 1, "template": {"metadata": {}, "spec": spec}}
    if features.TopologyAwareScheduling:
        request = requests.topology_request(
            pod["metadata"], features, pod_index_label=names.POD_GROUP_POD_INDEX_LABEL)
        if request is not None:
            made["topologyRequest"] = request
    return made


def copied(
    pods: Iterable[ReadOnlyTree], values_of: Callable[[ReadOnlyTree], Any], keys: Iterable[str], kind: str,
) -> dict[str, str]:
    """What the pods have under some keys, which must be the same. Raises CannotCompose."""
    found: dict[str, str] = {}
    for pod in pods:
        for key in keys:
            value = values_of(pod).get(key)
            if value is not None and found.setdefault(key, value) != value:
                raise CannotCompose(f"constructing workload: pods have different {kind} values", is_retried=True)
    return found


def checked_count(framework: Framework, job: ComposableJob, active: Sequence[Tree]) -> int:
    """How many pods a group is of, some of which are active. UnretryableError, after an Event, for
    one that is not whole; CannotCompose for what may change.
    """
    try:
        return groups.check(job.members(), active, job.features)
    except groups.TooFewPods as error:
        framework.event(job.obj, "Warning", "ErrWorkloadCompose", str(error))
        raise UnretryableError(str(error)) from error
    except CannotCompose as error:
        if error.is_retried:
            raise
        raise UnretryableError(str(error)) from error
