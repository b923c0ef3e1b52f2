"""What every typed model is: a pydantic model that gives back the very tree that it was read from.

The server works on plain trees and so do clients; models are for people who write controllers and
tests. Attributes are in snake_case, wire names in camelCase. Fields that a model does not know are
kept. A field reads as it does in Go: what is a pointer there may be None, and all else has its zero
value, so that ``pod.metadata.labels`` is a dict and ``pod.spec.containers`` a list on every pod. A
tree holds what was set, and what was filled in place.

Upstream: the structs of k8s.io/api with their JSON tags. Left out: validation and defaults. The
server has those, of the release that it serves.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from fakekube.apimachinery.types import Tree
from fakekube.types.values import Json

T = TypeVar("T")


def wire_name(name: str) -> str:
    """The camelCase name of an attribute: ``restart_policy`` is ``restartPolicy``, ``from_`` is
    ``from``.
    """
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def empty(factory: Callable[[], T]) -> T:
    """A field that is empty until somebody fills it.

    ``spec: WebSpec = empty(WebSpec)``, ``ports: list[int] = empty(list)``.
    """
    made: T = Field(default_factory=factory)
    return made


def wire(name: str, default: Any) -> Any:
    """A field whose wire name does not follow from the name of its attribute.

    ``cluster_ip: str = wire("clusterIP", "")``. ``default`` may be a function that makes one, as
    ``list``.
    """
    if callable(default):
        return Field(default_factory=default, validation_alias=name, serialization_alias=name)
    return Field(default, validation_alias=name, serialization_alias=name)


class Model(BaseModel):
    """A part of an object. Subclass it for the parts of kinds of your own."""

    model_config = ConfigDict(
        extra="allow", populate_by_name=True, alias_generator=wire_name, defer_build=True, protected_namespaces=(),
    )

    if not TYPE_CHECKING:  # a type checker takes it for a field that every constructor needs
        __pydantic_extra__: dict[str, Json]

    # Fields that are null in the tree where the type has a zero value: written as null until they
    # are set.
    _nulls: frozenset[str] = PrivateAttr(default=frozenset())

    @classmethod
    def from_tree(cls, tree: Tree) -> Self:
        """Read a tree, of which the model shares nothing.

        Raises pydantic.ValidationError for a type that is another.
        """
        return cls.model_validate(tree, by_alias=True, by_name=False)

    def to_tree(self) -> Tree:
        """A JSON tree of what was set; of what was read, and not changed since, the same as before.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, dict) or None not in value.values():
            return handler(value)
        nulls = {
            cls._wire_name(name): name for name, field in cls.model_fields.items()
            if value.get(cls._wire_name(name), ...) is None
            and field.get_default(call_default_factory=True, validated_data={}) is not None
        }
        if not nulls:
            return handler(value)
        made = handler({key: item for key, item in value.items() if key not in nulls})
        made._nulls = frozenset(nulls.values())
        return made

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        if info.exclude_unset:
            self.__pydantic_fields_set__.update([name for name, value in self.__dict__.items() if _is_filled(value)])
        written = handler(self)
        for name in sorted(self._nulls - self.model_fields_set):
            written[self._wire_name(name) if info.by_alias else name] = None
        return written

    @classmethod
    def _wire_name(cls, name: str) -> str:
        return cls.model_fields[name].serialization_alias or name

    def _holds_anything(self) -> bool:
        if self.model_fields_set or self.model_extra or self._nulls:
            return True
        return any(_is_filled(value) for value in self.__dict__.values())


def _is_filled(value: Any) -> bool:
    """Whether a value that nobody set must have been filled in place."""
    return value._holds_anything() if isinstance(value, Model) else isinstance(value, list | dict) and bool(value)
