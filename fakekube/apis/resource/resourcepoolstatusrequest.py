"""ResourcePoolStatusRequest: a question about a pool of devices, which a controller answers in the
status, once.

Upstream: pkg/registry/resource/resourcepoolstatusrequest. Left out: validation, and the controller.
"""

from fakekube.apimachinery.types import Tree
from fakekube.apis.base import StatusStrategy
from fakekube.registry.strategy import WriteContext


class ResourcePoolStatusRequestStrategy(StatusStrategy):
    """Before the answer there is no status at all."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        """None."""
        return None


STRATEGY = ResourcePoolStatusRequestStrategy()
