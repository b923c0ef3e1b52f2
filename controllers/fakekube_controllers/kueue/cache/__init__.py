"""What has quota, and how much of it is left: ClusterQueues, cohorts and the Workloads in them.

Read ``cache.py`` first: the state that follows the objects. ``snapshot.py`` is that state as one
scheduling cycle sees and changes it, and ``resource_node.py`` the arithmetic of both. Upstream:
pkg/cache/scheduler, pkg/cache/hierarchy.
"""
