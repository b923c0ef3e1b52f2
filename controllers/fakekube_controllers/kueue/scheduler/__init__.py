"""The scheduling cycle: which of the first Workloads of all queues get quota, in which flavors, and
who is evicted for them.

``flavorassigner`` finds flavors, ``preemption`` finds victims.

Upstream: pkg/scheduler.
"""
