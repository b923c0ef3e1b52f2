"""Typed models of core/v1: parts that several kinds share."""

# Made by tools/typed_models.py: change that, and run make facts.

from fakekube.types.base import Model, empty
from fakekube.types.meta import LabelSelector
from fakekube.types.persistentvolumes import NodeSelector, NodeSelectorTerm
from fakekube.types.values import Int


class PreferredSchedulingTerm(Model):
    """In NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution."""

    weight: Int = 0
    preference: NodeSelectorTerm = empty(NodeSelectorTerm)


class NodeAffinity(Model):
    """In Affinity.nodeAffinity."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = empty(list)


class PodAffinityTerm(Model):
    """In PodAffinity.requiredDuringSchedulingIgnoredDuringExecution and others."""

    label_selector: LabelSelector | None = None
    namespaces: list[str] = empty(list)
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] = empty(list)
    mismatch_label_keys: list[str] = empty(list)


class WeightedPodAffinityTerm(Model):
    """In PodAffinity.preferredDuringSchedulingIgnoredDuringExecution and others."""

    weight: Int = 0
    pod_affinity_term: PodAffinityTerm = empty(PodAffinityTerm)


class PodAffinity(Model):
    """In Affinity.podAffinity."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = empty(list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = empty(list)


class PodAntiAffinity(Model):
    """In Affinity.podAntiAffinity."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = empty(list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = empty(list)


class Affinity(Model):
    """In PodSpec.affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(Model):
    """In PodSpec.tolerations, Scheduling.tolerations."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int | None = None


class TopologySpreadConstraint(Model):
    """In PodSpec.topologySpreadConstraints."""

    max_skew: Int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] = empty(list)


class PodSchedulingGate(Model):
    """In PodSpec.schedulingGates."""

    name: str = ""
