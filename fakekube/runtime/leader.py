"""One of several managers leads: whoever holds a Lease and renews it in time.

Upstream: client-go/tools/leaderelection, its protocol (read, compare, write with resourceVersion; a
409 is the whole arbitration) and its numbers. The others' clocks are not trusted: a lease has
expired when it has not changed for its duration by the observer's own clock. Left out: coordinated
leader election, multi-lock, events.
"""

import logging
from collections.abc import Awaitable, Callable

from fakekube.apimachinery import times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import LEASES
from fakekube.client.transport import TransportError
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

log = logging.getLogger(__name__)

LEASE_DURATION_SECONDS = 15
RENEW_DEADLINE_SECONDS = 10.0
RETRY_PERIOD_SECONDS = 2.0
JITTER = 1.2


class LeaderElector:
    """One candidate, ``identity``, for the Lease ``namespace/name``."""

    def __init__(
        self, client: Client, *, clock: Clock, rng: Rng, identity: str, name: str, namespace: str = "kube-system",
        lease_duration_seconds: int = LEASE_DURATION_SECONDS, renew_deadline_seconds: float = RENEW_DEADLINE_SECONDS,
        retry_period_seconds: float = RETRY_PERIOD_SECONDS,
    ) -> None:
        assert lease_duration_seconds > renew_deadline_seconds > retry_period_seconds * JITTER, "would lead twice"
        self.identity, self.is_leader = identity, False
        self._client, self._clock, self._rng, self._name, self._namespace = client, clock, rng, name, namespace
        self._lease_duration_seconds, self._retry_period_seconds = lease_duration_seconds, retry_period_seconds
        self._renew_deadline_seconds = renew_deadline_seconds
        self._observed: Tree = {}
        self._observed_at = 0.0

    async def run(self, on_started: Callable[[], Awaitable[None]], on_stopped: Callable[[], Awaitable[None]]) -> None:
        """Wait for the lease, lead, and return when it is lost.

        ``on_started`` is awaited once this candidate leads, ``on_stopped`` when it does no longer,
        a cancelled ``run`` included. The waiting is on daemon timers.
        """
        while not await self._try():
            await self._clock.sleep(self._retry_period_seconds * self._rng.uniform(1, 1 + JITTER), daemon=True)
        log.info("%s leads %s/%s", self.identity, self._namespace, self._name)
        self.is_leader = True
        try:
            await on_started()
            await self._renew()
        finally:
            self.is_leader = False
            await on_stopped()

    async def _renew(self) -> None:
        renewed_at = self._clock.time()
        while self._clock.time() - renewed_at < self._renew_deadline_seconds:
            await self._clock.sleep(self._retry_period_seconds, daemon=True)
            if await self._try():
                renewed_at = self._clock.time()
            elif self._observed.get("spec", {}).get("holderIdentity") != self.identity:
                break
        log.info("%s no longer leads %s/%s", self.identity, self._namespace, self._name)

    async def release(self) -> None:
        """Give the lease up, so that another candidate need not wait for its end."""
        lease = await self._client.get(LEASES, self._name, self._namespace, missing_ok=True)
        if lease is None or lease["spec"].get("holderIdentity") != self.identity:
            return
        now = times.format_micro_time(self._clock.time())
        spec = {"leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now}
        spec["leaseTransitions"] = lease["spec"].get("leaseTransitions", 0)
        await self._client.update(LEASES, {**lease, "spec": spec})

    async def _try(self) -> bool:
        """Take the lease or renew it. False when another one holds it, or the server cannot say."""
        try:
            return await self._take()
        except (APIError, TransportError) as error:
            log.info("%s: lease %s/%s: %s", self.identity, self._namespace, self._name, error)
            return False

    async def _take(self) -> bool:
        now = self._clock.time()
        stamp = times.format_micro_time(now)
        spec: Tree = {
            "holderIdentity": self.identity, "leaseDurationSeconds": self._lease_duration_seconds, "acquireTime": stamp,
            "renewTime": stamp, "leaseTransitions": 0,
        }
        lease = await self._client.get(LEASES, self._name, self._namespace, missing_ok=True)
        if lease is None:
            metadata = {"name": self._name, "namespace": self._namespace}
            self._observe(await self._client.create(LEASES, {"metadata": metadata, "spec": spec}), now)
            return True
        if lease["metadata"]["resourceVersion"] != self._observed.get("metadata", {}).get("resourceVersion"):
            self._observe(lease, now)
        held = lease.get("spec") or {}
        holder = held.get("holderIdentity", "")
        if holder == self.identity:
            spec |= {"acquireTime": held.get("acquireTime", stamp), "leaseTransitions": held.get("leaseTransitions", 0)}
        elif holder and now < self._observed_at + held.get("leaseDurationSeconds", 0):
            return False
        else:
            spec["leaseTransitions"] = held.get("leaseTransitions", 0) + 1
        self._observe(await self._client.update(LEASES, {**lease, "spec": spec}), now)
        return True

    def _observe(self, lease: Tree, now: float) -> None:
        self._observed, self._observed_at = lease, now
