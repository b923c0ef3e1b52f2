"""How long a key that failed has to wait.

Upstream: client-go/util/workqueue/default_rate_limiters.go.
"""

from collections.abc import Hashable
from typing import Protocol, TypeVar

from fakekube.util.clock import Clock

BASE_DELAY_SECONDS = 0.005
MAX_DELAY_SECONDS = 1000.0
MAX_DOUBLINGS = 64
BUCKET_QPS = 10.0
BUCKET_BURST = 100

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


def doubled_seconds(first_seconds: float, times: int, maximum_seconds: float) -> float:
    """The first delay, doubled so many times, up to a maximum; whatever the number, it is no
    overflow.
    """
    return min(first_seconds * 2.0 ** min(times, MAX_DOUBLINGS), maximum_seconds)


class RateLimiter(Protocol[K_contra]):
    """Says how long a key must wait."""

    def when(self, key: K_contra) -> float:
        """The delay in seconds of one more try, which is counted."""

    def forget(self, key: K_contra) -> None:
        """Count the key's tries from none again."""

    def num_requeues(self, key: K_contra) -> int:
        """The tries counted."""


class ExponentialBackoff(RateLimiter[K]):
    """``base * 2 ** failures`` seconds for each key on its own, up to ``maximum``."""

    def __init__(self, base_seconds: float = BASE_DELAY_SECONDS, maximum_seconds: float = MAX_DELAY_SECONDS) -> None:
        self.base_seconds, self.maximum_seconds = base_seconds, maximum_seconds
        self._failures: dict[K, int] = {}

    def when(self, key: K) -> float:
        """The key's next delay in seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        return doubled_seconds(self.base_seconds, failures, self.maximum_seconds)

    def forget(self, key: K) -> None:
        """Begin at ``base_seconds`` again."""
        if self._failures:
            self._failures.pop(key, None)

    def num_requeues(self, key: K) -> int:
        """How often the key failed."""
        return self._failures.get(key, 0)


class Bucket(RateLimiter[K]):
    """A token bucket that all keys share: ``burst`` at once, then ``qps`` a second."""

    def __init__(self, clock: Clock, qps: float = BUCKET_QPS, burst: int = BUCKET_BURST) -> None:
        self._clock, self._qps, self._burst = clock, qps, burst
        self._tokens, self._time = float(burst), clock.time()

    def when(self, key: K) -> float:
        """The delay in seconds until there is a token, which is reserved."""
        self._refill()
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)

    def take(self) -> bool:
        """Take a token, if there is one."""
        self._refill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _refill(self) -> None:
        now = self._clock.time()
        self._tokens = min(float(self._burst), self._tokens + (now - self._time) * self._qps)
        self._time = now

    def forget(self, key: K) -> None:
        """Tokens do not come back."""

    def num_requeues(self, key: K) -> int:
        """Not counted."""
        return 0


class Slowest(RateLimiter[K]):
    """The longest delay that any of several limiters asks for."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        self._limiters = limiters

    def when(self, key: K) -> float:
        """The longest delay in seconds."""
        return max(limiter.when(key) for limiter in self._limiters)

    def forget(self, key: K) -> None:
        """Forget the key everywhere."""
        for limiter in self._limiters:
            limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """The highest count."""
        return max(limiter.num_requeues(key) for limiter in self._limiters)


def default_rate_limiter(clock: Clock) -> RateLimiter[K]:
    """What upstream's controllers use: 5 ms to 1000 s for each key, and 10 a second after 100 for
    all.
    """
    return Slowest[K](ExponentialBackoff[K](), Bucket[K](clock))
