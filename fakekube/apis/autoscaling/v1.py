"""HorizontalPodAutoscalers of autoscaling/v1, which knows the share of cpu alone; the rest is in
annotations.

Defaults are the version's own, everything else is looked at as v2 has it. Upstream:
pkg/apis/autoscaling/v1/defaults.go.
"""

from fakekube.apimachinery.types import Tree
from fakekube.apis.autoscaling import conversion, horizontalpodautoscaler
from fakekube.apis.converting import ConvertingStrategy
from fakekube.registry.strategy import WriteContext


class FirstVersionStrategy(ConvertingStrategy):
    """What is particular to the older version."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """One replica, and 80 % of the cpu where nothing else is asked for.

        The annotations are those of what the object says: it is of no version once it is read.
        """
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if conversion.METRICS not in ((obj.get("metadata") or {}).get("annotations") or ()):
            spec.setdefault("targetCPUUtilizationPercentage", conversion.DEFAULT_CPU_PERCENT)
        self._bring_back(obj, self._shown(obj))


STRATEGY = FirstVersionStrategy(horizontalpodautoscaler.STRATEGY, conversion.to_v2, conversion.from_v2)
