"""The clock of a cluster, as its options say: real, scaled, manual or automatic."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fakekube.composition.options import ClusterOptions
from fakekube.util.activity import Activity
from fakekube.util.clock import START, AutoClock, ManualClock
from fakekube.util.wallclock import RealClock, ScaledClock

if TYPE_CHECKING:
    from fakekube.util.choices import Choices


def clock_of(
    options: ClusterOptions, activity: Activity, at: float | None, choices: "Choices | None" = None,
) -> ManualClock | RealClock:
    """A clock that begins at the Unix time ``at``, or else where the options say.

    Virtual time waits for ``activity``; ``choices`` say which of the timers of one instant is
    first.
    """
    start = datetime.fromtimestamp(at, UTC) if at is not None else options.start
    if options.clock == "real":
        return RealClock(start)
    if options.clock == "manual":
        return ManualClock(start or START, activity, choices)
    if options.clock == "auto":
        return AutoClock(start or START, activity, choices)
    return ScaledClock(float(options.clock), start)
