"""The CustomResourceDefinition of a kind that is declared as a typed model.

The fields of the model are the schema: types, ``Literal`` for enumerations, what pydantic's
``Field`` says of bounds and lengths, docstrings as descriptions. What only Kubernetes knows is said
by a ``definition`` in the class, or for a field by ``Field(json_schema_extra=...)``::

    class WebSpec(Model):
        replicas: Annotated[int, Field(ge=0)] = 1
        ports: Annotated[list[Port], Field(json_schema_extra={"x-kubernetes-list-type": "atomic"})]

    class Web(Object):
        resource: ClassVar[Resource] = Resource("example.com", "v1", "webs", "Web")
        definition: ClassVar[Definition] = Definition(short_names=("w",))
        spec: WebSpec = empty(WebSpec)

A field without a default is required. A default that is not the zero value of its type is a default
of the schema. ``X | None`` is a field that may be absent, not one that may be null. What a schema
cannot say (a union of models, a model that holds itself) takes any value.
Upstream: controller-tools/cmd/controller-gen. Left out: webhook conversion.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic.json_schema import GenerateJsonSchema

from fakekube.apimachinery.types import Json, Tree
from fakekube.types.object import Object

API_VERSION, KIND = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
ANYTHING = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
_SAME = (
    "format", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
    "minProperties", "maxProperties", "enum", "required", "description", "nullable", "example",
)
_EXCLUSIVE = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
_FORMATS = {"integer": "int64", "number": "double"}


class PrinterColumn(NamedTuple):
    """One column of ``kubectl get``; ``path`` is JSONPath as ``.spec.replicas``.

    ``priority`` above 0 shows with ``-o wide`` only.
    """

    name: str
    path: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


class ScalePaths(NamedTuple):
    """Where ``kubectl scale`` and autoscalers find replicas and their selector."""

    replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""


class Definition(NamedTuple):
    """What a kind's model does not say by its fields. Where nothing is given, upstream's defaults.

    ``rules`` are expressions in CEL over the whole object, with the text for who breaks one.
    ``deprecated`` is the warning of a version that is going.
    """

    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[PrinterColumn, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    scale: ScalePaths | None = None
    rules: Mapping[str, str] = {}
    singular: str = ""
    list_kind: str = ""
    deprecated: str = ""


def definition_of(model: type[Object], *others: type[Object]) -> Tree:
    """The CustomResourceDefinition of a kind, as a tree to be created or applied.

    ``model`` is the version that is stored, ``others`` are further versions of it.

    Raises ValueError for models that are not of one kind.
    """
    resource = model.resource
    for other in others:
        if other.resource._replace(version="") != resource._replace(version=""):
            raise ValueError(f"{other.resource} is no version of {resource.plural}.{resource.group}")
    said = _definition(model)
    names: Tree = {"kind": resource.kind, "plural": resource.plural, "singular": said.singular or resource.kind.lower(),
                   "listKind": said.list_kind or f"{resource.kind}List"}
    if said.short_names:
        names["shortNames"] = [*said.short_names]
    if said.categories:
        names["categories"] = [*said.categories]
    return {
        "apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": f"{resource.plural}.{resource.group}"},
        "spec": {
            "group": resource.group, "names": names, "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(each, storage=each is model) for each in (model, *others)]}}


def _definition(model: type[Object]) -> Definition:
    return getattr(model, "definition", Definition())


def _version(model: type[Object], *, storage: bool) -> Tree:
    said, schema = _definition(model), schema_of(model)
    version: Tree = {"name": model.resource.version, "served": True, "storage": storage}
    if said.deprecated:
        version |= {"deprecated": True, "deprecationWarning": said.deprecated}
    if said.rules:
        schema["x-kubernetes-validations"] = [{"rule": rule, "message": text} for rule, text in said.rules.items()]
    version["schema"] = {"openAPIV3Schema": schema}
    if said.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in said.columns]
    if said.selectable_fields:
        version["selectableFields"] = [{"jsonPath": path} for path in said.selectable_fields]
    subresources: Tree = {"status": {}} if "status" in schema["properties"] else {}
    if said.scale:
        subresources["scale"] = {
            "specReplicasPath": said.scale.replicas, "statusReplicasPath": said.scale.status_replicas,
            **({"labelSelectorPath": said.scale.selector} if said.scale.selector else {})}
    if subresources:
        version["subresources"] = subresources
    return version


def _column(column: PrinterColumn) -> Tree:
    tree: Tree = {"name": column.name, "type": column.type, "jsonPath": column.path}
    for name in ("format", "description", "priority"):
        if value := getattr(column, name):
            tree[name] = value
    return tree


class _Descriptions(GenerateJsonSchema):
    """As the base; models of the API itself are described where they are used."""

    def model_schema(self, schema: Any) -> Tree:
        told = super().model_schema(schema)
        if schema["cls"].__module__.startswith(__package__ + "."):
            told.pop("description", None)
        return told


def schema_of(model: type[Object]) -> Tree:
    """The ``openAPIV3Schema`` of a kind: structural, as definitions must be."""
    told = model.model_json_schema(by_alias=True, schema_generator=_Descriptions)
    schema = _Conversion(told.get("$defs", {})).schema(told)
    schema["properties"] |= {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return schema


class _Conversion:
    """From pydantic's JSON schemas to structural ones. ``parts`` are what they refer to."""

    def __init__(self, parts: Mapping[str, Tree]) -> None:
        self._parts = parts
        self._open: list[str] = []  # a part that holds itself

    def schema(self, told: Tree) -> Tree:
        """One schema, and all below it."""
        if (reference := told.get("$ref")) is not None:
            return self._referred(reference.rpartition("/")[2], told)
        if (choices := told.get("anyOf") or told.get("oneOf")) is not None and not told.get(INT_OR_STRING):
            return self._chosen([choice for choice in choices if choice.get("type") != "null"], told)
        schema: Tree = {name: value for name, value in told.items() if name in _SAME or name.startswith("x-kubernetes-")}
        if told.get(INT_OR_STRING):
            schema["anyOf"] = told["anyOf"]
        elif "const" in told:
            schema["enum"] = [told["const"]]
        for exclusive, bound in _EXCLUSIVE:
            if exclusive in told:
                schema |= {bound: told[exclusive], exclusive: True}
        type_ = told.get("type", "") or _type_of_all(schema.get("enum", ()))
        if type_:
            schema["type"] = type_
            schema |= self._inside(type_, told)
        elif INT_OR_STRING not in schema:
            schema[ANYTHING] = True
        if told.get("default"):  # not the zero value of its type
            schema["default"] = told["default"]
        return schema

    def _inside(self, type_: str, told: Tree) -> Tree:
        if type_ == "array":
            return {"items": self.schema(told.get("items", {}))}
        if type_ != "object":
            return {"format": told.get("format", _FORMATS[type_])} if type_ in _FORMATS else {}
        if "properties" in told:
            return {"properties": {name: self.schema(field) for name, field in told["properties"].items()}}
        values = told.get("additionalProperties")
        return {"additionalProperties": self.schema(values)} if isinstance(values, dict) and values else {ANYTHING: True}

    def _referred(self, name: str, told: Tree) -> Tree:
        if name in self._open:
            return {"type": "object", ANYTHING: True}
        self._open.append(name)
        try:
            return self.schema({**self._parts[name], **{key: value for key, value in told.items() if key != "$ref"}})
        finally:
            self._open.pop()

    def _chosen(self, choices: list[Tree], told: Tree) -> Tree:
        rest = {key: value for key, value in told.items() if key not in ("anyOf", "oneOf")}
        if len(choices) == 1:
            return self.schema({**choices[0], **rest})
        if sorted(choice.get("type", "") for choice in choices) == ["integer", "string"]:
            return self.schema({**rest, INT_OR_STRING: True, "anyOf": [{"type": "integer"}, {"type": "string"}]})
        if sorted(choice.get("type", "") for choice in choices) == ["integer", "number"]:
            return self.schema({**rest, "type": "number"})
        return self.schema(rest)


def _type_of_all(values: Iterable[Json]) -> str:
    """The type of values that a field is confined to, where they have one."""
    known = [*values]
    for type_, name in ((bool, "boolean"), (int, "integer"), (str, "string")):
        if known and all(type(value) is type_ for value in known):
            return name
    return ""

