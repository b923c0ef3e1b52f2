"""Evictions that were written and not yet seen. Upstream: pkg/util/expectations,
preemption/expectations.
"""

from fakekube.apimachinery.meta import ObjectKey


class Store:
    """UIDs by the key of an object."""

    __slots__ = ("_uids",)

    def __init__(self) -> None:
        self._uids: dict[ObjectKey, dict[str, None]] = {}

    def expect_uids(self, key: ObjectKey, uids: list[str]) -> None:
        """Wait for a change of each of these."""
        self._uids.setdefault(key, {}).update(dict.fromkeys(uids))

    def observed_uid(self, key: ObjectKey, uid: str) -> None:
        """The change was seen, or is not to be waited for."""
        expected = self._uids.get(key)
        if expected is not None:
            expected.pop(uid, None)
            if not expected:
                del self._uids[key]

    def satisfied(self, key: ObjectKey) -> bool:
        """Whether nothing is waited for."""
        return key not in self._uids
