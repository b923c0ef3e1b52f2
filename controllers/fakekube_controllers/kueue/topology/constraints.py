"""What the annotation for several layers of slices says: ``[{"topology": "rack", "size": 4}]``.

Upstream decodes it with encoding/json; the texts of errors are those of that package.
"""

from typing import Any, NamedTuple

from fakekube.apimachinery import gojson
from fakekube.apimachinery.types import ReadOnlyTree, Tree

MAX_LAYERS = 3
LAYER_COUNT = "topology constraints must contain between 1 and 3 entries"
_TYPE = "PodsetSliceRequiredTopologyConstraint"
_INT32 = 1 << 31


class ConstraintsError(ValueError):
    """A text that is no list of layers; the message is Go's."""


class Constraint(NamedTuple):
    """One layer: so many pods together in one domain of that level."""

    topology: str
    size: int

    def tree(self) -> Tree:
        """As it stands in a Workload."""
        return {"topology": self.topology, "size": self.size}


def decode(text: str) -> list[Constraint]:
    """The layers that an annotation lists, the outermost first. Raises ConstraintsError."""
    try:
        value = gojson.loads(text.encode())
    except gojson.SyntaxProblem as problem:
        raise ConstraintsError(str(problem)) from None
    if value is None:
        return []
    if not isinstance(value, list):
        raise _mismatch(gojson.type_name(value), "value", f"[]v1beta2.{_TYPE}")
    return [_constraint(each) for each in value]


def of_request(request: ReadOnlyTree | None) -> list[Constraint]:
    """The layers that a podset's topologyRequest names, in either of the two ways.

    Upstream: PodSetSliceRequiredTopologyConstraints in pkg/util/tas. A size that is missing is 0.
    """
    if request is None:
        return []
    layers = request.get("podsetSliceRequiredTopologyConstraints")
    if layers:
        return [Constraint(each["topology"], each["size"]) for each in layers]
    topology = request.get("podSetSliceRequiredTopology")
    return [] if topology is None else [Constraint(topology, request.get("podSetSliceSize") or 0)]


def _constraint(value: Any) -> Constraint:
    if value is None:
        return Constraint("", 0)
    if not isinstance(value, dict):
        raise _mismatch(gojson.type_name(value), "value", f"v1beta2.{_TYPE}")
    topology, size = value.get("topology"), value.get("size")
    if topology is not None and not isinstance(topology, str):
        raise _mismatch(gojson.type_name(topology), f"struct field {_TYPE}.topology", "string")
    if size is None:
        return Constraint(topology or "", 0)
    if not isinstance(size, int) or isinstance(size, bool) or not -_INT32 <= size < _INT32:
        name = gojson.type_name(size)
        raise _mismatch(f"number {size}" if name == "number" else name, f"struct field {_TYPE}.size", "int32")
    return Constraint(topology or "", size)


def _mismatch(found: str, where: str, wanted: str) -> ConstraintsError:
    return ConstraintsError(f"json: cannot unmarshal {found} into Go {where} of type {wanted}")
