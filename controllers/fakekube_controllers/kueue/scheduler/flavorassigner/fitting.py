"""Whether a flavor may serve podsets at all, and whether an amount of one resource fits into it.

Upstream: checkFlavorForPodSets, flavorSelector, fitsResourceQuota of
pkg/scheduler/flavorassigner/flavorassigner.go.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from fakekube.apimachinery import placement
from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
from fakekube_controllers.kueue.cache.spec import NEVER
from fakekube_controllers.kueue.resources import FlavorResource, add, amount_quantity, resource_quantity, subtract
from fakekube_controllers.kueue.scheduler.flavorassigner.attempts import EXCEEDS_MAX_QUOTA, WAITING_FOR_QUOTA
from fakekube_controllers.kueue.scheduler.flavorassigner.granular import OF_POSSIBILITY, PreemptionMode
from fakekube_controllers.kueue.scheduler.preemption.classical.hierarchical_preemption import (
    find_height_of_lowest_subtree_that_fits,
)
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility
from fakekube_controllers.kueue.workload.info import Info

_EFFECTS = ("NoSchedule", "NoExecute")


class Oracle(Protocol):
    """Says what preemption would come to. Upstream: preemptionOracle."""

    def simulate_preemption(
        self, cq: ClusterQueueSnapshot, info: Info, fr: FlavorResource, quantity: int,
    ) -> tuple[PreemptionPossibility, int]:
        """Whether there are victims, and from how high up in the tree quota is borrowed then."""


class Fit(NamedTuple):
    """Whether an amount fits, and from how high up quota comes; if not at once, why."""

    mode: PreemptionMode
    borrow: int
    text: str = ""
    no_fit_reason: str = ""


def mismatch(flavor: ReadOnlyTree, spec: ReadOnlyTree) -> str:
    """Why the nodes of a flavor do not take pods with this spec; empty if they do."""
    name, offered = flavor["metadata"]["name"], flavor.get("spec") or NOTHING
    taints = offered.get("nodeTaints")
    if taints:
        tolerations = [*(spec.get("tolerations") or ()), *(offered.get("tolerations") or ())]
        taint = placement.untolerated(taints, tolerations, _EFFECTS)
        if taint is not None:
            return f"untolerated taint {{{taint['key']} {taint.get('value', '')} {taint['effect']} <nil>}} in flavor {name}"
    labels = offered.get("nodeLabels") or NOTHING
    if not placement.selects(_narrowed(spec, labels), "", labels):
        return f"flavor {name} doesn't match node affinity"
    return ""


def _narrowed(spec: ReadOnlyTree, keys: Collection[str]) -> Tree:
    """What a spec says of the labels that a flavor has. A term that says nothing of them takes any
    flavor, and so do all: one of them is enough.
    """
    result: Tree = {}
    if selector := spec.get("nodeSelector"):
        result["nodeSelector"] = {key: value for key, value in selector.items() if key in keys}
    required = placement.node_affinity(spec).get("requiredDuringSchedulingIgnoredDuringExecution") or NOTHING
    terms = [
        [each for each in term.get("matchExpressions") or () if each["key"] in keys]
        for term in required.get("nodeSelectorTerms") or ()]
    if terms and all(terms):
        listed: Sequence[Tree] = [{"matchExpressions": term} for term in terms]
        result["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": listed}}}
    return result


def fits_resource_quota(
    cq: ClusterQueueSnapshot, info: Info, oracle: Oracle, fr: FlavorResource, assumed: int, request: int, *,
    is_fair_sharing: bool,
) -> Fit:
    """Whether a request fits beside ``assumed``, what podsets before take of the same."""
    total, most = add(assumed, request), cq.potential_available(fr)
    if total > most:
        return Fit(PreemptionMode.NO_FIT, 0, (
            f"insufficient quota for {fr.resource} in flavor {fr.flavor}, previously considered podsets requests "
            f"({amount_quantity(fr.resource, assumed)}) + current podset request ({resource_quantity(fr.resource, request)}) > "
            f"maximum capacity ({amount_quantity(fr.resource, most)})"), EXCEEDS_MAX_QUOTA)
    borrow, may_reclaim = find_height_of_lowest_subtree_that_fits(cq, fr, total)
    left = cq.available(fr)
    if total <= left:
        return Fit(PreemptionMode.FIT, borrow)
    text = (
        f"insufficient unused quota for {fr.resource} in flavor {fr.flavor}, "
        f"{amount_quantity(fr.resource, subtract(total, left))} more needed")
    if cq.quota_for(fr).nominal >= total or may_reclaim or _can_preempt_while_borrowing(cq, is_fair_sharing=is_fair_sharing):
        possibility, borrow = oracle.simulate_preemption(cq, info, fr, total)
        return Fit(OF_POSSIBILITY[possibility], borrow, text)
    return Fit(PreemptionMode.NO_FIT, borrow, text, WAITING_FOR_QUOTA)


def _can_preempt_while_borrowing(cq: ClusterQueueSnapshot, *, is_fair_sharing: bool) -> bool:
    within_cohort = cq.preemption.borrow_within_cohort
    if within_cohort is not None and within_cohort.policy != NEVER:
        return True
    return is_fair_sharing and cq.preemption.reclaim_within_cohort != NEVER
