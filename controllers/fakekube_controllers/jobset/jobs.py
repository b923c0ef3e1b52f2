"""The Jobs of a JobSet as they are to be.

Upstream: constructJob, labelAndAnnotateObject and addVolumes in
pkg/controllers/{jobset_controller,volume_claim_policy}.go.
"""

from collections.abc import Iterable, Iterator

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.jobset import names, restarts
from fakekube_controllers.jobset.features import Features


def missing_jobs(jobset: Tree, replicated_job: Tree, taken: Iterable[str], features: Features) -> Iterator[Tree]:
    """The Jobs of a replicated job whose names are not taken."""
    held = frozenset(taken)
    for index in range(names.replicas(replicated_job)):
        if names.job_name(meta.name_of(jobset), replicated_job["name"], index) not in held:
            yield job_of(jobset, replicated_job, index, features)


def job_of(jobset: Tree, replicated_job: Tree, index: int, features: Features) -> Tree:
    """One Job, as it is to be created; nothing of it is shared with the JobSet."""
    name = names.job_name(meta.name_of(jobset), replicated_job["name"], index)
    template = replicated_job["template"]
    spec = orjson.loads(orjson.dumps(template.get("spec") or {}))
    job: Tree = {
        "metadata": {
            "name": name, "namespace": meta.namespace_of(jobset), "labels": dict(meta.labels_of(template)),
            "annotations": dict(meta.annotations_of(template)), "ownerReferences": [meta.controller_reference(jobset)]},
        "spec": spec}
    pods: Tree = spec.setdefault("template", {})
    pods["metadata"] = pods.get("metadata") or {}
    pods["spec"] = pod_spec = pods.get("spec") or {}
    labels = labels_of(jobset, replicated_job, index, features)
    annotations = {**labels, **_placement(jobset, template)}
    for metadata in (job["metadata"], pods["metadata"]):
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    if names.has_dns_hostnames(jobset):
        pod_spec["subdomain"] = names.subdomain(jobset)
    chosen = job["metadata"]["annotations"]
    if names.EXCLUSIVE_TOPOLOGY in chosen and names.NODE_SELECTOR_STRATEGY in chosen:
        _confine_to_own_nodes(pod_spec, f"{meta.namespace_of(jobset)}_{name}")
    spec["suspend"] = names.is_suspended(jobset)
    _add_volumes(jobset, pod_spec)
    return job


def labels_of(jobset: Tree, replicated_job: Tree, index: int, features: Features) -> dict[str, str]:
    """The labels of a Job and its pods, which are annotations as well."""
    name, group = replicated_job["name"], replicated_job.get("groupName", "")
    before, all_replicas, group_before, group_replicas = 0, 0, 0, 0
    is_before = True
    for each in names.replicated_jobs(jobset):
        is_before = is_before and each["name"] != name
        number, is_member = names.replicas(each), each.get("groupName", "") == group
        all_replicas += number
        group_replicas += number if is_member else 0
        if is_before:
            before += number
            group_before += number if is_member else 0
    job = names.job_name(meta.name_of(jobset), name, index)
    labels = {
        names.JOBSET_NAME: meta.name_of(jobset), names.JOBSET_UID: meta.uid_of(jobset), names.REPLICATED_JOB_NAME: name,
        names.RESTART_ATTEMPT: str(restarts.of_jobset(jobset)),
        names.REPLICATED_JOB_REPLICAS: str(names.replicas(replicated_job)),
        names.GLOBAL_REPLICAS: str(all_replicas), names.JOB_INDEX: str(index),
        names.JOB_KEY: names.job_key(meta.namespace_of(jobset), job), names.JOB_GLOBAL_INDEX: str(before + index),
        names.GROUP_NAME: group, names.GROUP_REPLICAS: str(group_replicas), names.JOB_GROUP_INDEX: str(group_before + index)}
    if features.RestartJob:
        labels[names.JOB_RESTART_ATTEMPT] = str(restarts.of_jobs(jobset, name)[index])
    if jobset["spec"].get("coordinator"):
        labels[names.COORDINATOR] = names.coordinator_endpoint(jobset)
    return labels


def _placement(jobset: ReadOnlyTree, template: ReadOnlyTree) -> dict[str, str]:
    """What says that a Job has a domain for itself: the JobSet's annotations, then those of the
    Job's template.
    """
    found: dict[str, str] = {}
    for annotations in (meta.annotations_of(jobset), meta.annotations_of(template)):
        if names.EXCLUSIVE_TOPOLOGY in annotations:
            wanted = (names.EXCLUSIVE_TOPOLOGY, names.NODE_SELECTOR_STRATEGY)
            found |= {key: annotations[key] for key in wanted if key in annotations}
    return found


def _confine_to_own_nodes(pod_spec: Tree, job: str) -> None:
    """Let pods run only where somebody has set nodes aside for their Job."""
    pod_spec["nodeSelector"] = {**(pod_spec.get("nodeSelector") or {}), names.NAMESPACED_JOB: job}
    toleration = {"key": names.NO_SCHEDULE, "operator": "Exists", "effect": "NoSchedule"}
    pod_spec["tolerations"] = [*(pod_spec.get("tolerations") or ()), toleration]


def _add_volumes(jobset: ReadOnlyTree, pod_spec: Tree) -> None:
    """Give pods the JobSet's claims that they mount."""
    containers = [*(pod_spec.get("containers") or ()), *(pod_spec.get("initContainers") or ())]
    mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts") or ()}
    for policy in jobset["spec"].get("volumeClaimPolicies") or ():
        for template in policy.get("templates") or ():
            name = meta.name_of(template)
            if name in mounted:
                claim = {"claimName": names.claim_name(meta.name_of(jobset), name)}
                pod_spec["volumes"] = [*(pod_spec.get("volumes") or ()), {"name": name, "persistentVolumeClaim": claim}]
