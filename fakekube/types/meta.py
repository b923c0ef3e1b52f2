"""Typed models of meta/v1: parts that several kinds share."""

# Made by tools/typed_models.py: change that, and run make facts.

from fakekube.types.base import Model, empty
from fakekube.types.values import Bool, Int, Json, Time


class OwnerReference(Model):
    """In ObjectMeta.ownerReferences."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: Bool | None = None
    block_owner_deletion: Bool | None = None


class ManagedFieldsEntry(Model):
    """In ObjectMeta.managedFields."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: Time | None = None
    fields_type: str = ""
    fields_v1: Json = None
    subresource: str = ""


class ObjectMeta(Model):
    """In PersistentVolumeClaimTemplate.metadata, PodTemplateSpec.metadata and others."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int | None = None
    labels: dict[str, str] = empty(dict)
    annotations: dict[str, str] = empty(dict)
    owner_references: list[OwnerReference] = empty(list)
    finalizers: list[str] = empty(list)
    managed_fields: list[ManagedFieldsEntry] = empty(list)


class LabelSelectorRequirement(Model):
    """In LabelSelector.matchExpressions."""

    key: str = ""
    operator: str = ""
    values: list[str] = empty(list)


class LabelSelector(Model):
    """In PersistentVolumeClaimSpec.selector and others."""

    match_labels: dict[str, str] = empty(dict)
    match_expressions: list[LabelSelectorRequirement] = empty(list)


class Condition(Model):
    """In ServiceStatus.conditions, PodGroupStatus.conditions and others."""

    type: str = ""
    status: str = ""
    observed_generation: Int = 0
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class ShardInfo(Model):
    """In ListMeta.shardInfo."""

    selector: str = ""


class ListMeta(Model):
    """In Status.metadata."""

    self_link: str = ""
    resource_version: str = ""
    continue_: str = ""
    remaining_item_count: Int | None = None
    shard_info: ShardInfo | None = None


class StatusCause(Model):
    """In StatusDetails.causes."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Model):
    """In Status.details."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[StatusCause] = empty(list)
    retry_after_seconds: Int = 0


class Status(Model):
    """For programs; no other type holds it."""

    kind: str = ""
    api_version: str = ""
    metadata: ListMeta = empty(ListMeta)
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: Int = 0
