"""Turns a tree of items into a Workload, and the Workload's templates into groups.

Upstream: builder.go. The order of a controller's calls is ``validate``, ``build_workload``, then
``new_pod_group`` for each group.
"""

from collections.abc import Collection
from dataclasses import dataclass

from fakekube.apimachinery import field_errors, gvk
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.workloadbuilder import items, templates, validation
from fakekube_controllers.workloadbuilder.config import DisruptionModeOption, SchedulingPolicyOption
from fakekube_controllers.workloadbuilder.items import WorkloadBuildError, WorkloadItem

FROM_EXISTING = (
    "BuildWorkload is not available on a Builder created from an existing Workload: it materializes from the supplied Workload"
)
NO_WORKLOAD = "no Workload available: call BuildWorkload or use NewBuilderFromExistingWorkload first"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Whose Workload it is, and what the controller allows.

    ``owner`` is an owner reference, as ``meta.controller_reference`` makes it. An empty set of
    allowed policies or modes allows none. ``disable_declarative_validation`` is for controllers
    whose API server has looked at the building blocks already.
    """

    name: str = ""
    namespace: str = ""
    owner: ReadOnlyTree | None = None
    allowed_policies: Collection[SchedulingPolicyOption] = ()
    allowed_disruption_modes: Collection[DisruptionModeOption] = ()
    disable_declarative_validation: bool = False


class Builder:
    """Makes the scheduler's objects of one workload."""

    def __init__(self, root: WorkloadItem | None, options: BuildOptions | None = None) -> None:
        self.root, self.options = root, options or BuildOptions()
        self._workload: Tree | None = None
        self._existing: ReadOnlyTree | None = None

    @classmethod
    def from_existing_workload(cls, workload: ReadOnlyTree, options: BuildOptions | None = None) -> "Builder":
        """A builder that makes groups of a Workload that is stored already, and nothing else."""
        builder = cls(None, options)
        builder._existing = workload
        return builder

    def validate(self, old_root: WorkloadItem | None = None) -> list[FieldError]:
        """What is wrong with the tree, for the answer to the user.

        ``old_root`` is the tree before an update: its building blocks that did not change are not
        looked at again.
        """
        if self._existing is not None:
            return [_internal("", "cannot validate a builder constructed from an existing workload")]
        root = self.root
        if root is None:
            return [field_errors.invalid("", None, "invalid builder: missing root WorkloadItem")]
        if old_root is not None and old_root.name != root.name:
            names = field_errors.go_quote(old_root.name), field_errors.go_quote(root.name)
            return [_internal(root.path, f"old root name {names[0]} does not match new root name {names[1]}")]
        try:
            items.check_tree(root)
        except WorkloadBuildError as error:
            return [_internal(root.path, str(error))]
        options = self.options
        return validation.validate_item(
            root, old_root, options.allowed_policies, options.allowed_disruption_modes,
            declarative=not options.disable_declarative_validation)

    def build_workload(self) -> Tree:
        """The Workload of the tree; the same one when it is asked for again.

        Raises WorkloadBuildError.
        """
        if self._existing is not None:
            raise WorkloadBuildError(FROM_EXISTING)
        if self._workload is None:
            self._workload = self._build()
        return self._workload

    def _build(self) -> Tree:
        items.check_tree(self.root)
        assert self.root is not None, "the check has raised"
        template = templates.compile_template(self.root)
        owner = self.options.owner
        if owner is None:
            raise WorkloadBuildError("a Workload must be owned by its controller for garbage collection")
        version = owner.get("apiVersion", "")
        try:
            group, _ = gvk.split_api_version(version)
        except ValueError as error:
            shown = field_errors.go_quote(version)
            what = f"unexpected GroupVersion string: {version}"
            raise WorkloadBuildError(f"invalid owner apiVersion {shown}: {what}") from error
        metadata: Tree = {"name": self.options.name, "ownerReferences": [dict(owner)]}
        if self.options.namespace:
            metadata["namespace"] = self.options.namespace
        reference = {"kind": owner.get("kind", ""), "name": owner.get("name", "")}
        return {
            "apiVersion": templates.STABLE, "kind": "Workload", "metadata": metadata,
            "spec": {
                "controllerRef": {"apiGroup": group, **reference} if group else reference,
                templates.COMPOSITES if self.root.is_composite else templates.LEAVES: [template],
            },
        }

    def new_pod_group(self, name: str, template_name: str) -> Tree:
        """A PodGroup of one of the Workload's top-level templates. Raises WorkloadBuildError."""
        workload = self._source()
        template = templates.find(templates.leaves(workload), template_name, "podGroupTemplate", workload)
        return templates.group_from(workload, template, name, self.options.owner, composite=False)

    def new_composite_pod_group(self, name: str, template_name: str) -> Tree:
        """A CompositePodGroup of any of the Workload's composite templates.

        Its parent, and the groups below it, are the caller's business. Raises WorkloadBuildError.
        """
        workload = self._source()
        found = templates.find(templates.composites(workload), template_name, "compositePodGroupTemplate", workload)
        return templates.group_from(workload, found, name, self.options.owner, composite=True)

    def _source(self) -> ReadOnlyTree:
        source = self._existing if self._existing is not None else self._workload
        if source is None:
            raise WorkloadBuildError(NO_WORKLOAD)
        return source


def _internal(path: str, detail: str) -> FieldError:
    return FieldError("Internal error", path, "", detail)
