"""CronJobs: Jobs made from a template, when a schedule says so.

Read ``sync.py``: it is the order of decisions. ``schedule.py`` knows which run is due, ``controller.py`` listens and waits.
Upstream: pkg/controller/cronjob. Left out: metrics.
"""

from functools import partial

from fakekube.client.resources import CRON_JOBS
from fakekube.runtime.lazy import LazyController

component = partial(LazyController, "cronjob", "fakekube_controllers.cronjob.controller:CronJobController", CRON_JOBS)
