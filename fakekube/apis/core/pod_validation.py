"""What is wrong with a Pod: its spec, its annotations, and what a template would be allowed.

Upstream: ValidatePodCreate and validatePodMetadataAndSpec in
pkg/apis/core/validation/validation.go.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative
from fakekube.apis.core.containers_validation import validate_image_padding
from fakekube.apis.core.pod_annotations import MIRROR, validate_pod_annotations
from fakekube.apis.core.pod_profiles import has_profiles, validate_profiles_match
from fakekube.apis.core.podspec_acceptance import accepts_pod_spec
from fakekube.apis.core.podspec_validation import PodSpecOptions, pod_spec_errors, template_options
from fakekube.registry.strategy import WriteContext

NO_ACCOUNT = "must not be specified when serviceAccountName is not set"


def validate_create(pod: Tree, ctx: WriteContext) -> list[FieldError]:
    """A new Pod, metadata excepted."""
    spec = pod["spec"]
    found = validate_content(pod, ctx)
    if spec.get("ephemeralContainers"):
        found.append(field_errors.forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        what = "cannot be set until all schedulingGates have been cleared"
        found.append(field_errors.forbidden("spec.nodeName", what))
    annotations = pod["metadata"].get("annotations")
    return found + validate_profiles_match(annotations, spec, "spec") if has_profiles(annotations) else found


def validate_content(pod: Tree, ctx: WriteContext) -> list[FieldError]:
    """What holds for a Pod at any time."""
    spec, annotations = pod["spec"], pod["metadata"].get("annotations")
    found = validate_pod_annotations(annotations, spec, "metadata.annotations") if annotations else []
    if accepts_pod_spec(spec):
        return found
    options = template_options(ctx)._replace(is_pod=True, mirror=MIRROR in (annotations or ()))
    return found + own_spec_errors(spec, options, pod["metadata"].get("name", ""))


def own_spec_errors(spec: Tree, options: PodSpecOptions, pod_name: str) -> list[FieldError]:
    """All that is wrong with the spec of a Pod, in order, of which more is refused than of a
    template's.
    """
    found = pod_spec_errors(spec, "spec", options, pod_name)
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
