"""JSON merge patch (RFC 7386): null deletes, maps merge, everything else replaces.

The input stays untouched; the result shares with it and with the patch what did not change.
Upstream: gopkg.in/evanphx/json-patch, which drops nulls from what a patch adds, also inside of
lists that are new, but leaves a list that replaces a value as it is.
"""

from fakekube.apimachinery.types import Json, Tree

CONTAINERS = (dict, list)


def apply(tree: Tree, patch: Tree, *, nulls: bool = True) -> Tree:
    """The tree with the patch merged into it. ``nulls`` False says that there is none in the patch.
    """
    result = dict(tree)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
            continue
        current = result.get(key)
        if not isinstance(current, dict):
            result[key] = _without_nulls(value) if nulls else value
        elif isinstance(value, dict):
            result[key] = apply(current, value, nulls=nulls)
        else:
            result[key] = value
    return result


def _without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: _without_nulls(child) if child.__class__ in CONTAINERS else child
            for key, child in value.items() if child is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
