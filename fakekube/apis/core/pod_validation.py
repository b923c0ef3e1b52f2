"""What is wrong with a Pod: its spec, its annotations, and what a template would be allowed.

Most pods come from templates, so what is a pure function of a spec is worked out once for all that have it. Upstream:
ValidatePodCreate and validatePodMetadataAndSpec in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

import orjson

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core import podresources, podspec_gates, podspec_memory
from fakekube.apis.core.containers_validation import validate_image_padding
from fakekube.apis.core.pod_annotations import MIRROR, validate_pod_annotations
from fakekube.apis.core.pod_profiles import has_profiles, validate_profiles_match
from fakekube.apis.core.podspec_validation import SPREAD_MERGE, PodSpecOptions, validate_names, validate_pod_spec
from fakekube.registry.strategy import WriteContext
from fakekube.registry.validation import nonnegative
from fakekube.util.memory import memoized

NO_ACCOUNT = "must not be specified when serviceAccountName is not set"
Sort = tuple[bool, bool, bool, bool]
"""Whether a Pod is a mirror, and what feature gates say of what it has: tolerations that compare, a container that restarts all,
label keys that are merged into the selectors of spreading.
"""
OPTIONS: Mapping[Sort, PodSpecOptions] = MappingProxyType({
    (mirror, comparing, restarting, merging): PodSpecOptions(
        is_pod=True, mirror=mirror, comparing_tolerations=comparing, restarting_all=restarting, merging_spread=merging)
    for mirror, comparing, restarting, merging in product((False, True), repeat=4)})


class Facts(NamedTuple):
    """What there is to know about the spec of a Pod, but for what ``podspec_memory.VARYING`` names.

    ``plain``: nothing of it is the business of feature gates, of the pod's labels or of pod-level resources. ``fine``:
    nothing is wrong with it.
    """

    plain: bool
    fine: bool
    qos_class: str


def facts_of(pod: Tree, ctx: WriteContext) -> Facts:
    """The facts about a Pod's spec as it is now. Its essence is left in the context."""
    spec = pod["spec"]
    ctx.essence = podspec_memory.essence(spec)
    return known_facts(pod, ctx)


def known_facts(pod: Tree, ctx: WriteContext) -> Facts:
    """The same about a new Pod whose essence may have been worked out before."""
    if not ctx.essence:
        return facts_of(pod, ctx)
    return _facts(ctx.essence, _sort(pod, ctx))


@memoized(256)
def _facts(essence: bytes, sort: Sort) -> Facts:
    options = OPTIONS[sort]
    spec, gated = orjson.loads(essence), orjson.loads(essence)
    podspec_gates.drop_disabled(gated, None, lambda _: False)
    plain = gated == spec and "resources" not in spec and b"atchLabelKeys" not in essence
    makes_claims = any("ephemeral" in volume for volume in spec.get("volumes", ()))  # named after the pod
    fine = not makes_claims and not _own_spec(spec, options, "", essence)
    return Facts(plain, fine, podresources.qos_class(spec))


def options_for(pod: Tree, ctx: WriteContext) -> PodSpecOptions:
    """How a Pod's own spec is to be looked at."""
    return OPTIONS[_sort(pod, ctx)]


def _sort(pod: Tree, ctx: WriteContext) -> Sort:
    spec, gate = pod["spec"], ctx.cluster.gate
    comparing = "tolerations" in spec and gate("TaintTolerationComparisonOperators")
    merging = "topologySpreadConstraints" not in spec or gate(SPREAD_MERGE)
    restarting = gate("RestartAllContainersOnContainerExits")
    return MIRROR in pod["metadata"].get("annotations", ()), comparing, restarting, merging


def validate_create(pod: Tree, ctx: WriteContext) -> list[FieldError]:
    """A new Pod, metadata excepted."""
    spec = pod["spec"]
    found = validate_content(pod, ctx, ctx.facts)
    if spec.get("ephemeralContainers"):
        found.append(field_errors.forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        what = "cannot be set until all schedulingGates have been cleared"
        found.append(field_errors.forbidden("spec.nodeName", what))
    annotations = pod["metadata"].get("annotations")
    return found + validate_profiles_match(annotations, spec, "spec") if has_profiles(annotations) else found


def validate_content(pod: Tree, ctx: WriteContext, facts: Facts | None = None) -> list[FieldError]:
    """What holds for a Pod at any time. ``facts`` are those about its spec, if they are known."""
    spec = pod["spec"]
    annotations = pod["metadata"].get("annotations")
    found = validate_pod_annotations(annotations, spec, "metadata.annotations") if annotations else []
    if (facts or facts_of(pod, ctx)).fine:
        return found + validate_names(spec, "spec")
    return found + _own_spec(spec, options_for(pod, ctx), pod["metadata"].get("name", ""), ctx.essence)


def _own_spec(spec: Tree, options: PodSpecOptions, pod_name: str, essence: bytes) -> list[FieldError]:
    """The spec of a Pod, which is refused more than that of a template."""
    found = validate_pod_spec(spec, "spec", options, pod_name, essence)
    if not spec.get("serviceAccountName"):
        found += _without_account(spec)
    found += nonnegative("spec.terminationGracePeriodSeconds", spec.get("terminationGracePeriodSeconds"))
    for field in ("containers", "initContainers"):
        for position, container in enumerate(spec.get(field) or ()):
            found += validate_image_padding(container, f"spec.{field}[{position}]")
    return found


def _without_account(spec: Tree) -> list[FieldError]:
    """A token needs somebody whom it is for."""
    found: list[FieldError] = []
    for position, volume in enumerate(spec.get("volumes", ())):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if "serviceAccountToken" in source:
                here = f"spec.volumes[{position}].projected.sources[{number}].serviceAccountToken"
                found.append(field_errors.forbidden(here, NO_ACCOUNT))
    return found
