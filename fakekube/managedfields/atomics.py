"""Which parts of a configuration would replace something indivisible.

Upstream: findAtomics in admission/plugin/policy/mutating/patch/smd.go.
"""

from fakekube.apimachinery.types import Json
from fakekube.managedfields.nodes import LIST, MAP, Node


class AtomicsFound(Exception):
    """A configuration sets what can only be replaced as a whole; ``paths`` say where."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(f"may not mutate atomic arrays, maps or structs: {', '.join(paths)}")
        self.paths = paths


def atomics(node: Node, value: Json, path: str) -> list[str]:
    """The paths of atomic lists and maps in a configuration that fits its schema."""
    found: list[str] = []
    if isinstance(value, dict) and node.atom_of(value) == MAP:
        if not node.granular:
            found.append(path)
        for name, inner in value.items():
            below = node.children.get(name) or node.child(name)
            if below is not None:
                found += atomics(below, inner, f"{path}.{name}")
    elif isinstance(value, list) and node.atom_of(value) == LIST:
        if not node.associative:
            found.append(path)
        for number, inner in enumerate(value):
            found += atomics(node.element, inner, f"{path}[{number}]")
    return found
