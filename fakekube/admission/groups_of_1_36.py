"""What Kubernetes 1.36 asks of PodGroups and of Jobs with one, and no later release does: a group's
template must exist, and the parallelism of a gang stays as it is.

Upstream: plugin/pkg/admission/podgroup and plugin/pkg/admission/job of 1.36.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

GROUP = "scheduling.k8s.io"
MINOR = 36  # the minor number of the only release with these plugins


class PodGroupWorkloadExists(Plugin):
    """A PodGroup names a template that there is, or none."""

    name = "PodGroupWorkloadExists"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New PodGroups."""
        return operation == "CREATE" and not subresource and is_resource(kind, GROUP, "podgroups")

    def validate(self, attrs: Attributes) -> None:
        """Refuse a group without Workload or template, or with a Workload that is on its way out.
        """
        if attrs.ctx.minor != MINOR or attrs.obj is None or not attrs.ctx.cluster.gate("GenericWorkload"):
            return
        reference = (attrs.obj["spec"].get("podGroupTemplateRef") or {}).get("workload")
        if reference is None:
            return
        name, template = reference.get("workloadName", ""), reference.get("podGroupTemplateName", "")
        workload = attrs.ctx.cluster.lookup(GROUP, "workloads", attrs.namespace, name)
        if workload is None:
            raise forbidden(attrs, f"PodGroup rejected: Workload {go_quote(name)} not found")
        if meta.is_deleting(workload):
            raise forbidden(attrs, f"PodGroup rejected: Workload {go_quote(name)} is being deleted")
        if all(each.get("name") != template for each in workload["spec"].get("podGroupTemplates") or ()):
            what = f"PodGroupTemplate {go_quote(template)} not found in Workload {go_quote(name)}"
            raise forbidden(attrs, f"PodGroup rejected: {what}")


class JobValidation(Plugin):
    """A Job whose pods are a gang runs as many of them as it began with."""

    name = "JobValidation"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Updates of Jobs."""
        return operation == "UPDATE" and not subresource and is_resource(kind, "batch", "jobs")

    def validate(self, attrs: Attributes) -> None:
        """Refuse another parallelism while there is a gang."""
        new, old, cluster = attrs.obj, attrs.old, attrs.ctx.cluster
        if attrs.ctx.minor != MINOR or new is None or old is None:
            return
        if new["spec"].get("parallelism") == old["spec"].get("parallelism"):
            return
        if not (cluster.gate("GenericWorkload") or cluster.gate("WorkloadWithJob")):
            return
        for group in _groups_of(attrs, old):
            if group["spec"].get("schedulingPolicy", {}).get("gang") is not None:
                name = go_quote(meta.name_of(group))
                raise forbidden(attrs, f"cannot change parallelism for a Job referencing gang-scheduled PodGroup {name}")


def _groups_of(attrs: Attributes, job: Tree) -> list[Tree]:
    """The PodGroup that a Job's template names, or else all that the Job controls."""
    cluster, namespace = attrs.ctx.cluster, meta.namespace_of(job)
    named = job["spec"]["template"].get("spec", {}).get("schedulingGroup")
    if named is not None:
        group = cluster.lookup(GROUP, "podgroups", namespace, named.get("podGroupName", ""))
        return [] if group is None else [group]
    return [group for group in cluster.select(GROUP, "podgroups", namespace) if meta.is_controlled_by(group, job)]
