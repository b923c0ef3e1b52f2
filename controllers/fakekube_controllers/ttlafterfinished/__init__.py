"""Finished Jobs go when ``ttlSecondsAfterFinished`` have passed. Read ``controller.py``.

Upstream: pkg/controller/ttlafterfinished. Left out: metrics.
"""

from functools import partial
from typing import Any

from fakekube.client.resources import JOBS
from fakekube.runtime.dormant import Dormant


def _may_expire(job: dict[str, Any]) -> bool:
    return "ttlSecondsAfterFinished" in job["spec"]


component = partial(
    Dormant, "ttlafterfinished", "fakekube_controllers.ttlafterfinished.controller:ttl_after_finished", (JOBS, _may_expire))
