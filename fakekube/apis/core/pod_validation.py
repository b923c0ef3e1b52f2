"""What is wrong with a new Pod: its spec, its annotations, and what a template would be allowed.

Upstream: ValidatePodCreate and validatePodMetadataAndSpec in pkg/apis/core/validation/validation.go. Left out: the old
annotations for seccomp and AppArmor.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core import podspec_memory
from fakekube.apis.core.containers_validation import validate_image_padding
from fakekube.apis.core.pod_annotations import MIRROR, validate_pod_annotations
from fakekube.apis.core.podspec_validation import POD, PodSpecOptions, validate_pod_spec
from fakekube.registry.strategy import WriteContext
from fakekube.registry.validation import nonnegative

NO_ACCOUNT = "must not be specified when serviceAccountName is not set"


def options_for(pod: Tree, ctx: WriteContext) -> PodSpecOptions:
    """How a Pod's own spec is to be looked at."""
    mirror = MIRROR in pod["metadata"].get("annotations", ())
    comparing = "tolerations" in pod["spec"] and ctx.cluster.gate("TaintTolerationComparisonOperators")
    return PodSpecOptions(is_pod=True, mirror=mirror, comparing_tolerations=comparing) if mirror or comparing else POD


def validate_create(pod: Tree, ctx: WriteContext) -> list[FieldError]:
    """A new Pod, metadata excepted."""
    spec = pod["spec"]
    found = validate_content(pod, ctx)
    if spec.get("ephemeralContainers"):
        found.append(field_errors.forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        what = "cannot be set until all schedulingGates have been cleared"
        found.append(field_errors.forbidden("spec.nodeName", what))
    return found


def validate_content(pod: Tree, ctx: WriteContext) -> list[FieldError]:
    """What holds for a Pod at any time."""
    spec = pod["spec"]
    found: list[FieldError] = []
    if annotations := pod["metadata"].get("annotations"):
        found += validate_pod_annotations(annotations, spec, "metadata.annotations")
    essence = ctx.essence = podspec_memory.essence(spec)
    found += validate_pod_spec(spec, "spec", options_for(pod, ctx), pod["metadata"].get("name", ""), essence)
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
