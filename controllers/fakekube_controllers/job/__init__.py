"""The Job controller: pods that run to completion.

Read ``sync.py`` first: it is the order of decisions. ``policies.py``, ``backoff.py``, ``indexes.py`` and ``pods.py`` are the
rules, free of any I/O; ``manage.py`` creates and deletes pods, ``tracking.py`` counts them, ``controller.py`` listens.
Upstream: pkg/controller/job. Left out: the integration with workload-aware scheduling.
"""
