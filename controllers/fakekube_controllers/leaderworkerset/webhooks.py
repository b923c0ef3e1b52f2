"""The webhooks of LeaderWorkerSets. Upstream: pkg/webhooks/leaderworkerset_webhook.go."""

from collections.abc import Iterator
from typing import Any

from fakekube.apimachinery import field_errors, intstr, meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import addontables
from fakekube.runtime.gostructs import CannotDecode
from fakekube_controllers.leaderworkerset import names, sets
from fakekube_controllers.leaderworkerset.features import Features

BAD_REQUEST, FORBIDDEN = 400, 403
MAX_INT32 = 2**31 - 1
SUBGROUP_SIZE = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"
ROLLING_UPDATE = "spec.rolloutStrategy.rollingUpdateConfiguration"


def default(request: AdmissionRequest) -> None:
    """Fill in a LeaderWorkerSet; one in which nothing is missing stays as it was written.

    Raises Denied for one that cannot be read.
    """
    try:
        addontables.structs(__package__).default_spec(request.object, names.SPEC, "LeaderWorkerSet", _fill)
    except CannotDecode as error:
        raise Denied(str(error), code=BAD_REQUEST) from error


def _fill(spec: Tree) -> None:
    template, rollout = spec["leaderWorkerTemplate"], spec["rolloutStrategy"]
    template["restartPolicy"] = template.get("restartPolicy") or "RecreateGroupOnPodRestart"
    if template["restartPolicy"] == "Default":
        template["restartPolicy"] = "None"
    rollout["type"] = rollout["type"] or "RollingUpdate"
    if rollout["type"] == "RollingUpdate" and rollout.get("rollingUpdateConfiguration") is None:
        rollout["rollingUpdateConfiguration"] = {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}
    network = spec["networkConfig"] = spec.get("networkConfig") or {}
    network["subdomainPolicy"] = network.get("subdomainPolicy") or names.SHARED


def validate(request: AdmissionRequest, *, features: Features) -> None:
    """Look at a new LeaderWorkerSet, or at a change. Raises Denied."""
    lws, old = request.object, request.old_object
    found = [*_general(lws)]
    if old is not None:
        found += _of_update(old, lws)
    if features.WorkloadAwareScheduling:
        from fakekube_controllers.leaderworkerset import scheduling

        found += scheduling.errors_of(lws, old)
    if found:
        raise Denied(field_errors.aggregate(found), code=FORBIDDEN, reason="Forbidden")


def _general(lws: ReadOnlyTree) -> Iterator[FieldError]:
    name, replicas, size = meta.name_of(lws), names.replicas_of(lws), names.size_of(lws)
    for complaint in words.dns1035_label(name):
        yield invalid("metadata.name", name, complaint)
    if replicas < 0:
        yield invalid("spec.replicas", replicas, "replicas must be equal or greater than 0")
    if size < 1:
        yield invalid("spec.leaderWorkerTemplate.size", size, "size must be equal or greater than 1")
    if replicas * size > MAX_INT32:
        yield invalid("spec.replicas", replicas, f"the product of replicas and worker replicas must not exceed {MAX_INT32}")
    yield from _of_rollout(lws)
    subgroups = names.template_of(lws).get("subGroupPolicy")
    if subgroups is not None:
        yield from _of_subgroups(size, subgroups)
    elif names.SUBGROUP_EXCLUSIVE_TOPOLOGY in meta.annotations_of(lws):
        key, text = names.SUBGROUP_EXCLUSIVE_TOPOLOGY, "cannot have subgroup-exclusive-topology without subGroupSize set"
        yield invalid(f"metadata.annotations.{key}", meta.annotations_of(lws)[key], text)


def _of_rollout(lws: ReadOnlyTree) -> Iterator[FieldError]:
    moving = sets.rolling_update(lws)
    unavailable, surge, partition = moving.get("maxUnavailable", 0), moving.get("maxSurge", 0), moving.get("partition", 0)
    yield from _of_share(f"{ROLLING_UPDATE}.maxUnavailable", unavailable)
    yield from _of_share(f"{ROLLING_UPDATE}.maxSurge", surge)
    yield from _not_negative(f"{ROLLING_UPDATE}.partition", partition)
    numbers = []
    for field, value, round_up in (("maxUnavailable", unavailable, False), ("maxSurge", surge, True)):
        try:
            numbers.append(intstr.scaled(value, names.replicas_of(lws), round_up=round_up))
        except ValueError:
            numbers.append(0)
            yield invalid(f"{ROLLING_UPDATE}.{field}", value, "invalid value")
    if numbers == [0, 0] and names.replicas_of(lws) != 0:
        yield invalid(f"{ROLLING_UPDATE}.maxUnavailable", unavailable, "must not be 0 when `maxSurge` is 0")


def _of_share(path: str, value: Any) -> Iterator[FieldError]:
    if not isinstance(value, str):
        yield from _not_negative(path, value)
        return
    complaints = words.percent(value)
    for complaint in complaints:
        yield invalid(path, value, complaint)
    if not complaints and len(digits := value.removesuffix("%").lstrip("0")) > 2 and digits != "100":
        yield invalid(path, value, "must not be greater than 100%")


def _not_negative(path: str, value: int) -> Iterator[FieldError]:
    if value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def _of_subgroups(size: int, policy: ReadOnlyTree) -> Iterator[FieldError]:
    wanted = policy.get("subGroupSize", 0)
    if wanted < 1:
        yield invalid(SUBGROUP_SIZE, wanted, "subGroupSize must be equal or greater than 1")
        return  # upstream divides by it, and crashes where it is 0
    if size % wanted and (size - 1) % wanted:
        yield invalid(SUBGROUP_SIZE, wanted, "size or size - 1 must be divisible by subGroupSize")
    if size < wanted:
        yield invalid(SUBGROUP_SIZE, wanted, "subGroupSize cannot be larger than size")
    if policy.get("subGroupPolicyType") == names.LEADER_EXCLUDED and (size - 1) % wanted:
        yield invalid(SUBGROUP_SIZE, wanted, "size-1 must be divisible by subGroupSize when using LeaderExcluded")


def _of_update(old: ReadOnlyTree, lws: ReadOnlyTree) -> Iterator[FieldError]:
    before, now = (names.template_of(each).get("subGroupPolicy") for each in (old, lws))
    if before is not None and now is not None and before.get("subGroupSize") != now.get("subGroupSize"):
        yield invalid(SUBGROUP_SIZE, now.get("subGroupSize"), "field is immutable")
    elif now is not None and before is None:
        yield invalid(SUBGROUP_SIZE, now.get("subGroupSize"), "cannot enable subGroupSize after the lws is already created")
    elif before is not None and now is None:
        yield invalid(SUBGROUP_SIZE, before.get("subGroupSize"), "cannot remove subGroupSize after enabled")
