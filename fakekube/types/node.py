"""Typed models of node/v1: RuntimeClass and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.object import Object
from fakekube.types.placement import Toleration
from fakekube.types.values import Quantity


class Overhead(Model):
    """In RuntimeClass.overhead."""

    pod_fixed: dict[str, Quantity] = empty(dict)


class Scheduling(Model):
    """In RuntimeClass.scheduling."""

    node_selector: dict[str, str] = empty(dict)
    tolerations: list[Toleration] = empty(list)


class RuntimeClass(Object):
    """``runtimeclasses`` of node.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False,
    )

    handler: str = ""
    overhead: Overhead | None = None
    scheduling: Scheduling | None = None
