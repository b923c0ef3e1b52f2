"""What goes wrong with a strategic merge patch.

Upstream: apimachinery/pkg/util/mergepatch/errors.go.
"""

from fakekube.apimachinery.gotext import type_text, value_text
from fakekube.apimachinery.types import Json, Tree


class PatchError(ValueError):
    """A patch that cannot be merged. Most are answered as 500 without a reason, as upstream does.
    """

    def __init__(self, text: str, code: int = 500, reason: str = "") -> None:
        super().__init__(text)
        self.text, self.code, self.reason = text, code, reason


def bad_format(text: str) -> PatchError:
    """A directive of the wrong shape: 400."""
    return PatchError(text, 400, "BadRequest")


def bad_type(expected: Json, found: Json) -> PatchError:
    """A value of another type than the one of ``expected``."""
    return PatchError(f"expected a {type_text(expected)}, but received a {type_text(found)}")


def no_merge_key(item: Tree, key: str) -> PatchError:
    """A list's item that cannot be told apart from others."""
    return PatchError(f"map: {value_text(item)} does not contain declared merge key: {key}")
