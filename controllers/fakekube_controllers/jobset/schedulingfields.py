"""The fields in which a JobSet says how it is scheduled: both shapes that KEP-6089 draws.

All Jobs together: ``spec.scheduling``. The Jobs of one replicated job: ``scheduling`` in their
template, or an entry of ``spec.scheduling.replicatedJobSchedulingPolicies`` that names it. No
release of JobSet has any of them. Names of earlier drafts are read too: ``level`` for ``key``,
``topologyConstraints`` for ``topology``.
"""

import copy
from collections.abc import Iterator
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.jobset import names

ROOT = "spec.scheduling"
POLICIES = "replicatedJobSchedulingPolicies"
TARGET = "targetReplicatedJob"
TWICE = "may not be set when spec.scheduling.replicatedJobSchedulingPolicies targets the replicated job"


def with_fields(definition: Tree) -> Tree:
    """JobSet's definition with these fields."""
    changed = copy.deepcopy(definition)
    for version in changed["spec"]["versions"]:
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        of_target = _object({TARGET: _STRING, **_leaf()}, required=[TARGET])
        policies = {"type": "array", "items": of_target, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [TARGET]}
        spec["scheduling"] = _object({**_composite(), POLICIES: policies})
        job = spec["replicatedJobs"]["items"]["properties"]["template"]["properties"]["spec"]
        job["properties"]["scheduling"] = _object(_leaf())
    return changed


def of_jobset(jobset: ReadOnlyTree) -> Tree:
    """The building blocks of all Jobs together, in the form that the library reads."""
    return _blocks(jobset["spec"].get("scheduling"))


def of_replicated_job(jobset: ReadOnlyTree, place: int) -> tuple[str, Tree]:
    """Where the building blocks of a replicated job are, and what they are."""
    replicated_job = names.replicated_jobs(jobset)[place]
    for number, policy in enumerate(_policies(jobset)):
        if policy[TARGET] == replicated_job["name"]:
            return index(child(ROOT, POLICIES), number), _blocks(policy)
    told = (replicated_job["template"].get("spec") or meta.EMPTY).get("scheduling")
    return _in_template(place), _blocks(told)


def errors_of(jobset: ReadOnlyTree) -> Iterator[FieldError]:
    """What is wrong with where the blocks stand; what they say is the library's to judge."""
    known = {each["name"]: place for place, each in enumerate(names.replicated_jobs(jobset))}
    for policy in _policies(jobset):
        name = policy[TARGET]
        if name not in known:
            text = f"invalid replicatedJob name '{name}' in scheduling does not appear in .spec.ReplicatedJobs"
            yield FieldError("Internal error", "", "", text)
            continue
        job = names.replicated_jobs(jobset)[known[name]]["template"].get("spec") or meta.EMPTY
        if job.get("scheduling") is not None:
            yield forbidden(_in_template(known[name]), TWICE)


def is_given(jobset: ReadOnlyTree) -> bool:
    """Whether a JobSet says anything of how it is scheduled."""
    if jobset["spec"].get("scheduling") is not None:
        return True
    jobs = (each["template"].get("spec") or meta.EMPTY for each in names.replicated_jobs(jobset))
    return any(job.get("scheduling") is not None for job in jobs)


def _in_template(place: int) -> str:
    return child(index("spec.replicatedJobs", place), "template", "spec", "scheduling")


def _policies(jobset: ReadOnlyTree) -> list[Tree]:
    return (jobset["spec"].get("scheduling") or meta.EMPTY).get(POLICIES) or []


def _blocks(told: ReadOnlyTree | None) -> Tree:
    """Building blocks as Kubernetes 1.37 has them."""
    found = {key: value for key, value in (told or meta.EMPTY).items() if value is not None}
    constraints = found.get("schedulingConstraints")
    if constraints is not None:
        topology = constraints.get("topology") or constraints.get("topologyConstraints") or []
        found["schedulingConstraints"] = {"topology": [{"key": each.get("key") or each.get("level", "")} for each in topology]}
    return found


# the schemas

_STRING: Tree = {"type": "string"}
_EMPTY: Tree = {"type": "object"}


def _object(properties: Tree, **fields: Any) -> Tree:
    return {"type": "object", "properties": properties, **fields}


def _policy(count: str) -> Tree:
    return _object({"basic": _EMPTY, "gang": _object({count: {"type": "integer", "format": "int32"}})})


def _composite() -> Tree:
    topology = {"type": "array", "items": _object({"key": _STRING, "level": _STRING}), "x-kubernetes-list-type": "atomic"}
    return {
        "schedulingPolicy": _policy("minGroupCount"),
        "schedulingConstraints": _object({"topology": topology, "topologyConstraints": topology}),
        "disruptionMode": _object({"single": _EMPTY, "all": _EMPTY})}


def _leaf() -> Tree:
    claim = _object({"name": _STRING, "resourceClaimName": _STRING, "resourceClaimTemplateName": _STRING}, required=["name"])
    claims = {"type": "array", "items": claim, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    return {**_composite(), "schedulingPolicy": _policy("minCount"), "resourceClaims": claims}
