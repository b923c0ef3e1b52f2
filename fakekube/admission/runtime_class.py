"""RuntimeClass: a pod that names a runtime takes its overhead, its nodes and its tolerations.

Upstream: plugin/pkg/admission/runtimeclass, pkg/util/tolerations.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource, unaskable
from fakekube.apimachinery import errors
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClass(Plugin):
    """Copies overhead and scheduling from the class; refuses pods with an overhead of their own."""

    name = "RuntimeClass"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New pods."""
        return operation == "CREATE" and not subresource and is_resource(kind, "", "pods")

    def admit(self, attrs: Attributes) -> None:
        """Overhead, node selector and tolerations."""
        runtime = _runtime_of(attrs)
        if runtime is None or attrs.obj is None:
            return
        spec = attrs.obj["spec"]
        overhead = _overhead_of(runtime)
        if overhead is not None:
            if spec.get("overhead") and spec["overhead"] != overhead:
                raise forbidden(attrs, MISMATCH)
            spec.pop("overhead", None)
            if overhead:
                spec["overhead"] = dict(overhead)
        scheduling = runtime.get("scheduling")
        if scheduling:
            _schedule(attrs, spec, scheduling)

    def validate(self, attrs: Attributes) -> None:
        """The overhead is the class's, and there is none without a class."""
        if attrs.obj is None:
            return
        runtime, spec = _runtime_of(attrs), attrs.obj["spec"]
        overhead = _overhead_of(runtime) if runtime else None
        if overhead is not None:
            if (spec.get("overhead") or {}) != overhead:
                raise forbidden(attrs, MISMATCH)
        elif "overhead" in spec:
            raise forbidden(attrs, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _runtime_of(attrs: Attributes) -> Tree | None:
    name = (attrs.obj or {}).get("spec", {}).get("runtimeClassName")
    if name is None:
        return None
    found = attrs.ctx.cluster.lookup("node.k8s.io", "runtimeclasses", "", name)
    if found is None:
        if why := unaskable(name):
            raise errors.raw(why)
        raise forbidden(attrs, f"pod rejected: RuntimeClass {go_quote(name)} not found")
    return found


def _overhead_of(runtime: Tree) -> Tree | None:
    """What the class adds to each pod; None when it says nothing of it."""
    overhead = runtime.get("overhead")
    return None if overhead is None else overhead.get("podFixed") or {}


def _schedule(attrs: Attributes, spec: Tree, scheduling: Tree) -> None:
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            raise forbidden(attrs, (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"))
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    merged = merge_tolerations([*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())])
    if merged:
        spec["tolerations"] = merged


def merge_tolerations(tolerations: list[Tree]) -> list[Tree]:
    """Those that no other covers, in order; of equal ones the first."""
    merged: list[Tree] = []
    for number, toleration in enumerate(tolerations):
        later = (other for other in tolerations[number + 1:] if other != toleration)
        if not any(_covers(other, toleration) for other in (*merged, *later)):
            merged.append(toleration)
    return merged


def _covers(wide: Tree, narrow: Tree) -> bool:
    """Whether one toleration tolerates at least what another does."""
    if wide == narrow:
        return True
    operator = wide.get("operator", "")
    if narrow.get("key", "") != wide.get("key", "") and (wide.get("key") or operator != "Exists"):
        return False
    if wide.get("effect") and narrow.get("effect", "") != wide["effect"]:
        return False
    seconds = wide.get("tolerationSeconds")
    if wide.get("effect") == "NoExecute" and seconds is not None:
        narrow_seconds = narrow.get("tolerationSeconds")
        if narrow_seconds is None or narrow_seconds > seconds:
            return False
    if operator in ("", "Equal"):
        return bool(narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", ""))
    return bool(operator == "Exists")
