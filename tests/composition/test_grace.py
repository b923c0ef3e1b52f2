"""The option that says for how long clients outside must be quiet."""

import pytest

from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import GRACE_SECONDS, ClusterOptions, OptionError


def test_it_is_a_duration() -> None:
    """Given durations as people write them, when options are made, then they are seconds; what is
    none is refused.
    """
    assert [ClusterOptions.of(grace=value).grace for value in ("1s", "250ms", 0, 2.5)] == [1.0, 0.25, 0.0, 2.5]
    assert ClusterOptions().grace == GRACE_SECONDS
    with pytest.raises(OptionError, match="grace: 'soon' is no duration: say 1h30m, 90s or 500ms"):
        ClusterOptions.of(grace="soon")


async def test_a_cluster_in_the_same_process_grants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a served cluster without clients on its port, when a client in the process writes and
    time passes, then no real time is granted; the cluster has the grace of its options.
    """
    def never(*_: object) -> None:
        raise AssertionError("real time was granted")

    monkeypatch.setattr("fakekube.util.outside.ClientsOutside.grant", never)
    async with Cluster(clock="manual", grace="5s") as cluster:
        await cluster.serve()
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        await cluster.advance("1h")
        await cluster.settle()
        assert cluster.outside.grace_seconds == 5.0
