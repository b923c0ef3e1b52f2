"""Preemption by dominant resource shares. Upstream: pkg/scheduler/preemption/fairsharing."""
