"""What the reconciles of all autoscalers share: the caches, and what is kept from one reconcile to
the next.
"""

from typing import TYPE_CHECKING

from fakekube.client.resources import HORIZONTAL_POD_AUTOSCALERS, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.ownwrites import OwnWrites
from fakekube_controllers.podautoscaler.sources import Sources
from fakekube_controllers.podautoscaler.specs import Specs

if TYPE_CHECKING:
    from fakekube.apimachinery.labels import Selector
    from fakekube.apimachinery.meta import ObjectKey
    from fakekube_controllers.podautoscaler.behavior import ScaleHistory

NEWEST_MINOR = 37
CONSISTENCY_GATE = "StaleControllerConsistencyHPA"


class Shared:
    """``minor`` is the minor number of the cluster's release.

    ``selectors`` holds the pods that each autoscaler was last found to scale, ``histories`` its
    past recommendations and changes.
    """

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.minor = int(ctx.version.partition(".")[2] or NEWEST_MINOR)
        self.autoscalers, self.pods = ctx.lister(HORIZONTAL_POD_AUTOSCALERS), ctx.lister(PODS)
        self.own_writes = OwnWrites(ctx, CONSISTENCY_GATE, HORIZONTAL_POD_AUTOSCALERS)
        self.events = ctx.recorder("horizontal-pod-autoscaler")
        self.specs = Specs(
            Sources(ctx), self.pods, ctx.clock.time, pod_level=ctx.enabled("PodLevelResources"), minor=self.minor)
        self.selectors: dict[ObjectKey, Selector] = {}
        self.histories: dict[ObjectKey, ScaleHistory] = {}
