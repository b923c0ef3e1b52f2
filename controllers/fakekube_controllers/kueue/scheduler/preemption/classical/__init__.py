"""Preemption by priorities and quotas. Upstream: pkg/scheduler/preemption/classical."""
