"""The integrations that come with Kueue here. Upstream: pkg/controller/jobs/jobs.go."""

from typing import TYPE_CHECKING

from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.jobframework.integrations import Integration, Integrations, Options, of_packages
from fakekube_controllers.kueue.jobs.deployment import DEPLOYMENT
from fakekube_controllers.kueue.jobs.job import JOB
from fakekube_controllers.kueue.jobs.jobset import JOBSET
from fakekube_controllers.kueue.jobs.leaderworkerset import LEADER_WORKER_SET
from fakekube_controllers.kueue.jobs.pod import POD
from fakekube_controllers.kueue.jobs.ray import RAY_CLUSTER, RAY_JOB
from fakekube_controllers.kueue.jobs.statefulset import STATEFUL_SET

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

BUILT_IN: tuple[Integration, ...] = (JOB, JOBSET, POD, DEPLOYMENT, STATEFUL_SET, LEADER_WORKER_SET, RAY_CLUSTER, RAY_JOB)


def options_of(configuration: Configuration, kueue: "Kueue | None" = None) -> Options:
    """What controllers and webhooks of integrations are made for: those here, and those that
    packages bring.
    """
    return Options(configuration, Integrations(configuration, [*BUILT_IN, *of_packages()]), kueue)
