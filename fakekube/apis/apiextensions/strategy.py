"""The rules of CustomResourceDefinitions.

Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition and
pkg/apis/apiextensions/v1/defaults.go.
"""

from fakekube.apimachinery import conditions
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiextensions import validation
from fakekube.apis.apiextensions.warnings import definition_warnings
from fakekube.apis.base import StatusStrategy
from fakekube.registry.strategy import WriteContext

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
HTTPS_PORT = 443


class DefinitionStrategy(StatusStrategy):
    """The rules of CustomResourceDefinitions."""

    deletes_by_itself = True

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Names that follow from the kind, no conversion, the port of a conversion webhook."""
        spec = obj.get("spec")
        if not isinstance(spec, dict):
            return
        names, conversion = spec.setdefault("names", {}), spec.setdefault("conversion", {"strategy": "None"})
        if kind := names.get("kind"):
            names.setdefault("singular", kind.lower())
            names.setdefault("listKind", f"{kind}List")
        service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
        if service is not None:
            service.setdefault("port", HTTPS_PORT)

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """Nothing is decided yet; the version that is stored from the start is known."""
        return {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": _with_stored(None, obj)}

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status; another version may be stored from now on."""
        super().prepare_for_update(obj, old, ctx)
        stored = _with_stored(obj["status"]["storedVersions"], obj)
        if stored != obj["status"]["storedVersions"]:
            obj["status"] = {**obj["status"], "storedVersions": stored}

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """Names, versions, schemas, paths, conversion."""
        return validation.definition_errors(obj, of_metadata, release=ctx.cluster.release, turn=ctx.turn)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The same, as far as the stored definition keeps to it, and what cannot change."""
        return validation.update_errors(obj, old, release=ctx.cluster.release, turn=ctx.turn)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """Formats and sets that mean nothing."""
        return definition_warnings(obj, old, ctx.minor)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The accepted names."""
        return validation.status_update_errors(obj)

    def holds_deletion(self, obj: Tree) -> bool:
        """Until its custom objects are gone."""
        meta = obj["metadata"]
        return "deletionTimestamp" not in meta or CLEANUP in meta.get("finalizers", ())

    def prepare_for_delete(self, obj: Tree, ctx: WriteContext) -> None:
        """It stays until its custom objects are gone, and says so."""
        meta, status = obj["metadata"], obj["status"]
        finalizers = meta.get("finalizers", [])
        if CLEANUP not in finalizers:
            meta["finalizers"] = [*finalizers, CLEANUP]
        found = list(status["conditions"] or ())
        present = conditions.find(found, "Terminating")
        conditions.put(found, {
            "type": "Terminating", "status": "True",
            "lastTransitionTime": conditions.transition_time(present, "True", ctx.now),
            "reason": "InstanceDeletionPending", "message": PENDING})
        status["conditions"] = found


def _with_stored(known: list[str] | None, obj: Tree) -> list[str] | None:
    """The versions that objects may be stored in, with the one that they are stored in from now on.
    """
    for entry in obj["spec"].get("versions") or ():
        if entry.get("storage"):
            return known if known and entry["name"] in known else [*(known or ()), entry["name"]]
    return known


STRATEGY = DefinitionStrategy()
