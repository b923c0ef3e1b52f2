"""A write as admission tells of it, in reviews for webhooks and in the variable ``request``.

Upstream: apiserver/pkg/admission/plugin/webhook/request, plugin/cel/condition.go.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.admission.versions import shown_kind
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind


def described(attrs: Attributes, wanted: Kind) -> Tree:
    """All of a write but its objects, as it is asked about in the version ``wanted``."""
    kind, sub = attrs.kind, attrs.subresource
    tree: Tree = {
        "kind": _kind(shown_kind(wanted, sub)), "resource": _resource(wanted),
        "requestKind": _kind(shown_kind(kind, sub)), "requestResource": _resource(kind)}
    if sub:
        tree["subResource"] = tree["requestSubResource"] = sub
    for name, value in (("name", "" if attrs.ctx.of_collection else attrs.name), ("namespace", attrs.namespace)):
        if value:
            tree[name] = value
    tree["operation"], tree["userInfo"] = attrs.operation, attrs.ctx.user.tree()
    tree["dryRun"], tree["options"] = attrs.ctx.dry_run, options_of(attrs)
    return tree


def options_of(attrs: Attributes) -> Mapping[str, Any] | None:
    """The options of a write as admission sees them, read-only: a patch is a create or an update.
    """
    options = attrs.options
    if attrs.operation == "DELETE":
        return {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", **options}
    if options.get("kind") == "PatchOptions":
        patched = {**options, "kind": "CreateOptions" if attrs.operation == "CREATE" else "UpdateOptions"}
        patched.pop("force", None)
        return patched
    return options or None


def _kind(gvk: GroupVersionKind) -> Tree:
    return {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}


def _resource(kind: Kind) -> Tree:
    return {"group": kind.group, "version": kind.version, "resource": kind.plural}
