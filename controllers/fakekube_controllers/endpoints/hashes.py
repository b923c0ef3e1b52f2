"""The order of ports and subsets, which upstream takes from hashes of its structs.

Upstream: k8s.io/endpointslice/util (portsInOrder), pkg/api/v1/endpoints/util.go (portsByHash),
which hash what spew prints.
"""

from typing import Any

from fakekube.apimachinery.types import Tree

OFFSET, PRIME, MASK = 0x6C62272E07BB014262B821756295C58D, 0x0000000001000000000000000000013B, (1 << 128) - 1


def fnv128a(text: str) -> int:
    """FNV-1a over the text's bytes, 128 bits wide."""
    value = OFFSET
    for byte in text.encode():
        value = (value ^ byte) * PRIME & MASK
    return value


def slice_port_hash(port: Tree) -> int:
    """Of a port of an EndpointSlice."""
    name, protocol, number, application = (_pointer(port, key) for key in ("name", "protocol", "port", "appProtocol"))
    return fnv128a(
        f"(v1.EndpointPort){{Name:(*string){name} Protocol:(*v1.Protocol){protocol} Port:(*int32){number} "
        f"AppProtocol:(*string){application}}}")


def port_hash(port: Tree) -> int:
    """Of a port of Endpoints."""
    return fnv128a(f"(v1.EndpointPort){_port(port)}")


def subset_hash(subset: Tree) -> int:
    """Of a subset of Endpoints."""
    ready, not_ready, ports = (_items(subset.get(key)) for key in ("addresses", "notReadyAddresses", "ports"))
    return fnv128a(
        f"(v1.EndpointSubset){{Addresses:([]v1.EndpointAddress){ready} NotReadyAddresses:([]v1.EndpointAddress){not_ready} "
        f"Ports:([]v1.EndpointPort){ports}}}")


def _items(items: Any) -> str:
    return f"[{' '.join(_address(item) if 'ip' in item else _port(item) for item in items)}]" if items else "<nil>"


def _port(port: Tree) -> str:
    return (
        f"{{Name:(string){port.get('name', '')} Port:(int32){port['port']} Protocol:(v1.Protocol){port.get('protocol', '')} "
        f"AppProtocol:(*string){_pointer(port, 'appProtocol')}}}")


def _address(address: Tree) -> str:
    target = address.get("targetRef")
    shown = "<nil>" if target is None else "{" + " ".join(
        f"{field}:({kind}){target.get(key, '')}" for field, kind, key in (
            ("Kind", "string", "kind"), ("Namespace", "string", "namespace"), ("Name", "string", "name"),
            ("UID", "types.UID", "uid"), ("APIVersion", "string", "apiVersion"),
            ("ResourceVersion", "string", "resourceVersion"), ("FieldPath", "string", "fieldPath"))) + "}"
    return (
        f"{{IP:(string){address['ip']} Hostname:(string){address.get('hostname', '')} "
        f"NodeName:(*string){_pointer(address, 'nodeName')} TargetRef:(*v1.ObjectReference){shown}}}")


def _pointer(tree: Tree, key: str) -> str:
    return str(tree[key]) if key in tree else "<nil>"
