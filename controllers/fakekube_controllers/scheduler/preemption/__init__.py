"""Which pods go so that others of higher priority fit, and how they are told.

Upstream: pkg/scheduler/framework/preemption, framework/plugins/defaultpreemption, KEP-5710.
"""
