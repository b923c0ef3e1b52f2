"""The fields of the plugins' arguments, as models, and what is wrong with them in a configuration.

Upstream: kube-scheduler/config/v1 (types_pluginargs.go, DecodeNestedObjects). Arguments of plugins
that are not listed here are theirs to check.
"""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field, ValidationError

from fakekube.apimachinery.field_errors import FieldError
from fakekube.runtime.configmodels import Int32, decoding_error, without_nulls
from fakekube_controllers.scheduler.config.model import (
    Configuration,
    ConfigurationError,
    Int64,
    Model,
)
from fakekube_controllers.scheduler.plugins import arguments

LATE = "NodeResourcesFit"
"""The plugin whose arguments are checked when it is made and not before, as upstream."""


class Args(Model):
    """What all have."""

    api_version: str = ""
    kind: str = ""


class DefaultPreemptionArgs(Args):
    """Of DefaultPreemption."""

    min_candidate_nodes_percentage: Int32 | None = None
    min_candidate_nodes_absolute: Int32 | None = None


class DynamicResourcesArgs(Args):
    """Of DynamicResources."""

    filter_timeout: str | None = None
    binding_timeout: str | None = None


class InterPodAffinityArgs(Args):
    """Of InterPodAffinity."""

    hard_pod_affinity_weight: Int32 | None = None
    ignore_preferred_terms_of_existing_pods: bool = False


class Requirement(Model):
    """A NodeSelectorRequirement."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeTerm(Model):
    """A NodeSelectorTerm."""

    match_expressions: list[Requirement] | None = None
    match_fields: list[Requirement] | None = None


class NodeSelector(Model):
    """A NodeSelector."""

    node_selector_terms: list[NodeTerm] | None = None


class PreferredTerm(Model):
    """A PreferredSchedulingTerm."""

    weight: Int32 = 0
    preference: NodeTerm = NodeTerm()


class AddedAffinity(Model):
    """A NodeAffinity."""

    required: NodeSelector | None = Field(None, alias="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: list[PreferredTerm] | None = Field(None, alias="preferredDuringSchedulingIgnoredDuringExecution")


class NodeAffinityArgs(Args):
    """Of NodeAffinity."""

    added_affinity: AddedAffinity | None = None


class ResourceSpec(Model):
    """A resource and its weight."""

    name: str = ""
    weight: Int64 = 0


class ShapePoint(Model):
    """A UtilizationShapePoint."""

    utilization: Int32 = 0
    score: Int32 = 0


class RatioParam(Model):
    """A RequestedToCapacityRatioParam."""

    shape: list[ShapePoint] | None = None


class ScoringStrategy(Model):
    """How resources are scored."""

    type: str = ""
    resources: list[ResourceSpec] | None = None
    requested_to_capacity_ratio: RatioParam | None = None


class NodeResourcesFitArgs(Args):
    """Of NodeResourcesFit."""

    ignored_resources: list[str] | None = None
    ignored_resource_groups: list[str] | None = None
    scoring_strategy: ScoringStrategy | None = None


class NodeResourcesBalancedAllocationArgs(Args):
    """Of NodeResourcesBalancedAllocation."""

    resources: list[ResourceSpec] | None = None


class SpreadConstraint(Model):
    """A TopologySpreadConstraint."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: dict[str, Any] | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None


class PodTopologySpreadArgs(Args):
    """Of PodTopologySpread."""

    default_constraints: list[SpreadConstraint] | None = None
    defaulting_type: str = ""


class VolumeBindingArgs(Args):
    """Of VolumeBinding."""

    bind_timeout_seconds: Int64 | None = None
    shape: list[ShapePoint] | None = None


MODELS: dict[str, type[Args]] = {
    "DefaultPreemption": DefaultPreemptionArgs, "DynamicResources": DynamicResourcesArgs,
    "InterPodAffinity": InterPodAffinityArgs, "NodeAffinity": NodeAffinityArgs,
    "NodeResourcesFit": NodeResourcesFitArgs, "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "PodTopologySpread": PodTopologySpreadArgs, "VolumeBinding": VolumeBindingArgs,
}


def decode(config: Configuration) -> None:
    """Check the fields of all arguments; those that are null are dropped. Raises
    ConfigurationError.
    """
    strict = "strict decoding error: "
    for number, profile in enumerate(config.profiles):
        for place, each in enumerate(profile.plugin_config):
            model = MODELS.get(each.name)
            if model is None:
                continue
            where, what = f"decoding .profiles[{number}].pluginConfig[{place}]: ", f"decoding args for plugin {each.name}: "
            each.args = without_nulls(each.args)
            try:
                model.model_validate(each.args)
            except ValidationError as error:
                text = decoding_error(error, model)
                nested = f"{strict}{where}{strict}{what}" if text.startswith(strict) else f"{where}{what}"
                raise ConfigurationError(f"{nested}{text}") from None


def errors(name: str, args: dict[str, Any], path: str, enabled: Callable[[str], bool]) -> Iterator[FieldError]:
    """What is wrong with the arguments of a plugin, whose fields were checked."""
    if name in MODELS and name != LATE:
        yield from arguments.validate(name, arguments.defaulted(name, args, enabled), path, enabled)
