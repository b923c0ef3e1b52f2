"""Higher priority first, then the pod that was added first. Upstream: plugins/queuesort."""

from fakekube_controllers.scheduler.framework.interface import QueuedPodInfo


class PrioritySort:
    """QueueSort."""

    name = "PrioritySort"

    def sort_key(self, pod: QueuedPodInfo) -> tuple[int, float, int]:
        """Smaller goes first."""
        return (-pod.info.priority, pod.since, pod.sequence)
