"""What a pod of a podset requests, as quotas count it: excluded resources left out, others
transformed.

Upstream: pkg/workload/workload.go (dropExcludedResources, applyResourceTransformations), the
``resources`` of the configuration.
"""

from collections.abc import Mapping, Sequence

from fakekube.apimachinery import pod_resources, quantity
from fakekube.apimachinery.pod_resources import Sum
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.configuration import RETAIN, ResourceTransformation
from fakekube_controllers.kueue.resources import Requests


def pod_set_requests(
    spec: ReadOnlyTree, excluded_prefixes: Sequence[str], transformations: Mapping[str, ResourceTransformation],
) -> Requests:
    """What a pod with this spec requests of quotas."""
    total = pod_resources.requests({"spec": spec})
    if excluded_prefixes:
        total = {name: found for name, found in total.items() if not name.startswith(tuple(excluded_prefixes))}
    if transformations and not transformations.keys().isdisjoint(total):
        total = _transformed(total, transformations)
    return resources.requests_from_sum(total)


def _transformed(total: Sum, transformations: Mapping[str, ResourceTransformation]) -> Sum:
    """What is generated is summed up by itself, and never less than nothing: a negative output
    takes away from other outputs and from nothing else.
    """
    retained: Sum = {}
    generated: dict[str, int] = {}
    for name, (nano, form) in total.items():
        transformation = transformations.get(name)
        if transformation is None:
            retained[name] = nano, form
            continue
        amount = nano
        if transformation.multiply_by in total:
            amount = _product(nano, total[transformation.multiply_by][0])
        for output, factor in transformation.outputs.items():
            generated[output] = generated.get(output, 0) + _product(amount, quantity.parse(factor).nano)
        if transformation.strategy == RETAIN:
            retained[name] = nano, form
    for output, amount in generated.items():
        before, form = retained.get(output, (0, quantity.DECIMAL))
        retained[output] = before + max(amount, 0), form
    return retained


def _product(left: int, right: int) -> int:
    """Of two amounts in billionths, in billionths, rounded up."""
    return -(-left * right // quantity.NANO)
