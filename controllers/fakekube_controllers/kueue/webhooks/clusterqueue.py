"""The webhooks of ClusterQueues. Upstream: pkg/webhooks/clusterqueue_webhook.go."""

from collections.abc import Iterator, Mapping

from fakekube.apimachinery import meta, validation
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid, not_supported
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import RESOURCE_IN_USE_FINALIZER
from fakekube_controllers.kueue.webhooks import quotas
from fakekube_controllers.kueue.webhooks.declaring import decoded, is_same, refuse

CHECKS = "spec.admissionChecksStrategy.admissionChecks"
MAX_FLAVORS = MAX_RESOURCES = 256
MAX_CELLS = 512
MAX_CONCURRENT_FLAVORS = 16
TRY_PREFERRED = "TryPreferredFlavors"
OnFlavors = Mapping[str, frozenset[str]]


def default(request: AdmissionRequest) -> None:
    """Add the finalizer to a new ClusterQueue. Raises Denied for one that cannot be read."""
    queue: Tree = request.object
    add_finalizer(queue, decoded(queue, "kueue.ClusterQueue"))


def add_finalizer(obj: Tree, read: Tree) -> None:
    """Make of an object what Go writes of it, ``read``, when it has added the finalizer that keeps
    it while it is used; an object that has it stays as it is.
    """
    finalizers = meta.finalizers_of(obj)
    if RESOURCE_IN_USE_FINALIZER not in finalizers:
        obj.update(read)
        obj["metadata"]["finalizers"] = [*finalizers, RESOURCE_IN_USE_FINALIZER]


def validate(request: AdmissionRequest, *, features: Features) -> None:
    """Look at a new ClusterQueue, or at a change. Raises Denied."""
    queue, old = request.shown, request.shown_old
    assert queue is not None, "it is not asked about deletions"
    spec = queue.get("spec") or meta.EMPTY
    found = [*_of_spec(spec, features)]
    if request.operation == "CREATE" or old is None:
        found += _on_flavors(spec, {})
    else:
        before = old.get("spec") or meta.EMPTY
        found += _on_flavors(spec, _known_on_flavors(before, spec, features))
        policy, field = spec.get("concurrentAdmissionPolicy"), "concurrentAdmissionPolicy"
        if not is_same(policy, before.get(field), "kueue.ConcurrentAdmissionPolicy"):
            found.append(invalid(child("spec", field), policy, validation.IMMUTABLE))
    refuse(found)


def _of_spec(spec: ReadOnlyTree, features: Features) -> Iterator[FieldError]:
    groups, path = spec.get("resourceGroups") or [], "spec.resourceGroups"
    holder = quotas.Holder(has_parent=bool(spec.get("cohortName")), parent_name="cohort", bounds_lending=True)
    yield from quotas.groups(groups, holder, path)
    yield from validation.label_selector(spec.get("namespaceSelector"), "spec.namespaceSelector")
    preemption = spec.get("preemption")
    if preemption is not None and _reclaims_never_but_borrows(preemption):
        yield invalid("spec.preemption", preemption, "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never")
    yield from _of_fungibility(spec.get("flavorFungibility") or meta.EMPTY)
    yield from quotas.weight(spec.get("fairSharing"), "spec.fairSharing")
    yield from _of_sizes(groups, path)
    if features.ConcurrentAdmission and spec.get("concurrentAdmissionPolicy") is not None:
        yield from _of_concurrent_admission(spec, groups)


def _reclaims_never_but_borrows(preemption: ReadOnlyTree) -> bool:
    borrowing = preemption.get("borrowWithinCohort")
    return preemption.get("reclaimWithinCohort") == "Never" and borrowing is not None and borrowing.get("policy") != "Never"


def _of_fungibility(fungibility: ReadOnlyTree) -> Iterator[FieldError]:
    preference = fungibility.get("preference")
    if preference is not None and any(fungibility.get(key) != "TryNextFlavor" for key in ("whenCanBorrow", "whenCanPreempt")):
        what = f'preference "{preference}" requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor'
        yield invalid("spec.flavorFungibility.preference", preference, what)


def _of_sizes(groups: list[ReadOnlyTree], path: str) -> Iterator[FieldError]:
    for most, field, what in ((MAX_FLAVORS, "flavors", "flavors"), (MAX_RESOURCES, "coveredResources", "covered resources")):
        total = sum(len(group[field]) for group in groups)
        if total > most:
            yield invalid(path, total, f"total number of {what} across all resourceGroups must be ≤ {most}, got {total}")
    for place, group in enumerate(groups):
        total = sum(len(flavor["resources"]) for flavor in group["flavors"])
        if total > MAX_CELLS:
            what = f"number of flavor-resource combinations in a resourceGroup must be ≤ {MAX_CELLS}, got {total}"
            yield invalid(index(path, place), total, what)


def _of_concurrent_admission(spec: ReadOnlyTree, groups: list[ReadOnlyTree]) -> Iterator[FieldError]:
    if len(groups) != 1:
        what = "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined"
        yield invalid("spec.resourceGroups", len(groups), what)
    elif len(groups[0]["flavors"]) > MAX_CONCURRENT_FLAVORS:
        what = "cannot have more than 16 resource flavors in the ResourceGroup when ConcurrentAdmissionPolicy is defined"
        yield invalid("spec.resourceGroups[0].flavors", len(groups[0]["flavors"]), what)
    migration = spec["concurrentAdmissionPolicy"].get("migration") or meta.EMPTY
    path = "spec.concurrentAdmissionPolicy.migration.constraints"
    constraints, mode = migration.get("constraints"), migration.get("mode") or ""
    if constraints is not None:
        last, flavors = constraints.get("lastAcceptableFlavorName"), all_flavors(spec)
        if mode not in ("", TRY_PREFERRED):
            yield forbidden(path, f'may only be set when migration.mode is "{TRY_PREFERRED}" (got "{mode}")')
        elif last is not None and last not in flavors:
            what = f"must be one of the flavors defined in the ClusterQueue: [{' '.join(flavors)}]"
            yield invalid(child(path, "lastAcceptableFlavorName"), last, what)
    if spec.get("queueingStrategy") == "StrictFIFO":
        what = "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined"
        yield invalid("spec.queueingStrategy", "StrictFIFO", what)


# flavors of admission checks


def all_flavors(spec: ReadOnlyTree) -> list[str]:
    """The names of the flavors of a ClusterQueue, in their order."""
    return [flavor["name"] for group in spec.get("resourceGroups") or () for flavor in group["flavors"]]


def _checks(spec: ReadOnlyTree) -> list[ReadOnlyTree]:
    return (spec.get("admissionChecksStrategy") or meta.EMPTY).get("admissionChecks") or []


def _known_on_flavors(old: ReadOnlyTree, new: ReadOnlyTree, features: Features) -> OnFlavors:
    """What was there before, wrong or not, where the flavors of the queue have not changed."""
    if features.RejectUpdatesToCQWithInvalidOnFlavors or {*all_flavors(old)} != {*all_flavors(new)}:
        return {}
    return {check["name"]: frozenset(check.get("onFlavors") or ()) for check in _checks(old)}


def _on_flavors(spec: ReadOnlyTree, known: OnFlavors) -> Iterator[FieldError]:
    allowed = all_flavors(spec)
    there = frozenset(allowed)
    for place, check in enumerate(_checks(spec)):
        flavors = check.get("onFlavors") or []
        if known.get(check["name"]) == frozenset(flavors):
            continue
        path = child(index(CHECKS, place), "onFlavors")
        for number, flavor in enumerate(flavors):
            if flavor not in there:
                yield not_supported(index(path, number), flavor, allowed)
