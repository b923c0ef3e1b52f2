"""What a terminating namespace says about what is left in it.

Upstream: pkg/controller/namespace/deletion/status_condition_utils.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource

WELL = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


@dataclass(slots=True)
class Remaining:
    """What a round of deletions left behind.

    ``estimate_seconds``: when it may be worth looking again.
    """

    counts: dict[str, int] = field(default_factory=dict)  # by resource.group
    finalizers: dict[str, int] = field(default_factory=dict)
    only_pods: bool = False
    estimate_seconds: int = 0

    def note(self, resource: Resource, left: Sequence[Tree], estimate_seconds: int) -> None:
        """So much is left of a resource."""
        self.counts[f"{resource.plural}.{resource.group}"] = len(left)
        self.only_pods = (resource.group, resource.plural) == ("", "pods")
        self.estimate_seconds = max(self.estimate_seconds, estimate_seconds)
        for item in left:
            for finalizer in meta.finalizers_of(item):
                self.finalizers[finalizer] = self.finalizers.get(finalizer, 0) + 1


def undiscovered(stale: Sequence[str]) -> str:
    """What is said of group versions whose server was away.

    Upstream: client-go/discovery, ErrGroupDiscoveryFailed.
    """
    each = ", ".join(f"{name}: stale GroupVersion discovery: {name}" for name in sorted(stale))
    return f"unable to retrieve the complete list of server APIs: {each}"


def update(status: Tree, remaining: Remaining, failures: Sequence[str], stale: Sequence[str], now: str) -> bool:
    """Bring the conditions of a status up to date, in place; whether any changed."""
    bad = _bad(remaining, failures)
    if stale:
        text = f"Discovery failed for some groups, {len(stale)} failing: {undiscovered(stale)}"
        bad["NamespaceDeletionDiscoveryFailure"] = ("DiscoveryFailed", text)
    present = status.setdefault("conditions", [])
    changed = False
    for kind, (reason, message) in WELL.items():
        wanted = {"type": kind, "status": "False", "lastTransitionTime": now, "reason": reason, "message": message}
        if kind in bad:
            wanted |= {"status": "True", "reason": bad[kind][0], "message": bad[kind][1]}
        old = conditions.find(present, kind)
        if old is None or any(old.get(key) != wanted[key] for key in ("status", "reason", "message")):
            wanted["lastTransitionTime"] = conditions.transition_time(old, wanted["status"], now)
            conditions.put(present, wanted)
            changed = True
    return changed


def _bad(remaining: Remaining, failures: Sequence[str]) -> dict[str, tuple[str, str]]:
    result: dict[str, tuple[str, str]] = {}
    if failures:
        text = f"Failed to delete all resource types, {len(failures)} remaining: {', '.join(sorted(failures))}"
        result["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", text)
    if remaining.only_pods:
        return result  # nothing else was listed, and upstream reports totals only then
    if remaining.counts:
        parts = sorted(f"{name} has {count} resource instances" for name, count in remaining.counts.items())
        result["NamespaceContentRemaining"] = ("SomeResourcesRemain", f"Some resources are remaining: {', '.join(parts)}")
    if remaining.finalizers:
        parts = sorted(f"{name} in {count} resource instances" for name, count in remaining.finalizers.items())
        text = f"Some content in the namespace has finalizers remaining: {', '.join(parts)}"
        result["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", text)
    return result
