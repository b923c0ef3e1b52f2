"""In which flavors a Workload fits, and what is in the way of others.

Upstream: pkg/scheduler/flavorassigner.
"""
