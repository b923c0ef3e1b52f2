"""The resources of admissionregistration.k8s.io.

Upstream: pkg/registry/admissionregistration/rest/storage_apiserver.go.
"""

from fakekube.apis.admissionregistration import (
    mutatingadmissionpolicy,
    mutatingadmissionpolicybinding,
    mutatingwebhookconfiguration,
    printers,
    validatingadmissionpolicy,
    validatingadmissionpolicybinding,
    validatingwebhookconfiguration,
)
from fakekube.apis.declaration import ALWAYS, API_EXTENSIONS, Group, Resource, Served, Sub
from fakekube.registry.kind import Printer
from fakekube.registry.strategy import Strategy

VALIDATING = (
    Served("v1", since=30),
    Served("v1beta1", since=28, until=33),
    Served("v1alpha1", since=26, until=31),
)
MUTATING = (
    Served("v1", since=36, gate="MutatingAdmissionPolicy"),
    Served("v1beta1", since=34),
    Served("v1alpha1", since=32),
)


def _admission(
    plural: str,
    kind: str,
    strategy: Strategy,
    printer: Printer,
    versions: tuple[Served, ...],
    *subresources: Sub,
) -> Resource:
    return Resource(
        plural=plural,
        kind=kind,
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
            mutatingadmissionpolicy.STRATEGY,
            printers.MUTATING_POLICY,
            MUTATING,
        ),
        _admission(
            "mutatingadmissionpolicybindings",
            "MutatingAdmissionPolicyBinding",
            mutatingadmissionpolicybinding.STRATEGY,
            printers.POLICY_BINDING,
            MUTATING,
        ),
        _admission(
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            mutatingwebhookconfiguration.STRATEGY,
            printers.WEBHOOK_CONFIGURATION,
            (Served("v1"),),
        ),
        _admission(
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            validatingadmissionpolicy.STRATEGY,
            printers.VALIDATING_POLICY,
            VALIDATING,
            Sub("status", since=27),
        ),
        _admission(
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            validatingadmissionpolicybinding.STRATEGY,
            printers.POLICY_BINDING,
            VALIDATING,
        ),
        _admission(
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            validatingwebhookconfiguration.STRATEGY,
            printers.WEBHOOK_CONFIGURATION,
            (Served("v1"),),
        ),
    ),
)
