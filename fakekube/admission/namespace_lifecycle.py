"""NamespaceLifecycle: nothing is created in a namespace that is missing or on its way out; some
namespaces stay.

Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle. Left out: its caches, for nothing here
is stale.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import errors
from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

IMMORTAL = ("default", "kube-system", "kube-public")
NAMESPACES = GroupResource("", "namespaces")


class NamespaceLifecycle(Plugin):
    """Refuses creation in missing and terminating namespaces, and the deletion of the system's own.
    """

    name = "NamespaceLifecycle"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Creation of namespaced things, deletion of namespaces.

        Reviews would leak which namespaces there are.
        """
        if is_resource(kind, "", "namespaces"):
            return operation == "DELETE"
        review = is_resource(kind, "authorization.k8s.io", "localsubjectaccessreviews")
        return operation == "CREATE" and kind.namespaced and not review

    def admit(self, attrs: Attributes) -> None:
        """Both rules."""
        if attrs.operation == "DELETE":
            if attrs.name in IMMORTAL:
                raise errors.forbidden(NAMESPACES, attrs.name, "this namespace may not be deleted")
            return
        namespace = attrs.namespace
        found = attrs.ctx.cluster.lookup("", "namespaces", "", namespace)
        if found is None:
            raise errors.not_found(NAMESPACES, namespace)
        if (found.get("status") or {}).get("phase") == "Terminating":
            cause = {
                "reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise forbidden(attrs, why, [cause])
