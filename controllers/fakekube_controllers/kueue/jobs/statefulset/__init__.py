"""StatefulSets: one Workload for each, and its pods are a group that serves.

Read ``controller.py``: it makes the Workload; ``podcontroller.py`` makes the pods a group of it.
Upstream: pkg/controller/jobs/statefulset.
"""
