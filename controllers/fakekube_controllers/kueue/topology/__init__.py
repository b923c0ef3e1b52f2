"""Topology-aware scheduling: pods of a Workload near each other, on nodes that have room for them.

``snapshot.py`` answers where the pods of a Workload go, ``placement.py`` is the way there:
``domains.py`` counts what fits into the tree of domains, ``requirements.py`` reads what is asked
for, ``assignments.py`` writes the answer. ``cache.py`` keeps what is known of nodes and usage. The
controllers feed it, let pods go to their domains (``ungater.py``) and replace nodes that failed
(``nodecontroller.py``). ``requests.py`` and ``validation.py`` are for integrations.

Upstream: pkg/cache/scheduler/tas_*.go, pkg/controller/tas, pkg/util/tas,
pkg/controller/jobframework/tas*.go, pkg/scheduler/flavorassigner/tas_flavorassigner.go. Left out:
the gate SchedulerLibraryIntegration.
"""
