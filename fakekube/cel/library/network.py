"""Addresses and networks: ``ip('10.0.0.1').family()``, ``cidr('10.0.0.0/8').masked()``.

Upstream: apiserver/pkg/cel/library/ip.go and cidr.go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fakekube.apimachinery import netip
from fakekube.apimachinery.field_errors import go_quote
from fakekube.cel import costs, types, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.functions import Estimate, Function, Node, RunTimeCost, Sizes, function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

IP_TYPE = types.opaque("net.IP")
CIDR_TYPE = types.opaque("net.CIDR")
_S, _B, _I = types.STRING, types.BOOL, types.INT
_NOMINAL: dict[str, Any] = {"cost": costing.nominal_cost, "estimate": costing.nominal}
_WALK: dict[str, Any] = {"cost": costing.walk_cost(), "estimate": costing.walk()}


@dataclass(frozen=True, slots=True)
class IP:
    """The value of ``ip('10.0.0.1')``."""

    cel_type: ClassVar[types.Type] = IP_TYPE
    address: netip.Address

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True, slots=True)
class CIDR:
    """The value of ``cidr('10.0.0.0/8')``."""

    cel_type: ClassVar[types.Type] = CIDR_TYPE
    prefix: netip.Prefix

    def __str__(self) -> str:
        return str(self.prefix)

    @property
    def cost_size(self) -> int:
        """The bytes that name the network, as costs count them."""
        return -(-self.prefix.length // 8)


def ip_library() -> Library:
    """The functions of addresses, since 1.30."""
    return Library("ip", (
        function("ip", overload("string_to_ip", [_S], IP_TYPE, to_ip, **_WALK)),
        function("family", member("ip_family", [IP_TYPE], _I, lambda ip: 4 if ip.address.bits == 32 else 6, **_NOMINAL)),
        function("ip.isCanonical", overload(
            "ip_is_canonical", [_S], _B, is_canonical,
            cost=costing.walk_cost(2 * costing.FACTOR), estimate=costing.walk(2 * costing.FACTOR))),
        _question("isUnspecified", "ip_is_unspecified", lambda ip: ip.address.is_unspecified),
        _question("isLoopback", "ip_is_loopback", lambda ip: ip.address.is_loopback),
        _question("isLinkLocalMulticast", "ip_is_link_local_multicast", lambda ip: ip.address.is_link_local_multicast),
        _question("isLinkLocalUnicast", "ip_is_link_local_unicast", lambda ip: ip.address.is_link_local_unicast),
        _question("isGlobalUnicast", "ip_is_global_unicast", lambda ip: ip.address.is_global_unicast),
        function("isIP", overload("is_ip", [_S], _B, is_ip, **_WALK)),
        function("string", overload("ip_to_string", [IP_TYPE], _S, str)),
    ), named_types={IP_TYPE.name: IP_TYPE})


def cidr_library() -> Library:
    """The functions of networks, since 1.30."""
    contains_ip, contains_cidr = "cidr_contains_ip_", "cidr_contains_cidr"
    return Library("cidr", (
        function("cidr", overload("string_to_cidr", [_S], CIDR_TYPE, to_cidr, **_WALK)),
        function(
            "containsIP",
            member(f"{contains_ip}string", [CIDR_TYPE, _S], _B, lambda cidr, text: contains(cidr, to_ip(text)),
                   **_containment(parsed=True, network=False)),
            member(f"{contains_ip}ip", [CIDR_TYPE, IP_TYPE], _B, contains, **_containment(parsed=False, network=False)),
        ),
        function(
            "containsCIDR",
            member(f"{contains_cidr}_string", [CIDR_TYPE, _S], _B, lambda cidr, text: covers(cidr, to_cidr(text)),
                   **_containment(parsed=True, network=True)),
            member(contains_cidr, [CIDR_TYPE, CIDR_TYPE], _B, covers, **_containment(parsed=False, network=True)),
        ),
        function("ip", member("cidr_ip", [CIDR_TYPE], IP_TYPE, lambda cidr: IP(cidr.prefix.address), **_NOMINAL)),
        function("prefixLength", member("cidr_prefix_length", [CIDR_TYPE], _I, lambda cidr: cidr.prefix.length, **_NOMINAL)),
        function("masked", member("cidr_masked", [CIDR_TYPE], CIDR_TYPE, lambda cidr: CIDR(cidr.prefix.masked()), **_NOMINAL)),
        function("isCIDR", overload("is_cidr", [_S], _B, is_cidr, **_WALK)),
        function("string", overload("cidr_to_string", [CIDR_TYPE], _S, str)),
    ), named_types={CIDR_TYPE.name: CIDR_TYPE})


def _question(name: str, overload_id: str, answer: Callable[[IP], bool]) -> Function:
    return function(name, member(overload_id, [IP_TYPE], _B, answer, **_NOMINAL))


def to_ip(text: str) -> IP:
    """An address without a zone, and no IPv4 address in the form of IPv6."""
    try:
        address = netip.parse_address(text)
    except netip.AddressError as error:
        raise EvaluationError(f"IP Address {go_quote(text)} parse error during conversion from string: {error}") from None
    if address.zone:
        raise EvaluationError(f"IP address {go_quote(text)} with zone value is not allowed")
    if address.is_4_in_6:
        raise EvaluationError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed")
    return IP(address)


def to_cidr(text: str) -> CIDR:
    """A network, whose address may have bits behind the prefix."""
    context = "network address parse error during conversion from string: "
    try:
        prefix = netip.parse_prefix(text)
    except netip.AddressError as error:
        raise EvaluationError(f"{context}{context}{error}") from None
    if prefix.address.is_4_in_6:
        raise EvaluationError(f"{context}IPv4-mapped IPv6 address {go_quote(text)} is not allowed")
    return CIDR(prefix)


def is_ip(text: str) -> bool:
    """Whether ``ip`` takes a text."""
    try:
        to_ip(text)
    except EvaluationError:
        return False
    return True


def is_cidr(text: str) -> bool:
    """Whether ``cidr`` takes a text."""
    try:
        to_cidr(text)
    except EvaluationError:
        return False
    return True


def is_canonical(text: str) -> bool:
    """Whether an address is written as Go would write it."""
    return str(to_ip(text).address) == text


def contains(cidr: CIDR, ip: IP) -> bool:
    """Whether an address is in a network."""
    return cidr.prefix.contains(ip.address)


def covers(cidr: CIDR, other: CIDR) -> bool:
    """Whether all addresses of another network are in a network."""
    return cidr.prefix.overlaps(other.prefix) and cidr.prefix.length <= other.prefix.length


def _containment(*, parsed: bool, network: bool) -> dict[str, Any]:
    return {"cost": _containment_cost(parsed=parsed, network=network),
            "estimate": _containment_estimate(parsed=parsed, network=network)}


def _containment_cost(*, parsed: bool, network: bool) -> RunTimeCost:
    def cost(arguments: Sequence[Any], _result: Any) -> int:
        size = arguments[0].cost_size
        total = costs.scaled(2 * size, costing.FACTOR)
        if network:
            total += costs.scaled(size, costing.FACTOR) + 1
        if parsed:
            total += costs.scaled(values.size(arguments[1]), costing.FACTOR)
        return total

    return cost


def _containment_estimate(*, parsed: bool, network: bool) -> Estimate:
    address = costs.SizeEstimate(4, 16)

    def estimate(sizes: Sizes, _receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
        total = address.plus(address).cost(costing.FACTOR)
        if network:
            total = total.plus(address.cost(costing.FACTOR)).plus(costs.fixed(1))
        if parsed:
            total = total.plus(sizes.size(arguments[0]).cost(costing.FACTOR))
        return costs.CallEstimate(total)

    return estimate
