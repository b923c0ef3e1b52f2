"""The scheduling cycle: which of the first Workloads of all queues get quota, in which flavors, and
who is evicted for them.

Read ``cycle.py`` first: it decides, on a snapshot, and does nothing else. ``scheduler.py`` asks for
the heads, carries out what was decided and puts back who was not admitted. ``flavorassigner`` finds
flavors, ``preemption`` finds victims.

Upstream: pkg/scheduler. Left out: concurrent admission and preemption gates (alpha, off).
"""
