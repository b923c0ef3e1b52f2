"""What may change in a Pod: hardly anything on its own endpoint, and one thing each on two
sub-resources.

Upstream: ValidatePodUpdate, ValidatePodEphemeralContainersUpdate in
pkg/apis/core/validation/validation.go and the strategies in pkg/registry/core/pod/strategy.go.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core import podspec_gates
from fakekube.apis.core.containers_validation import validate_image_padding
from fakekube.apis.core.pod_annotations import MIRROR, validate_pod_annotations
from fakekube.apis.core.pod_profiles import APP_ARMOR
from fakekube.apis.core.pod_validation import validate_content
from fakekube.apis.core.scheduling_validation import REQUIRED
from fakekube.apis.internals import changed_lines
from fakekube.registry.strategy import Strategy, WriteContext

MAX_INT32 = 2**31 - 1
UPDATABLE = (
    "`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
ONLY_SECONDS = "existing toleration can not be modified except its tolerationSeconds"
ONLY_MORE_LABELS = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
SAME_TERMS = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
ONLY_MORE = "only additions are allowed (no mutations or deletions)"
CONTAINER_LISTS = ("containers", "initContainers")


def validate_update(pod: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
    """A changed Pod. An unchanged spec has been looked at before."""
    spec, old_spec = pod["spec"], old["spec"]
    annotations, old_annotations = pod["metadata"].get("annotations", {}), old["metadata"].get("annotations", {})
    changed = spec is not old_spec and spec != old_spec
    found: list[FieldError] = []
    if changed or annotations != old_annotations:
        found += validate_content(pod, ctx)
        found += validate_annotation_changes(annotations, old_annotations, spec)
    if not changed:
        return found
    for field in CONTAINER_LISTS:
        containers, old_containers = spec.get(field) or [], old_spec.get(field) or []
        if len(containers) != len(old_containers):
            what = "pod updates may not add or remove containers"
            return [*found, field_errors.forbidden(f"spec.{field}", what)]
        for position, container in enumerate(containers):
            here = f"spec.{field}[{position}]"
            if not container.get("image"):
                found.append(field_errors.required(f"{here}.image"))
            found += validate_image_padding(container, here)
    deadline = _deadline(spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds"))
    if deadline and "activeDeadlineSeconds" in spec:
        return found + deadline
    found += deadline
    found += _tolerations(spec.get("tolerations", []), old_spec.get("tolerations", []))
    found += _gates(spec.get("schedulingGates", []), old_spec.get("schedulingGates", []))
    found += _rest(spec, old_spec)
    return found


def validate_annotation_changes(new: dict[str, str], old: dict[str, str], spec: Tree) -> list[FieldError]:
    """Some annotations of a Pod stay as they were when it was made."""
    found: list[FieldError] = []
    for verb, keys in (
        ("remove or update", [key for key in old if new.get(key) != old[key]]),
        ("add", [key for key in new if key not in old]),
    ):
        for key in keys:
            here = f"metadata.annotations[{key}]"
            if key.startswith(APP_ARMOR):
                found.append(field_errors.forbidden(here, f"may not {verb} AppArmor annotations"))
            if key == MIRROR:
                found.append(field_errors.forbidden(here, f"may not {verb} mirror pod annotation"))
    return found + validate_pod_annotations(new, spec, "metadata.annotations")


def _deadline(new: int | None, old: int | None) -> list[FieldError]:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        what = "must not update from a positive integer to nil value"
        return [] if old is None else [field_errors.invalid(path, None, what)]
    if not 0 <= new <= MAX_INT32:
        return [field_errors.invalid(path, new, names.between(0, MAX_INT32))]
    if old is not None and old < new:
        return [field_errors.invalid(path, new, "must be less than or equal to previous value")]
    return []


def _tolerations(new: list[Tree], old: list[Tree]) -> list[FieldError]:
    present = [_without_seconds(toleration) for toleration in new]
    if all(_without_seconds(toleration) in present for toleration in old):
        return []
    return [field_errors.forbidden("spec.tolerations", ONLY_SECONDS)]


def _without_seconds(toleration: Tree) -> Tree:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _gates(new: list[Tree], old: list[Tree]) -> list[FieldError]:
    known = [gate.get("name") for gate in old]
    return [
        field_errors.forbidden(f"spec.schedulingGates[{position}].name", (
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'"))
        for position, gate in enumerate(new) if gate.get("name") not in known
    ]


def _rest(spec: Tree, old_spec: Tree) -> list[FieldError]:
    """Everything that no rule lets change. A gated pod may narrow down where it runs."""
    munged = dict(spec)
    for field in CONTAINER_LISTS:
        if spec.get(field):
            munged[field] = [
                {**container, "image": old.get("image", "")}
                for container, old in zip(spec[field], old_spec[field], strict=True)
            ]
        else:  # upstream makes the lists anew
            munged.pop(field, None)
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _take(munged, old_spec, field)
    if old_spec.get("terminationGracePeriodSeconds", 0) < 0 and munged.get("terminationGracePeriodSeconds") == 1:
        _take(munged, old_spec, "terminationGracePeriodSeconds")
    found: list[FieldError] = []
    if old_spec.get("schedulingGates"):
        found += _node_selector(munged.get("nodeSelector", {}), old_spec.get("nodeSelector", {}))
        _take(munged, old_spec, "nodeSelector")
        found += _node_affinity(munged, old_spec)
    if not same(munged, old_spec):
        what = f"pod updates may not change fields other than {','.join(UPDATABLE)}\n{changed_lines('PodSpec', old_spec, munged)}"
        found.append(field_errors.forbidden("spec", what))
    return found


def _take(munged: Tree, old: Tree, field: str) -> None:
    if field in old:
        munged[field] = old[field]
    else:
        munged.pop(field, None)


def _node_selector(new: dict[str, str], old: dict[str, str]) -> list[FieldError]:
    if all(new.get(key) == value for key, value in old.items()):
        return []
    return [field_errors.invalid("spec.nodeSelector", new, ONLY_MORE_LABELS)]


def _node_affinity(munged: Tree, old_spec: Tree) -> list[FieldError]:
    """What a gated pod may do to its node affinity; ``munged`` gets the old one."""
    affinity, old_affinity = munged.get("affinity"), old_spec.get("affinity")
    new, old = (affinity or {}).get("nodeAffinity"), (old_affinity or {}).get("nodeAffinity")
    if same(new, old):
        return []
    others = {name: value for name, value in (affinity or {}).items() if name != "nodeAffinity"}
    if old is not None:
        others["nodeAffinity"] = old
    if others or old_affinity is not None:
        munged["affinity"] = others
    else:
        munged.pop("affinity", None)
    old_terms = ((old or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    new_terms = ((new or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    path = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    if old_terms and len(old_terms) != len(new_terms):
        return [field_errors.invalid(path, new_terms, SAME_TERMS)]
    return [
        field_errors.invalid(f"{path}[{position}]", new_terms[position], ONLY_MORE)
        for position, term in enumerate(old_terms) if not _only_adds(new_terms[position], term)
    ]


def _only_adds(new: Tree, old: Tree) -> bool:
    parts = [(new.get(name, []), old.get(name, [])) for name in ("matchExpressions", "matchFields")]
    if not any(before for _, before in parts):
        return not any(after for after, _ in parts)
    return all(same(after[:len(before)], before) for after, before in parts)


def keep_all_but_spec(obj: Tree, old: Tree) -> None:
    """Undo what a body says beside the spec: a sub-resource of one field changes nothing else."""
    own = ("resourceVersion", "managedFields")
    meta, old_meta = obj["metadata"], old["metadata"]
    for name in [name for name in meta if name not in own]:
        del meta[name]
    meta.update({name: value for name, value in old_meta.items() if name not in own})
    obj["status"] = old["status"]


class EphemeralContainersStrategy(Strategy):
    """``pods/ephemeralcontainers``: that list may grow."""

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        spec = dict(old["spec"])
        _take(spec, obj["spec"], "ephemeralContainers")
        obj["spec"] = spec
        keep_all_but_spec(obj, old)
        podspec_gates.drop_disabled(spec, old["spec"], ctx.cluster.gate)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        if MIRROR in old["metadata"].get("annotations", ()):
            return [field_errors.forbidden("", "static pods do not support ephemeral containers")]
        found = validate_content(obj, ctx)
        present = {container.get("name"): container for container in obj["spec"].get("ephemeralContainers", ())}
        for container in old["spec"].get("ephemeralContainers", ()):
            name = container["name"]
            if same(present.get(name), container):
                continue
            what = f"existing ephemeral containers {field_errors.go_quote(name)} may not be "
            now = present.get(name)
            what += f"changed\n{changed_lines('EphemeralContainer', container, now)}" if now is not None else "removed\n"
            found.append(field_errors.forbidden("spec.ephemeralContainers", what))
        return found
