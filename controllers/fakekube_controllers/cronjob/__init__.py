"""CronJobs: Jobs made from a template, when a schedule says so.

Read ``sync.py``: it is the order of decisions. ``schedule.py`` knows which run is due,
``controller.py`` listens and waits.
Upstream: pkg/controller/cronjob. Left out: metrics.
"""

from fakekube.client.resources import CRON_JOBS
from fakekube_controllers import kube_controller

component = (
    kube_controller("cronjob", "cronjob-controller")
    .starts_with(CRON_JOBS)
    .complete("fakekube_controllers.cronjob.controller:CronJobReconciler")
)
