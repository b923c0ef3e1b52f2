"""How CustomResourceDefinitions print. Upstream: customresourcedefinition/tableconvertor."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import CREATED_AT, NAME, column, dig, has_condition, joined, table


def _versions(obj: Tree) -> str:
    versions = dig(obj, "spec", "versions") or ()
    return ",".join(
        sorted(
            f"{version['name']}(storage)" if version.get("storage") else version["name"]
            for version in versions
            if version.get("served")
        )
    )


CUSTOM_RESOURCE_DEFINITION = table(
    NAME,
    column("Scope", "spec.scope"),
    column("Versions", _versions),
    CREATED_AT,
    column("Group+", "spec.group"),
    column("Kind+", "spec.names.kind"),
    column("ShortNames+", joined("spec.names.shortNames")),
    column("Established:boolean+", lambda obj: has_condition(obj, "Established")),
)._replace(rows_may_be_null=True)
