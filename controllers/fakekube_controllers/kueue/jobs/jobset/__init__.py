"""JobSets: one Workload for each, with a pod set for each of its replicated jobs.

``job.py`` says what a JobSet is to Kueue. Upstream: pkg/controller/jobs/jobset.
"""

from fakekube_controllers.kueue.jobframework.integrations import Integration
from fakekube_controllers.kueue.jobframework.job import GenericJob
from fakekube_controllers.kueue.jobs.kinds import JOBSETS


def _job() -> type[GenericJob]:
    from fakekube_controllers.kueue.jobs.jobset.job import JobSet

    return JobSet


JOBSET = Integration("jobset.x-k8s.io/jobset", JOBSETS, _job)
