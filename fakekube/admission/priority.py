"""Priority: the name of a priority class becomes a number on pods and pod groups.

Upstream: plugin/pkg/admission/priority.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

GROUP = "scheduling.k8s.io"
GATES = {"podgroups": "GenericWorkload", "compositepodgroups": "CompositePodGroup"}
WORDS = {"podgroups": "pod group", "compositepodgroups": "composite pod group"}


class Priority(Plugin):
    """Resolves priorityClassName; keeps a second default class from coming up."""

    name = "Priority"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Pods, groups of pods and the classes themselves."""
        if subresource:
            return False
        if is_resource(kind, "", "pods") or is_resource(kind, GROUP, "priorityclasses"):
            return operation in ("CREATE", "UPDATE")
        return operation == "CREATE" and is_resource(kind, GROUP, *GATES)

    def admit(self, attrs: Attributes) -> None:
        """Fill in the priority, or keep it on an update that leaves it out."""
        obj, plural = attrs.obj, attrs.kind.plural
        if obj is None or plural == "priorityclasses":
            return
        if plural == "pods" and attrs.operation == "UPDATE":
            _keep(obj, attrs.old or {})
        elif plural == "pods":
            _admit_pod(attrs, obj["spec"])
        elif attrs.ctx.cluster.gate(GATES[plural]):
            _admit_group(attrs, obj.setdefault("spec", {}), WORDS[plural])

    def validate(self, attrs: Attributes) -> None:
        """There is one default class at most."""
        obj = attrs.obj
        if obj is None or attrs.kind.plural != "priorityclasses" or not obj.get("globalDefault"):
            return
        default = default_class(attrs)
        if default is None:
            return
        name = default["metadata"]["name"]
        if attrs.operation == "CREATE" or name != obj["metadata"]["name"]:
            raise forbidden(attrs, f"PriorityClass {name} is already marked as default. Only one default can exist")


def default_class(attrs: Attributes) -> Tree | None:
    """The class of pods that name none: of several, the one with the lowest value."""
    classes = attrs.ctx.cluster.select(GROUP, "priorityclasses", "")
    found = [tree for tree in classes if tree.get("globalDefault")]
    return min(found, key=lambda tree: tree.get("value", 0)) if found else None


def _keep(obj: Tree, old: Tree) -> None:
    spec, old_spec = obj["spec"], old.get("spec") or {}
    fields = ("priority", "preemptionPolicy")
    missing = {name: old_spec[name] for name in fields if name in old_spec and name not in spec}
    if missing:
        obj["spec"] = {**spec, **missing}


def _established(attrs: Attributes, name: str) -> tuple[str, int, str]:
    """The class's name, value and preemption policy.

    Raises Forbidden for a class that is not there.
    """
    if name:
        found = attrs.ctx.cluster.lookup(GROUP, "priorityclasses", "", name)
        if found is None:
            raise forbidden(attrs, f"no PriorityClass with name {name} was found")
    else:
        found = default_class(attrs)
        if found is None:
            return "", 0, "PreemptLowerPriority"
    return found["metadata"]["name"], found.get("value", 0), found.get("preemptionPolicy", "")


def _admit_pod(attrs: Attributes, spec: Tree) -> None:
    name, value, policy = _established(attrs, spec.get("priorityClassName", ""))
    computed = "priority admission controller computed"
    if spec.get("priority", value) != value:
        raise forbidden(attrs, (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"{computed} {value} from the given PriorityClass name"))
    if policy and spec.get("preemptionPolicy", policy) != policy:
        raise forbidden(attrs, (
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
            f"{computed} {policy} from the given PriorityClass name"))
    _set(spec, name, value, policy)


def _admit_group(attrs: Attributes, spec: Tree, words: str) -> None:
    name, value, policy = _established(attrs, spec.get("priorityClassName", ""))
    if spec.get("priority", value) != value:
        raise forbidden(attrs, (
            f"priority set in the {words} ({spec['priority']}) must match the priority computed ({value}) "
            "based on the priority class set in the spec"))
    if not attrs.ctx.cluster.gate("PodGroupPreemptionPolicy"):
        policy = ""
    if policy and spec.get("preemptionPolicy", policy) != policy:
        raise forbidden(attrs, (
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in {words} spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name"))
    _set(spec, name, value, policy)


def _set(spec: Tree, name: str, value: int, policy: str) -> None:
    spec["priority"] = value
    if name:
        spec["priorityClassName"] = name
    if policy:
        spec["preemptionPolicy"] = policy
