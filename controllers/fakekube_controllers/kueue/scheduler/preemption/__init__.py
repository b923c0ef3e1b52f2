"""Whom to evict so that a Workload fits: pure functions over a snapshot, and the writing of it.

Read ``preemptor.py`` first. ``classical`` chooses by priorities and quotas, ``fairsharing`` by
shares; both leave the snapshot as it was. ``issuing.py`` evicts who was chosen.

Upstream: pkg/scheduler/preemption.
"""
