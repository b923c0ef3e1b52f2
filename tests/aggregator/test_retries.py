"""When a server that fails its check is asked again."""

from fakekube.composition.cluster import Cluster
from fakekube.util.clock import ManualClock
from tests.aggregator.servers import DOCUMENTS, NAME, Fish
from tests.aggregator.test_handlers import available


async def test_the_time_until_the_next_look() -> None:
    """Given a server that fails, is well, and fails again / when it is looked at / then the next
    look is five milliseconds later, then twice as late each time, at most half a minute; after it
    was well it begins anew.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        fish, clock = Fish({}), cluster.apiserver.clock
        assert isinstance(clock, ManualClock)

        def until_next() -> float:
            due = clock.next_lazy()
            assert due is not None
            return round(due - clock.time(), 4)

        async def looked(times: int) -> list[float]:
            found = []
            for _ in range(times):
                await cluster.advance(30)
                found.append(until_next())
            return found

        cluster.aggregate(NAME, fish)
        await cluster.settle()
        assert until_next() == 0.005
        assert await looked(14) == [*(0.01 * 2 ** number for number in range(12)), 30.0, 30.0]
        fish.documents = dict(DOCUMENTS)
        assert await looked(2) == [30.0, 30.0]
        assert (await available(cluster))[0] == "True"
        fish.documents = {}
        assert await looked(3) == [0.005, 0.01, 0.02]
