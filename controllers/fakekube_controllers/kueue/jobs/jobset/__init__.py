"""JobSets: one Workload for each, with a pod set for each of its replicated jobs.

Upstream: pkg/controller/jobs/jobset.
"""
