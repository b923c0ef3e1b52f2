"""How roles and bindings print."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, CellFunction, column, table


def _role(obj: Tree) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind', '')}/{ref.get('name', '')}"


def _subjects(kind: str) -> CellFunction:
    def names(obj: Tree) -> str:
        return ", ".join(
            f"{subject.get('namespace', '')}/{subject['name']}" if kind == "ServiceAccount" else subject["name"]
            for subject in obj.get("subjects") or ()
            if subject.get("kind") == kind
        )

    return names


BINDING = table(
    NAME,
    column("Role", _role),
    AGE,
    column("Users+", _subjects("User")),
    column("Groups+", _subjects("Group")),
    column("ServiceAccounts+", _subjects("ServiceAccount")),
)
