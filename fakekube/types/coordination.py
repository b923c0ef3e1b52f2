"""Typed models of coordination/v1: Lease and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.object import Object
from fakekube.types.values import Int, MicroTime


class LeaseSpec(Model):
    """In Lease.spec."""

    holder_identity: str | None = None
    lease_duration_seconds: Int | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: Int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(Object):
    """``leases`` of coordination.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("coordination.k8s.io", "v1", "leases", "Lease")

    spec: LeaseSpec = empty(LeaseSpec)
