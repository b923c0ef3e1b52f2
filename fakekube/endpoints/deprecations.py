"""Kinds that warn whoever still uses them. Upstream: apiserver/pkg/endpoints/deprecation and the lifecycle marks of
k8s.io/api.

The table holds what some release from 1.25 on serves: since which minor a kind is deprecated, in which it is gone (0
for never), and what to use instead.
"""

from typing import NamedTuple

from fakekube.registry.kind import Kind


class Mark(NamedTuple):
    """``since`` and ``gone`` are minor numbers; ``instead`` is an apiVersion of the same kind, or both."""

    since: int
    gone: int = 0
    instead: str = ""


MARKS = {
    ("v1", "ComponentStatus"): Mark(19),
    ("v1", "Endpoints"): Mark(33, 0, "discovery.k8s.io/v1 EndpointSlice"),
    ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy"): Mark(35, 38),
    ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding"): Mark(35, 38),
    ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicy"): Mark(29, 32),
    ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding"): Mark(29, 32),
    ("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy"): Mark(37, 40,
    "admissionregistration.k8s.io/v1"),
    ("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicyBinding"): Mark(37, 40,
    "admissionregistration.k8s.io/v1"),
    ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy"): Mark(31, 34),
    ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding"): Mark(31, 34),
    ("authentication.k8s.io/v1alpha1", "SelfSubjectReview"): Mark(29, 32),
    ("authentication.k8s.io/v1beta1", "SelfSubjectReview"): Mark(30, 33),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler"): Mark(23, 26, "autoscaling/v2"),
    ("certificates.k8s.io/v1alpha1", "ClusterTrustBundle"): Mark(34, 37),
    ("certificates.k8s.io/v1beta1", "ClusterTrustBundle"): Mark(37, 40, "certificates.k8s.io/v1"),
    ("certificates.k8s.io/v1beta1", "PodCertificateRequest"): Mark(37, 40, "certificates.k8s.io/v1"),
    ("coordination.k8s.io/v1alpha2", "LeaseCandidate"): Mark(35, 38),
    ("coordination.k8s.io/v1beta1", "LeaseCandidate"): Mark(36, 39),
    ("flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema"): Mark(23, 26, "flowcontrol.apiserver.k8s.io/v1beta3"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration"): Mark(23, 26,
    "flowcontrol.apiserver.k8s.io/v1beta3"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema"): Mark(26, 29, "flowcontrol.apiserver.k8s.io/v1beta3"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration"): Mark(26, 29,
    "flowcontrol.apiserver.k8s.io/v1beta3"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema"): Mark(29, 32, "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration"): Mark(29, 32,
    "flowcontrol.apiserver.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "IPAddress"): Mark(34, 37),
    ("networking.k8s.io/v1beta1", "ServiceCIDR"): Mark(34, 37),
    ("resource.k8s.io/v1alpha3", "DeviceTaintRule"): Mark(36, 39),
    ("resource.k8s.io/v1beta1", "DeviceClass"): Mark(35, 38),
    ("resource.k8s.io/v1beta1", "ResourceClaim"): Mark(35, 38),
    ("resource.k8s.io/v1beta1", "ResourceClaimTemplate"): Mark(35, 38),
    ("resource.k8s.io/v1beta1", "ResourceSlice"): Mark(35, 38),
    ("resource.k8s.io/v1beta2", "DeviceClass"): Mark(36, 39),
    ("resource.k8s.io/v1beta2", "ResourceClaim"): Mark(36, 39),
    ("resource.k8s.io/v1beta2", "ResourceClaimTemplate"): Mark(36, 39),
    ("resource.k8s.io/v1beta2", "ResourceSlice"): Mark(36, 39),
    ("storage.k8s.io/v1alpha1", "VolumeAttributesClass"): Mark(32, 35, "storage.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "CSIStorageCapacity"): Mark(24, 27, "storage.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "VolumeAttributesClass"): Mark(34, 37, "storage.k8s.io/v1"),
    ("storagemigration.k8s.io/v1beta1", "StorageVersionMigration"): Mark(37, 40, "storagemigration.k8s.io/v1"),
}


def warning(kind: Kind, release: str) -> str:
    """What every answer of a kind's endpoints warns of under a release like ``1.37``; mostly nothing."""
    mark = MARKS.get((kind.api_version, kind.kind))
    if mark is None or mark.since > int(release.split(".")[1]):
        return ""
    gone = f", unavailable in v1.{mark.gone}+" if mark.gone else ""
    instead = mark.instead if " " in mark.instead or not mark.instead else f"{mark.instead} {kind.kind}"
    use = f"; use {instead}" if instead else ""
    return f"{kind.api_version} {kind.kind} is deprecated in v1.{mark.since}+{gone}{use}"
