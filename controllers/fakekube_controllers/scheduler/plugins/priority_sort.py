"""Higher priority first, then who waits longest. Upstream: plugins/queuesort."""

from fakekube_controllers.scheduler.framework.interface import QueuedPod


class PrioritySort:
    """QueueSort."""

    name = "PrioritySort"

    def sort_key(self, pod: QueuedPod) -> tuple[int, float, int]:
        """Smaller goes first."""
        return (-pod.info.priority, pod.since, pod.sequence)
