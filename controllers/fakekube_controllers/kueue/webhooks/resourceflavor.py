"""The webhooks of ResourceFlavors. Upstream: pkg/webhooks/resourceflavor_webhook.go."""

from collections.abc import Iterable, Iterator

from fakekube.apimachinery import meta, names, validation
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, child, complaints, duplicate, index, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.webhooks import clusterqueue
from fakekube_controllers.kueue.webhooks.declaring import decoded, refuse, shown


def default(request: AdmissionRequest) -> None:
    """Add the finalizer to a new ResourceFlavor. Raises Denied for one that cannot be read."""
    flavor: Tree = request.object
    clusterqueue.add_finalizer(flavor, decoded(flavor, "kueue.ResourceFlavor"))


def validate(request: AdmissionRequest) -> None:
    """Look at a ResourceFlavor. Raises Denied."""
    spec = (request.shown or meta.EMPTY).get("spec") or meta.EMPTY
    refuse([
        *validation.labels(spec.get("nodeLabels") or {}, "spec.nodeLabels"), *_taints(spec.get("nodeTaints") or ()),
        *tolerations(spec.get("tolerations") or (), "spec.tolerations")])


def _taints(taints: Iterable[ReadOnlyTree]) -> Iterator[FieldError]:
    seen = set[tuple[str, str]]()
    for place, taint in enumerate(taints):
        path, key = index("spec.nodeTaints", place), taint.get("key", "")
        yield from complaints(child(path, "key"), key, names.qualified_name(key))
        value = taint.get("value", "")
        if wrong := names.label_value(value):
            yield invalid(child(path, "value"), value, ";".join(wrong))
        pair = (taint["effect"], key)
        if pair in seen:
            yield duplicate(path, shown(taint, "core.Taint"))._replace(detail="taints must be unique by key and effect pair")
        seen.add(pair)


def tolerations(found: Iterable[ReadOnlyTree], path: str) -> Iterator[FieldError]:
    """Complaints about the keys of tolerations; rules of the definition look at all else."""
    for place, toleration in enumerate(found):
        if key := toleration.get("key"):
            yield from complaints(child(index(path, place), "key"), key, names.qualified_name(key))
