"""Binds through the API. Upstream: plugins/defaultbinder."""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import PodInfo


class DefaultBinder:
    """Bind."""

    name = "DefaultBinder"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._client = handle.client

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None when it is bound, else what the server said."""
        try:
            await self._client.bind(meta.name_of(pod.pod), meta.namespace_of(pod.pod), node_name, uid=pod.uid)
        except APIError as error:
            return Status(Code.ERROR, (str(error),), self.name)
        return None
