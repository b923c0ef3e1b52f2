"""The chain of admission plugins: a mutating pass before validation, a validating pass after it.

Upstream: apiserver/pkg/admission/chain.go, kubernetes/pkg/kubeapiserver/options/plugins.go. The plugins stand in
``defaults_on.py`` and are loaded with the first write. Left out: plugins that are off by default, configuration files.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from fakekube.admission.plugin import Plugin
from fakekube.apimachinery.field_errors import go_quote
from fakekube.registry.attributes import Attributes
from fakekube.registry.lazy import Lazy, LazyField

PLUGIN_NAMES = (
    "AlwaysAdmit", "NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists",
    "LimitPodHardAntiAffinityTopology", "LimitRanger", "ServiceAccount", "NodeRestriction",
    "TaintNodesByCondition", "AlwaysPullImages", "ImagePolicyWebhook", "PodSecurity", "PodNodeSelector",
    "Priority", "DefaultTolerationSeconds", "PodTolerationRestriction", "EventRateLimit",
    "ExtendedResourceToleration", "DefaultStorageClass", "StorageObjectInUseProtection", "PodGroupProtection",
    "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "RuntimeClass",
    "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction",
    "DefaultIngressClass", "DenyServiceExternalIPs", "PodTopologyLabels", "NodeDeclaredFeatureValidator",
    "PodResizeValidator", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny",
)
"""Every name that ``--disable-admission-plugins`` knows, in the order in which plugins run."""


class Passes(NamedTuple):
    """The plugins that see a kind of write, by pass."""

    mutating: tuple[Plugin, ...]
    validating: tuple[Plugin, ...]


class Chain:
    """Plugins in order. Which of them see a write is worked out once for each kind, operation and subresource."""

    plugins: LazyField[Sequence[Plugin]] = LazyField(())

    def __init__(self, plugins: Sequence[Plugin] | Lazy[Sequence[Plugin]]) -> None:
        self.plugins = plugins
        self._passes: dict[tuple[str, str, bool, str, str], Passes] = {}

    async def admit(self, attrs: Attributes) -> None:
        """The mutating pass: may change ``attrs.obj`` in place. Raises APIError to refuse."""
        for plugin in self._plugins_for(attrs).mutating:
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
    unknown = [f"{flag} plugin {go_quote(name)} is unknown" for name in names if name not in PLUGIN_NAMES]
    if unknown:
        raise ValueError(unknown[0] if len(unknown) == 1 else f"[{', '.join(unknown)}]")


def build_chain(*, disabled: Collection[str] = (), service_accounts: Callable[[], bool] = lambda: True) -> Chain:
    """The plugins that are on by default, less those in ``disabled``.

    ``service_accounts`` says whether somebody makes a ``default`` account in each namespace: without that the
    ServiceAccount plugin would refuse every pod, so it stays out. It is asked once, at the first write.

    Raises:
        ValueError: ``disabled`` holds a name that is no plugin's.
    """
    check_names(disabled)

    def load() -> Sequence[Plugin]:
        from fakekube.admission.defaults_on import plugins

        off = [*disabled, *([] if service_accounts() else ["ServiceAccount"])]
        return [plugin for plugin in plugins() if plugin.name not in off]

    return Chain(Lazy(load))
