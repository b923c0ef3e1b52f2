"""The plugins that do nothing until somebody configures them: webhooks and policies.

What they are made of is loaded with the first configuration; until then a write costs each of them
one look. Upstream: plugin/webhook/{mutating,validating}/plugin.go, plugin/policy/{mutating,
validating}/plugin.go.
"""

from collections.abc import Awaitable
from importlib import import_module
from typing import Any

from fakekube.admission.plugin import Plugin
from fakekube.admission.services import Services
from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

CONFIGURATIONS = "admissionregistration.k8s.io"


class Configured(Plugin):
    """One of these plugins: ``where`` does its work once there is an object of ``resource``."""

    where = ""
    resource = GroupResource(CONFIGURATIONS, "")

    def __init__(self) -> None:
        self._services: Services | None = None
        self._made: Any = None

    def initialize(self, services: Services) -> None:
        """Read configurations from the server."""
        self._services = services

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Everything but what configures admission."""
        return kind.group != CONFIGURATIONS

    def at_work(self) -> Any:
        """What does the work; None while nothing is configured."""
        if self._made is None and self._services is not None:
            bucket = self._services.buckets.existing(self.resource)
            if bucket is not None and len(bucket):
                module, _, name = self.where.partition(":")
                self._made = getattr(import_module(f"fakekube.admission.{module}"), name)(self._services)
        return self._made


class MutatingAdmissionPolicy(Configured):
    """Evaluates the MutatingAdmissionPolicies that match a write."""

    name, where = "MutatingAdmissionPolicy", "policy.mutating:MutatingPolicies"
    resource = GroupResource(CONFIGURATIONS, "mutatingadmissionpolicybindings")

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """What has an object to change, but for what configures admission."""
        return operation != "DELETE" and super().handles(kind, operation, subresource)

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        """Let every policy change the object. Raises APIError when one fails."""
        policies = self.at_work()
        pending: Awaitable[None] | None = policies.admit(attrs) if policies is not None else None
        return pending


class MutatingAdmissionWebhook(Configured):
    """Asks the webhooks of MutatingWebhookConfigurations."""

    name, where = "MutatingAdmissionWebhook", "webhook.mutating:MutatingWebhooks"
    resource = GroupResource(CONFIGURATIONS, "mutatingwebhookconfigurations")

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        """Ask every webhook that wants to know. Raises APIError of the first that refuses."""
        webhooks = self._made or self.at_work()
        hooks = webhooks.hooks.covering(attrs) if webhooks is not None else ()
        pending: Awaitable[None] | None = webhooks.admit(attrs, hooks) if hooks else None
        return pending


class ValidatingAdmissionPolicy(Configured):
    """Evaluates the ValidatingAdmissionPolicies that match a write."""

    name, where = "ValidatingAdmissionPolicy", "policy.validating:ValidatingPolicies"
    resource = GroupResource(CONFIGURATIONS, "validatingadmissionpolicybindings")

    def validate(self, attrs: Attributes) -> Awaitable[None] | None:
        """Evaluate every policy. Raises APIError of the first denial."""
        policies = self.at_work()
        pending: Awaitable[None] | None = policies.validate(attrs) if policies is not None else None
        return pending


class ValidatingAdmissionWebhook(Configured):
    """Asks the webhooks of ValidatingWebhookConfigurations."""

    name, where = "ValidatingAdmissionWebhook", "webhook.validating:ValidatingWebhooks"
    resource = GroupResource(CONFIGURATIONS, "validatingwebhookconfigurations")

    def validate(self, attrs: Attributes) -> Awaitable[None] | None:
        """Ask every webhook that wants to know. Raises APIError of the first that refuses."""
        webhooks = self._made or self.at_work()
        hooks = webhooks.hooks.covering(attrs) if webhooks is not None else ()
        pending: Awaitable[None] | None = webhooks.validate(attrs, hooks) if hooks else None
        return pending
