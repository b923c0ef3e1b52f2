"""LeaderWorkerSets: a Workload for each group, whose leader and workers are a group that serves.

Read ``controller.py`` first. Upstream: pkg/controller/jobs/leaderworkerset.
"""
