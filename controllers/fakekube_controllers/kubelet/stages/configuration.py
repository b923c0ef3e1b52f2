"""Which nodes and pods Stages are for: what a KwokConfiguration says, if there is one; all, if
there is none.

Heeded are manageAllNodes, manageSingleNode, manageNodesWith{Annotation,Label}Selector and
disregardStatusWith{Annotation,Label}Selector. What else it says is about KWOK's own process.
Upstream: kwok/pkg/apis/v1alpha1/kwok_configuration_types.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kubelet.stages.stage import StageError

API_VERSION = "config.kwok.x-k8s.io/v1alpha1"


@dataclass(frozen=True, slots=True)
class Managed:
    """Which nodes are looked after by Stages, and which objects among them are left alone."""

    single: str = ""
    by_annotation: labels.Selector | None = None
    by_label: labels.Selector | None = None
    not_by_annotation: labels.Selector | None = None
    not_by_label: labels.Selector | None = None

    def node(self, node: ReadOnlyTree) -> bool:
        """Whether a node is looked after, its pods included."""
        if self.single:
            return meta.name_of(node) == self.single
        if self.by_annotation is not None:
            return self.by_annotation.matches(meta.annotations_of(node))
        return self.by_label is None or self.by_label.matches(meta.labels_of(node))

    def disregards(self, tree: ReadOnlyTree) -> bool:
        """Whether an object is left alone though its node is looked after."""
        return any(selector is not None and bool(texts) and selector.matches(texts) for selector, texts in (
            (self.not_by_annotation, meta.annotations_of(tree)), (self.not_by_label, meta.labels_of(tree))))


def read(manifest: ReadOnlyTree) -> Managed:
    """What a KwokConfiguration says. Raises StageError."""
    options = manifest.get("options") or {}
    if not isinstance(options, Mapping):
        raise StageError(f"KwokConfiguration: options: {options!r} is no object")

    def selector(name: str) -> labels.Selector | None:
        text = options.get(name)
        if not text:
            return None
        try:
            return labels.parse(str(text))
        except labels.SelectorError as error:
            raise StageError(f"KwokConfiguration: options.{name}: {error}") from error

    disregarded = selector("disregardStatusWithAnnotationSelector"), selector("disregardStatusWithLabelSelector")
    if options.get("manageAllNodes"):
        return Managed("", None, None, *disregarded)
    return Managed(
        str(options.get("manageSingleNode") or ""), selector("manageNodesWithAnnotationSelector"),
        selector("manageNodesWithLabelSelector"), *disregarded)
