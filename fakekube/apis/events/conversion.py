"""One stored Event, two ways to say it: the renames of events.k8s.io, which change nothing in the
tree that they get.

Upstream: pkg/apis/events/v1/conversion.go.
"""

from collections.abc import Mapping, Sequence

from fakekube.apimachinery.types import Json, Tree

# Of events.k8s.io, in the order in which it prints them, and what the core group calls them.
RENAMES = {
    "eventTime": "eventTime",
    "series": "series",
    "reportingController": "reportingComponent",
    "reportingInstance": "reportingInstance",
    "action": "action",
    "reason": "reason",
    "regarding": "involvedObject",
    "related": "related",
    "note": "message",
    "type": "type",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
CORE_ORDER = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime",
    "series", "action", "related", "reportingComponent", "reportingInstance",
)  # fmt: skip
_CORE_SOURCES = tuple((core, name) for core in CORE_ORDER for name, other in RENAMES.items() if other == core)
_GROUP_SOURCES = tuple(RENAMES.items())


def to_core(tree: Tree) -> Tree:
    """The stored form of an Event of events.k8s.io; what the core group always prints is there."""
    return _renamed(tree, _CORE_SOURCES, {
        "involvedObject": {}, "source": {}, "firstTimestamp": None, "lastTimestamp": None, "eventTime": None,
        "reportingComponent": "", "reportingInstance": "",
    })  # fmt: skip


def from_core(tree: Tree) -> Tree:
    """The form of events.k8s.io, which leaves empty reporters out."""
    converted = _renamed(tree, _GROUP_SOURCES, {
        "eventTime": None, "regarding": {}, "deprecatedSource": {}, "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    })  # fmt: skip
    for name in ("reportingController", "reportingInstance"):
        if not converted.get(name):
            converted.pop(name, None)
    return converted


def _renamed(tree: Tree, sources: Sequence[tuple[str, str]], always: Mapping[str, Json]) -> Tree:
    converted: Tree = {name: tree[name] for name in ("kind", "apiVersion", "metadata") if name in tree}
    for name, source in sources:
        if source in tree:
            converted[name] = tree[source]
        elif name in always:
            converted[name] = always[name]
    return converted
