"""Higher priority first, then what was added first. Upstream: plugins/queuesort."""

from collections.abc import Mapping
from typing import Any

from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.queued import QueuedEntityInfo


class PrioritySort:
    """QueueSort."""

    name = "PrioritySort"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""

    def sort_key(self, entity: QueuedEntityInfo) -> tuple[int, float, int]:
        """Smaller goes first."""
        return (-entity.priority, entity.timestamp, entity.sequence)
