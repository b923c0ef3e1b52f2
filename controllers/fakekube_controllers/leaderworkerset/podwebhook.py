"""What pods of a LeaderWorkerSet get: labels that number them, terms that keep groups apart, and
variables by which they find each other.

Upstream: pkg/webhooks/pod_webhook.go, pkg/utils/pod.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.types import Tree
from fakekube_controllers.leaderworkerset import names, tpu
from fakekube_controllers.leaderworkerset.features import Features

SERVER_ERROR = 500
ADDRESS, SIZE, INDEX = "LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def default(request: AdmissionRequest, *, features: Features) -> None:
    """Complete a new pod of a group. Raises Denied for one that cannot be told its place."""
    if names.NAME not in meta.labels_of(request.shown or meta.EMPTY):
        return
    pod: Tree = request.object
    try:
        size = _size(pod)
        if names.is_leader(pod):
            _complete_leader(pod, request.namespace)
        else:
            _complete_worker(pod, size)
        if features.WorkloadAwareScheduling:
            from fakekube_controllers.leaderworkerset import scheduling

            scheduling.adopt(pod)
        tpu.add_variables(pod, size)
        _add_variables(pod, request.namespace)
    except ValueError as error:
        raise Denied(str(error), code=SERVER_ERROR) from error


def validate(request: AdmissionRequest) -> None:
    """Every pod is accepted, as upstream does."""


def _size(pod: Tree) -> int:
    text = meta.annotations_of(pod).get(names.SIZE)
    if text is None:
        raise ValueError(f"size annotation is unexpectedly missing for pod {meta.name_of(pod)}")
    return names.number(text)


def _ordinal(pod: Tree) -> int:
    ordinal = names.parent_and_ordinal(meta.name_of(pod))[1]
    if ordinal == -1:
        raise ValueError(f"parsing pod ordinal for pod {meta.name_of(pod)}")
    return ordinal


def _complete_leader(pod: Tree, namespace: str) -> None:
    labels, annotations, name = pod["metadata"]["labels"], meta.annotations_of(pod), meta.name_of(pod)
    if names.GROUP_INDEX not in labels:
        labels[names.GROUP_INDEX] = str(_ordinal(pod))
    if annotations.get(names.SUBDOMAIN_POLICY) == names.UNIQUE_PER_REPLICA:
        pod["spec"]["subdomain"] = name
    key = labels.setdefault(names.GROUP_KEY, names.key_of(namespace, name))
    if names.EXCLUSIVE_TOPOLOGY in annotations:
        _keep_apart(pod, names.GROUP_KEY, key, annotations[names.EXCLUSIVE_TOPOLOGY])
    is_excluded = annotations.get(names.SUBGROUP_POLICY_TYPE) == names.LEADER_EXCLUDED
    if names.SUBGROUP_SIZE in annotations and not labels.get(names.SUBGROUP_INDEX) and not is_excluded:
        _put_into_subgroup(pod, name, "0")


def _complete_worker(pod: Tree, size: int) -> None:
    labels, annotations, index = pod["metadata"]["labels"], meta.annotations_of(pod), _ordinal(pod)
    labels[names.WORKER_INDEX] = str(index)
    text = annotations.get(names.SUBGROUP_SIZE)
    if text is None or labels.get(names.SUBGROUP_INDEX):
        return
    of_subgroup = names.number(text)
    is_extra = names.divided(size - 1, of_subgroup)[1] == 0  # the leader is one more in the first subgroup
    subgroup = names.divided(index - 1 if is_extra else index, of_subgroup)[0]
    _put_into_subgroup(pod, annotations.get(names.LEADER_NAME, ""), str(subgroup))


def _put_into_subgroup(pod: Tree, leader: str, index: str) -> None:
    labels, topology = pod["metadata"]["labels"], meta.annotations_of(pod).get(names.SUBGROUP_EXCLUSIVE_TOPOLOGY)
    labels[names.SUBGROUP_INDEX] = index
    labels[names.SUBGROUP_KEY] = key = names.key_of(leader, index)
    if topology is not None:
        _keep_apart(pod, names.SUBGROUP_KEY, key, topology)


def _keep_apart(pod: Tree, label: str, key: str, topology: str) -> None:
    """Let the pods of one key have a domain for themselves, unless the pod has such terms."""
    affinity = pod["spec"]["affinity"] = pod["spec"].get("affinity") or {}
    together = {"key": label, "operator": "In", "values": [key]}
    apart = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [key]}]
    kinds = {"podAffinity": [together], "podAntiAffinity": apart}
    present = [[term.get("topologyKey") for term in (affinity.get(kind) or meta.EMPTY).get(REQUIRED) or ()] for kind in kinds]
    if all(topology in keys for keys in present):
        return
    for kind, expressions in kinds.items():
        terms = affinity[kind] = affinity.get(kind) or {}
        term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology}
        terms[REQUIRED] = [*(terms.get(REQUIRED) or ()), term]


def _add_variables(pod: Tree, namespace: str) -> None:
    """Tell every container where the leader is, how large its group is, and which one it is."""
    labels, spec = pod["metadata"]["labels"], pod["spec"]
    if names.GROUP_INDEX not in labels:
        raise ValueError(
            f"Failure constructing environment variables, no group index label found for pod {namespace}/{meta.name_of(pod)}")
    leader = f"{labels[names.NAME]}-{labels[names.GROUP_INDEX]}.{spec.get('subdomain', '')}.{namespace}"
    told = {ADDRESS: leader, SIZE: meta.annotations_of(pod)[names.SIZE], INDEX: labels[names.WORKER_INDEX]}
    first = [{"name": name, "value": value} for name, value in told.items()]
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        kept: dict[str, Tree] = {}  # of two with one name the first
        for env in [*first, *(container.get("env") or ())]:
            kept.setdefault(env["name"], env)
        container["env"] = [dict(env) for env in kept.values()]
