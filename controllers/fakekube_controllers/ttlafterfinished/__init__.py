"""Finished Jobs go when ``ttlSecondsAfterFinished`` have passed. Read ``controller.py``.

Upstream: pkg/controller/ttlafterfinished. Left out: metrics.
"""

from functools import partial
from typing import Any

from fakekube.client.resources import JOBS
from fakekube.runtime.lazy import LazyController


def _may_expire(job: dict[str, Any]) -> bool:
    return "ttlSecondsAfterFinished" in job["spec"]


component = partial(
    LazyController, "ttlafterfinished", "fakekube_controllers.ttlafterfinished.controller:ttl_after_finished",
    (JOBS, _may_expire))
