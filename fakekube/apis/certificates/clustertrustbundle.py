"""ClusterTrustBundle: the roots that a signer, or nobody in particular, vouches for.

Upstream: ValidateClusterTrustBundle in pkg/apis/certificates/validation.
"""

from collections.abc import Callable
from functools import partial

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, invalid, too_long
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.certificates.der import Block, is_authority, pem_blocks
from fakekube.apis.checks import ruled, signer_name
from fakekube.registry.strategy import Strategy, WriteContext

MAX_BYTES = 1 << 20
NAME, GENERATE_NAME = "metadata.name", "metadata.generateName"
SIGNER, BUNDLE = "spec.signerName", "spec.trustBundle"


class ClusterTrustBundleStrategy(Strategy):
    """What is particular to ClusterTrustBundles."""

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """What is wrong with the name is told before the rest of the metadata."""
        of_name = _of_name(obj)
        return of_name + of_metadata + self.validate(obj, ctx)[len(of_name):]

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The name, which the signer's begins; the signer; and the certificates."""
        spec = obj.get("spec") or {}
        signer, found = spec.get("signerName", ""), _of_name(obj)
        if signer:
            found += signer_name(SIGNER, signer)
        return found + _bundle(spec.get("trustBundle", ""))

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the signer stays."""
        signers = ((tree.get("spec") or {}).get("signerName", "") for tree in (obj, old))
        return self.validate(obj, ctx) + immutable(SIGNER, *signers)


def _of_name(obj: Tree) -> list[FieldError]:
    """What is wrong with the name, and with what it is generated from."""
    meta, signer = obj["metadata"], (obj.get("spec") or {}).get("signerName", "")
    base, name = meta.get("generateName"), meta.get("name")  # no name is told of the metadata
    found = _named(GENERATE_NAME, base, signer, partial(names.object_name_prefix, "subdomain")) if base else []
    return found + (_named(NAME, name, signer, names.dns1123_subdomain) if name else [])


def _named(path: str, name: str, signer: str, rule: Callable[[str], list[str]]) -> list[FieldError]:
    prefix = signer.replace("/", ":") + ":" if signer else ""
    if not name.startswith(prefix):
        text = f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        return [invalid(path, name, text)]
    if not signer and ":" in name:
        return [invalid(path, name, 'ClusterTrustBundle without signer name must not have ":" in its name')]
    return [error._replace(value=name) for error in ruled(path, name.removeprefix(prefix), rule)]


def _bundle(text: str) -> list[FieldError]:
    if len(text.encode()) > MAX_BYTES:
        return [too_long(BUNDLE, MAX_BYTES)]
    blocks = pem_blocks(text)
    if not blocks:
        return [_wrong("at least one trust anchor must be provided")]
    found, places = [], dict[bytes, list[int]]()
    for number, block in enumerate(blocks):
        if wrong := _block(block):
            found.append(_wrong(f"entry {number} {wrong}"))
        else:
            places.setdefault(block.content, []).append(number)
    if found:
        return found
    repeated = (" ".join(map(str, numbers)) for numbers in places.values() if len(numbers) > 1)
    return [_wrong(f"duplicate trust anchor (indices [{numbers}])") for numbers in repeated]


def _block(block: Block) -> str:
    """What keeps a block from being a trust anchor."""
    if block.type != "CERTIFICATE":
        return f"has bad block type: {block.type}"
    if block.headers:
        return "has PEM block headers"
    try:
        authority = is_authority(block.content)
    except (ValueError, IndexError):
        return "does not parse as X.509"
    return "" if authority else "does not have the CA bit set"


def _wrong(text: str) -> FieldError:
    return invalid(BUNDLE, "<value omitted>", text)


STRATEGY = ClusterTrustBundleStrategy()
