"""Workloads that wait for quota: which of them is next in each ClusterQueue.

``manager.py`` has all of it behind one class, which the core controllers feed and the scheduler
asks for heads; ``cluster_queue.py`` is the queue of one ClusterQueue. Nothing in here awaits: what
happens is told to whoever called ``Queues.on_broadcast``. Upstream: pkg/cache/queue.
"""
