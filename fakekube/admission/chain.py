"""The chain of admission plugins: a mutating pass before validation, a validating pass after it.

Upstream: apiserver/pkg/admission/chain.go, kubernetes/pkg/kubeapiserver/options/plugins.go. Plugins
are loaded with the first write. Left out: ImagePolicyWebhook.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from fakekube.admission.plugin import Plugin
from fakekube.apimachinery.field_errors import go_quote
from fakekube.registry.attributes import Attributes
from fakekube.registry.lazy import Lazy, LazyField

if TYPE_CHECKING:
    from fakekube.admission.services import Services

PLUGINS: Mapping[str, str] = MappingProxyType({
    "AlwaysAdmit": "optional:AlwaysAdmit",
    "NamespaceAutoProvision": "optional:NamespaceAutoProvision",
    "NamespaceLifecycle": "namespace_lifecycle:NamespaceLifecycle",
    "NamespaceExists": "optional:NamespaceExists",
    "LimitPodHardAntiAffinityTopology": "optional_pods:LimitPodHardAntiAffinityTopology",
    "LimitRanger": "limit_ranger:LimitRanger",
    "ServiceAccount": "service_account:ServiceAccount",
    "NodeRestriction": "node_restriction:NodeRestriction",
    "TaintNodesByCondition": "defaults:TaintNodesByCondition",
    "AlwaysPullImages": "optional_pods:AlwaysPullImages",
    "ImagePolicyWebhook": "",
    "PodSecurity": "pod_security:PodSecurity",
    "PodNodeSelector": "optional_pods:PodNodeSelector",
    "Priority": "priority:Priority",
    "DefaultTolerationSeconds": "defaults:DefaultTolerationSeconds",
    "PodTolerationRestriction": "optional_pods:PodTolerationRestriction",
    "EventRateLimit": "event_rate_limit:EventRateLimit",
    "ExtendedResourceToleration": "optional_pods:ExtendedResourceToleration",
    "DefaultStorageClass": "defaults:DefaultStorageClass",
    "StorageObjectInUseProtection": "defaults:StorageObjectInUseProtection",
    "PodGroupProtection": "defaults:PodGroupProtection",
    "OwnerReferencesPermissionEnforcement": "optional:OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize": "claim_resize:PersistentVolumeClaimResize",
    "RuntimeClass": "runtime_class:RuntimeClass",
    "CertificateApproval": "certificates:CertificateApproval",
    "CertificateSigning": "certificates:CertificateSigning",
    "ClusterTrustBundleAttest": "certificates:ClusterTrustBundleAttest",
    "CertificateSubjectRestriction": "certificates:CertificateSubjectRestriction",
    "DefaultIngressClass": "defaults:DefaultIngressClass",
    "DenyServiceExternalIPs": "optional:DenyServiceExternalIPs",
    "PodTopologyLabels": "defaults:PodTopologyLabels",
    "PodGroupWorkloadExists": "groups_of_1_36:PodGroupWorkloadExists",
    "NodeDeclaredFeatureValidator": "declared_features:NodeDeclaredFeatureValidator",
    "JobValidation": "groups_of_1_36:JobValidation",
    "PodResizeValidator": "pod_resize:PodResizeValidator",
    "MutatingAdmissionPolicy": "configured:MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook": "configured:MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy": "configured:ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook": "configured:ValidatingAdmissionWebhook",
    "ResourceQuota": "resource_quota:ResourceQuota",
    "AlwaysDeny": "optional:AlwaysDeny",
})
"""Every plugin that upstream has in some release, in the order in which they run, and where it
stands below ``fakekube.admission``.

Those without a place are not modelled. A new plugin is a class and a
line here.
"""


OFF_BY_DEFAULT = (
    "AlwaysAdmit", "NamespaceAutoProvision", "NamespaceExists", "LimitPodHardAntiAffinityTopology", "NodeRestriction",
    "AlwaysPullImages", "PodNodeSelector", "PodTolerationRestriction", "EventRateLimit", "ExtendedResourceToleration",
    "OwnerReferencesPermissionEnforcement", "DenyServiceExternalIPs", "AlwaysDeny",
)
"""Plugins that somebody has to enable."""


class Passes(NamedTuple):
    """The plugins that see a kind of write, by pass."""

    mutating: tuple[Plugin, ...]
    validating: tuple[Plugin, ...]


class Chain:
    """Plugins in order.

    Which of them see a write is worked out once for each kind, operation and subresource.
    """

    plugins: LazyField[Sequence[Plugin]] = LazyField(())

    def __init__(self, plugins: Sequence[Plugin] | Lazy[Sequence[Plugin]]) -> None:
        self.plugins = plugins
        self._passes: dict[tuple[str, str, bool, str, str], Passes] = {}

    async def admit(self, attrs: Attributes) -> None:
        """The mutating pass: may change ``attrs.obj`` in place. Raises APIError to refuse."""
        plugins = self._plugins_for(attrs).mutating
        for plugin in plugins:
            pending = plugin.admit(attrs)
            if pending is not None:
                await pending
        again = attrs.reinvocation
        if again is not None and again.wanted:
            again.again = True
            for plugin in plugins:
                pending = plugin.admit(attrs)
                if pending is not None:
                    await pending

    async def validate(self, attrs: Attributes) -> None:
        """The validating pass, over the final object. Raises APIError to refuse."""
        for plugin in self._plugins_for(attrs).validating:
            pending = plugin.validate(attrs)
            if pending is not None:
                await pending

    def _plugins_for(self, attrs: Attributes) -> Passes:
        kind = attrs.kind
        key = (kind.group, kind.plural, kind.namespaced, attrs.operation, attrs.subresource)
        found = self._passes.get(key)
        if found is None:
            chosen = [plugin for plugin in self.plugins if plugin.handles(kind, attrs.operation, attrs.subresource)]
            found = self._passes[key] = Passes(
                tuple(plugin for plugin in chosen if type(plugin).admit is not Plugin.admit),
                tuple(plugin for plugin in chosen if type(plugin).validate is not Plugin.validate))
        return found


def check_names(names: Collection[str], *, flag: str = "disable-admission-plugins") -> None:
    """Refuse names that are no plugin's, as upstream words it.

    Raises:
        ValueError: naming each unknown plugin.
    """
    unknown = [f"{flag} plugin {go_quote(name)} is unknown" for name in names if name not in PLUGINS]
    if unknown:
        raise ValueError(unknown[0] if len(unknown) == 1 else f"[{', '.join(unknown)}]")


def check_plugins(*, disabled: Collection[str], enabled: Collection[str]) -> None:
    """Refuse names that are no plugin's, and such as are in both lists.

    Raises:
        ValueError: in upstream's words.
    """
    check_names(disabled)
    check_names(enabled, flag="enable-admission-plugins")
    both = [name for name in enabled if name in disabled]
    if both:
        raise ValueError(f"[{' '.join(both)}] in enable-admission-plugins and disable-admission-plugins overlapped")


UNMODELLED = "unmodelled:UnmodelledWarnings"
"""A plugin of our own, which runs last where it is asked for."""


def build_chain(
    *, disabled: Collection[str] = (), enabled: Collection[str] = (), service_accounts: Callable[[], bool] = lambda: True,
    services: "Callable[[], Services] | None" = None, warn_unmodelled: bool = False,
) -> Chain:
    """The plugins that are on by default, less those in ``disabled``, and those in ``enabled``.

    ``services`` gives what plugins may use of the server, at the first write; without it those that
    use something do nothing.

    ``service_accounts`` says whether somebody makes a ``default`` account in each namespace:
    without that the ServiceAccount plugin would refuse every pod, so it stays out. It is asked
    once, at the first write. ``warn_unmodelled``: whether answers warn of what has no effect here.

    Raises:
        ValueError: either holds a name that is no plugin's, or both hold the same.
    """
    check_plugins(disabled=disabled, enabled=enabled)

    def load() -> Sequence[Plugin]:
        off = [*disabled, *(name for name in OFF_BY_DEFAULT if name not in enabled)]
        if not service_accounts():
            off.append("ServiceAccount")
        made = [_made(where) for name, where in PLUGINS.items() if where and name not in off]
        if warn_unmodelled:
            made.append(_made(UNMODELLED))
        if services is not None:
            parts = services()
            for plugin in made:
                plugin.initialize(parts)
        return made

    return Chain(Lazy(load))


def _made(where: str) -> Plugin:
    module, _, name = where.partition(":")
    made: Plugin = getattr(import_module(f"fakekube.admission.{module}"), name)()
    return made
