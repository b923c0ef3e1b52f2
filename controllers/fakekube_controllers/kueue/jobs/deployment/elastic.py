"""Deployments that change their size as elastic Jobs do: one Workload for all pods of a size.

KEP-77 lists them among what is supported; every release refuses them. Behind ElasticDeployments, a
gate of our own. The template has the gate of elastic jobs from the start, and names a chain of
slices that is the Deployment's for good: what is granted is put into pods when they are let go, for
a template that changes would be rolled out. Left out: topologies, other clusters, and requests that
change.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects, validation
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import Finished, GenericJob
from fakekube_controllers.kueue.jobs import serving
from fakekube_controllers.kueue.podset import PodSetInfo

BY_CHAIN = "kueue-elastic-deployment"
POD_SPEC = "spec.template.spec"


def chain_of(deployment: ReadOnlyTree) -> str:
    """The name of the chain of slices of a Deployment, which its pods carry."""
    return f"{DEPLOYMENTS.kind.lower()}-{meta.name_of(deployment)}"


def is_elastic(deployment: ReadOnlyTree, features: Features) -> bool:
    """Whether a Deployment has slices."""
    return features.ElasticDeployments and objects.is_elastic(deployment, features)


def put_gate(deployment: Tree) -> None:
    """Let the pods of a Deployment, which is the caller's own, wait for its slices."""
    template = deployment["spec"]["template"]
    pods.gate(template, names.ELASTIC_JOB_GATE)
    objects.put_metadata(template, "annotations", names.WORKLOAD_SLICE_NAME_ANNOTATION, chain_of(deployment))
    objects.put_metadata(template, "labels", names.PODSET_LABEL, names.DEFAULT_PODSET_NAME)


def errors_of_update(old: ReadOnlyTree, new: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about a change: its queue and what its pods ask for stay, and whether it has
    slices.
    """
    before, now = is_elastic(old, features), is_elastic(new, features)
    found: list[FieldError] = []
    if before != now:
        found.append(invalid(validation.ELASTIC_JOB, now, validation.IMMUTABLE))
    if not before:
        return found
    if objects.queue_name(old) != objects.queue_name(new):
        found.append(invalid(validation.QUEUE_NAME, objects.queue_name(new), validation.IMMUTABLE))
    one, other = (each["spec"]["template"]["spec"] for each in (old, new))
    return found + serving.shape_errors(POD_SPEC, one, other)


class ElasticDeployment(GenericJob):
    """A Deployment with slices; all others are left alone."""

    resource = DEPLOYMENTS

    def __init__(self, features: Features, obj: Tree | None = None) -> None:
        super().__init__(features, obj)
        self._running: list[Tree] = []

    async def load(self, framework: Framework, key: ObjectKey) -> bool:
        """Read it and its pods from the caches; whether it is going or gone."""
        is_gone = await super().load(framework, key)
        found = framework.ctx.lister(PODS)
        found.add_index(BY_CHAIN, _chain_of_pod)
        sets = framework.ctx.lister(REPLICA_SETS)
        self._running = [
            pod for pod in found.by_index(BY_CHAIN, f"{key.namespace}/{chain_of(self.obj)}")
            if not pods.is_terminated(pod) and not pods.has_gate(pod, names.ELASTIC_JOB_GATE) and self._owns(pod, sets.get)]
        return is_gone

    def _owns(self, pod: ReadOnlyTree, replica_set: Callable[[str, str], Tree | None]) -> bool:
        owner = meta.controller_of(pod)
        above = None if owner is None else replica_set(meta.namespace_of(pod), owner["name"])
        top = None if above is None else meta.controller_of(above)
        return top is not None and top["uid"] == meta.uid_of(self.obj)

    def skip(self) -> bool:
        """Whether it has no slices."""
        return bool(self.spec) and not is_elastic(self.obj, self.features)

    def is_suspended(self) -> bool:
        """Never: its pods wait."""
        return False

    def suspend(self) -> None:
        """See ``stop``."""

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """What its pods get they get one by one."""

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """Its template is what it was."""
        return False

    def finished(self) -> Finished | None:
        """It never ends."""
        return None

    def is_active(self) -> bool:
        """Whether a pod of it has been let go and has not ended."""
        return bool(self._running)

    def pods_ready(self) -> bool:
        """Whether as many are ready as it is to have."""
        return (self.status.get("readyReplicas") or 0) >= self._replicas

    @property
    def _replicas(self) -> int:
        given: int | None = self.spec.get("replicas")
        return 1 if given is None else given

    async def pod_sets(self, _client: Client | None) -> list[Tree]:
        """One, of its replicas."""
        template = deepcopy(self.spec["template"])
        return [{"name": names.DEFAULT_PODSET_NAME, "count": self._replicas, "template": template}]

    async def stop(
        self, framework: Framework, infos: list[PodSetInfo] | None, _reason: str, _message: str,
    ) -> list[Tree]:
        """Delete the pods that run; those that come for them wait."""
        going = [pod for pod in self._running if not meta.is_deleting(pod)]
        for pod in going:
            await framework.client.delete(PODS, meta.name_of(pod), meta.namespace_of(pod), missing_ok=True)
        return [self.obj] if going else []

    def workload_annotations(self) -> dict[str, str]:
        """The chain, which is the Deployment's and no Workload's."""
        return {names.WORKLOAD_SLICE_NAME_ANNOTATION: chain_of(self.obj)}


def _chain_of_pod(pod: ReadOnlyTree) -> Iterable[str]:
    name = meta.annotations_of(pod).get(names.WORKLOAD_SLICE_NAME_ANNOTATION)
    return (f"{meta.namespace_of(pod)}/{name}",) if name else ()


def watch_pods(framework: Framework, queue: WorkQueue[ObjectKey]) -> None:
    """Look at Deployments again when a pod of theirs changes or goes."""
    prefix = f"{DEPLOYMENTS.kind.lower()}-"

    def enqueue(pod: Tree) -> None:
        chain = meta.annotations_of(pod).get(names.WORKLOAD_SLICE_NAME_ANNOTATION, "")
        key = ObjectKey(meta.namespace_of(pod), chain.removeprefix(prefix))
        if chain.startswith(prefix) and framework.jobs.get(*key) is not None:
            queue.add(key)

    framework.ctx.add_handler(PODS, enqueue, lambda _, pod: enqueue(pod), enqueue)
