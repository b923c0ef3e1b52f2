"""The claims of whole tests, as the option ``claims`` says them, and what oracles tell early.

A test's own clusters are looked at from when they are there; those that live longer, while the test
is called. All claims end with the call, so that what fixtures take down is not judged.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from fakekube.composition.fleet import Fleet
from fakekube.composition.options import OptionError, named
from fakekube.exploration.hotloops import HotLoop, NoHotLoop
from fakekube.exploration.oracles import OracleError, Who, oracles_of
from fakekube.exploration.targets import TargetError, looked_at
from fakekube.testing.claims import Claim
from fakekube.testing.runningclaims import Checking, checking

OPTION = "claims"


def claims_of(value: object) -> list[Claim]:
    """The claims that an option names: one, a list of them, or texts ``module:name`` with commas.

    Raises OptionError.
    """
    if isinstance(value, str):
        return [claim for text in value.split(",") if text.strip() for claim in claims_of(named(OPTION, text.strip()))]
    if isinstance(value, Claim):
        return [value]
    if not isinstance(value, list | tuple):
        raise OptionError(
            f"{OPTION}: {value!r} is no claim: say Always(p), Never(p), Eventually(p), Until(p, q) or LeadsTo(p, q) "
            "of fakekube.testing, a list of them, or module:name of one")
    return [claim for one in value for claim in claims_of(one)]


class Claimed:
    """The claims of one test on its clusters. ``options`` are those of its fixtures.

    Raises OptionError.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._claims = claims_of(options.get(OPTION) or ())
        self._target = str(options.get("target") or "")
        try:
            self._tells_of_loops = "restless" in (oracles_of(options["oracles"]) if options.get("oracles") else ())
        except OracleError as error:
            raise OptionError(f"oracles: {error}") from error
        self._blocks: list[Checking] = []

    @contextmanager
    def __call__(self, cluster: Any) -> Iterator[None]:
        """Check them on a cluster, or a fleet, until ``end``, or the end of the block."""
        early = [NoHotLoop(HotLoop(lambda: self._looked_at(cluster)))] if self._tells_of_loops else []
        block = checking(cluster, *self._claims, *early)
        block.__enter__()
        self._blocks.append(block)
        try:
            yield
        finally:
            if block in self._blocks:  # setup failed after it
                self._blocks.remove(block)
                block.give_up()

    def _looked_at(self, cluster: Any) -> list[Who]:
        """Asked on the cluster's loop, or while that waits for the answer."""
        single = cluster.values() if isinstance(cluster, Fleet) else [getattr(cluster, "cluster", cluster)]
        try:
            return [Who(one.user_agents, one.users) for cluster in single for one in looked_at(cluster, self._target)]
        except TargetError:  # which is said at the end
            return []

    def __enter__(self) -> Self:
        """The test is called."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """It has ended. Raises HistoryError."""
        while self._blocks:
            self._blocks.pop().__exit__(kind, error, trace)
