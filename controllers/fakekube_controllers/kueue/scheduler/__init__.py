"""The scheduling cycle: which of the first Workloads of all queues get quota, in which flavors, and
who is evicted for them.

Read ``cycle.py`` first: it decides, on a snapshot, and does nothing else. ``flavorassigner`` finds
flavors, ``preemption`` finds victims.

Upstream: pkg/scheduler. Left out: concurrent admission (alpha, off).
"""
