"""Typed models of discovery/v1: EndpointSlice and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.object import Object
from fakekube.types.persistentvolumes import ObjectReference
from fakekube.types.values import Bool, Int


class EndpointConditions(Model):
    """In Endpoint.conditions."""

    ready: Bool | None = None
    serving: Bool | None = None
    terminating: Bool | None = None


class ForZone(Model):
    """In EndpointHints.forZones."""

    name: str = ""


class ForNode(Model):
    """In EndpointHints.forNodes."""

    name: str = ""


class EndpointHints(Model):
    """In Endpoint.hints."""

    for_zones: list[ForZone] = empty(list)
    for_nodes: list[ForNode] = empty(list)


class Endpoint(Model):
    """In EndpointSlice.endpoints."""

    addresses: list[str] = empty(list)
    conditions: EndpointConditions = empty(EndpointConditions)
    hostname: str | None = None
    target_ref: ObjectReference | None = None
    deprecated_topology: dict[str, str] = empty(dict)
    node_name: str | None = None
    zone: str | None = None
    hints: EndpointHints | None = None


class EndpointPort(Model):
    """In EndpointSlice.ports."""

    name: str | None = None
    protocol: str | None = None
    port: Int | None = None
    app_protocol: str | None = None


class EndpointSlice(Object):
    """``endpointslices`` of discovery.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice",
    )

    address_type: str = ""
    endpoints: list[Endpoint] = empty(list)
    ports: list[EndpointPort] = empty(list)
