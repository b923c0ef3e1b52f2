"""Server-side apply: the patch that says what somebody wants, made a function from the old object
to the new.

Upstream: applyPatcher in apiserver/pkg/endpoints/handlers/patch.go.
"""

from string import hexdigits
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import errors, gojson
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.options import WriteOptions
from fakekube.endpoints.patchtexts import convert_error
from fakekube.endpoints.scope import Scope
from fakekube.registry.store import Transform
from fakekube.registry.strategy import WriteContext
from fakekube.schema.decode import Decoded, DecodeError

if TYPE_CHECKING:
    from fakekube.managedfields.manager import FieldManager

# what may be an integer that 64 bits do not hold, in any notation, once its digits are all alike
_ALIKE = bytes(ord("0") if chr(byte) in f"{hexdigits}_" else ord(" ") for byte in range(256))
_LONG_NUMBER = b"0" * 16
# the minor number of the release that looks at a patch before it looks for the object
BODY_FIRST_SINCE = 37


def apply_of(
    scope: Scope, request: Request, options: WriteOptions, context: WriteContext, fields: "FieldManager",
) -> Transform:
    """The change of a server-side apply, ``fields`` knowing who owns what.

    Raises 400 for a body that is no map.
    """
    from fakekube.apimachinery import yaml

    try:
        value, repeated = yaml.load(request.body, canonical=request.canonical)
    except yaml.YAMLError as error:
        if scope.minor < BODY_FIRST_SINCE:
            raise errors.bad_request(f"error decoding YAML: {error}") from None
        if request.body.lstrip()[:1] == b"{":  # taken for JSON until it is read
            raise errors.bad_request(f"error decoding patch: error converting YAML to JSON: {error}") from None
        raise errors.bad_request(f"error encoding patch: {error}") from None
    what = "YAML" if scope.minor < BODY_FIRST_SINCE else "patch"
    if value is not None and not isinstance(value, dict):
        raise errors.bad_request(
            f"error decoding {what}: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{gojson.type_name(value)} into Go value of type map[string]interface {{}}")
    config: Tree = (gojson.untyped(value) if _LONG_NUMBER in request.body.translate(_ALIKE) else value) or {}

    def transform(old: Tree | None) -> Tree:
        tree = fields.apply(
            old, config, manager=options.field_manager, now=context.now, force=options.force, subresource=scope.name)
        if repeated and options.directive != "Ignore":
            if options.directive == "Strict":
                lines = "\n".join(f"  {text}" for text in repeated)
                raise errors.bad_request(
                    f"error strict decoding {what}: error converting YAML to JSON: yaml: unmarshal errors:\n{lines}")
            context.warnings.extend(repeated)
        uid = (tree.get("metadata") or {}).get("uid")
        if old is None and uid:
            raise errors.conflict(scope.kind.group_resource, tree["metadata"].get("name", ""), (
                f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"))
        try:
            decoded = _canonical(scope, tree, old)
        except DecodeError as error:
            why = convert_error(str(error), scope.services.definitions.schema(scope.gvk))
            raise errors.raw(
                f"failed to convert new object ({fields.described(config)}) to proper version: unable to convert unstructured "
                f"object to {scope.gvk}: {why}") from None
        context.emptied = decoded.emptied
        return decoded.tree

    return transform


def _canonical(scope: Scope, tree: Tree, old: Tree | None) -> Decoded:
    """The object through its schema, its managedFields aside: these are the server's own, and
    nobody ever changes them in place. Of a custom object, what the apply left alone is the stored
    object's own, which has been there, and goes on to be shared.
    """
    codec = scope.reader(scope.gvk)
    assert codec is not None
    metadata = dict(tree.get("metadata") or {})
    managed = metadata.pop("managedFields", None)
    given: Tree = {**tree, "metadata": metadata, "kind": scope.gvk.kind, "apiVersion": scope.gvk.api_version}
    if old is not None and scope.is_custom and scope.kind.conversion is None:
        decoded = codec.decode(given, old=old, converter=True)
    else:
        decoded = codec.decode(orjson.loads(orjson.dumps(given)), converter=True)
    if managed is not None:
        decoded.tree["metadata"]["managedFields"] = managed
    return decoded
