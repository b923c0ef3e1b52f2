"""The webhooks of Workloads, and the rules for what they are; ``workloadupdates.py`` has those for
how they change.

Upstream: pkg/webhooks/workload_webhook.go.
"""

from collections.abc import Iterator, Sequence

import orjson

from fakekube.apimachinery import meta, strconv, validation
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    forbidden,
    index,
    invalid,
    key,
    not_found,
    not_supported,
    required,
)
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.memory import memoized
from fakekube_controllers.kueue import names, resources
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.webhooks import admissiongates, quotas, workloadupdates
from fakekube_controllers.kueue.webhooks.declaring import decoded, refuse
from fakekube_controllers.kueue.webhooks.resourceflavor import tolerations
from fakekube_controllers.kueue.webhooks.workloadupdates import PODSETS
from fakekube_controllers.kueue.workload import states

BOOST = key("metadata.annotations", names.PRIORITY_BOOST_ANNOTATION)
KEPT_BYTES = 4096
"""Resources that take more are rare, and are looked at each time."""
INT32 = range(-(2**31), 2**31)


def default(request: AdmissionRequest, *, features: Features) -> None:
    """Look whether a new Workload can be read; drop counts that say how few pods will do, where the
    gate PartialAdmission is off. Raises Denied.
    """
    read = decoded(request.shown, "kueue.Workload")
    podsets = read["spec"].get("podSets") or ()
    if not features.PartialAdmission and any(podset.pop("minCount", None) is not None for podset in podsets):
        request.object.update(read)


def validate(request: AdmissionRequest, *, features: Features) -> None:
    """Look at a new Workload, or at a change. Raises Denied."""
    workload, old = request.shown, request.shown_old
    assert workload is not None, "it is not asked about deletions"
    if request.operation == "CREATE":
        old = None
    for place, podset in enumerate(states.spec_of(workload).get("podSets") or ()):
        count = (podset.get("topologyRequest") or meta.EMPTY).get("subGroupCount")
        if count is not None and count < 0:
            path = child(index(PODSETS, place), "topologyRequest", "subGroupCount")
            request.warn(f"{path}: negative value {count} is deprecated and will be rejected in a future release")
    found = [*_errors(workload, old, features)]
    if old is not None:
        found += workloadupdates.errors(workload, old, features)
    refuse(found)


def _errors(workload: ReadOnlyTree, old: ReadOnlyTree | None, features: Features) -> Iterator[FieldError]:
    podsets, status = states.spec_of(workload).get("podSets") or (), states.status_of(workload)
    for place, podset in enumerate(podsets):
        yield from _of_podset(podset, index(PODSETS, place), features)
    variable = sum(podset.get("minCount") is not None for podset in podsets)
    if variable > 1:
        yield invalid(PODSETS, variable, "at most one podSet can use minCount")
    if variable and states.is_elastic_workload(workload, features):
        yield invalid(PODSETS, variable, "partial admission and elastic job cannot be used together")
    if states.has_quota_reservation(workload):
        yield from _of_admission(workload, old)
    yield from validation.conditions(status.get("conditions") or (), "status.conditions")
    yield from _of_reclaimable_pods(workload, old, features)
    yield from _of_checks(workload)
    if features.AdmissionGatedBy:
        yield from admissiongates.on_create(workload)
    boost = meta.annotations_of(workload).get(names.PRIORITY_BOOST_ANNOTATION)
    if features.PriorityBoost and boost is not None:
        if not boost:
            what = 'must be a valid signed integer; use "0" explicitly, empty string is not allowed'
            yield invalid(BOOST, boost, what)
        elif strconv.whole(boost) not in INT32:
            yield invalid(BOOST, boost, "must be a valid signed integer")


# podsets


def _of_podset(podset: ReadOnlyTree, path: str, features: Features) -> Iterator[FieldError]:
    template = podset.get("template") or meta.EMPTY
    metadata, spec = template.get("metadata") or meta.EMPTY, template.get("spec") or meta.EMPTY
    if features.WorkloadValidationForPodSetMetadata:
        yield from validation.labels(metadata.get("labels") or {}, child(path, "template", "metadata", "labels"))
        yield from validation.annotations(metadata.get("annotations") or {}, child(path, "template", "metadata", "annotations"))
    path_of_spec = child(path, "template", "spec")
    for field in ("initContainers", "containers"):
        for place, container in enumerate(spec.get(field) or ()):
            yield from _of_resources(container.get("resources"), index(child(path_of_spec, field), place), features)
    yield from _of_resources(spec.get("resources"), path_of_spec, features)
    if features.TASValidateWorkloadSliceSize:
        yield from _of_slices(podset.get("topologyRequest") or meta.EMPTY, child(path, "topologyRequest"))


def _of_resources(found: ReadOnlyTree | None, path: str, features: Features) -> Sequence[FieldError]:
    if not found:
        return ()
    encoded, not_negative = orjson.dumps(found), features.WorkloadValidateResourcesAreNonNegative
    complaints = _known_complaints if len(encoded) <= KEPT_BYTES else _complaints
    return complaints(encoded, path, not_negative=not_negative)


def _complaints(encoded: bytes, path: str, *, not_negative: bool) -> Sequence[FieldError]:
    """The complaints about resources, which are the same in every write, and in many Workloads."""
    errors: list[FieldError] = []
    found = orjson.loads(encoded)
    for field in ("requests", "limits"):
        for name, amount in (found.get(field) or {}).items():
            here = key(child(path, "resources", field), name)
            if name == "pods":
                errors.append(invalid(here, "pods", "the key is reserved for internal kueue use"))
            if not_negative:
                errors += quotas.not_negative(here, amount)
    return tuple(errors)


_known_complaints = memoized(1024)(_complaints)


def _of_slices(request: ReadOnlyTree, path: str) -> Iterator[FieldError]:
    size, here = request.get("podSetSliceSize"), child(path, "podSetSliceSize")
    if request.get("podSetSliceRequiredTopology") is None:
        if size is not None:
            yield forbidden(here, "may not be set when podSetSliceRequiredTopology is not specified")
    elif size is None:
        yield required(here, "must be set when podSetSliceRequiredTopology is specified")
    elif size <= 0:
        yield invalid(here, size, "must be greater than 0")
    field = "podsetSliceRequiredTopologyConstraints"
    for place, layer in enumerate(request.get(field) or ()):
        if layer["size"] <= 0:
            yield invalid(child(index(child(path, field), place), "size"), layer["size"], "must be greater than 0")


# the status


def _of_admission(workload: ReadOnlyTree, old: ReadOnlyTree | None) -> Iterator[FieldError]:
    admission, path = states.admission(workload), "status.admission"
    if admission is None:
        # one that was like this already may go on, to be put right
        if old is None or not states.has_quota_reservation(old) or states.admission(old) is not None:
            yield required(path, "must be set while the QuotaReserved condition is true")
        return
    podsets = {podset["name"] for podset in states.spec_of(workload).get("podSets") or ()}
    for place, assigned in enumerate(admission["podSetAssignments"]):
        here, count = index(child(path, "podSetAssignments"), place), assigned.get("count") or 0
        if assigned["name"] not in podsets:
            yield not_found(child(here, "name"), assigned["name"])
        if count <= 0:
            continue
        for name, amount in (assigned.get("resourceUsage") or {}).items():
            if resources.resource_value(name, amount) % count:
                yield invalid(key(child(here, "resourceUsage"), name), amount, f"is not a multiple of {count}")


def _of_reclaimable_pods(workload: ReadOnlyTree, old: ReadOnlyTree | None, features: Features) -> Iterator[FieldError]:
    counts = {podset["name"]: podset.get("count", 0) for podset in states.spec_of(workload).get("podSets") or ()}
    before = {}
    if old is not None and states.is_elastic_workload(workload, features):
        # counts that a job has outgrown by a scale-down are let be until they are put right
        before = {each["name"]: each["count"] for each in states.status_of(old).get("reclaimablePods") or ()}
    for each in states.status_of(workload).get("reclaimablePods") or ():
        name, count = each["name"], each["count"]
        path = key("status.reclaimablePods", name)
        if name not in counts:
            yield not_supported(child(path, "name"), name, counts)
        elif count > counts[name] and before.get(name) != count:
            yield invalid(child(path, "count"), count, f"should be less or equal to {counts[name]}")


def _of_checks(workload: ReadOnlyTree) -> Iterator[FieldError]:
    known = sorted(podset["name"] for podset in states.spec_of(workload).get("podSets") or ())
    for place, check in enumerate(states.status_of(workload).get("admissionChecks") or ()):
        for number, update in enumerate(check.get("podSetUpdates") or ()):
            path = index(child(index("status.admissionChecks", place), "podSetUpdates"), number)
            if update["name"] not in known:
                yield not_supported(child(path, "name"), update["name"], known)
            yield from tolerations(update.get("tolerations") or (), child(path, "tolerations"))
            yield from validation.annotations(update.get("annotations") or {}, child(path, "annotations"))
            for field in ("nodeSelector", "labels"):
                yield from validation.labels(update.get(field) or {}, child(path, field))
