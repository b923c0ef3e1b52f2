"""From a body to a custom object: metadata as ObjectMeta, the rest as it was sent.

Upstream: schemaCoercingDecoder in apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
"""

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery.types import Tree
from fakekube.schema.decode import Codec, Decoded


class CustomReader:
    """A BodyReader of one version of a definition."""

    def __init__(self, version: DefinedVersion) -> None:
        self.schema = version.schema
        self._metadata = Codec(version.metadata)

    def decode(self, tree: Tree, body: bytes | None = None, *, old: Tree | None = None) -> Decoded:
        """As ``Codec.decode``."""
        unknown: list[str] = []
        metadata = tree.get("metadata")
        if metadata is not None:
            decoded = self._metadata.decode(metadata)
            tree["metadata"] = decoded.tree
            unknown = [f"metadata.{path}" for path in decoded.unknown]
        return Decoded(tree, unknown)

    def strict(self, body: bytes) -> list[str]:
        """As ``Codec.strict``."""
        return []
