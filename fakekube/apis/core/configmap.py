"""ConfigMap: keys that can be file names, a limit on size, and immutability once asked for.

Upstream: pkg/registry/core/configmap, ValidateConfigMap in pkg/apis/core/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid, key, too_long
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import Strategy, WriteContext

MAX_BYTES = 1024 * 1024
FROZEN = "field is immutable when `immutable` is set"


def data_size(values: list[str], *, base64: bool) -> int:
    """Bytes of the values, decoded when they are base64."""
    if not base64:
        return sum(len(value.encode()) for value in values)
    return sum(len(value) // 4 * 3 - value.count("=", -2) for value in values if value)


def frozen(obj: Tree, old: Tree, *fields: str) -> list[FieldError]:
    """What an immutable ConfigMap or Secret does not let change."""
    if not old.get("immutable"):
        return []
    found = [] if obj.get("immutable") else [forbidden("immutable", FROZEN)]
    return found + [forbidden(name, FROZEN) for name in fields if (obj.get(name) or {}) != (old.get(name) or {})]


def no_nulls(obj: Tree, field: str) -> None:
    """Bytes that are null are no bytes."""
    values = obj.get(field) or {}
    if None in values.values():
        obj[field] = {name: value or "" for name, value in values.items()}


class ConfigMapStrategy(Strategy):
    """What is particular to ConfigMaps."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Nothing but the absence of nulls."""
        no_nulls(obj, "binaryData")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Keys, no key twice, and the size of all values."""
        found: list[FieldError] = []
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        for name in sorted(data):
            found += ruled(key("data", name), name, names.config_key)
            if name in binary:
                found.append(invalid(key("data", name), name, "duplicate of key present in binaryData"))
        for name in sorted(binary):
            found += ruled(key("binaryData", name), name, names.config_key)
        if data_size(list(data.values()), base64=False) + data_size(list(binary.values()), base64=True) > MAX_BYTES:
            # upstream tells it at a path that is there and empty
            found.append(too_long("[]", MAX_BYTES))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one, and what is immutable."""
        return frozen(obj, old, "data", "binaryData") + self.validate(obj, ctx)


STRATEGY = ConfigMapStrategy()
