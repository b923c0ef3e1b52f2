"""Workloads: what they request and use, and the changes that Kueue makes to their status.

Read ``info.py`` first: a Workload as the queues, the cache and the scheduler see it. Upstream:
pkg/workload.
"""
