"""Groups of pods: what belongs together, whether enough of it is there, and where it goes.

Upstream: KEP-4671, KEP-6012, pkg/scheduler/schedule_one_podgroup.go.
"""
