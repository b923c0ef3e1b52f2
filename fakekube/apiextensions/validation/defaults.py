"""Defaults in a schema: they are valid, and have no fields that the schema has not.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go.
"""

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree


def default_errors(schema: Tree, path: str, *, pruned: bool, release: str) -> list[FieldError]:
    """What is wrong with the defaults in a structural schema."""
    return []


def has_unpruned(schema: Tree) -> bool:
    """Whether a default has fields that the structural schema has not."""
    return False
