"""Plugins for pods that are off by default: images, anti-affinity, selectors and tolerations.

Upstream: plugin/pkg/admission/{alwayspullimages,antiaffinity,extendedresourcetoleration,
podnodeselector,podtolerationrestriction}.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.admission.services import Services
from fakekube.apimachinery import errors, field_errors, gojson
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
NODE_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
DEFAULT_TOLERATIONS = "scheduler.alpha.kubernetes.io/defaultTolerations"
TOLERATIONS_WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
CLUSTER_SELECTOR = "clusterDefaultNodeSelector"


class OfPods(Plugin):
    """A plugin that sees pods alone."""

    operations: tuple[str, ...] = ("CREATE", "UPDATE")

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Pods, not what is below them."""
        return operation in self.operations and not subresource and is_resource(kind, "", "pods")


def _containers(spec: Tree) -> Iterator[tuple[str, Tree]]:
    for name in CONTAINERS:
        for number, container in enumerate(spec.get(name) or ()):
            yield f"spec.{name}[{number}]", container


class AlwaysPullImages(OfPods):
    """Every image is pulled before each start, so that nobody uses one without credentials."""

    name = "AlwaysPullImages"

    def admit(self, attrs: Attributes) -> None:
        """Set the policy of all containers, and of volumes made of images."""
        if attrs.obj is None:
            return
        spec = dict(attrs.obj["spec"])
        for name in CONTAINERS:
            if spec.get(name):
                spec[name] = [{**container, "imagePullPolicy": "Always"} for container in spec[name]]
        if spec.get("volumes"):
            spec["volumes"] = [
                {**volume, "image": {**volume["image"], "pullPolicy": "Always"}} if volume.get("image") is not None else volume
                for volume in spec["volumes"]]
        attrs.obj = {**attrs.obj, "spec": spec}

    def validate(self, attrs: Attributes) -> None:
        """Refuse another policy, which a webhook may have set."""
        spec = (attrs.obj or {}).get("spec") or {}
        for path, container in _containers(spec):
            if container.get("imagePullPolicy") != "Always":
                found = field_errors.not_supported(f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""), ["Always"])
                raise forbidden(attrs, str(found))


class LimitPodHardAntiAffinityTopology(OfPods):
    """Required anti-affinity is between nodes, and nothing larger."""

    name = "LimitPodHardAntiAffinityTopology"

    def validate(self, attrs: Attributes) -> None:
        """Refuse other topology keys."""
        affinity = ((attrs.obj or {}).get("spec") or {}).get("affinity") or {}
        terms = (affinity.get("podAntiAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for term in terms:
            key = term.get("topologyKey", "")
            if key != "kubernetes.io/hostname":
                raise forbidden(attrs, (
                    f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key "
                    "kubernetes.io/hostname is allowed"))


class ExtendedResourceToleration(OfPods):
    """A pod that asks for devices tolerates the taint of nodes that are kept for them."""

    name = "ExtendedResourceToleration"

    def admit(self, attrs: Attributes) -> None:
        """Add or change a toleration for each extended resource."""
        if attrs.obj is None:
            return
        spec = attrs.obj["spec"]
        asked = {
            name: None for _, container in _containers({key: spec.get(key) for key in CONTAINERS[:2]})
            for name in (container.get("resources") or {}).get("requests") or {} if _is_extended(name)}
        tolerations = list(spec.get("tolerations") or ())
        for name in sorted(asked):
            wanted = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
            if not any(_covers(each, wanted) for each in tolerations):
                tolerations.append(wanted)
        if asked:
            attrs.obj = {**attrs.obj, "spec": {**spec, "tolerations": tolerations}}


def _is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io") and not name.startswith("requests.")


def _covers(toleration: Tree, other: Tree) -> bool:
    """Whether a toleration is at least as wide as another one."""
    if toleration.get("key", "") and toleration["key"] != other.get("key", ""):
        return False
    if toleration.get("effect", "") and toleration["effect"] != other.get("effect", ""):
        return False
    seconds = toleration.get("tolerationSeconds")
    if seconds is not None and (other.get("tolerationSeconds") is None or other["tolerationSeconds"] > seconds):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key", "")) and other.get("operator", "Equal") == "Equal" and (
        toleration.get("value", "") == other.get("value", ""))


def _namespace(attrs: Attributes) -> Tree:
    found = attrs.ctx.cluster.lookup("", "namespaces", "", attrs.namespace)
    if found is None:
        raise errors.not_found(GroupResource("", "namespaces"), attrs.namespace)
    return found


class PodNodeSelector(OfPods):
    """A namespace says on which nodes its pods run, by an annotation."""

    name, operations = "PodNodeSelector", ("CREATE",)

    def __init__(self) -> None:
        self._selectors: Mapping[str, str] = {}

    def initialize(self, services: Services) -> None:
        """Read the selectors of the configuration."""
        self._selectors = services.configuration.get(self.name, {}).get("podNodeSelectorPluginConfig") or {}

    def admit(self, attrs: Attributes) -> None:
        """Merge the namespace's selector into the pod's."""
        if attrs.obj is None:
            return
        wanted = self._wanted(attrs)
        self._check(attrs, wanted)
        merged = {**wanted, **(attrs.obj["spec"].get("nodeSelector") or {})}
        if merged:
            attrs.obj = {**attrs.obj, "spec": {**attrs.obj["spec"], "nodeSelector": merged}}

    def validate(self, attrs: Attributes) -> None:
        """Refuse what goes against the namespace's, or is not in the list of what it may."""
        self._check(attrs, self._wanted(attrs))
        allowed = _selector_map(self._selectors.get(attrs.namespace, ""))
        own = ((attrs.obj or {}).get("spec") or {}).get("nodeSelector") or {}
        if allowed and any(allowed.get(key) != value for key, value in own.items()):
            raise forbidden(attrs, "pod node label selector labels conflict with its namespace whitelist")

    def _wanted(self, attrs: Attributes) -> dict[str, str]:
        annotations = _namespace(attrs)["metadata"].get("annotations") or {}
        return _selector_map(annotations.get(NODE_SELECTOR, self._selectors.get(CLUSTER_SELECTOR, "")))

    @staticmethod
    def _check(attrs: Attributes, wanted: Mapping[str, str]) -> None:
        own = ((attrs.obj or {}).get("spec") or {}).get("nodeSelector") or {}
        if any(wanted.get(key, value) != value for key, value in own.items()):
            raise forbidden(attrs, "pod node label selector conflicts with its namespace node label selector")


def _selector_map(text: str) -> dict[str, str]:
    """``a=b,c=d`` as a map. Raises 500 for what is none."""
    found = {}
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if not equals:
            raise errors.raw(f"invalid selector: [{part}]")
        found[key.strip()] = value.strip()
    return found


class PodTolerationRestriction(OfPods):
    """A namespace says what its pods tolerate, and what they may, by annotations."""

    name = "PodTolerationRestriction"

    def __init__(self) -> None:
        self._configuration: Mapping[str, Any] = {}

    def initialize(self, services: Services) -> None:
        """Read the tolerations of the configuration."""
        self._configuration = services.configuration.get(self.name, {})

    def admit(self, attrs: Attributes) -> None:
        """Add the namespace's tolerations, or the cluster's."""
        if attrs.obj is None:
            return
        spec, extra = attrs.obj["spec"], []
        if attrs.operation == "CREATE":
            of_namespace = _tolerations(attrs, DEFAULT_TOLERATIONS)
            extra = list(self._configuration.get("default") or () if of_namespace is None else of_namespace)
        if not _is_best_effort(spec):
            extra.append({"key": MEMORY_PRESSURE, "operator": "Exists", "effect": "NoSchedule"})
        merged = list(spec.get("tolerations") or ())
        merged += [each for each in extra if not any(_covers(own, each) for own in merged)]
        if extra:
            attrs.obj = {**attrs.obj, "spec": {**spec, "tolerations": merged}}
        self.validate(attrs)

    def validate(self, attrs: Attributes) -> None:
        """Refuse what is not allowed in the namespace, or in the cluster."""
        own = ((attrs.obj or {}).get("spec") or {}).get("tolerations") or ()
        allowed, scope = (_tolerations(attrs, TOLERATIONS_WHITELIST) if own else None), "namespace"
        if allowed is None:
            allowed, scope = self._configuration.get("whitelist") or (), "cluster"
        if allowed and not all(any(_covers(each, toleration) for each in allowed) for toleration in own):
            raise errors.raw(
                f"pod tolerations (possibly merged with namespace default tolerations) conflict with its {scope} whitelist")


def _tolerations(attrs: Attributes, annotation: str) -> Sequence[Tree] | None:
    """The tolerations in an annotation of the namespace; None where it has none."""
    text = (_namespace(attrs)["metadata"].get("annotations") or {}).get(annotation)
    if text is None:
        return None
    try:
        found = gojson.loads(text.encode()) if text else []
    except gojson.SyntaxProblem as error:
        raise errors.raw(str(error)) from None
    if not isinstance(found, list | None):
        raise errors.raw(f"json: cannot unmarshal {gojson.type_name(found)} into Go value of type []v1.Toleration")
    return found or []


def _is_best_effort(spec: Tree) -> bool:
    resources = [container.get("resources") or {} for _, container in _containers(spec)] + [spec.get("resources") or {}]
    return not any(each.get("requests") or each.get("limits") for each in resources)
