"""The rules of custom objects. Upstream: apiextensions-apiserver/pkg/registry/customresource."""

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery import errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.registry.strategy import Strategy, WriteContext


class CustomResourceStrategy(Strategy):
    """The rules of the objects of one version."""

    def __init__(self, version: DefinedVersion) -> None:
        self.version = version

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """A new object has no status where that is written by an endpoint of its own.

        Raises Forbidden when there may be none, since the definition goes.
        """
        if self.version.is_terminating:
            gvk = self.version.gvk
            raise errors.forbidden(
                GroupResource(gvk.group, self.version.plural), obj["metadata"].get("name", ""),
                "create not allowed while custom resource definition is terminating")
        if self.version.has_status:
            obj.pop("status", None)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status, where that is written by an endpoint of its own."""
        if self.version.has_status:
            obj.pop("status", None)
            if "status" in old:
                obj["status"] = old["status"]

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """Whether anything but metadata changed."""
        names = dict.fromkeys([*obj, *old])
        return any(not same(obj.get(name), old.get(name)) for name in names if name != "metadata")
