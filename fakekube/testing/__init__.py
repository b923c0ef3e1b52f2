"""What tests use: assertions on what happened, clusters in the background, fixtures.

Read ``temporal.py`` first. Names resolve on first use: a project that has us installed and does not
use us pays for nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakekube.testing.background import BackgroundCluster as BackgroundCluster
    from fakekube.testing.claims import Always as Always
    from fakekube.testing.claims import Eventually as Eventually
    from fakekube.testing.claims import LeadsTo as LeadsTo
    from fakekube.testing.claims import Never as Never
    from fakekube.testing.claims import Until as Until
    from fakekube.testing.history import Change as Change
    from fakekube.testing.history import History as History
    from fakekube.testing.history import HistoryForgotten as HistoryForgotten
    from fakekube.testing.history import State as State
    from fakekube.testing.incluster import in_cluster as in_cluster
    from fakekube.testing.records import assert_event as assert_event
    from fakekube.testing.records import assert_no_event as assert_no_event
    from fakekube.testing.records import assert_requested as assert_requested
    from fakekube.testing.records import events as events
    from fakekube.testing.records import requests as requests
    from fakekube.testing.runningclaims import checking as checking
    from fakekube.testing.temporal import HistoryError as HistoryError
    from fakekube.testing.temporal import always as always
    from fakekube.testing.temporal import eventually as eventually
    from fakekube.testing.temporal import leads_to as leads_to
    from fakekube.testing.temporal import never as never
    from fakekube.testing.temporal import run_until as run_until
    from fakekube.testing.temporal import until as until
    from fakekube.testing.timelines import Timeline as Timeline
    from fakekube.testing.timelines import timeline as timeline

_LAZY = {
    "Always": "claims", "Eventually": "claims", "LeadsTo": "claims", "Never": "claims", "Until": "claims",
    "checking": "runningclaims",
    "BackgroundCluster": "background", "Change": "history", "History": "history", "HistoryForgotten": "history",
    "State": "history", "assert_event": "records", "assert_no_event": "records", "assert_requested": "records",
    "events": "records", "requests": "records", "HistoryError": "temporal", "always": "temporal", "eventually": "temporal",
    "leads_to": "temporal", "never": "temporal", "run_until": "temporal", "until": "temporal", "Timeline": "timelines",
    "timeline": "timelines", "in_cluster": "incluster",
}

__all__ = [*_LAZY]  # noqa: PLE0604 - strings all


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"fakekube.testing.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'fakekube.testing' has no attribute {name!r}")
