"""ServiceCIDR: a range of cluster addresses.

Upstream: pkg/apis/networking/validation. Left out: taking addresses from it; services draw from one
fixed range.
"""

from fakekube.apimachinery.field_errors import FieldError, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.addresses import parse_cidr, strict_cidr
from fakekube.apis.base import StatusStrategy
from fakekube.registry.strategy import WriteContext

PATH = "spec.cidrs"


class ServiceCIDRStrategy(StatusStrategy):
    """What is particular to ServiceCIDRs."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """One range, or one of each family."""
        ranges = _ranges(obj)
        if not ranges:
            return [required(PATH, "at least one CIDR required")]
        if len(ranges) > 2:
            return [invalid(PATH, {"CIDRs": ranges}, "may only hold up to 2 values")]
        found: list[FieldError] = []
        for number, text in enumerate(ranges):
            found += strict_cidr(index(PATH, number), text)
        families = [parsed[1].version for text in ranges if (parsed := parse_cidr(text))]
        if len(families) == 2 and families[0] == families[1]:
            text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
            found.append(invalid(PATH, ranges, text))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """A second family may be added; nothing else changes."""
        new, before = _ranges(obj), _ranges(old)
        if len(new) == len(before):
            pairs = enumerate(zip(new, before, strict=True))
            return [invalid(index(PATH, number), a, IMMUTABLE) for number, (a, b) in pairs if a != b]
        if (len(before), len(new)) == (1, 2):
            changed = [invalid(index(PATH, 0), new[0], IMMUTABLE)] if new[0] != before[0] else []
            return changed + self.validate(obj, ctx)
        return [invalid(PATH, new, IMMUTABLE)]


def _ranges(obj: Tree) -> list[str]:
    return (obj.get("spec") or {}).get("cidrs") or []


STRATEGY = ServiceCIDRStrategy()
