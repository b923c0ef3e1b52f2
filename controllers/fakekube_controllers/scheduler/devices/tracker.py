"""The claims of the cluster as the scheduler knows them: with what it has written but not seen yet,
and with what it has decided but not written yet.

Upstream: plugins/dynamicresources/dra_manager.go (claimTracker), util/assumecache.
"""

from dataclasses import dataclass

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube_controllers.scheduler.devices.references import allocation_of
from fakekube_controllers.scheduler.devices.usage import AllocatedDevices


@dataclass(slots=True)
class _Pending:
    """An allocation that is to be written, and how many pods wait for that."""

    allocation: Tree
    pods: int = 1


class ClaimTracker:
    """One for all profiles. ``allocated`` counts each claim once, by what it has or is to have.

    ``shares`` as of AllocatedDevices.
    """

    def __init__(self, lister: Lister, *, shares: bool) -> None:
        self.allocated = AllocatedDevices(shares=shares)
        self._lister = lister
        self._assumed: dict[ObjectKey, Tree] = {}
        self._pending: dict[str, _Pending] = {}  # by the uid of the claim
        self._known: dict[str, ReadOnlyTree] = {}  # what claims have, by their uids
        self._counted: dict[str, ReadOnlyTree] = {}

    # claims

    def get(self, namespace: str, name: str) -> Tree | None:
        """A claim, in the newest state that is known."""
        return self._assumed.get(ObjectKey(namespace, name)) or self._lister.get(namespace, name)

    def seen(self, claim: Tree) -> None:
        """A claim was added or updated."""
        key = meta.key_of(claim)
        assumed = self._assumed.get(key)
        if assumed is not None:
            if meta.uid_of(assumed) == meta.uid_of(claim) and _version(assumed) > _version(claim):
                return
            del self._assumed[key]
        self._learn(claim)

    def gone(self, claim: Tree) -> None:
        """A claim is gone."""
        self._assumed.pop(meta.key_of(claim), None)
        self._known.pop(meta.uid_of(claim), None)
        self._count(meta.uid_of(claim))

    def assume(self, claim: Tree) -> None:
        """A claim was written, and not seen yet."""
        seen = self._lister.get(*meta.key_of(claim))
        if seen is None or _version(seen) < _version(claim):
            self._assumed[meta.key_of(claim)] = claim
            self._learn(claim)

    def _learn(self, claim: Tree) -> None:
        allocation = allocation_of(claim)
        if allocation is None:
            self._known.pop(meta.uid_of(claim), None)
        else:
            self._known[meta.uid_of(claim)] = allocation
        self._count(meta.uid_of(claim))

    # allocations that are not written

    def pending(self, uid: str) -> Tree | None:
        """The allocation that a claim is to have; None where nothing is under way."""
        found = self._pending.get(uid)
        return found.allocation if found is not None else None

    def reserve(self, uid: str, allocation: Tree) -> None:
        """A claim is to have that, for one more pod. Nothing is under way if it has one by now."""
        found = self._pending.get(uid)
        if found is not None:
            found.pods += 1
        elif uid not in self._known:
            self._pending[uid] = _Pending(allocation)
            self._count(uid)

    def release(self, uid: str, *, is_done: bool = False) -> bool:
        """A pod gave up, or (``is_done``) the allocation is written. Whether nothing is under way
        any more that was.
        """
        found = self._pending.get(uid)
        if found is None:
            return False
        found.pods -= 1
        if found.pods and not is_done:
            return False
        del self._pending[uid]
        self._count(uid)
        return True

    def _count(self, uid: str) -> None:
        wanted = self._known.get(uid) or self.pending(uid)
        counted = self._counted.get(uid)
        if counted is wanted:
            return
        if counted is not None:
            self.allocated.remove(counted)
            del self._counted[uid]
        if wanted is not None:
            self.allocated.add(wanted)
            self._counted[uid] = wanted


def _version(of: ReadOnlyTree) -> int:
    return int(meta.resource_version_of(of))
