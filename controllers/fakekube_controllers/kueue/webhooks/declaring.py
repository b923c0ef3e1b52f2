"""How a webhook of Kueue is declared, reads what it is given, and refuses.

Upstream: config/components/webhook/manifests.yaml; controller-runtime's webhook/admission.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.admission_requests import Denied
from fakekube.apimachinery.field_errors import FieldError
from fakekube.client.resources import Resource
from fakekube.runtime import addontables
from fakekube.runtime.addon import Webhook
from fakekube.runtime.gostructs import CannotDecode

PACKAGE = "fakekube_controllers.kueue"
MUTATING_CONFIGURATION = "kueue-mutating-webhook-configuration"
VALIDATING_CONFIGURATION = "kueue-validating-webhook-configuration"
NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


def webhook(
    name: str, function: Callable[..., Any], resource: Resource, *, mutating: bool = False, operations: Iterable[str] = (),
    subresources: Iterable[str] = (), has_client: bool = False, has_find: bool = False,
    fields: Mapping[str, Any] = NO_FIELDS,
) -> Webhook:
    """A webhook as upstream's configurations have it, ``mjob.kb.io`` say.

    Unless ``operations`` say otherwise a mutating one is asked about creation alone. ``fields`` are
    further ones of the webhook, as its namespace_selector.
    """
    chosen = tuple(operations) or (("CREATE",) if mutating else ("CREATE", "UPDATE"))
    rule = {
        "apiGroups": [resource.group], "apiVersions": [resource.version], "operations": [*chosen],
        "resources": [resource.plural, *(f"{resource.plural}/{each}" for each in subresources)]}
    configuration = MUTATING_CONFIGURATION if mutating else VALIDATING_CONFIGURATION
    return Webhook(function, (), chosen, mutating, name, {"rules": [rule], **fields}, configuration, has_client, has_find)


def decoded(value: Any, type_: str) -> Any:
    """A value as Go writes it that has read it into a struct, ``kueue.Workload`` say; a new tree.

    Denied for what Go cannot read.
    """
    try:
        return addontables.structs(PACKAGE).encoded(value, type_)
    except CannotDecode as error:
        raise Denied(str(error), code=HTTPStatus.BAD_REQUEST) from error


def shown(value: Any, type_: str) -> Any:
    """A value of a struct as Go prints it in a message."""
    return addontables.structs(PACKAGE).shown(value, type_)


def is_same(new: Any, old: Any, type_: str) -> bool:
    """Whether two values of a struct are the same to Go."""
    structs = addontables.structs(PACKAGE)
    return bool(new == old or structs.compared(new, type_) == structs.compared(old, type_))


def refuse(found: Sequence[FieldError]) -> None:
    """Raises Denied where there is anything to complain about."""
    if found:
        raise Denied(field_errors.aggregate(found), code=HTTPStatus.FORBIDDEN, reason="Forbidden")
