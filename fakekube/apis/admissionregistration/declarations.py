"""The resources of admissionregistration.k8s.io.

Upstream: pkg/registry/admissionregistration/rest/storage_apiserver.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, API_EXTENSIONS, WHOLE, Deprecated, Group, Resource, Served, Sub
from fakekube.registry.kind import Printer
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy

VALIDATING = (
    Served("v1", since=30),
    Served("v1beta1", since=28, until=33, deprecated=Deprecated(31, 34)),
    Served("v1alpha1", since=26, until=31, deprecated=Deprecated(29, 32)),
)
MUTATING = (
    Served("v1", since=36, gate="MutatingAdmissionPolicy"),
    Served("v1beta1", since=34, deprecated=Deprecated(37, 40, "admissionregistration.k8s.io/v1")),
    Served("v1alpha1", since=32, deprecated=Deprecated(35, 38)),
)


def _admission(
    plural: str,
    kind: str,
    strategy: Lazy[Strategy],
    printer: Lazy[Printer],
    versions: tuple[Served, ...],
    *subresources: Sub,
) -> Resource:
    return Resource(
        plural=plural,
        kind=kind,
        metadata_checks=WHOLE,
        status_keeps_metadata=bool(subresources),
        strategy=strategy,
        printer=printer,
        versions=versions,
        namespaced=False,
        categories=API_EXTENSIONS,
        subresources=subresources,
        generation_since=ALWAYS,
        unconditional_update=False,
    )


GROUP = Group(
    "admissionregistration.k8s.io",
    16700,
    (
        _admission(
            "mutatingadmissionpolicies",
            "MutatingAdmissionPolicy",
            late.strategy("admissionregistration.mutatingadmissionpolicy"),
            late.printer("admissionregistration.printers:MUTATING_POLICY"),
            MUTATING,
        ),
        _admission(
            "mutatingadmissionpolicybindings",
            "MutatingAdmissionPolicyBinding",
            late.strategy("admissionregistration.mutatingadmissionpolicybinding"),
            late.printer("admissionregistration.printers:POLICY_BINDING"),
            MUTATING,
        ),
        _admission(
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            late.strategy("admissionregistration.mutatingwebhookconfiguration"),
            late.printer("admissionregistration.printers:WEBHOOK_CONFIGURATION"),
            (Served("v1"),),
        ),
        _admission(
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            late.strategy("admissionregistration.validatingadmissionpolicy"),
            late.printer("admissionregistration.printers:VALIDATING_POLICY"),
            VALIDATING,
            Sub("status", since=27),
        ),
        _admission(
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            late.strategy("admissionregistration.validatingadmissionpolicybinding"),
            late.printer("admissionregistration.printers:POLICY_BINDING"),
            VALIDATING,
        ),
        _admission(
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            late.strategy("admissionregistration.validatingwebhookconfiguration"),
            late.printer("admissionregistration.printers:WEBHOOK_CONFIGURATION"),
            (Served("v1"),),
        ),
    ),
    version_priorities={"v1beta1": 12, "v1alpha1": 9},
)
