"""NetworkPolicy: which pods may talk to which.

Upstream: pkg/apis/networking/v1/defaults.go, pkg/apis/networking/validation.
"""

from collections.abc import Collection, Iterator

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, declared, forbidden, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import label_selector, one_of
from fakekube.apis.addresses import cidr_warnings, legacy_cidr, parse_cidr
from fakekube.apis.checks import port_number, ruled
from fakekube.registry.strategy import Strategy, WriteContext

PROTOCOLS, TYPES = ("TCP", "UDP", "SCTP"), ("Ingress", "Egress")
DIRECTIONS = (("ingress", "from"), ("egress", "to"))


def _rules(spec: Tree) -> Iterator[tuple[str, str, Tree]]:
    """Each rule with its path and the name of its peers."""
    for direction, peers in DIRECTIONS:
        for number, rule in enumerate(spec.get(direction) or ()):
            yield index(child("spec", direction), number), peers, rule


class NetworkPolicyStrategy(Strategy):
    """What is particular to NetworkPolicies."""

    empties_count = True

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Ports speak TCP; what is not said to be a policy for egress is one for ingress."""
        spec = obj.setdefault("spec", {})
        for _, _, rule in _rules(spec):
            for port in rule.get("ports") or ():
                port.setdefault("protocol", "TCP")
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Selectors, ports, peers and types."""
        return _validate(obj["spec"], ctx, [])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; ranges that were there before are not looked at again."""
        known = {
            text for _, peers, rule in _rules(old["spec"]) for peer in rule.get(peers) or () if "ipBlock" in peer
            for text in (peer["ipBlock"].get("cidr", ""), *(peer["ipBlock"].get("except") or ()))}
        return _validate(obj["spec"], ctx, known)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """Ranges that should be written otherwise."""
        found: list[str] = []
        for path, peers, rule in _rules(obj["spec"]):
            for number, peer in enumerate(rule.get(peers) or ()):
                block, where = peer.get("ipBlock") or {}, child(index(child(path, peers), number), "ipBlock")
                found += cidr_warnings(child(where, "cidr"), block.get("cidr", ""))
                for each, text in enumerate(block.get("except") or ()):
                    found += cidr_warnings(index(child(where, "except"), each), text)
        return found


def _validate(spec: Tree, ctx: WriteContext, known: Collection[str]) -> list[FieldError]:
    strict = ctx.cluster.gate("StrictIPCIDRValidation")
    found = label_selector(spec.get("podSelector"), "spec.podSelector")
    for path, peers, rule in _rules(spec):
        for number, port in enumerate(rule.get("ports") or ()):
            found += _port(index(child(path, "ports"), number), port)
        for number, peer in enumerate(rule.get(peers) or ()):
            found += _peer(index(child(path, peers), number), peer, known, strict=strict)
    types = spec.get("policyTypes") or []
    if len(types) > len(TYPES):
        found.append(invalid("spec.policyTypes", types, "may not specify more than two policyTypes"))
    else:
        for number, each in enumerate(types):
            found += one_of(index("spec.policyTypes", number), each, TYPES)
    return found


def _port(path: str, port: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    protocol, number, end = port.get("protocol", "TCP"), port.get("port"), port.get("endPort")
    if protocol not in PROTOCOLS:
        found.append(not_supported(child(path, "protocol"), protocol, PROTOCOLS))
    if isinstance(number, int):
        found += port_number(child(path, "port"), number)
        if end is not None:
            if end < number:
                error = invalid(child(path, "endPort"), end, "must be greater than or equal to `port`")
                found.append(error._replace(before=error._replace(value=number)))
            found += port_number(child(path, "endPort"), end)
        return found
    if end is not None:
        why = "is not specified" if number is None else "is non-numeric"
        found.append(invalid(child(path, "endPort"), end, f"may not be specified when `port` {why}"))
    return found + (ruled(child(path, "port"), number, names.port_name) if number is not None else [])


def _peer(path: str, peer: Tree, known: Collection[str], *, strict: bool) -> list[FieldError]:
    found: list[FieldError] = []
    for name in ("podSelector", "namespaceSelector"):
        found += label_selector(peer.get(name), child(path, name))
    if "ipBlock" in peer:
        found += _block(child(path, "ipBlock"), peer["ipBlock"], known, strict=strict)
    count = sum(name in peer for name in ("podSelector", "namespaceSelector", "ipBlock"))
    if not count:
        found.append(required(path, "must specify a peer"))
    elif count > 1 and "ipBlock" in peer:
        found.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return found


def _block(path: str, block: Tree, known: Collection[str], *, strict: bool) -> list[FieldError]:
    text = block.get("cidr", "")
    if not text:
        return [declared(required(child(path, "cidr")))]
    found = legacy_cidr(child(path, "cidr"), text, known, strict=strict)
    whole = parse_cidr(text)
    if whole is None:
        return found
    for number, each in enumerate(block.get("except") or ()):
        where = index(child(path, "except"), number)
        found += legacy_cidr(where, each, known, strict=strict)
        part = parse_cidr(each)
        if part is None:
            continue
        inside = part[1].network_address in whole[1] and part[1].prefixlen > whole[1].prefixlen
        if not inside:
            found.append(invalid(where, each, "must be a strict subset of `cidr`"))
    return found


STRATEGY = NetworkPolicyStrategy()
