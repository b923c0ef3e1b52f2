"""What both ways of preemption go by. Upstream: pkg/scheduler/preemption/common."""
