"""Which plugins there are, in which order, which are on, and which writes each of them sees."""

import pytest

from fakekube.admission.chain import build_chain
from fakekube.admission.plugin import Plugin
from tests.admission.world import kind

ON = ["NamespaceLifecycle", "LimitRanger", "ServiceAccount", "TaintNodesByCondition", "PodSecurity", "Priority",
    "DefaultTolerationSeconds", "DefaultStorageClass", "StorageObjectInUseProtection", "PodGroupProtection",
    "PersistentVolumeClaimResize", "RuntimeClass", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction", "DefaultIngressClass", "PodTopologyLabels", "PodGroupWorkloadExists",
    "NodeDeclaredFeatureValidator", "JobValidation", "PodResizeValidator", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota"]
OFF = ["AlwaysAdmit", "NamespaceAutoProvision", "NamespaceExists", "LimitPodHardAntiAffinityTopology", "NodeRestriction",
    "AlwaysPullImages", "PodNodeSelector", "PodTolerationRestriction", "EventRateLimit", "ExtendedResourceToleration",
    "OwnerReferencesPermissionEnforcement", "DenyServiceExternalIPs", "AlwaysDeny"]
ORDER = ["AlwaysAdmit", "NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists", "LimitPodHardAntiAffinityTopology",
    "LimitRanger", "ServiceAccount", "NodeRestriction", "TaintNodesByCondition", "AlwaysPullImages", "PodSecurity",
    "PodNodeSelector", "Priority", "DefaultTolerationSeconds", "PodTolerationRestriction", "EventRateLimit",
    "ExtendedResourceToleration", "DefaultStorageClass", "StorageObjectInUseProtection", "PodGroupProtection",
    "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "RuntimeClass", "CertificateApproval",
    "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction", "DefaultIngressClass",
    "DenyServiceExternalIPs", "PodTopologyLabels", "PodGroupWorkloadExists", "NodeDeclaredFeatureValidator", "JobValidation",
    "PodResizeValidator", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny"]
CLUSTERS = {
    "nodes": "", "persistentvolumes": "", "namespaces": "", "priorityclasses": "scheduling.k8s.io",
    "certificatesigningrequests": "certificates.k8s.io", "clustertrustbundles": "certificates.k8s.io",
    "volumeattributesclasses": "storage.k8s.io", "validatingadmissionpolicies": "admissionregistration.k8s.io",
    "csinodes": "storage.k8s.io", "resourceslices": "resource.k8s.io"}
NAMESPACED = {
    "pods": "", "services": "", "persistentvolumeclaims": "", "configmaps": "", "events": "", "serviceaccounts": "",
    "ingresses": "networking.k8s.io", "podgroups": "scheduling.k8s.io", "jobs": "batch", "deployments": "apps",
    "localsubjectaccessreviews": "authorization.k8s.io", "leases": "coordination.k8s.io"}
VERSIONS = {"podgroups": "v1beta1"}
SUBRESOURCES = ("", "status", "binding", "resize", "ephemeralcontainers", "eviction", "token", "approval", "scale")
OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
Seen = dict[str, set[str]]


def made() -> dict[str, Plugin]:
    return {plugin.name: plugin for plugin in build_chain(enabled=OFF).plugins}


def seen(plugin: Plugin) -> Seen:
    """By resource, the operations that a plugin sees, with ``/`` and the sub-resource."""
    found: Seen = {}
    for plural, group in {**CLUSTERS, **NAMESPACED}.items():
        of = kind(group, VERSIONS.get(plural, "v1"), plural)
        found[plural] = {
            f"{operation}/{subresource}".rstrip("/") for operation in OPERATIONS for subresource in SUBRESOURCES
            if plugin.handles(of, operation, subresource)}
    return {plural: each for plural, each in found.items() if each}


def all_of(*operations: str) -> set[str]:
    return {f"{operation}/{subresource}".rstrip("/") for operation in operations for subresource in SUBRESOURCES}


def test_what_is_on_and_in_which_order() -> None:
    """Given no option / then upstream's plugins are on; given all that are off / then they stand
    among them in upstream's order.
    """
    assert [plugin.name for plugin in build_chain().plugins] == ON
    assert list(made()) == ORDER
    assert sorted(ORDER) == sorted(ON + OFF)


def test_without_accounts_their_plugin_stays_out() -> None:
    """Given nobody who makes accounts / then the plugin that wants them is out, also when enabled;
    the warnings of our own run last where they are asked for.
    """
    chain = build_chain(service_accounts=lambda: False, enabled=["ServiceAccount"], disabled=["Priority"], warn_unmodelled=True)
    expected = [name for name in ON if name not in ("ServiceAccount", "Priority")]
    assert [plugin.name for plugin in chain.plugins] == [*expected, "UnmodelledWarnings"]


@pytest.mark.parametrize(("enabled", "disabled", "text"), [
    (["a"], [], 'enable-admission-plugins plugin "a" is unknown'),
    ([], ["a", "Priority", "b"],
     '[disable-admission-plugins plugin "a" is unknown, disable-admission-plugins plugin "b" is unknown]'),
    (["Priority", "AlwaysDeny"], ["AlwaysDeny", "Priority"],
     "[Priority AlwaysDeny] in enable-admission-plugins and disable-admission-plugins overlapped"),
])
def test_names_that_cannot_be_meant(enabled: list[str], disabled: list[str], text: str) -> None:
    """Given names that are no plugin's, or in both lists / then they are refused in upstream's
    words.
    """
    with pytest.raises(ValueError, match="plugin") as caught:
        build_chain(enabled=enabled, disabled=disabled)
    assert str(caught.value) == text


WRITES = {"CREATE", "UPDATE"}
SIGNING = "certificatesigningrequests"
POD_TEMPLATES = ("jobs", "deployments")
EACH: dict[str, Seen] = {
    "AlwaysAdmit": {},
    "AlwaysDeny": {plural: all_of(*OPERATIONS) for plural in (*CLUSTERS, *NAMESPACED)},
    "AlwaysPullImages": {"pods": WRITES},
    "CertificateApproval": {SIGNING: {"UPDATE/approval"}},
    "CertificateSigning": {SIGNING: {"UPDATE/status"}},
    "CertificateSubjectRestriction": {SIGNING: {"CREATE"}},
    "ClusterTrustBundleAttest": {"clustertrustbundles": all_of("CREATE", "UPDATE")},
    "DefaultIngressClass": {"ingresses": {"CREATE"}},
    "DefaultStorageClass": {"persistentvolumeclaims": {"CREATE"}},
    "DefaultTolerationSeconds": {"pods": WRITES},
    "DenyServiceExternalIPs": {"services": WRITES},
    "EventRateLimit": {"events": all_of("CREATE", "UPDATE")},
    "ExtendedResourceToleration": {"pods": WRITES},
    "JobValidation": {"jobs": {"UPDATE"}},
    "LimitPodHardAntiAffinityTopology": {"pods": WRITES},
    "LimitRanger": {"pods": {"CREATE", "UPDATE/resize"}, "persistentvolumeclaims": WRITES},
    "NamespaceAutoProvision": {plural: all_of("CREATE") for plural in NAMESPACED},
    "NamespaceExists": {plural: all_of("CREATE", "UPDATE", "DELETE") for plural in NAMESPACED},
    "NamespaceLifecycle": {
        **{plural: all_of("CREATE") for plural in NAMESPACED if plural != "localsubjectaccessreviews"},
        "namespaces": all_of("DELETE")},
    "NodeDeclaredFeatureValidator": {"pods": {"UPDATE", "UPDATE/resize"}, "resourceslices": all_of("CREATE", "UPDATE")},
    "NodeRestriction": {
        plural: all_of("CREATE", "UPDATE", "DELETE") for plural in (
            "pods", "nodes", "persistentvolumeclaims", "serviceaccounts", "leases", "csinodes", "resourceslices")},
    "OwnerReferencesPermissionEnforcement": {
        plural: all_of("CREATE", "UPDATE") - ({"CREATE/status", "UPDATE/status"} if plural == "pods" else set())
        for plural in (*CLUSTERS, *NAMESPACED)},
    "PersistentVolumeClaimResize": {"persistentvolumeclaims": {"UPDATE"}},
    "PodGroupProtection": {"podgroups": {"CREATE"}},
    "PodGroupWorkloadExists": {"podgroups": {"CREATE"}},
    "PodNodeSelector": {"pods": {"CREATE"}},
    "PodResizeValidator": {"pods": {"UPDATE/resize"}},
    "PodSecurity": {
        "pods": {f"{operation}{below}" for operation in WRITES for below in ("", "/resize", "/ephemeralcontainers")},
        "namespaces": WRITES, **dict.fromkeys(POD_TEMPLATES, WRITES)},
    "PodTolerationRestriction": {"pods": WRITES},
    "PodTopologyLabels": {"pods": {"CREATE", "CREATE/binding"}},
    "Priority": {"pods": WRITES, "priorityclasses": WRITES, "podgroups": {"CREATE"}},
    "ResourceQuota": {
        **{plural: {"CREATE"} for plural in NAMESPACED if plural != "events"},
        "pods": {"CREATE", "UPDATE", "UPDATE/resize"}, "services": WRITES, "persistentvolumeclaims": WRITES},
    "RuntimeClass": {"pods": {"CREATE"}},
    "ServiceAccount": {"pods": {"CREATE", "UPDATE/ephemeralcontainers"}},
    "StorageObjectInUseProtection": {key: {"CREATE"} for key in ("persistentvolumeclaims", "persistentvolumes",
        "volumeattributesclasses")},
    "TaintNodesByCondition": {"nodes": {"CREATE"}},
}
CONFIGURED = {
    "MutatingAdmissionPolicy": ("CREATE", "UPDATE", "CONNECT"), "MutatingAdmissionWebhook": OPERATIONS,
    "ValidatingAdmissionPolicy": OPERATIONS, "ValidatingAdmissionWebhook": OPERATIONS}


def test_which_writes_each_plugin_sees() -> None:
    """Given kinds of all sorts, every operation and sub-resource / then each plugin sees exactly
    what upstream's does; those that are configured see all but their own configuration.
    """
    configured = {
        name: {
            plural: all_of(*operations) for plural in (*CLUSTERS, *NAMESPACED) if plural != "validatingadmissionpolicies"}
        for name, operations in CONFIGURED.items()}
    assert {name: seen(plugin) for name, plugin in made().items()} == {**EACH, **configured}


def test_the_base_of_all_plugins_does_nothing() -> None:
    """Given a plugin that overrides nothing / then it sees nothing."""
    assert seen(Plugin()) == {}
