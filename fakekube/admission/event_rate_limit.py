"""EventRateLimit: so many Events a second, from all, of a namespace, of a user, or of a source.

Its configuration says how many; without one it limits nothing. Time is the cluster's. Upstream:
plugin/pkg/admission/eventratelimit.
"""

from collections import OrderedDict

from fakekube.admission.plugin import Plugin
from fakekube.admission.services import Services
from fakekube.apimachinery import errors
from fakekube.apimachinery.field_errors import aggregate
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.util.clock import Clock

DEFAULT_CACHE_SIZE = 4096


class Bucket:
    """Tokens that come back with time: ``burst`` at most, ``qps`` a second."""

    def __init__(self, clock: Clock, qps: float, burst: int) -> None:
        self._clock, self._qps, self._burst = clock, qps, burst
        self._tokens, self._at = float(burst), clock.time()

    def take(self) -> bool:
        """Whether there was a token."""
        now = self._clock.time()
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._at) * self._qps)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class Limit:
    """One limit of the configuration, with the buckets of its keys, the latest used last."""

    def __init__(self, clock: Clock, tree: Tree) -> None:
        self.type: str = tree.get("type", "")
        self._clock, self._qps, self._burst = clock, float(tree.get("qps") or 0), int(tree.get("burst") or 0)
        self._size = int(tree.get("cacheSize") or DEFAULT_CACHE_SIZE)
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str) -> bool:
        """Whether one more may pass under a key."""
        bucket = self._buckets.pop(key, None) or Bucket(self._clock, self._qps, self._burst)
        self._buckets[key] = bucket
        if len(self._buckets) > self._size:
            self._buckets.popitem(last=False)
        return bucket.take()


class EventRateLimit(Plugin):
    """Refuses Events that come too fast."""

    name = "EventRateLimit"

    def __init__(self) -> None:
        self._limits: list[Limit] = []

    def initialize(self, services: Services) -> None:
        """Read the limits of the configuration."""
        self._limits = [
            Limit(services.clock, each) for each in services.configuration.get(self.name, {}).get("limits") or ()]

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Events of the core group."""
        return operation in ("CREATE", "UPDATE") and (kind.group, kind.kind) == ("", "Event")

    def validate(self, attrs: Attributes) -> None:
        """Take a token of each limit. Raises 429 where one has none."""
        if attrs.ctx.dry_run:
            return
        reached = []
        for limit in self._limits:
            key = _key(limit.type, attrs)
            if not limit.take(key):
                reached.append(f"limit reached on type {limit.type} for key {key}")
        if reached:
            raise errors.too_many_requests(f"Too many requests: {aggregate(reached)}", 0)


def _key(type_: str, attrs: Attributes) -> str:
    if type_ == "Namespace":
        return attrs.namespace
    if type_ == "User":
        return attrs.ctx.user.name
    if type_ != "SourceAndObject":
        return ""
    event = attrs.obj or {}
    source, about = event.get("source") or {}, event.get("involvedObject") or {}
    return "".join([
        source.get("component", ""), source.get("host", ""),
        *(about.get(name, "") for name in ("kind", "namespace", "name", "uid", "apiVersion"))])
