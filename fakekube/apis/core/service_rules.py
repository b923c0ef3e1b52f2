"""What kinds of Service there are, and what is refused of their addresses and families.

Upstream: ValidateServiceClusterIPsRelatedFields and its neighbours in pkg/apis/core/validation.
"""

from collections.abc import Collection

from fakekube.apimachinery.field_errors import FieldError, duplicate, index, invalid, not_supported, repetitions, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import legacy_ip, parse_ip
from fakekube.registry.strategy import WriteContext

FAMILIES = ("IPv4", "IPv6")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
ADDRESSES = "spec.clusterIPs"


def uses_addresses(service: Tree) -> bool:
    """Whether it has a cluster address, or says None."""
    return bool(service["spec"].get("type") != "ExternalName")


def uses_node_ports(service: Tree) -> bool:
    """Whether it is reached through a port of every node."""
    return service["spec"].get("type") in ("NodePort", "LoadBalancer")


def uses_health_port(service: Tree) -> bool:
    """Whether a load balancer asks each node if it has endpoints."""
    spec = service["spec"]
    return bool(spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local")


def is_external(service: Tree) -> bool:
    """Whether it can be reached from outside."""
    spec = service["spec"]
    return uses_node_ports(service) or bool(spec.get("type") == "ClusterIP" and spec.get("externalIPs"))


def is_headless(service: Tree) -> bool:
    """Whether it has no address of its own."""
    return bool(service["spec"].get("clusterIPs") == ["None"])


def family_errors(obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
    """Whether addresses, families and policy fit together."""
    if not uses_addresses(obj):
        return []
    spec = obj["spec"]
    addresses, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    found = _linked(spec.get("clusterIP", ""), addresses)
    repeated = repetitions(families)
    for number, family in enumerate(families):
        path = index("spec.ipFamilies", number)
        if family not in FAMILIES:
            found.append(not_supported(path, family, FAMILIES))
        if number in repeated:
            found.append(duplicate(path, family))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in POLICIES:
        found.append(not_supported("spec.ipFamilyPolicy", policy, POLICIES))
    bad = _addresses(addresses, frozenset(((old or {}).get("spec") or {}).get("clusterIPs") or ()), ctx)
    found += bad
    if len(addresses) > 2:
        found.append(invalid(ADDRESSES, addresses, "may only hold up to 2 values"))
    if bad:
        return found
    versions = [ip.version for text in addresses if (ip := parse_ip(text))]
    if len(addresses) > 1 and sorted(versions) != [4, 6]:
        text = "may specify no more than one IP for each IP family"
        found.append(invalid(ADDRESSES, addresses, text))
    if not is_headless(obj):
        for number, (version, family) in enumerate(zip(versions, families, strict=False)):
            if family in FAMILIES and family != f"IPv{version}":
                text = f"expected an {family} value as indicated by `ipFamilies[{number}]`"
                found.append(invalid(index(ADDRESSES, number), addresses[number], text))
    return found


def _linked(address: str, addresses: list[str]) -> list[FieldError]:
    """The singular field and the first of the plural one are the same."""
    if not address:
        return [invalid(ADDRESSES, addresses, "must be empty when `clusterIP` is not specified")] if addresses else []
    if not addresses:
        return [required(ADDRESSES)]
    return [] if addresses[0] == address else [invalid(ADDRESSES, addresses, "first value must match `clusterIP`")]


def _addresses(addresses: list[str], known: Collection[str], ctx: WriteContext) -> list[FieldError]:
    strict = ctx.cluster.gate("StrictIPCIDRValidation")
    found: list[FieldError] = []
    for number, text in enumerate(addresses):
        if not number and text == "None":
            if len(addresses) > 1:
                found.append(invalid(ADDRESSES, addresses, "'None' must be the first and only value"))
            continue
        found += legacy_ip(index(ADDRESSES, number), text, known, strict=strict)
    return found


def change_errors(obj: Tree, old: Tree) -> list[FieldError]:
    """The first address and family stay; a second may come, and go when the policy says so."""
    if not uses_addresses(obj) or not uses_addresses(old) or (is_headless(obj) and is_headless(old)):
        return []
    found = _changed(obj, old, "clusterIPs", "clusterIP")
    if is_headless(obj) == is_headless(old):
        found += _changed(obj, old, "ipFamilies", "ipFamily")
    return found


def _changed(obj: Tree, old: Tree, field: str, word: str) -> list[FieldError]:
    new, before = obj["spec"].get(field) or [], old["spec"].get(field) or []
    path, found = f"spec.{field}", []
    shown = new if field == "clusterIPs" or len(new) == len(before) else obj["spec"].get("clusterIPs") or []
    if len(new) == len(before):
        for number, (after, earlier) in enumerate(zip(new, before, strict=True)):
            if after != earlier:
                where = index(path, number if field == "clusterIPs" else 0)
                found.append(invalid(where, new, "may not change once set"))
        return found
    if len(before) > len(new) and not (obj["spec"].get("clusterIPs") or []):
        found.append(invalid(index(path, 0), new, f"primary {word} can not be unset"))
    if new and before and new[0] != before[0]:
        found.append(invalid(index(path, 0), shown, "may not change once set"))
    if len(before) > len(new) == 1 and obj["spec"].get("ipFamilyPolicy") != "SingleStack":
        text = f"must be set to 'SingleStack' when releasing the secondary {word}"
        found.append(invalid("spec.ipFamilyPolicy", obj["spec"].get("ipFamilyPolicy"), text))
    return found
