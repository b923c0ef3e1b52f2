"""JSON patches: ``JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b')}``.

Only mutating policies have them. Upstream: apiserver/pkg/cel/library/jsonpatch.go and
apiserver/pkg/cel/mutation/jsonpatch.go.
"""

from fakekube.cel import types
from fakekube.cel.functions import function, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

JSON_PATCH_TYPE = types.object_type(
    "JSONPatch", {"op": types.STRING, "from": types.STRING, "path": types.STRING, "value": types.DYN})


def library() -> Library:
    """The functions, since 1.32."""
    return Library("jsonpatch", (
        function("jsonpatch.escapeKey", overload(
            "string_jsonpatch_escapeKey_string", [types.STRING], types.STRING, escape_key,
            cost=costing.walk_cost(), estimate=costing.walk(sized=True))),
    ))


def escape_key(key: str) -> str:
    """A key as it stands in the path of a patch."""
    return key.replace("~", "~0").replace("/", "~1")
