"""What a controller did and its cache has not shown yet.

Upstream: pkg/controller/controller_utils.go.

A controller that creates three children and reconciles again before its cache has seen them would
create three more; so it expects three creations, counts them in its handlers, and does nothing more
until they are all there, or five minutes have passed.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from fakekube.util.clock import Clock

TIMEOUT_SECONDS = 300.0


@dataclass(slots=True)
class _Expectation:
    time: float
    creations: int = 0
    deletions: int = 0
    uids: dict[str, None] = field(default_factory=dict)


class Expectations:
    """Expected creations and deletions by key, deletions by uid where the caller knows them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expected: dict[Hashable, _Expectation] = {}

    def satisfied(self, key: Hashable) -> bool:
        """Whether all that was expected for the key was seen, or nothing was expected, or it took
        too long.
        """
        expected = self._expected.get(key)
        if expected is None:
            return True
        if expected.creations <= 0 and expected.deletions <= 0 and not expected.uids:
            return True
        return self._clock.time() - expected.time > TIMEOUT_SECONDS

    def expect_creations(self, key: Hashable, count: int) -> None:
        """Forget what was expected for the key, and expect so many creations."""
        self._expected[key] = _Expectation(self._clock.time(), creations=count)

    def expect_deletions(self, key: Hashable, count: int) -> None:
        """Forget what was expected for the key, and expect so many deletions."""
        self._expected[key] = _Expectation(self._clock.time(), deletions=count)

    def expect_deletions_of(self, key: Hashable, uids: Iterable[str]) -> None:
        """Expect the deletion of these objects; expected creations stay."""
        expected = self._expected.setdefault(key, _Expectation(self._clock.time()))
        expected.time = self._clock.time()
        expected.uids = dict.fromkeys(uids)

    def raise_expectations(self, key: Hashable, creations: int, deletions: int) -> None:
        """Expect so many more."""
        expected = self._expected.get(key)
        if expected is not None:
            expected.creations += creations
            expected.deletions += deletions

    def creation_observed(self, key: Hashable) -> None:
        """One creation was seen, or failed."""
        expected = self._expected.get(key)
        if expected is not None:
            expected.creations -= 1

    def deletion_observed(self, key: Hashable, uid: str = "") -> None:
        """One deletion was seen, or failed; with ``uid`` it counts once however often it is seen.
        """
        expected = self._expected.get(key)
        if expected is None:
            return
        if expected.uids:
            expected.uids.pop(uid, None)
        else:
            expected.deletions -= 1

    def forget(self, key: Hashable) -> None:
        """Expect nothing: the controller's object is gone."""
        self._expected.pop(key, None)
