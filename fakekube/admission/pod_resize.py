"""PodResizeValidator: a pod on a node is not resized to more than the node has.

Upstream: plugin/pkg/admission/podresize.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import pod_resources, quantity
from fakekube.apimachinery.amounts import read
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

ZERO = quantity.parse("0")


class PodResizeValidator(Plugin):
    """Refuses resizes beyond the node's allocatable, and on nodes that cannot do it."""

    name = "PodResizeValidator"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Resizes."""
        return is_resource(kind, "", "pods") and (operation, subresource) == ("UPDATE", "resize")

    def validate(self, attrs: Attributes) -> None:
        """Hold the new requests of a bound pod against its node."""
        obj, old, cluster = attrs.obj, attrs.old, attrs.ctx.cluster
        if obj is None or old is None or not cluster.gate("InPlacePodVerticalScaling"):
            return
        name = obj["spec"].get("nodeName")
        if not name or obj["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        node = cluster.lookup("", "nodes", "", name)
        if node is None:
            raise forbidden(attrs, f'node "{name}" not found')
        system = (node["metadata"].get("labels") or {}).get("kubernetes.io/os", "linux")
        if system != "linux":
            text = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
            raise forbidden(attrs, text, [{"reason": "UnsupportedPlatform"}])
        if lacking := _lacking(obj, node):
            text = f"node didn't have enough allocatable resources: {'; '.join(lacking)}"
            raise forbidden(attrs, text, [{"reason": "NodeCapacity"}])


def _lacking(pod: Tree, node: Tree) -> list[str]:
    requested = pod_resources.quantities(pod_resources.requests(pod))
    allocatable = read((node.get("status") or {}).get("allocatable"))
    found = []
    for name in ("cpu", "memory"):
        wanted, there = requested.get(name, ZERO), allocatable.get(name, ZERO)
        if wanted.nano > there.nano:
            amounts = [each.milli_value if name == "cpu" else each.value for each in (wanted, there)]
            found.append(f"{name}, requested: {amounts[0]}, allocatable: {amounts[1]}")
    return found
