"""The integrations that come with Kueue here. Upstream: pkg/controller/jobs/jobs.go."""

from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.jobframework.integrations import Integration, Integrations, Options, of_packages
from fakekube_controllers.kueue.jobs.job import JOB

BUILT_IN: tuple[Integration, ...] = (JOB,)


def options_of(configuration: Configuration) -> Options:
    """What controllers and webhooks of integrations are made for: those here, and those that
    packages bring.
    """
    return Options(configuration, Integrations(configuration, [*BUILT_IN, *of_packages()]))
