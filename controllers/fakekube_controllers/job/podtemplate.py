"""The pods that a Job makes. Upstream: job_controller.go (manageJob), indexed_job_utils.go."""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import meta as objectmeta
from fakekube.apimachinery.types import Tree
from fakekube_controllers.job import indexes, pods
from fakekube_controllers.job.syncstate import SyncState

GENERATED_NAME_BASE = 58
INDEX_ENV = "JOB_COMPLETION_INDEX"


def pod_for(state: SyncState, index: int | None) -> Tree:
    """A new pod; ``index`` is given for indexed Jobs."""
    job = state.job
    template, name = job["spec"]["template"], job["metadata"]["name"]
    template_meta = template.get("metadata") or {}
    meta: Tree = {"generateName": f"{name}-", "namespace": job["metadata"]["namespace"]}
    for key in ("labels", "annotations"):
        if template_meta.get(key):
            meta[key] = dict(template_meta[key])
    meta["finalizers"] = [*(template_meta.get("finalizers") or ()), pods.TRACKING_FINALIZER]
    meta["ownerReferences"] = [objectmeta.controller_reference(job)]
    spec = dict(template["spec"])
    if state.pod_group:
        spec["schedulingGroup"] = {"podGroupName": state.pod_group}
    if index is not None:
        _give_index(state, meta, spec, index)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _give_index(state: SyncState, meta: Tree, spec: Tree, index: int) -> None:
    name = state.job["metadata"]["name"]
    suffix = f"-{index}-"
    meta["generateName"] = name[: GENERATED_NAME_BASE - len(suffix)] + suffix
    annotations = meta.setdefault("annotations", {})
    annotations[indexes.INDEX] = str(index)
    if state.per_index:
        annotations.update(_failure_counts(state, index))
    meta.setdefault("labels", {})[indexes.INDEX] = str(index)
    spec["hostname"] = f"{name}-{index}"
    for key in ("initContainers", "containers"):
        if spec.get(key):
            spec[key] = [_with_index_env(container) for container in spec[key]]


def _failure_counts(state: SyncState, index: int) -> dict[str, str]:
    last = state.delayed_by_index.get(index)
    if last is None:
        return {indexes.FAILURE_COUNT: "0"}
    counted = state.verdict(last).counts
    failures = indexes.count_of(last, indexes.FAILURE_COUNT) + counted
    ignored = indexes.count_of(last, indexes.IGNORED_FAILURE_COUNT) + (not counted)
    result = {indexes.FAILURE_COUNT: str(failures)}
    return result | ({indexes.IGNORED_FAILURE_COUNT: str(ignored)} if ignored else {})


def _with_index_env(container: Mapping[str, Any]) -> Tree:
    env = list(container.get("env") or ())
    if any(entry["name"] == INDEX_ENV for entry in env):
        return dict(container)
    path = f"metadata.labels['{indexes.INDEX}']"
    env.append({"name": INDEX_ENV, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}})
    return {**container, "env": env}
