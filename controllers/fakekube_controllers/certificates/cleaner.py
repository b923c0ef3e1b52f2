"""Deletes requests that are of no use any more: decided ones after an hour, others after a day.

It looks once an hour, as upstream does. Upstream: pkg/controller/certificates/cleaner.
"""

import base64
import math
from collections.abc import Iterator

from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CERTIFICATE_SIGNING_REQUESTS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.util.certificaterequests import valid_until
from fakekube_controllers.certificates import requests

POLLING_SECONDS = 3600
DECIDED_SECONDS, PENDING_SECONDS = 3600, 24 * 3600


class CleanerReconciler:
    """Looks at one request."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.clock = ctx.client, ctx.clock
        self.requests = ctx.lister(CERTIFICATE_SIGNING_REQUESTS)
        self._started = self.clock.time()

    async def reconcile(self, request: Request) -> Result | None:
        """Delete it, or look again when it will be time. Raises APIError."""
        found = self.requests.get("", request.name)
        if found is None:
            return None
        end = min(ends(found), default=math.inf)
        if end == math.inf:
            return None
        rounds = math.floor((end - self._started) / POLLING_SECONDS) + 1
        wait_seconds = self._started + rounds * POLLING_SECONDS - self.clock.time()
        if wait_seconds > 0:
            return Result.after(wait_seconds, daemon=True)
        await self.client.delete(CERTIFICATE_SIGNING_REQUESTS, request.name, missing_ok=True)
        return None


def ends(request: Tree) -> Iterator[float]:
    """The times, in Unix seconds, after which a request may go."""
    if not (request.get("status") or {}).get("conditions"):
        yield parse_time(request["metadata"]["creationTimestamp"]) + PENDING_SECONDS
    for kind in ("Denied", "Failed"):
        yield from (since + DECIDED_SECONDS for since in _times(request, kind))
    if not requests.is_issued(request):
        yield from (since + PENDING_SECONDS for since in _times(request, "Approved"))
        return
    yield from (since + DECIDED_SECONDS for since in _times(request, "Approved"))
    until = valid_until(base64.b64decode(request["status"]["certificate"]))
    if until is not None and requests.conditions(request, "Approved"):
        yield until


def _times(request: Tree, kind: str) -> list[float]:
    return [parse_time(each["lastUpdateTime"]) for each in requests.conditions(request, kind) if each.get("lastUpdateTime")]
