"""PersistentVolumeClaim: a wish for storage.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/core/validation,
pkg/registry/core/persistentvolumeclaim. Left out: the difference that upstream appends to the text
about an immutable spec.
"""

from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, invalid, key, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable, label_selector, one_of
from fakekube.apis.base import StatusStrategy, drop_disabled
from fakekube.apis.checks import quantity_positive, required_name, ruled
from fakekube.apis.core.podspec_defaults import round_amounts
from fakekube.apis.internals import changed_lines
from fakekube.registry.strategy import WriteContext

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
SNAPSHOT_GROUP = "snapshot.storage.k8s.io"
KIND = "PersistentVolumeClaimSpec"
RESIZES = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
    "NodeResizePending",
)
STATUS_GATES = {"healthStatus": "CSIVolumeHealth"}
FROZEN = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"


class PersistentVolumeClaimStrategy(StatusStrategy):
    """What is particular to PersistentVolumeClaims."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A file system, not bound yet."""
        default_claim_spec(obj.setdefault("spec", {}))
        status = obj.setdefault("status", {})
        for part in ("capacity", "allocatedResources"):
            round_amounts(status.get(part) or {})
        if not status.get("phase"):
            status["phase"] = "Pending"

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """Not bound yet."""
        return {"phase": "Pending"}

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """A fresh status; both names of the data source say the same."""
        super().prepare_for_create(obj, ctx)
        _drop_foreign_source(obj, {}, ctx)
        _normalize(obj, {})

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status; the data source as on create."""
        super().prepare_for_update(obj, old, ctx)
        _drop_foreign_source(obj, old, ctx)
        _normalize(obj, old)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """A volume's health is told where the gate for it is on, or was."""
        super().prepare_for_status_update(obj, old, ctx)
        drop_disabled(obj.get("status") or {}, old.get("status"), STATUS_GATES, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec."""
        return claim_spec_errors("spec", obj["spec"])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; a claim may be bound once, and grow."""
        named = any((old["spec"].get(name) or {}).get("apiGroup") is not None for name in ("dataSource", "dataSourceRef"))
        return claim_spec_errors("spec", obj["spec"], check_groups=not named) + _changes(obj, old)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What the claim has got, and what becomes of a resize."""
        return _status(obj.get("status") or {})

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """The annotation gave way to a field; bytes are whole."""
        found = []
        if CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}):
            text = 'deprecated since v1.8; use "storageClassName" attribute instead'
            found.append(f"metadata.annotations[{CLASS_ANNOTATION}]: {text}")
        return found + claim_spec_warnings("spec", obj["spec"])


def default_claim_spec(spec: Tree) -> None:
    """The defaults of a claim's spec, wherever it stands; its amounts are whole thousandths."""
    spec.setdefault("volumeMode", "Filesystem")
    for part in ("requests", "limits"):
        round_amounts((spec.get("resources") or {}).get(part) or {})


def claim_spec_warnings(path: str, spec: Tree) -> list[str]:
    """What a client is told about a claim's spec at ``path``: bytes are whole."""
    found = []
    for part in ("requests", "limits"):
        amount = ((spec.get("resources") or {}).get(part) or {}).get("storage")
        if amount is not None and quantity.parse(amount).milli_value % 1000:
            text = f'fractional byte value "{amount}" is invalid, must be an integer'
            found.append(f"{path}.resources.{part}[storage]: {text}")
    return found


def _drop_foreign_source(obj: Tree, old: Tree, ctx: WriteContext) -> None:
    """Drop a data source in another namespace where no gate allows one, unless there was a source
    before.
    """
    spec = obj["spec"]
    foreign = (spec.get("dataSourceRef") or {}).get("namespace")
    if foreign and "dataSourceRef" not in (old.get("spec") or {}) and not ctx.cluster.gate("CrossNamespaceVolumeDataSource"):
        del spec["dataSourceRef"]


def _normalize(obj: Tree, old: Tree) -> None:
    spec = obj["spec"]
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    before = (old.get("spec") or {}).get("dataSource")
    if source is not None and before is None and reference is None and not _is_known_source(source):
        spec.pop("dataSource")  # servers of old ignored what they did not know
        return
    if source is not None and reference is None:
        spec["dataSourceRef"] = _typed(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = _typed(reference)


def _typed(source: Tree) -> Tree:
    return {"apiGroup": source.get("apiGroup"), "kind": source.get("kind", ""), "name": source.get("name", "")}


def _is_known_source(source: Tree) -> bool:
    pair = (source.get("apiGroup") or "", source.get("kind", ""))
    return pair in (("", "PersistentVolumeClaim"), (SNAPSHOT_GROUP, "VolumeSnapshot"))


def claim_spec_errors(path: str, spec: Tree, *, check_groups: bool = True) -> list[FieldError]:
    """What is wrong with a claim's spec.

    Groups of data sources are not looked at where there was one before.
    """
    modes = access_mode_errors(child(path, "accessModes"), spec, "at least 1 access mode is required")
    selector = label_selector(spec.get("selector"), child(path, "selector"))
    found = selector + modes if spec.get("accessModes") else modes + selector
    where = key(child(path, "resources"), "storage")
    amount = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    found += [required(where)] if amount is None else quantity_positive(where, amount)
    found += _class_name(path, spec, "storageClassName")
    if "volumeMode" in spec:
        found += one_of(child(path, "volumeMode"), spec["volumeMode"], VOLUME_MODES)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for name, each in (("dataSource", source), ("dataSourceRef", reference)):
        if each is not None:
            found += _source(child(path, name), each, check_group=check_groups)
    if source is not None and reference is not None:
        if reference.get("namespace"):
            text = "may not be specified when dataSourceRef.namespace is specified"
            # upstream prints the path, which says nothing of itself
            found.append(invalid(path, {}, text))
        elif any((source.get(name) or "") != (reference.get(name) or "") for name in ("apiGroup", "kind", "name")):
            found.append(invalid(path, {}, "must match dataSourceRef"))
    return found + _class_name(path, spec, "volumeAttributesClassName")


def _class_name(path: str, spec: Tree, field: str) -> list[FieldError]:
    return ruled(child(path, field), spec[field], names.dns1123_subdomain) if spec.get(field) else []


def access_mode_errors(path: str, spec: Tree, missing: str) -> list[FieldError]:
    """The access modes of a claim or a volume."""
    modes = spec.get("accessModes") or []
    found = [] if modes else [required(path, missing)]
    found += [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    others = [mode for mode in modes if mode in ACCESS_MODES and mode != "ReadWriteOncePod"]
    if others and "ReadWriteOncePod" in modes:
        found.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return found


def _source(path: str, source: Tree, *, check_group: bool) -> list[FieldError]:
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    found = [required(child(path, name)) for name in ("name", "kind") if not source.get(name)]
    if not group and kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        found.append(invalid(path, kind, text))
    if group and check_group:
        found += ruled(child(path, "apiGroup"), group, names.dns1123_subdomain)
    if source.get("namespace"):
        found += required_name(child(path, "namespace"), source["namespace"], names.dns1123_label)
    return found


def _status(status: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    for name, amount in (status.get("capacity") or {}).items():
        found += basic_resource(key("status.capacity", name), amount)
    path = "status.allocatedResourceStatuses"
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        found += _resource_name(name, path)
        if state not in RESIZES:
            found.append(not_supported(path, name, RESIZES))
    path = "status.allocatedResources"
    for name, amount in (status.get("allocatedResources") or {}).items():
        wrong = _resource_name(name, path)
        found += wrong or basic_resource(key(path, name), amount)
    return found


def _resource_name(name: str, path: str) -> list[FieldError]:
    """The storage of a claim, or a resource of somebody's own."""
    if texts := names.qualified_name(name):
        return [invalid(path, name, text) for text in texts]
    native = "/" not in name or "kubernetes.io/" in name
    return [not_supported(path, name, ["storage"])] if native and name != "storage" else []


def basic_resource(path: str, amount: str) -> list[FieldError]:
    """An amount of 0 or more, as whole units tell it."""
    whole = quantity.parse(amount).value
    return [invalid(path, whole, "must be a valid resource quantity")] if whole < 0 else []


def _changes(obj: Tree, old: Tree) -> list[FieldError]:
    new, before, found = obj["spec"], old["spec"], []
    bound = (obj.get("status") or {}).get("phase") == "Bound"
    annotations = [(tree["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION, "") for tree in (obj, old)]
    if annotations[0] != annotations[1]:
        found += immutable(child("metadata.annotations", CLASS_ANNOTATION), annotations[0], annotations[1])
    if not same(_compared(new, before, bound), _compared(before, before, bound)):
        found.append(forbidden("spec", f"{FROZEN}\n{changed_lines(KIND, *_shown(new, before, bound))}"))
    sizes = [_storage(spec) for spec in (new, before)]
    if sizes[0] < sizes[1]:
        capacity = (((old.get("status") or {}).get("capacity")) or {}).get("storage", "0")
        if sizes[0] <= quantity.parse(capacity).nano:
            path = "spec.resources.requests.storage"
            found.append(forbidden(path, "field can not be less than status.capacity"))
    found += immutable("volumeMode", new.get("volumeMode"), before.get("volumeMode"))
    return found


def _storage(spec: Tree) -> int:
    return quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")).nano


def _compared(spec: Tree, before: Tree, bound: bool) -> Tree:
    """What must be the same: all but what may be set once, and what may change once bound."""
    free = [name for name in ("volumeName", "storageClassName") if not before.get(name) and name not in before]
    if bound:
        free.append("volumeAttributesClassName")
    result = {name: value for name, value in spec.items() if name not in free}
    if bound and "requests" in (spec.get("resources") or {}):
        requests = {name: value for name, value in spec["resources"]["requests"].items() if name != "storage"}
        result["resources"] = {**spec["resources"], "requests": requests}
    return result


def _shown(spec: Tree, before: Tree, bound: bool) -> tuple[Tree, Tree]:
    """The old and the new spec as an error compares them: what may change is alike in both."""
    old, new = dict(before), dict(spec)
    if not before.get("volumeName") and "volumeName" in spec:
        old["volumeName"] = spec["volumeName"]
    free = ["storageClassName"] if "storageClassName" not in before else []
    for name in [*free, *(["volumeAttributesClassName"] if bound else [])]:
        new.pop(name, None)
        new.update({name: before[name]} if name in before else {})
    if bound and "requests" in (spec.get("resources") or {}):
        kept = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
        new["resources"] = {**spec["resources"], "requests": {**spec["resources"]["requests"], "storage": kept}}
    return old, new


STRATEGY = PersistentVolumeClaimStrategy()
