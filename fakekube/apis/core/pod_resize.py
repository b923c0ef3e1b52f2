"""``pods/resize``: cpu and memory of containers, and of the pod as a whole.

Upstream: ValidatePodResize in pkg/apis/core/validation/validation.go and podResizeStrategy. Left
out: volumes that grow with a gate that is off.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.pods import is_sidecar
from fakekube.apimachinery.types import Tree
from fakekube.apis.core import podresources
from fakekube.apis.core.pod_annotations import MIRROR
from fakekube.apis.core.pod_update import keep_all_but_spec
from fakekube.apis.core.pod_validation import validate_content
from fakekube.registry.strategy import Strategy, WriteContext

CONTAINER_LISTS = ("containers", "initContainers")
RESIZABLE = ("cpu", "memory")
ONLY_RESOURCES = "only cpu and memory resources are mutable"
ONLY_INIT_RESOURCES = "only cpu and memory resources for init or sidecar containers are mutable"
POD_LEVEL = "InPlacePodLevelResourcesVerticalScaling"
NO_POD_LEVEL = "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled "
NO_POD_LEVEL += "feature gate is disabled"
NO_RESTART = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"


class ResizeStrategy(Strategy):
    """Takes the containers' resources and resizePolicy from the body, and nothing else."""

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        spec, old_spec = obj["spec"], old["spec"]
        if all(len(spec.get(field) or ()) == len(old_spec.get(field) or ()) for field in CONTAINER_LISTS):
            taken = dict(old_spec)
            for field in CONTAINER_LISTS:
                if old_spec.get(field):
                    taken[field] = _resized(spec[field], old_spec[field])
            if "resources" in spec and ctx.cluster.gate(POD_LEVEL):
                taken["resources"] = {**spec["resources"]}
            obj["spec"] = spec = taken
            keep_all_but_spec(obj, old)
        elif "resources" not in spec and "resources" in old_spec:
            spec["resources"] = {**old_spec["resources"]}
        if "resources" in spec:
            podresources.default_pod_level(spec)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        if MIRROR in old["metadata"].get("annotations", ()):
            return [field_errors.forbidden("", "static pods cannot be resized")]
        if (old["spec"].get("os") or {}).get("name") == "windows":
            return [field_errors.forbidden("", "windows pods cannot be resized")]
        found = validate_content(obj, ctx)
        spec, old_spec = obj["spec"], old["spec"]
        before = old["status"].get("qosClass") or podresources.qos_class(old_spec)
        if podresources.qos_class(spec) != before:
            shown = obj["status"].get("qosClass", "")
            what = "Pod QOS Class may not change as a result of resizing"
            found.append(field_errors.invalid("spec", shown, what))
        if not _node_can_resize(old["status"]):
            found.append(field_errors.forbidden("spec", "Pod running on node without support for resize"))
        if not ctx.cluster.gate(POD_LEVEL) and any(
            each.get("resources", {}).get(part) for each in (spec, old_spec) for part in ("requests", "limits")):
            return [*found, field_errors.forbidden("", NO_POD_LEVEL)]
        if "resources" in old_spec:
            found += _pod_level(spec.get("resources"), old_spec["resources"])
        order = _same_containers(spec, old_spec)
        if order:
            return found + order
        found += _containers(spec, old_spec)
        return found


def _resized(new: list[Tree], old: list[Tree]) -> list[Tree]:
    result = []
    for container, before in zip(new, old, strict=True):
        if container.get("name") != before.get("name"):
            return new
        merged = {name: value for name, value in before.items() if name not in ("resources", "resizePolicy")}
        merged |= {name: container[name] for name in ("resources", "resizePolicy") if name in container}
        result.append(merged)
    return result


def _node_can_resize(status: Tree) -> bool:
    for container in status.get("containerStatuses", ()):
        if "running" in (container.get("state") or ()):
            return "resources" in container
    return True


def _removed(new: Tree, old: Tree, path: str, what: str) -> list[FieldError]:
    return [
        field_errors.forbidden(f"{path}.{part}", f"{what} {part} cannot be removed")
        for part in ("requests", "limits")
        if any(name not in new.get(part, ()) for name in old.get(part, ()))
    ]


def _pod_level(new: Tree | None, old: Tree) -> list[FieldError]:
    if new is None:
        return [field_errors.forbidden("spec.resources", "pod-level resources cannot be removed")]
    found = _removed(new, old, "spec.resources", "pod-level resource")
    if not same(_without_resizable(new), _without_resizable(old)):
        found.append(field_errors.forbidden("spec", f"{ONLY_RESOURCES} at pod-level"))
    return found


def _without_resizable(resources: Tree) -> Tree:
    return {
        part: {name: value for name, value in amounts.items() if name not in RESIZABLE}
        if part in ("requests", "limits") else amounts
        for part, amounts in resources.items()
    } | {part: {} for part in ("requests", "limits") if part not in resources}


def _same_containers(spec: Tree, old_spec: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    for field in CONTAINER_LISTS:
        new, old = spec.get(field) or [], old_spec.get(field) or []
        if len(new) != len(old):
            found.append(field_errors.forbidden(f"spec.{field}", f"{field} may not be added or removed on resize"))
            continue
        what = f"{field} may not be renamed or reordered on resize"
        found += [
            field_errors.forbidden(f"spec.{field}[{position}].name", what)
            for position, container in enumerate(old) if new[position].get("name") != container.get("name")
        ]
    return found


def _containers(spec: Tree, old_spec: Tree) -> list[FieldError]:
    """Nothing is taken away, and nothing but cpu and memory changes."""
    found: list[FieldError] = []
    for field in ("initContainers", "containers"):
        for position, old in enumerate(old_spec.get(field) or ()):
            new = spec[field][position]
            path = f"spec.{field}[{position}].resources"
            found += _removed(new.get("resources", {}), old.get("resources", {}), path, "resource")
    for field in CONTAINER_LISTS:
        for position, old in enumerate(old_spec.get(field) or ()):
            new, here = spec[field][position], f"spec.{field}[{position}]"
            munged, before = (
                {**each, "resources": _without_resizable(each.get("resources", {}))} for each in (new, old))
            if not same(munged, before):
                regular = field == "containers"
                what = ONLY_RESOURCES if regular else ONLY_INIT_RESOURCES
                found.append(field_errors.forbidden("spec" if regular else here, what))
            if field == "initContainers" and not same(new, old) and not is_sidecar(new):
                policies = new.get("resizePolicy", ())
                given = [policy for policy in policies if policy.get("restartPolicy") == "RestartContainer"]
                found += [field_errors.forbidden(here, NO_RESTART) for _ in given]
    return found
