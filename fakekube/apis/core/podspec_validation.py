"""What is wrong with a pod spec, wherever it stands: in a Pod or in the template of a workload.

Upstream: ValidatePodSpec and ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import field_errors, names, quantity, validation
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import required_one_of
from fakekube.apis.addresses import legacy_ip
from fakekube.apis.core import podresources
from fakekube.apis.core.container_env import validate_file_key_volumes
from fakekube.apis.core.containers_validation import (
    Surroundings,
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
)
from fakekube.apis.core.pod_annotations import validate_pod_annotations
from fakekube.apis.core.pod_profiles import validate_profiles_match
from fakekube.apis.core.podspec_acceptance import MAX_INT32, PREEMPTION_POLICIES, RESTART_POLICIES, accepts_pod_spec
from fakekube.apis.core.podspec_network import validate_dns_config, validate_host_network, validate_hostname
from fakekube.apis.core.podspec_systems import validate_host_process, validate_system
from fakekube.apis.core.resource_requirements import validate_pod_resource_name, validate_requirements
from fakekube.apis.core.scheduling_validation import (
    validate_affinity,
    validate_scheduling_gates,
    validate_scheduling_group,
    validate_spread_constraints,
    validate_tolerations,
)
from fakekube.apis.core.security_validation import validate_pod_context
from fakekube.apis.core.volumes_validation import validate_volumes
from fakekube.registry.strategy import WriteContext

DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
SPREAD_MERGE = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
ONE_CLAIM = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
ONLY_ONE_CLAIM = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"


class PodSpecOptions(NamedTuple):
    """What differs between pod specs: whose they are, and what the cluster knows."""

    is_pod: bool = False
    mirror: bool = False
    comparing_tolerations: bool = False
    restarting_all: bool = True
    merging_spread: bool = True


TEMPLATE = PodSpecOptions()


def template_options(ctx: WriteContext) -> PodSpecOptions:
    """How the cluster's feature gates have pod templates looked at."""
    gate = ctx.cluster.gate
    return PodSpecOptions(
        comparing_tolerations=gate("TaintTolerationComparisonOperators"),
        restarting_all=gate("RestartAllContainersOnContainerExits"), merging_spread=gate(SPREAD_MERGE))


def validate_template(template: Tree, path: str, options: PodSpecOptions = TEMPLATE) -> list[FieldError]:
    """A pod template. Its metadata has no ``metadata`` in the paths, as upstream has it."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    found: list[FieldError] = []
    if labels := meta.get("labels"):
        found += validation.labels(labels, f"{path}.labels")
    if annotations := meta.get("annotations"):
        found += validation.annotations(annotations, f"{path}.annotations")
        found += validate_pod_annotations(annotations, spec, f"{path}.annotations")
    found += validate_pod_spec(spec, f"{path}.spec", options)
    if annotations:
        found += validate_profiles_match(annotations, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        what = "ephemeral containers not allowed in pod template"
        found.append(field_errors.forbidden(f"{path}.spec.ephemeralContainers", what))
    return found


def validate_pod_spec(
    spec: Tree, path: str, options: PodSpecOptions = TEMPLATE, pod_name: str = "",
) -> list[FieldError]:
    """A pod spec, defaults filled in. ``pod_name`` is the name of a Pod itself."""
    return [] if accepts_pod_spec(spec) else pod_spec_errors(spec, path, options, pod_name)


def pod_spec_errors(spec: Tree, path: str, options: PodSpecOptions = TEMPLATE, pod_name: str = "") -> list[FieldError]:
    """All that is wrong with a pod spec, in order: for those that ``accepts_pod_spec`` does not let
    pass.
    """
    found = _workloads(spec, path, options, pod_name)
    if spec.get("hostNetwork"):
        found += validate_host_network(spec, path, is_pod=options.is_pod)
    found += required_one_of(f"{path}.restartPolicy", spec.get("restartPolicy", ""), RESTART_POLICIES)
    found += required_one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy", ""), DNS_POLICIES)
    if "nodeSelector" in spec:
        found += validation.labels(spec["nodeSelector"], f"{path}.nodeSelector")
    if context := spec.get("securityContext"):
        found += validate_pod_context(context, spec, f"{path}.securityContext")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        what = "ShareProcessNamespace and HostPID cannot both be enabled"
        error = field_errors.invalid(f"{path}.shareProcessNamespace", True, what)
        found.append(error._replace(before=error._replace(field=f"{path}.securityContext.shareProcessNamespace")))
    if "affinity" in spec:
        found += validate_affinity(spec["affinity"], f"{path}.affinity")
    if "dnsConfig" in spec or spec.get("dnsPolicy") == "None":
        found += validate_dns_config(spec, f"{path}.dnsConfig")
    for position, gate in enumerate(spec.get("readinessGates", ())):
        kind = gate.get("conditionType", "")
        found += complaints(f"{path}.readinessGates[{position}].conditionType", kind, names.qualified_name(kind))
    if "schedulingGates" in spec:
        found += validate_scheduling_gates(spec["schedulingGates"], f"{path}.schedulingGates")
    if "topologySpreadConstraints" in spec:
        constraints = spec["topologySpreadConstraints"]
        here = f"{path}.topologySpreadConstraints"
        found += validate_spread_constraints(constraints, here, merged=options.merging_spread)
    found += validate_host_process(spec, path)
    if spec.get("hostUsers") is False:
        found += _without_host_users(spec, path)
    if "hostnameOverride" in spec:
        found += validate_hostname(spec, f"{path}.hostnameOverride")
    found += _names(spec, path)
    return found + _rest(spec, path, options)


def _workloads(spec: Tree, path: str, options: PodSpecOptions, pod_name: str) -> list[FieldError]:
    """Volumes, claims, containers and the resources of the whole pod."""
    found: list[FieldError] = []
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is None:
        found.append(field_errors.required(f"{path}.terminationGracePeriodSeconds"))
    good: dict[str, Tree] = {}
    if "volumes" in spec:
        good, wrong = validate_volumes(spec["volumes"], pod_name, f"{path}.volumes")
        found += wrong
    claim_names: list[str] = []
    if "resourceClaims" in spec:
        claim_names = [claim["name"] for claim in spec["resourceClaims"] if claim.get("name")]
        found += _resource_claims(spec["resourceClaims"], f"{path}.resourceClaims", mirror=options.mirror)
    around = Surroundings(
        volumes=good, claim_names=claim_names, grace_seconds=grace or 0, system=(spec.get("os") or {}).get("name", ""),
        restart_policy=spec.get("restartPolicy", ""), host_users=spec.get("hostUsers", True),
        restarting_all=options.restarting_all,
    )
    containers, init = spec.get("containers") or [], spec.get("initContainers", [])
    found += validate_containers(containers, f"{path}.containers", around)
    if init:
        found += validate_init_containers(init, containers, f"{path}.initContainers", around)
    if ephemeral := spec.get("ephemeralContainers"):
        here = f"{path}.ephemeralContainers"
        found += validate_ephemeral_containers(ephemeral, [*containers, *init], here, around)
    if "resources" in spec:
        found += _pod_resources(spec, spec["resources"], f"{path}.resources", claim_names)
    return found


def _resource_claims(claims: list[Tree], path: str, *, mirror: bool) -> list[FieldError]:
    found: list[FieldError] = []
    taken: set[str] = set()
    for position, claim in enumerate(claims):
        if mirror:
            found.append(field_errors.forbidden("", "static pods do not support resource claims"))
            continue
        here, name = f"{path}[{position}]", claim.get("name", "")
        if not name:
            found.append(field_errors.required(f"{here}.name"))
        elif name in taken:
            found.append(field_errors.duplicate(f"{here}.name", name))
        else:
            found += complaints(f"{here}.name", name, names.dns1123_label(name))
            taken.add(name)
        given = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if field in claim]
        if len(given) != 1:
            shown = {
                "Name": name, "ResourceClaimName": claim.get("resourceClaimName"),
                "ResourceClaimTemplateName": claim.get("resourceClaimTemplateName"),
            }
            found.append(field_errors.invalid(here, shown, ONLY_ONE_CLAIM if given else ONE_CLAIM))
        for field in given:
            found += complaints(f"{here}.{field}", claim[field], names.dns1123_subdomain(claim[field]))
    return found


def _pod_resources(spec: Tree, resources: Tree, path: str, claim_names: list[str]) -> list[FieldError]:
    if (spec.get("os") or {}).get("name") == "windows":
        return [field_errors.forbidden(path, "may not be set for a windows pod")]
    found: list[FieldError] = []
    if "claims" in resources:
        found.append(field_errors.forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level"))
    found += validate_requirements(resources, path, claim_names, validate_pod_resource_name)
    for part, resource in (("requests", "request"), ("limits", "limit")):
        given = resources.get(part, {})
        for name, amount in podresources.aggregate(spec, part).items():
            if part == "limits" and not name.startswith(podresources.HUGE_PAGES):
                continue
            if name in given and amount > quantity.parse(given[name]).nano:
                shown = quantity.render(amount, quantity.DECIMAL if name == "cpu" else quantity.BINARY)
                what = f"must be greater than or equal to aggregate container {resource}s of {shown}"
                found.append(field_errors.invalid(f"{path}.{part}[{name}]", given[name], what))
    limits = resources.get("limits", {})
    for position, container in enumerate(spec.get("containers") or ()):
        for name, text in container.get("resources", {}).get("limits", {}).items():
            if name in limits and quantity.parse(text).nano > quantity.parse(limits[name]).nano:
                what = f"must be less than or equal to pod limits of {limits[name]}"
                found.append(field_errors.invalid(f"{path}.containers[{position}][{name}].limits", text, what))
    return found


def _without_host_users(spec: Tree, path: str) -> list[FieldError]:
    what = "when `hostUsers` is false"
    found = [
        field_errors.forbidden(f"{path}.{shown}", what)
        for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
        if spec.get(field)
    ]
    for field in CONTAINER_LISTS:
        for position, container in enumerate(spec.get(field) or ()):
            if container.get("volumeDevices"):
                found.append(field_errors.forbidden(f"{path}.{field}[{position}].volumeDevices", what))
    return found


def _names(spec: Tree, path: str) -> list[FieldError]:
    """Names of other things, and the deadline that stands between them."""
    found: list[FieldError] = []
    if account := spec.get("serviceAccountName"):
        found += complaints(f"{path}.serviceAccountName", account, names.dns1123_subdomain(account))
    if node := spec.get("nodeName"):
        found += complaints(f"{path}.nodeName", node, names.dns1123_subdomain(node))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MAX_INT32:
        what = names.between(1, MAX_INT32)
        found.append(field_errors.invalid(f"{path}.activeDeadlineSeconds", deadline, what))
    for field in ("hostname", "subdomain"):
        if name := spec.get(field):
            found += complaints(f"{path}.{field}", name, names.dns1123_label(name))
    return found


def _rest(spec: Tree, path: str, options: PodSpecOptions) -> list[FieldError]:
    found: list[FieldError] = []
    if "tolerations" in spec:
        here = f"{path}.tolerations"
        found += validate_tolerations(spec["tolerations"], here, comparing=options.comparing_tolerations)
    for position, alias in enumerate(spec.get("hostAliases", ())):
        here = f"{path}.hostAliases[{position}]"
        found += legacy_ip(f"{here}.ip", alias.get("ip", ""), strict=True)
        for number, name in enumerate(alias.get("hostnames", ())):
            found += complaints(f"{here}.hostnames[{number}]", name, names.dns1123_subdomain(name))
    for field in ("priorityClassName", "runtimeClassName"):
        if name := spec.get(field):
            found += complaints(f"{path}.{field}", name, names.dns1123_subdomain(name))
    if "preemptionPolicy" in spec:
        found += required_one_of(f"{path}.preemptionPolicy", spec["preemptionPolicy"], PREEMPTION_POLICIES)
    if "overhead" in spec:
        found += validate_requirements({"limits": spec["overhead"]}, f"{path}.overhead", ())
    if "os" in spec:
        found += validate_system(spec, path)
    if "schedulingGroup" in spec:
        found += validate_scheduling_group(spec["schedulingGroup"], f"{path}.schedulingGroup")
    if "workloadRef" in spec:
        found += _workload_reference(spec["workloadRef"], f"{path}.workloadRef")
    return found + validate_file_key_volumes(spec, path, CONTAINER_LISTS)


def _workload_reference(reference: Tree, path: str) -> list[FieldError]:
    """What 1.35 had in place of a scheduling group."""
    name, group, key = (reference.get(field, "") for field in ("name", "podGroup", "podGroupReplicaKey"))
    found = complaints(f"{path}.name", name, names.dns1123_subdomain(name))
    found += complaints(f"{path}.podGroup", group, names.dns1123_label(group))
    return found + (complaints(f"{path}.podGroupReplicaKey", key, names.dns1123_label(key)) if key else [])
