"""Where time is real, a predicate is asked until it holds, or the time that it has is over."""

from datetime import timedelta

import pytest

from fakekube.util.activity import Activity
from fakekube.util.driver import Stalled
from fakekube.util.drivers import RealDriver
from fakekube.util.wallclock import RealClock


async def test_a_predicate_is_asked_again_within_its_time() -> None:
    """Given a predicate that holds when it is asked the third time, and one that never does / when
    they are waited for within a minute, and within no time / then the one holds, and the other
    stalls with its time.
    """
    driver, asked = RealDriver(RealClock(), Activity()), list[int]()

    def third() -> bool:
        asked.append(1)
        return len(asked) == 3

    await driver.run_until(third, within=timedelta(minutes=1))
    assert len(asked) == 3
    with pytest.raises(Stalled, match=r"is not true and 0:00:00 have passed"):
        await driver.run_until(lambda: False, within=timedelta())
