"""Typed models of events/v1: Event and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.core import EventSource
from fakekube.types.object import Object
from fakekube.types.persistentvolumes import ObjectReference
from fakekube.types.values import Int, MicroTime, Time


class EventSeries(Model):
    """In Event.series."""

    count: Int = 0
    last_observed_time: MicroTime | None = None


class Event(Object):
    """``events`` of events.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("events.k8s.io", "v1", "events", "Event")

    event_time: MicroTime | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = empty(ObjectReference)
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""
    deprecated_source: EventSource = empty(EventSource)
    deprecated_first_timestamp: Time | None = None
    deprecated_last_timestamp: Time | None = None
    deprecated_count: Int = 0
