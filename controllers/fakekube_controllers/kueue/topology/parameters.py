"""What the topologyRequest of a podset means in one topology: at which level, in slices of what
size.

Upstream: levelKey and its like, buildSliceSizeAtLevel, the first part of findTopologyAssignment in
pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.topology import constraints
from fakekube_controllers.kueue.topology.constraints import Constraint
from fakekube_controllers.kueue.topology.domains import SliceLevels

Request = ReadOnlyTree | None
"""The topologyRequest of a podset."""


class NoFit(Exception):
    """No place for the pods; the message is upstream's."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a placement looks for. ``level`` is the index of that which is asked for;
    ``layers`` are all of them where there are several.
    """

    count: int
    leader_count: int
    level: int
    slices: SliceLevels
    required: bool
    unconstrained: bool
    layers: Sequence[Constraint]

    @property
    def slice_count(self) -> int:
        """How many slices there are to be."""
        return self.count // self.slices.size


def parameters_of(
    request: Request, levels: Sequence[str], *, count: int, leader_count: int, implied: bool,
) -> Parameters:
    """What so many pods with a request look for in a topology with these levels.

    ``implied`` is for pods that ask for nothing, in a queue that has nothing but topologies. Raises
    NoFit where the request does not belong to the topology.
    """
    layers = constraints.of_request(request)
    size = _slice_size(layers)
    key = level_key(request, levels)
    if key is None:
        if not implied:
            raise NoFit("topology level not specified")
        key = levels[-1]
    level = _index(levels, key, "no requested topology level")
    slice_key = layers[0].topology if layers else levels[-1]
    slice_level = _index(levels, slice_key, "no requested topology level for slices")
    if level > slice_level:
        raise NoFit(f"podset slice topology {slice_key} is above the podset topology {key}")
    slices = SliceLevels(size, slice_level, _inner_sizes(layers, levels, size, slice_level))
    unconstrained = implied or bool(request and request.get("unconstrained")) or _is_slice_only(request, layers)
    return Parameters(
        count, leader_count, level, slices, is_required(request), unconstrained, layers if slices.inner else ())


def level_key(request: Request, levels: Sequence[str]) -> str | None:
    """The level that a request asks for; None for none."""
    if request is None:
        return None
    asked: str | None = request.get("required")
    if asked is None:
        asked = request.get("preferred")
    if asked is not None:
        return asked
    if _is_slice_only(request, constraints.of_request(request)):
        return levels[0]
    return levels[-1] if request.get("unconstrained") else None


def has_level(request: Request, levels: Sequence[str]) -> bool:
    """Whether a topology with these levels has all that a request names.

    Upstream: TASFlavorSnapshot.HasLevel.
    """
    key = level_key(request, levels)
    return key in levels and all(layer.topology in levels for layer in constraints.of_request(request))


def is_required(request: Request) -> bool:
    """Whether all pods must be in one domain."""
    return request is not None and request.get("required") is not None


def slice_size_of(request: Request) -> int:
    """The size of the outermost slices, 1 for none. Raises NoFit for one that is not told."""
    return _slice_size(constraints.of_request(request))


def _slice_size(layers: Sequence[Constraint]) -> int:
    if not layers:
        return 1
    if layers[0].size <= 0:
        raise NoFit("slice topology requested, but slice size not provided")
    return layers[0].size


def _is_slice_only(request: Request, layers: Sequence[Constraint]) -> bool:
    return request is not None and bool(layers) and request.get("required") is None and request.get("preferred") is None


def _index(levels: Sequence[str], key: str, text: str) -> int:
    if key not in levels:
        raise NoFit(f"{text}: {key}")
    return levels.index(key)


def _inner_sizes(layers: Sequence[Constraint], levels: Sequence[str], size: int, level: int) -> dict[int, int]:
    """The sizes of slices within slices by level: the levels in between have that of the next
    below.
    """
    sizes: dict[int, int] = {}
    for layer in layers[1:]:
        below = _index(levels, layer.topology, "no requested topology level for additional slice layer")
        if below <= level:
            raise NoFit(
                f"additional slice layer topology {layer.topology} must be at a lower level than {levels[level]}")
        if layer.size <= 0 or size % layer.size:
            raise NoFit(f"additional slice layer size {layer.size} must evenly divide parent layer size {size}")
        sizes.update(dict.fromkeys(range(level + 1, below + 1), layer.size))
        size, level = layer.size, below
    return sizes
