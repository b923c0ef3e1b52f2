"""Where daemon pods may be, and what a pod for a node looks like.

The pod is not put on its node: it requires the node by name and tolerates the taints that daemons
must; the scheduler does the rest. Upstream: pkg/controller/daemon/util/daemonset_util.go,
NodeShouldRunDaemonPod in daemon_controller.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta, placement
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.podcontrol import pod_from_template
from fakekube.runtime.pods import Pod

HASH_LABEL = "controller-revision-hash"
GENERATION_LABEL = "pod-template-generation"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


_TOLERATED = (
    ("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule"), ("unschedulable", "NoSchedule"),
)
_TOLERATED_BY_HOST_NETWORK = (("network-unavailable", "NoSchedule"),)


class Decision(NamedTuple):
    """Whether a daemon pod is to be on a node, and whether one that is there may stay."""

    should_run: bool
    may_stay: bool


def tolerations_of(spec: ReadOnlyTree) -> list[Tree]:
    """The template's tolerations, and those that every daemon pod gets."""
    found: list[Tree] = list(spec.get("tolerations") or ())
    for name, effect in _TOLERATED + (_TOLERATED_BY_HOST_NETWORK if spec.get("hostNetwork") else ()):
        wanted = {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
        same = [index for index, one in enumerate(found) if _is_alike(one, wanted)]
        if same:
            found[same[0]] = wanted
        else:
            found.append(wanted)
    return found


def _is_alike(one: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    return all(one.get(key) == other.get(key) for key in ("key", "operator", "effect")) and not one.get("value")


def node_should_run(owner: ReadOnlyTree, tolerations: Sequence[Tree], node: ReadOnlyTree) -> Decision:
    """Whether a DaemonSet, whose pods have these tolerations, runs a pod on a node."""
    spec, name = owner["spec"]["template"]["spec"], meta.name_of(node)
    if spec.get("nodeName", name) != name or not placement.selects(spec, name, meta.labels_of(node)):
        return Decision(should_run=False, may_stay=False)
    taints = node.get("spec", meta.EMPTY).get("taints") or ()
    if placement.untolerated(taints, tolerations, ("NoSchedule", "NoExecute")) is None:
        return Decision(should_run=True, may_stay=True)
    return Decision(should_run=False, may_stay=placement.untolerated(taints, tolerations, ("NoExecute",)) is None)


def generation_of(owner: ReadOnlyTree) -> str | None:
    """The generation of the template that an annotation keeps; None when it is no number."""
    text = meta.annotations_of(owner).get(TEMPLATE_GENERATION, "")
    return text if text.isascii() and text.isdecimal() else None


def is_updated(owner: ReadOnlyTree, pod: Pod, revision_hash: str) -> bool:
    """Whether a pod was made from the present template."""
    labels, generation = meta.labels_of(pod), generation_of(owner)
    if generation is not None and labels.get(GENERATION_LABEL) == generation:
        return True
    return bool(revision_hash) and labels.get(HASH_LABEL) == revision_hash


def new_pod(owner: ReadOnlyTree, tolerations: Sequence[Tree], node_name: str, revision_hash: str) -> Tree:
    """The pod for a node."""
    pod = pod_from_template(owner["spec"]["template"], owner)
    spec, labels = pod["spec"], pod["metadata"].setdefault("labels", {})
    generation = generation_of(owner)
    if generation is not None:
        labels[GENERATION_LABEL] = generation
    labels[HASH_LABEL] = revision_hash
    spec["tolerations"] = list(tolerations)
    affinity = spec.get("affinity") or {}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node_name]}]}
    node_affinity = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
    }
    spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}
    return pod


def target_of(pod: Pod) -> str | None:
    """The node that a pod is on or made for; None when it says none."""
    name: str = pod["spec"].get("nodeName", "")
    if name:
        return name
    required = placement.node_affinity(pod["spec"]).get("requiredDuringSchedulingIgnoredDuringExecution") or meta.EMPTY
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field["operator"] == "In":
                return str(field["values"][0]) if len(field["values"]) == 1 else None
    return None
