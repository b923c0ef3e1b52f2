"""Event of events.k8s.io: core's Event under other names and stricter rules."""

from fakekube.apis.core.event import STRICT, EventStrategy

STRATEGY = EventStrategy(STRICT, strict=True)
