"""Topology-aware scheduling: pods of a Workload near each other, on nodes that have room for them.

``requests.py`` and ``validation.py`` are for integrations: what annotations ask for, and which are
refused. ``assignments.py`` is the answer, which ``encoding.py`` writes into Workloads.

Upstream: pkg/cache/scheduler/tas_*.go, pkg/controller/tas, pkg/util/tas,
pkg/controller/jobframework/tas*.go, pkg/scheduler/flavorassigner/tas_flavorassigner.go.
"""
