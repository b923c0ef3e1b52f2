"""Changed custom objects, read anew but for what is the stored object's own.

What a change left alone was read when it was written, and goes on to be shared: so a write of one
condition costs what the condition costs, however large the object is. Upstream, which shares
nothing, reads all of it.
"""

import orjson

from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.strategy import LEFT_OUT, shared_parts
from fakekube.schema.decode import BodyReader, Decoded


def read_changed(codec: BodyReader, tree: Tree, old: Tree, *, converter: bool = False) -> Decoded:
    """As ``BodyReader.decode`` of ``tree``, which a change made of the stored object ``old`` and
    which stays as it is.

    The object and its metadata are the caller's; what is below may be that of ``old``. Raises
    DecodeError.
    """
    kept = shared_parts(tree, old)
    kept.pop("metadata", None)
    left: Tree = {**tree, **dict.fromkeys(kept, LEFT_OUT)}
    metadata, before = tree.get("metadata"), old["metadata"]
    own: Tree = {}
    if isinstance(metadata, dict):
        if _is_as_read(metadata, before):
            own, left["metadata"] = metadata, {}
        elif (managed := metadata.get("managedFields")) and managed is before.get("managedFields"):
            own = {"managedFields": managed}
            left["metadata"] = {name: value for name, value in metadata.items() if name != "managedFields"}
    decoded = codec.decode(orjson.loads(orjson.dumps(left)), converter=converter)
    decoded.tree.update(kept)
    if own:
        decoded.tree["metadata"] = {**own} if own is metadata else {**decoded.tree["metadata"], **own}
    return decoded


def _is_as_read(metadata: Tree, before: Tree) -> bool:
    """Whether metadata is that of the stored object, with or without who owns what.

    What is empty may be left out when it is read.
    """
    if len(metadata) - ("managedFields" in metadata) != len(before) - ("managedFields" in before):
        return False
    for name, value in metadata.items():
        if not value or value is not before.get(name):
            return False
    return True
