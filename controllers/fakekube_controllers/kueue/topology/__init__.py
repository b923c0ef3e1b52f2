"""Topology-aware scheduling: pods of a Workload near each other, on nodes that have room for them.

``snapshot.py`` is what is free in the domains of a flavor; ``finding.py`` finds places for the
podsets of a Workload in it. ``domains.py`` counts what fits into the tree of domains,
``parameters.py`` reads what is asked for, ``placement.py`` chooses, ``assignments.py`` is the
answer, which ``encoding.py`` writes into Workloads. ``flavorassigner.py`` is for the assignment of
flavors, ``requests.py`` and ``validation.py`` are for integrations.

``cache.py`` knows nodes and usage; ``controllers.py`` names the controllers that feed it, let pods
go to their domains (``ungater.py``) and replace nodes that fail (``nodecontroller.py``).

Upstream: pkg/cache/scheduler/tas_*.go, pkg/controller/tas, pkg/util/tas,
pkg/controller/jobframework/tas*.go, pkg/scheduler/flavorassigner/tas_flavorassigner.go. Left out:
the gate SchedulerLibraryIntegration.
"""
