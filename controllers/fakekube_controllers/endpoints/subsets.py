"""Subsets of Endpoints in their canonical form: addresses that offer the same ports stand together,
in upstream's order.

Upstream: pkg/api/v1/endpoints/util.go (RepackSubsets) and pkg/controller/endpoint
(truncateEndpoints).
"""

import math
from collections.abc import Sequence
from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube_controllers.endpoints.hashes import port_hash, subset_hash

CAPACITY = 1000
NO_PORT = ()

AddressKey = tuple[str, str]


def repack(subsets: Sequence[Tree]) -> list[Tree]:
    """The same addresses and ports, each address once for all the ports that it offers in the same
    state.
    """
    addresses: dict[AddressKey, Tree] = {}
    ports: dict[Any, Tree | None] = {}
    offers: dict[Any, dict[AddressKey, bool]] = {}
    for subset in subsets:
        for port in subset.get("ports") or (None,):
            number = NO_PORT if port is None else tuple(sorted(port.items()))
            ports[number] = port
            offered = offers.setdefault(number, {})
            for name, ready in (("addresses", True), ("notReadyAddresses", False)):
                for address in subset.get(name) or ():
                    key = _key(address)
                    addresses.setdefault(key, address)
                    offered[key] = ready and offered.get(key, True)
    together: dict[tuple[tuple[AddressKey, bool], ...], list[Tree]] = {}
    for number, offered in offers.items():
        port = ports[number]
        together.setdefault(tuple(sorted(offered.items())), []).extend([] if port is None else [port])
    return sorted((_subset(states, addresses, found) for states, found in together.items()), key=_order(len(together)))


def _order(number: int) -> Any:
    return subset_hash if number > 1 else lambda _: 0


def _subset(states: Sequence[tuple[AddressKey, bool]], addresses: dict[AddressKey, Tree], ports: list[Tree]) -> Tree:
    found: Tree = {
        "addresses": [addresses[key] for key, ready in states if ready],
        "notReadyAddresses": [addresses[key] for key, ready in states if not ready],
        "ports": sorted(ports, key=port_hash) if len(ports) > 1 else ports,
    }
    return {name: items for name, items in found.items() if items}


def _key(address: Tree) -> AddressKey:
    return address["ip"], (address.get("targetRef") or {}).get("uid", "")


def truncate(subsets: Sequence[Tree]) -> tuple[list[Tree], bool]:
    """At most so many addresses as Endpoints hold, the ready ones first, each subset its share; and
    whether any were left out.
    """
    ready, not_ready = (sum(len(subset.get(name) or ()) for subset in subsets) for name in ("addresses", "notReadyAddresses"))
    if ready + not_ready <= CAPACITY:
        return list(subsets), False
    name, room, total = ("addresses", CAPACITY, ready) if ready > CAPACITY else ("notReadyAddresses", CAPACITY - ready, not_ready)
    left, result = room, []
    for subset in subsets:
        mine = subset.get(name) or []
        kept = mine[:min(math.ceil(len(mine) / total * room), left)]
        left -= len(kept)
        changed = {**subset, name: kept} | ({"notReadyAddresses": []} if name == "addresses" else {})
        result.append({key: items for key, items in changed.items() if items})
    return result, True
