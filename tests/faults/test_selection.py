"""Which requests a rule is about, and which of those it takes."""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import UserInfo
from fakekube.faults.plan import FaultNeverMet
from fakekube.faults.rules import FaultError
from tests.faults.asking import MAPS, ask, create

SECRETS = "/api/v1/namespaces/default/secrets"


def quiet(**options: Any) -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual", **options)


async def codes(cluster: Cluster, count: int) -> list[int]:
    """How so many requests of one form end."""
    return [(await ask(cluster, "GET", MAPS)).status for _ in range(count)]


@pytest.mark.parametrize(("rule", "expected"), [
    ({"nth": 2}, [200, 500, 200, 200, 200, 200]),
    ({"nth": [1, 4]}, [500, 200, 200, 500, 200, 200]),
    ({"every": 3}, [200, 200, 500, 200, 200, 500]),
    ({"times": 2}, [500, 500, 200, 200, 200, 200]),
    ({"every": 2, "times": 2}, [200, 500, 200, 500, 200, 200]),
    ({"probability": 1}, [500] * 6),
])
async def test_which_of_them(rule: dict[str, Any], expected: list[int]) -> None:
    """Given a rule that takes some of its requests / when six come / then those meet it."""
    async with quiet() as cluster:
        cluster.faults.add(verbs="list", error="EtcdNoLeader", **rule)
        assert await codes(cluster, 6) == expected


async def test_what_is_probable_follows_from_the_seed() -> None:
    """Given a rule that takes half of its requests / when a hundred come / then about half meet it,
    the same ones in a cluster of the same seed, others in one of another.
    """
    async def drawn(seed: int) -> list[int]:
        async with quiet(seed=seed) as cluster:
            cluster.faults.add(verbs="list", error="EtcdNoLeader", probability=0.5)
            return await codes(cluster, 100)

    first = await drawn(1)
    assert first == await drawn(1) != await drawn(2)
    assert 30 < first.count(500) < 70


async def test_a_time_in_which_it_holds() -> None:
    """Given a rule from ten seconds on until twenty / when requests come before, then and after /
    then the one in between meets it.
    """
    async with quiet() as cluster:
        cluster.faults.add(verbs="list", error="EtcdNoLeader", after="10s", until="20s")
        before = await codes(cluster, 1)
        await cluster.advance("10s")
        between = await codes(cluster, 1)
        await cluster.advance("10s")
        assert [before, between, await codes(cluster, 1)] == [[200], [500], [200]]


@pytest.mark.parametrize(("rule", "met"), [
    ({}, "abcd"),
    ({"resources": "configmaps"}, "abc"),
    ({"resources": "configmaps."}, "abc"),
    ({"resources": "configmaps.apps"}, ""),
    ({"resources": "*"}, "abcd"),
    ({"resources": "secrets, pods"}, "d"),
    ({"resources": "configmaps/status"}, ""),
    ({"verbs": "read"}, "b"),
    ({"verbs": "write"}, "acd"),
    ({"verbs": "delete", "resources": "*/*"}, "c"),
    ({"names": "one"}, "abc"),
    ({"names": "on*"}, "abc"),
    ({"names": "two"}, "d"),
    ({"labels": "app=web"}, "abc"),
    ({"labels": "app!=web"}, "d"),
    ({"namespaces": "def*"}, "abcd"),
    ({"namespaces": "other"}, ""),
    ({"users": "kubernetes-admin"}, "abc"),
    ({"users": "system:serviceaccount:*"}, "d"),
    ({"user_agents": "kube*"}, "d"),
    ({"components": "job"}, ""),
])
async def test_which_requests(rule: dict[str, Any], met: str) -> None:
    """Given a rule / when an object is created (a), read (b) and deleted (c), and a Secret created
    by somebody else (d) / then the rule is about those that it names.
    """
    bot = UserInfo("system:serviceaccount:default:bot", ("system:masters",))
    async with quiet() as cluster:
        fault = cluster.faults.add(compact=True, optional=True, **rule)
        seen: list[int] = []
        await create(cluster, "one", app="web")
        seen.append(fault.met)
        await ask(cluster, "GET", f"{MAPS}/one")
        seen.append(fault.met)
        await ask(cluster, "DELETE", f"{MAPS}/one")
        seen.append(fault.met)
        await ask(cluster, "POST", SECRETS, {"metadata": {"name": "two"}}, agent="kubectl", user=bot)
        seen.append(fault.met)
        assert "".join(letter for letter, now, before in zip("abcd", seen, [0, *seen], strict=False) if now > before) == met


async def test_several_faults_of_one_request() -> None:
    """Given latency and an error for the same request / when it comes / then it takes the time and
    fails, and the log names both.
    """
    async with Cluster(nodes=0, controllers="", clock="auto") as cluster:
        cluster.faults.add(name="slow", verbs="list", latency="2s")
        cluster.faults.add(name="broken", verbs="list", error="EtcdTimeout")
        began = cluster.clock.time()
        assert await codes(cluster, 1) == [500]
        assert cluster.clock.time() - began == 2
        assert [entry.fault for entry in cluster.apiserver.log][-1] == "slow, broken"
        assert [(one.fault, one.verb, one.user_agent) for one in cluster.faults.meetings] == [
            ("slow", "list", "test"), ("broken", "list", "test")]


async def test_a_fault_that_nobody_met_fails_the_test() -> None:
    """Given faults that no request meets / when their block, or the cluster, ends / then that is an
    error that names them; not for an optional one, nor where the block failed by itself.
    """
    with pytest.raises(FaultNeverMet, match=r"^the fault x \(error EtcdNoLeader\) met no request: none matched$"):
        async with quiet() as cluster:
            cluster.faults.add(name="x", verbs="delete", error="EtcdNoLeader")
    async with quiet() as cluster:
        cluster.faults.add(verbs="delete", error="EtcdNoLeader", optional=True)
        second = cluster.faults.add(verbs="list", error="EtcdNoLeader", nth=2)
        with pytest.raises(FaultNeverMet, match="1 matched, and none was one to take"), second:
            assert await codes(cluster, 1) == [200]
        with pytest.raises(ZeroDivisionError), cluster.faults.add(verbs="delete", error="EtcdNoLeader"):
            raise ZeroDivisionError
        assert len(cluster.faults) == 1


async def test_names_are_unique_and_removal_is_harmless() -> None:
    """Given a fault / when another of its name is added, and the first removed twice / then the
    other is refused, and afterwards welcome.
    """
    async with quiet() as cluster:
        fault = cluster.faults.add(name="x", compact=True, optional=True)
        with pytest.raises(FaultError, match="a fault is called 'x' already"):
            cluster.faults.add(name="x", compact=True)
        fault.remove()
        fault.remove()
        assert cluster.faults.add(name="x", compact=True, optional=True).name == "x"


async def test_a_reset_begins_the_plan_anew() -> None:
    """Given a plan of the options and a fault that was added / when the cluster is reset / then the
    plan counts from the beginning, and the other is gone.
    """
    async with quiet(faults=[{"name": "first", "verbs": "list", "error": "EtcdNoLeader", "nth": 1}]) as cluster:
        cluster.faults.add(name="other", verbs="get", error="EtcdNoLeader")
        assert await codes(cluster, 2) == [500, 200]
        await cluster.reset()
        assert [fault.name for fault in cluster.faults] == ["first"]
        assert await codes(cluster, 2) == [500, 200]
