"""The parameters of a policy under a binding: objects of the kind that the policy names.

Upstream: CollectParams in plugin/policy/generic/policy_dispatcher.go.
"""

from collections.abc import Sequence

from fakekube.admission.policy.policies import Binding, Policy
from fakekube.admission.services import Services
from fakekube.apimachinery import labels
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

NOT_FOUND = "no params found for policy binding with `Deny` parameterNotFoundAction"
NO_NAMESPACE = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"


class ConfigurationError(Exception):
    """A policy or a binding that cannot be used for a write; the text is upstream's."""


def parameters(services: Services, policy: Policy, binding: Binding, attrs: Attributes) -> Sequence[Tree | None]:
    """The parameters to evaluate the policy with, once for each; ``[None]`` where it takes none.

    Raises ConfigurationError.
    """
    wanted, reference = policy.kind_of_parameters, binding.parameters
    if wanted is None or reference is None:
        return [None]
    kind = _kind(services, wanted)
    assert kind is not None, "the policy has been checked"
    found = _found(services, kind, reference, _namespace(kind, reference, attrs))
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise ConfigurationError(NOT_FOUND)
    return found


def check_kind(services: Services, policy: Policy) -> None:
    """Whether the kind of a policy's parameters is served. Raises ConfigurationError."""
    wanted = policy.kind_of_parameters
    if wanted is not None and _kind(services, wanted) is None:
        group, version = split_api_version(wanted.get("apiVersion", ""))
        kind = GroupVersionKind(group, version, wanted.get("kind", ""))
        raise ConfigurationError(f"failed to find resource referenced by paramKind: '{kind}'")


def _kind(services: Services, wanted: Tree) -> Kind | None:
    group, version = split_api_version(wanted.get("apiVersion", ""))
    return next(
        (kind for kind in services.resources.kinds
         if (kind.group, kind.version, kind.kind) == (group, version, wanted.get("kind"))), None)


def _namespace(kind: Kind, reference: Tree, attrs: Attributes) -> str:
    named = str(reference.get("namespace") or "")
    if not kind.namespaced:
        if named:
            raise ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return ""
    namespace = named or attrs.namespace
    if not namespace:
        raise ConfigurationError(NO_NAMESPACE)
    return namespace


def _found(services: Services, kind: Kind, reference: Tree, namespace: str) -> list[Tree | None]:
    store = services.stores.store(kind)
    if reference.get("name"):
        record = store.bucket.get(namespace, reference["name"])
        return [] if record is None else [store.load(record)]
    selector = labels.from_label_selector(reference.get("selector") or {})
    trees = [store.load(record) for record in store.bucket.records(namespace)]
    return [tree for tree in trees if selector.matches(tree["metadata"].get("labels") or {})]
