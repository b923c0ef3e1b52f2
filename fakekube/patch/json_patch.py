"""JSON patch (RFC 6902) with the leniency of the library that upstream uses.

The input stays untouched: only the containers on the way to a change are copied, each once. What
the result shares with the input stands where it stood; what is moved or copied is a copy, and what
an operation brings is the operation's own. Upstream: gopkg.in/evanphx/json-patch, whose ways these
are: ``replace`` of an absent key adds it, ``copy`` of one writes null, ``add`` without a value
writes null, ``test`` of one against null holds, a pointer loses whatever stands before its first
slash, and negative indexes count from the end.
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json, Tree
from fakekube.util.nesting import MAX_LEVELS, measured

MAX_COPIED_BYTES = 3 * 1024 * 1024
"""Upstream's JSONPatchMaxCopyBytes, which is compared with the bytes of all copies together."""
MAX_MOVED_ITEMS = 500_000
"""Once values of so many items have been moved to deeper places, there is no further such move.

How deep a moved value is takes a look at all of it, and ten thousand moves of a large one that was
stored before would take minutes. Upstream has no such bound, as it has no bound of depth.
"""
_LONGEST_INDEX = 9


class PatchError(ValueError):
    """An operation that does not apply; the text is upstream's, which clients see where a webhook
    or a policy made the patch.
    """


def apply(tree: Tree, operations: Sequence[Tree | None]) -> Tree:
    """The tree after all operations, in order. Raises PatchError, and then nothing has happened."""
    document = _Document(tree)
    for each in operations:
        operation = each or {}
        act = _ACTIONS.get(operation.get("op") or "unknown")
        if act is None:
            raise PatchError(f"Unexpected kind: {operation.get('op')}")
        act(document, operation)
    if not isinstance(document.root, dict):
        raise PatchError("the patched document is no object")
    return document.root


MISSING, BAD_INDEX = "missing value", "invalid index referenced"
NO_PATH, NO_FROM = f"operation missing path field: {MISSING}", f"operation, missing from field: {MISSING}"


def _add(document: "_Document", operation: Tree) -> None:
    path = _pointer(operation, "path", f"add operation failed to decode path: {MISSING}")
    try:
        document.add(path, operation.get("value"))
    except PatchError as error:
        missing = f'add operation does not apply: doc is missing path: "{path}"'
        raise _worded(error, f"error in add for path: '{path}'", missing) from None


def _remove(document: "_Document", operation: Tree) -> None:
    path = _pointer(operation, "path", f"remove operation failed to decode path: {MISSING}")
    try:
        document.remove(path)
    except PatchError as error:
        missing = f'remove operation does not apply: doc is missing path: "{path}"'
        raise _worded(error, f"error in remove for path: '{path}'", missing) from None


def _replace(document: "_Document", operation: Tree) -> None:
    path = _pointer(operation, "path", f"replace operation failed to decode path: {NO_PATH}")
    value = operation.get("value")
    if path == "":
        if not isinstance(value, dict | list):
            raise PatchError("replace operation value must be object or array: %!w(<nil>)")
        document.root = value
        return
    try:
        document.get(path)
    except PatchError as error:
        what = "path" if isinstance(error, _MissingPath) else "key"
        raise PatchError(f"replace operation does not apply: doc is missing {what}: {path}: {MISSING}") from None
    try:
        document.set(path, value)
    except PatchError as error:
        raise _worded(error, f"error in remove for path: '{path}'", path) from None


def _move(document: "_Document", operation: Tree) -> None:
    source = _pointer(operation, "from", f"move operation failed to decode from: {NO_FROM}")
    try:
        value = document.get(source)
        document.remove(source)
    except PatchError as error:
        missing, key = f"move operation does not apply: doc is missing from path: {source}", source.rpartition("/")[2]
        raise _worded(error, f"error in move for path: '{key}'", missing) from None
    # the value is not copied: it has left the place where it was
    path = _pointer(operation, "path", f"move operation failed to decode path: {NO_PATH}")
    try:
        document.put_moved(path, value, is_deeper=path.count("/") > source.count("/"))
    except PatchError as error:
        missing = f"move operation does not apply: doc is missing destination path: {path}"
        raise _worded(error, f"error in move for path: '{path}'", missing) from None


def _copy(document: "_Document", operation: Tree) -> None:
    source = _pointer(operation, "from", f"copy operation failed to decode from: {NO_FROM}")
    try:
        value = document.get(source)
    except PatchError as error:
        missing = f"copy operation does not apply: doc is missing from path: {source}"
        raise _worded(error, f"error in copy for from: '{source}'", missing) from None
    path = _pointer(operation, "path", f"copy operation failed to decode path: {MISSING}")
    value = document.copied(value)
    try:
        document.add(path, value)
    except PatchError as error:
        missing = f"copy operation does not apply: doc is missing destination path: {path}"
        raise _worded(error, "error while adding value during copy", missing) from None


def _test(document: "_Document", operation: Tree) -> None:
    path = _pointer(operation, "path", f"test operation failed to decode path: {NO_PATH}")
    try:
        found = document.root if path == "" else document.get(path)
    except PatchError as error:
        missing = f"test operation does not apply: is missing path: {path}"
        raise _worded(error, f"error in test for path: '{path}'", missing) from None
    if not _same(found, operation.get("value")):
        raise PatchError(f"testing value {path} failed: test failed")


_ACTIONS: dict[str, Callable[["_Document", Tree], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _pointer(operation: Tree, name: str, otherwise: str) -> str:
    path = operation.get(name)
    if not isinstance(path, str):
        raise PatchError(otherwise)
    return path


class _MissingPath(PatchError):
    """There is nothing on the way to where a pointer points."""


def _worded(error: PatchError, prefix: str, missing: str) -> PatchError:
    """An error in the words of its operation."""
    return PatchError(f"{missing}: {MISSING}" if isinstance(error, _MissingPath) else f"{prefix}: {error}")


def _same(left: Json, right: Json) -> bool:
    """Equality of JSON: 1 is neither 1.0 nor true."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)


class _Document:
    """A tree on its way through a patch; ``owned`` are the containers that are this patch's to
    change.
    """

    def __init__(self, root: Json) -> None:
        self.root = root
        self.owned: dict[int, Any] = {}
        self.copied_bytes = self.moved_items = 0

    def copied(self, value: Json) -> Json:
        """A copy of a value. A short patch cannot make a huge object of copies."""
        data = orjson.dumps(value)
        self.copied_bytes += len(data)
        if self.copied_bytes > MAX_COPIED_BYTES:
            raise PatchError(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self.copied_bytes}, exceeding the limit {MAX_COPIED_BYTES}")
        return orjson.loads(data)

    def get(self, path: str) -> Json:
        """What a pointer points at; None for an absent key."""
        parents, last = _split(path)
        return _child(self._walk(parents), last)

    def set(self, path: str, value: Json) -> None:
        """Put a value at a key or at an index that is there."""
        container, last = self._open(path)
        _check_depth(path, value)
        if isinstance(container, dict):
            container[last] = value
        else:
            container[_index(last, len(container))] = value

    def put_moved(self, path: str, value: Json, *, is_deeper: bool) -> None:
        """Add what stood elsewhere in the document; ``is_deeper`` than it did."""
        if is_deeper:
            if self.moved_items > MAX_MOVED_ITEMS:
                raise PatchError(f"Unable to complete the move, more than {MAX_MOVED_ITEMS} items were moved")
            self.moved_items += _check_depth(path, value)
        self._put(path, value)

    def add(self, path: str, value: Json) -> None:
        """Put a value at a key, or insert it at an index."""
        _check_depth(path, value)
        self._put(path, value)

    def _put(self, path: str, value: Json) -> None:
        container, last = self._open(path)
        if isinstance(container, dict):
            container[last] = value
        elif last == "-":
            container.append(value)
        else:
            container.insert(_new_index(last, len(container) + 1), value)

    def remove(self, path: str) -> None:
        """Take away a key or an item that is there."""
        container, last = self._open(path)
        if isinstance(container, list):
            del container[_index(last, len(container))]
        elif last in container:
            del container[last]
        else:
            raise PatchError(f"Unable to remove nonexistent key: {last}: {MISSING}")

    def _walk(self, parents: list[str]) -> Json:
        found = self.root
        for part in parents:
            try:
                found = _child(found, part)
            except PatchError:
                raise _MissingPath from None
        if not isinstance(found, dict | list):
            raise _MissingPath
        return found

    def _open(self, path: str) -> tuple[Any, str]:
        """The container that a pointer's last part is looked up in, made this patch's own, and that
        part.
        """
        parents, last = _split(path)
        self._walk(parents)
        container = self.root = self._own(self.root)
        for part in parents:
            key = part if isinstance(container, dict) else _index(part, len(container))
            inner = self._own(container[key])
            container[key] = inner
            container = inner
        return container, last

    def _own(self, container: Json) -> Json:
        if id(container) in self.owned:
            return container
        copy = container.copy()
        self.owned[id(copy)] = copy
        return copy


def _split(path: str) -> tuple[list[str], str]:
    parts = path.split("/")
    if len(parts) < 2:
        raise _MissingPath
    keys = [unescaped(part) for part in parts[1:]]
    return keys[:-1], keys[-1]


def unescaped(part: str) -> str:
    """The key that stands between two slashes of a JSON pointer (RFC 6901)."""
    return part.replace("~1", "/").replace("~0", "~")


def _check_depth(path: str, value: Json) -> int:
    """How many items a value has. PatchError where it would be too deep at its place."""
    deep, items = measured(value, MAX_LEVELS - path.count("/"))
    if deep:
        raise PatchError(f"{path} would be too deep")
    return items


def _child(container: Json, key: str) -> Json:
    if isinstance(container, dict):
        return container.get(key)
    if isinstance(container, list):
        return container[_index(key, len(container))]
    raise _MissingPath


def _new_index(text: str, length: int) -> int:
    try:
        return _index(text, length)
    except _NoIndex as error:
        raise PatchError(f"value was not a proper array index: '{text}': {error}") from None


class _NoIndex(PatchError):
    """A text that is no number."""


def _index(text: str, length: int) -> int:
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _LONGEST_INDEX:
        raise _NoIndex(f"strconv.Atoi: parsing {go_quote(text)}: invalid syntax")
    number = int(text)
    if number >= length or number < -length:
        raise PatchError(f"Unable to access invalid index: {number}: {BAD_INDEX}")
    return number + length if number < 0 else number
