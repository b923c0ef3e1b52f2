"""The StatefulSets of a LeaderWorkerSet, and its Services.

One StatefulSet has all leaders, and each leader has one for its workers. Upstream:
construct…StatefulSetApplyConfiguration in pkg/controllers, pkg/utils/controller.
"""

import orjson

from fakekube.apimachinery import intstr, meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.leaderworkerset import names, tpu


def rolling_update(lws: ReadOnlyTree) -> Tree:
    """``spec.rolloutStrategy.rollingUpdateConfiguration``."""
    found: Tree = (lws["spec"].get("rolloutStrategy") or meta.EMPTY).get("rollingUpdateConfiguration") or {}
    return found


def max_unavailable(lws: ReadOnlyTree) -> int:
    """How many groups may be unavailable. ValueError for what is no number and no share."""
    return intstr.scaled(rolling_update(lws).get("maxUnavailable", 1), names.replicas_of(lws), round_up=False)


def max_surge(lws: ReadOnlyTree) -> int:
    """How many groups there may be beyond those wanted, as many at most. ValueError likewise."""
    wanted = names.replicas_of(lws)
    return min(intstr.scaled(rolling_update(lws).get("maxSurge", 0), wanted, round_up=True), wanted)


def leaders(lws: ReadOnlyTree, partition: int, replicas: int, revision_key: str) -> Tree:
    """The StatefulSet of all leaders, to be applied."""
    name, template = meta.name_of(lws), _copy(names.leader_template(lws))
    selected = {names.NAME: name, names.WORKER_INDEX: "0"}
    _add(template, "labels", {**selected, names.REVISION: revision_key})
    annotations = {names.SIZE: str(names.size_of(lws)), **_given(lws, names.EXCLUSIVE_TOPOLOGY)}
    subgroups = names.template_of(lws).get("subGroupPolicy")
    if subgroups is not None:
        annotations |= {
            names.SUBGROUP_POLICY_TYPE: subgroups.get("subGroupPolicyType", "LeaderWorker"),
            names.SUBGROUP_SIZE: str(subgroups.get("subGroupSize", 0)), **_given(lws, names.SUBGROUP_EXCLUSIVE_TOPOLOGY)}
    if names.subdomain_policy(lws) == names.UNIQUE_PER_REPLICA:
        annotations[names.SUBDOMAIN_POLICY] = names.UNIQUE_PER_REPLICA
    _add(template, "annotations", annotations)
    moving = {"maxUnavailable": max(max_unavailable(lws) + max_surge(lws), 1), "partition": partition}
    strategy = (lws["spec"].get("rolloutStrategy") or meta.EMPTY).get("type", "RollingUpdate")
    return {
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {
            "name": name, "namespace": meta.namespace_of(lws), "labels": {names.NAME: name, names.REVISION: revision_key},
            "annotations": {names.REPLICAS: str(names.replicas_of(lws))}, "ownerReferences": [meta.controller_reference(lws)]},
        "spec": {
            "serviceName": name, "replicas": replicas, "podManagementPolicy": "Parallel", "template": template,
            "updateStrategy": {"type": strategy, "rollingUpdate": moving}, "selector": {"matchLabels": selected},
            **_claims(lws)}}


def workers(lws: ReadOnlyTree, then: ReadOnlyTree, leader: ReadOnlyTree, selector: dict[str, str]) -> Tree:
    """The StatefulSet of a leader's workers, to be created.

    ``then`` is the LeaderWorkerSet as it was when the leader was made. ``selector`` is for their
    nodes.
    """
    name, labels, template = meta.name_of(leader), meta.labels_of(leader), _copy(names.template_of(then)["workerTemplate"])
    selected = {
        names.GROUP_INDEX: labels.get(names.GROUP_INDEX, ""), names.NAME: meta.name_of(lws),
        names.GROUP_KEY: labels.get(names.GROUP_KEY, "")}
    own = {**selected, names.REVISION: names.revision_key(leader)}
    _add(template, "labels", own)
    annotations = {
        names.SIZE: str(names.size_of(lws)), names.LEADER_NAME: name, **_given(lws, names.EXCLUSIVE_TOPOLOGY)}
    subgroups = names.template_of(lws).get("subGroupPolicy")
    if subgroups is not None:
        annotations |= {
            names.SUBGROUP_SIZE: str(subgroups.get("subGroupSize", 0)), **_given(lws, names.SUBGROUP_EXCLUSIVE_TOPOLOGY)}
    _add(template, "annotations", {**annotations, **tpu.annotations_of(leader)})
    if selector:
        template["spec"]["nodeSelector"] = {**(template["spec"].get("nodeSelector") or {}), **selector}
    shares = names.subdomain_policy(lws) == names.SHARED
    return {
        "metadata": {
            "name": name, "namespace": meta.namespace_of(lws), "labels": own,
            "ownerReferences": [meta.controller_reference(leader)]},
        "spec": {
            "serviceName": meta.name_of(lws) if shares else name, "replicas": names.size_of(lws) - 1,
            "podManagementPolicy": "Parallel", "template": template, "ordinals": {"start": 1},
            "selector": {"matchLabels": selected}, **_claims(lws)}}


def service(lws: ReadOnlyTree, name: str, selector: dict[str, str], owner: ReadOnlyTree) -> Tree:
    """A headless Service, to be created."""
    return {
        "metadata": {
            "name": name, "namespace": meta.namespace_of(lws), "labels": {names.NAME: meta.name_of(lws)},
            "ownerReferences": [meta.controller_reference(owner)]},
        "spec": {"clusterIP": "None", "selector": selector, "publishNotReadyAddresses": True}}


def _copy(tree: ReadOnlyTree) -> Tree:
    copied: Tree = orjson.loads(orjson.dumps(tree))
    return copied


def _add(template: Tree, field: str, values: dict[str, str]) -> None:
    metadata = template.setdefault("metadata", {})
    metadata[field] = {**(metadata.get(field) or {}), **values}


def _given(lws: ReadOnlyTree, annotation: str) -> dict[str, str]:
    """An annotation of the LeaderWorkerSet that its pods have, too."""
    value = meta.annotations_of(lws).get(annotation)
    return {annotation: value} if value else {}


def _claims(lws: ReadOnlyTree) -> Tree:
    template, found = names.template_of(lws), Tree()
    if claims := template.get("volumeClaimTemplates"):
        found["volumeClaimTemplates"] = [_claim(each, meta.namespace_of(lws)) for each in claims]
    if policy := template.get("persistentVolumeClaimRetentionPolicy"):
        found["persistentVolumeClaimRetentionPolicy"] = {
            field: policy[field] for field in ("whenDeleted", "whenScaled") if policy.get(field)}
    return found


def _claim(template: ReadOnlyTree, namespace: str) -> Tree:
    """The part of a claim's template that upstream takes over."""
    spec = template.get("spec") or meta.EMPTY
    wanted = ("accessModes", "storageClassName", "volumeMode")
    kept: Tree = {field: spec[field] for field in wanted if spec.get(field) is not None}
    resources = {
        field: amounts for field, amounts in (spec.get("resources") or meta.EMPTY).items()
        if field in ("requests", "limits") and amounts}
    if resources:
        kept["resources"] = resources
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": meta.name_of(template), "namespace": namespace}, "spec": kept}
