"""Typed models of apiextensions/v1: CustomResourceDefinition and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.object import Object
from fakekube.types.values import Bool, Int, Json, Number, Time


class CustomResourceDefinitionNames(Model):
    """In CustomResourceDefinitionSpec.names and others."""

    plural: str = ""
    singular: str = ""
    short_names: list[str] = empty(list)
    kind: str = ""
    list_kind: str = ""
    categories: list[str] = empty(list)


class ExternalDocumentation(Model):
    """In JSONSchemaProps.externalDocs."""

    description: str = ""
    url: str = ""


class ValidationRule(Model):
    """In JSONSchemaProps.x-kubernetes-validations."""

    rule: str = ""
    message: str = ""
    message_expression: str = ""
    reason: str | None = None
    field_path: str = ""
    optional_old_self: Bool | None = None


class JSONSchemaProps(Model):
    """In CustomResourceValidation.openAPIV3Schema, JSONSchemaProps.allOf and others."""

    id: str = ""
    schema_: str = wire("$schema", "")
    ref: str | None = wire("$ref", None)
    description: str = ""
    type: str = ""
    format: str = ""
    title: str = ""
    default: Json = None
    maximum: Number | None = None
    exclusive_maximum: Bool = False
    minimum: Number | None = None
    exclusive_minimum: Bool = False
    max_length: Int | None = None
    min_length: Int | None = None
    pattern: str = ""
    max_items: Int | None = None
    min_items: Int | None = None
    unique_items: Bool = False
    multiple_of: Number | None = None
    enum: list[Json] = empty(list)
    max_properties: Int | None = None
    min_properties: Int | None = None
    required: list[str] = empty(list)
    items: Json = None
    all_of: list["JSONSchemaProps"] = empty(list)
    one_of: list["JSONSchemaProps"] = empty(list)
    any_of: list["JSONSchemaProps"] = empty(list)
    not_: "JSONSchemaProps | None" = None
    properties: dict[str, "JSONSchemaProps"] = empty(dict)
    additional_properties: Json = None
    pattern_properties: dict[str, "JSONSchemaProps"] = empty(dict)
    dependencies: dict[str, Json] = empty(dict)
    additional_items: Json = None
    definitions: dict[str, "JSONSchemaProps"] = empty(dict)
    external_docs: ExternalDocumentation | None = None
    example: Json = None
    nullable: Bool = False
    x_kubernetes_preserve_unknown_fields: Bool | None = wire("x-kubernetes-preserve-unknown-fields", None)
    x_kubernetes_embedded_resource: Bool = wire("x-kubernetes-embedded-resource", False)
    x_kubernetes_int_or_string: Bool = wire("x-kubernetes-int-or-string", False)
    x_kubernetes_list_map_keys: list[str] = wire("x-kubernetes-list-map-keys", list)
    x_kubernetes_list_type: str | None = wire("x-kubernetes-list-type", None)
    x_kubernetes_map_type: str | None = wire("x-kubernetes-map-type", None)
    x_kubernetes_validations: list[ValidationRule] = wire("x-kubernetes-validations", list)


class CustomResourceValidation(Model):
    """In CustomResourceDefinitionVersion.schema."""

    open_api_v3_schema: JSONSchemaProps | None = wire("openAPIV3Schema", None)


class CustomResourceSubresourceStatus(Model):
    """In CustomResourceSubresources.status."""


class CustomResourceSubresourceScale(Model):
    """In CustomResourceSubresources.scale."""

    spec_replicas_path: str = ""
    status_replicas_path: str = ""
    label_selector_path: str | None = None


class CustomResourceSubresources(Model):
    """In CustomResourceDefinitionVersion.subresources."""

    status: CustomResourceSubresourceStatus | None = None
    scale: CustomResourceSubresourceScale | None = None


class CustomResourceColumnDefinition(Model):
    """In CustomResourceDefinitionVersion.additionalPrinterColumns."""

    name: str = ""
    type: str = ""
    format: str = ""
    description: str = ""
    priority: Int = 0
    json_path: str = ""


class SelectableField(Model):
    """In CustomResourceDefinitionVersion.selectableFields."""

    json_path: str = ""


class CustomResourceDefinitionVersion(Model):
    """In CustomResourceDefinitionSpec.versions."""

    name: str = ""
    served: Bool = False
    storage: Bool = False
    deprecated: Bool = False
    deprecation_warning: str | None = None
    schema_: CustomResourceValidation | None = None
    subresources: CustomResourceSubresources | None = None
    additional_printer_columns: list[CustomResourceColumnDefinition] = empty(list)
    selectable_fields: list[SelectableField] = empty(list)


class ServiceReference(Model):
    """In WebhookClientConfig.service."""

    namespace: str = ""
    name: str = ""
    path: str | None = None
    port: Int | None = None


class WebhookClientConfig(Model):
    """In WebhookConversion.clientConfig."""

    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: str = ""


class WebhookConversion(Model):
    """In CustomResourceConversion.webhook."""

    client_config: WebhookClientConfig | None = None
    conversion_review_versions: list[str] = empty(list)


class CustomResourceConversion(Model):
    """In CustomResourceDefinitionSpec.conversion."""

    strategy: str = ""
    webhook: WebhookConversion | None = None


class CustomResourceDefinitionSpec(Model):
    """In CustomResourceDefinition.spec."""

    group: str = ""
    names: CustomResourceDefinitionNames = empty(CustomResourceDefinitionNames)
    scope: str = ""
    versions: list[CustomResourceDefinitionVersion] = empty(list)
    conversion: CustomResourceConversion | None = None
    preserve_unknown_fields: Bool = False


class CustomResourceDefinitionCondition(Model):
    """In CustomResourceDefinitionStatus.conditions."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""
    observed_generation: Int = 0


class CustomResourceDefinitionStatus(Model):
    """In CustomResourceDefinition.status."""

    conditions: list[CustomResourceDefinitionCondition] = empty(list)
    accepted_names: CustomResourceDefinitionNames = empty(CustomResourceDefinitionNames)
    stored_versions: list[str] = empty(list)
    observed_generation: Int = 0


class CustomResourceDefinition(Object):
    """``customresourcedefinitions`` of apiextensions.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False,
    )

    spec: CustomResourceDefinitionSpec = empty(CustomResourceDefinitionSpec)
    status: CustomResourceDefinitionStatus = empty(CustomResourceDefinitionStatus)
