"""What every kind is: a model with a name, and the resource that clients find it by.

A kind of your own is a subclass that says its resource::

    class Web(Object):
        resource: ClassVar[Resource] = Resource("example.com", "v1", "webs", "Web")
        spec: WebSpec = empty(WebSpec)

Upstream: metav1.TypeMeta and ObjectMeta in every kind's struct.
"""

from typing import Any, ClassVar

from pydantic import model_validator

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import ObjectMeta


class Object(Model):
    """An object of any kind. Its tree always names apiVersion and kind; reading one of another kind is an error."""

    resource: ClassVar[Resource]

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = empty(ObjectMeta)

    @model_validator(mode="before")
    @classmethod
    def _of_this_kind(cls, value: Any) -> Any:
        resource: Resource | None = getattr(cls, "resource", None)
        if resource is None or not isinstance(value, dict):
            return value
        api_version = value.get("apiVersion") or value.get("api_version") or resource.api_version
        kind = value.get("kind") or resource.kind
        if (api_version, kind) != (resource.api_version, resource.kind):
            raise ValueError(f"{kind} of {api_version} is not {resource.kind} of {resource.api_version}")
        return {**value, "apiVersion": api_version, "kind": kind}
