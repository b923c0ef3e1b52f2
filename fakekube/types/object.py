"""What every kind is: a model with a name, and the resource that clients find it by.

A kind of your own is a subclass that says its resource::

    class Web(Object):
        resource: ClassVar[Resource] = Resource("example.com", "v1", "webs", "Web")
        spec: WebSpec = empty(WebSpec)

Upstream: metav1.TypeMeta and ObjectMeta in every kind's struct.
"""

from typing import Any, ClassVar, Self

from pydantic import ValidationInfo, model_validator

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import ObjectMeta


class Object(Model):
    """An object of any kind.

    Its tree always names apiVersion and kind; reading one of another kind is an error.

    One that is a part of another object, as the claims of a StatefulSet are, is read as it stands:
    there apiVersion and kind say nothing, and may be absent.
    """

    resource: ClassVar[Resource]

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = empty(ObjectMeta)

    @classmethod
    def model_validate(cls, *arguments: Any, **options: Any) -> Self:
        """As pydantic's; ``context`` is ours unless it is given."""
        return super().model_validate(*arguments, **{"context": _Reading(), **options})

    @classmethod
    def model_validate_json(cls, *arguments: Any, **options: Any) -> Self:
        """As pydantic's; ``context`` is ours unless it is given."""
        return super().model_validate_json(*arguments, **{"context": _Reading(), **options})

    @model_validator(mode="before")
    @classmethod
    def _of_this_kind(cls, value: Any, info: ValidationInfo) -> Any:
        resource: Resource | None = getattr(cls, "resource", None)
        if resource is None or not isinstance(value, dict) or _is_part(info):
            return value
        api_version = value.get("apiVersion") or value.get("api_version") or resource.api_version
        kind = value.get("kind") or resource.kind
        if (api_version, kind) != (resource.api_version, resource.kind):
            raise ValueError(f"{kind} of {api_version} is not {resource.kind} of {resource.api_version}")
        return {**value, "apiVersion": api_version, "kind": kind}


class _Reading:
    """One tree that is read. The first object met in it is the whole, every further one a part."""

    has_begun = False


def _is_part(info: ValidationInfo) -> bool:
    if not isinstance(info.context, _Reading):
        return False
    begun, info.context.has_begun = info.context.has_begun, True
    return begun
