"""From a resolved item to a template of a Workload, and from a template to a group.

Upstream: builder.go (compile…) and podgroup.go.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.workloadbuilder.config import ResourceClaim, SchedulingConfig
from fakekube_controllers.workloadbuilder.items import WorkloadBuildError, WorkloadItem

GROUP = "scheduling.k8s.io"
STABLE, NEWEST = f"{GROUP}/v1beta1", f"{GROUP}/v1alpha3"
LEAVES, COMPOSITES = "podGroupTemplates", "compositePodGroupTemplates"
COPIED = (
    "schedulingPolicy", "schedulingConstraints", "resourceClaims", "disruptionMode", "priorityClassName", "priority",
)  # fmt: skip


def compile_template(item: WorkloadItem) -> Tree:
    """The template of an item, with those of its children.

    Raises WorkloadBuildError for a gang of unknown size.
    """
    config, composite = item.resolved(), item.is_composite
    made: Tree = {"name": item.name, "schedulingPolicy": _policy(config, composite=composite)}
    if config.constraints is not None and config.constraints.topology:
        made["schedulingConstraints"] = {"topology": [{"key": each.key} for each in config.constraints.topology]}
    if config.resource_claims and not composite:
        made["resourceClaims"] = [_claim(claim) for claim in config.resource_claims]
    if config.mode_name is not None:
        made["disruptionMode"] = {config.mode_name: {}}
    if config.priority_class_name:
        made["priorityClassName"] = config.priority_class_name
    for child in item.children:
        assert child is not None, "the check of the tree has raised"
        made.setdefault(COMPOSITES if child.is_composite else LEAVES, []).append(compile_template(child))
    return made


def _policy(config: SchedulingConfig, *, composite: bool) -> Tree:
    gang = config.policy.gang if config.policy is not None else None
    if gang is None:
        return {"basic": {}}
    if gang.min_count is None:
        what, count = ("composite gang", "minGroupCount") if composite else ("gang", "minCount")
        raise WorkloadBuildError(f"{what} scheduling requires {count} to be set after resolution")
    return {"gang": {"minGroupCount" if composite else "minCount": gang.min_count}}


def _claim(claim: ResourceClaim) -> Tree:
    made: Tree = {"name": claim.name}
    if claim.resource_claim_name is not None:
        made["resourceClaimName"] = claim.resource_claim_name
    if claim.resource_claim_template_name is not None:
        made["resourceClaimTemplateName"] = claim.resource_claim_template_name
    return made


def leaves(workload: ReadOnlyTree) -> Sequence[ReadOnlyTree]:
    """The templates of PodGroups at the top of a Workload."""
    return workload.get("spec", {}).get(LEAVES) or ()


def composites(workload: ReadOnlyTree) -> Iterator[ReadOnlyTree]:
    """All templates of CompositePodGroups of a Workload, parents before children."""
    return _below(workload.get("spec", {}).get(COMPOSITES) or ())


def _below(templates: Iterable[ReadOnlyTree]) -> Iterator[ReadOnlyTree]:
    for template in templates:
        yield template
        yield from _below(template.get(COMPOSITES) or ())


def find(templates: Iterable[ReadOnlyTree], name: str, what: str, workload: ReadOnlyTree) -> ReadOnlyTree:
    """The template of a name. Raises WorkloadBuildError, which tells the names that there are."""
    known = {template.get("name", ""): template for template in templates}
    if name not in known:
        wanted, where = field_errors.go_quote(name), field_errors.go_quote(workload["metadata"]["name"])
        raise WorkloadBuildError(f"{what} {wanted} not found in workload {where} (have [{' '.join(known)}])")
    return known[name]


def group_from(
    workload: ReadOnlyTree, template: ReadOnlyTree, name: str, owner: ReadOnlyTree | None, *, composite: bool,
) -> Tree:
    """A PodGroup, or a CompositePodGroup, of a template; it shares nothing with it."""
    metadata: Tree = {"name": name}
    if namespace := workload["metadata"].get("namespace"):
        metadata["namespace"] = namespace
    if owner is not None:
        metadata["ownerReferences"] = [dict(owner)]
    reference = {"workloadName": workload["metadata"]["name"], "templateName": template.get("name", "")}
    spec: Tree = {"workloadRef": reference}
    for field in COPIED:
        if template.get(field) is not None and not (composite and field == "resourceClaims"):
            spec[field] = copy.deepcopy(template[field])
    version, kind = (NEWEST, "CompositePodGroup") if composite else (STABLE, "PodGroup")
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
