"""What an update may not do to the building blocks of gang scheduling.

Upstream: the declarative rules of pkg/apis/scheduling (zz_generated.validations.go) and
pkg/api/validate. What is wrong with a block by itself is in ``apimachinery.scheduling_blocks``.
"""

from collections.abc import Sequence

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Json, Tree
from fakekube.apimachinery.validation import IMMUTABLE


def immutable(path: str, new: Json, old: Json) -> list[FieldError]:
    """A value that may not change, worded as the declarative rules do: without the value."""
    return [] if same(new, old) else [field_errors.invalid(path, None, IMMUTABLE)]


def immutable_list(path: str, new: Sequence[Tree] | None, old: Sequence[Tree] | None, most: int) -> list[FieldError]:
    """A list that may not change; that it has more than ``most`` items now is told as well."""
    wrong = immutable(path, [*(new or ())], [*(old or ())])
    if wrong and new is not None and len(new) > most:
        wrong.append(field_errors.too_many(path, len(new), most))
    return wrong


def neither_set_nor_unset(path: str, new: Json, old: Json) -> list[FieldError]:
    """A value that is there from the beginning, or never."""
    if (new is None) == (old is None):
        return []
    what = "field cannot be set once created" if old is None else "field cannot be cleared once set"
    return [field_errors.invalid(path, None, what)]
