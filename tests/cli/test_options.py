"""What a cluster can be told, however it is written."""

from datetime import UTC, datetime
from typing import Any

import pytest

from fakekube.composition.cluster import Cluster
from fakekube.composition.options import WORKLOAD_AWARE_GATES, ClusterOptions, OptionError, selected

KNOWN = ["garbagecollector", "job", "jobset", "kubelet", "namespace", "scheduler"]


@pytest.mark.parametrize(("written", "meant"), [
    ("1.35", "1.35"), ("v1.35", "1.35"), ("1.35.2", "1.35"), (1.35, "1.35"),
])
def test_versions_as_people_write_them(written: Any, meant: str) -> None:
    """Given a release with a v, with a patch version or as a number, when options are made, then it
    is major and minor.
    """
    assert ClusterOptions.of(kubernetes_version=written).kubernetes_version == meant


@pytest.mark.parametrize(("written", "meant"), [
    ("auto", "auto"), ("real", "real"), ("manual", "manual"), ("60", 60.0), (0.5, 0.5), ("60x", 60.0), ("scaled:60", 60.0),
])
def test_clocks_as_people_write_them(written: Any, meant: str | float) -> None:
    """Given a clock's name or a factor, when options are made, then it is the name or a number."""
    assert ClusterOptions.of(clock=written).clock == meant


@pytest.mark.parametrize("written", ["A=true,B=false", ["A=true", "B=f"], "A,B=0", {"A": True, "B": "False"}])
def test_switches_as_people_write_them(written: Any) -> None:
    """Given gates as a text, as several, bare, or as a mapping, when options are made, then they
    are on and off.
    """
    assert ClusterOptions.of(feature_gates=written).feature_gates == {"A": True, "B": False}


def test_one_word_switches_on_all_that_gangs_need() -> None:
    """Given the preset, and a gate of it switched off, when it is read, then the gate that was
    named holds.
    """
    for release, gates in WORKLOAD_AWARE_GATES.items():
        made = ClusterOptions.of(feature_gates="workload-aware", kubernetes_version=release)
        assert made.feature_gates == dict.fromkeys(gates, True)
    made = ClusterOptions.of(feature_gates="workload-aware,WorkloadWithJob=false")
    assert made.feature_gates["WorkloadWithJob"] is False
    assert ClusterOptions.of(feature_gates="workload-aware=false").feature_gates == {}


@pytest.mark.parametrize("release", WORKLOAD_AWARE_GATES)
async def test_the_preset_of_workload_aware_scheduling_serves_its_kinds_in_every_release(release: str) -> None:
    """Given the preset alone, when a cluster of each release is asked for groups, then it has the
    API and the gates.
    """
    async with Cluster(nodes=0, controllers="", feature_gates="workload-aware", kubernetes_version=release) as cluster:
        workloads = await cluster.client.resource("workloads")
        assert (await cluster.client.list(workloads)).items == []
        assert all(cluster.gates[name] for name in WORKLOAD_AWARE_GATES[release])


def test_a_release_without_workload_aware_scheduling_says_so() -> None:
    """Given a release from before it, when the preset is asked for, then it is refused with the
    releases that have it.
    """
    with pytest.raises(OptionError, match=r"Kubernetes 1\.30 has no workload-aware scheduling: 1\.35, 1\.36, 1\.37 have"):
        ClusterOptions.of(feature_gates=["workload-aware"], kubernetes_version="1.30")


@pytest.mark.parametrize(("text", "names"), [
    ("*", ["garbagecollector", "job", "kubelet", "namespace", "scheduler"]),
    ("*,-scheduler", ["garbagecollector", "job", "kubelet", "namespace"]),
    ("*,jobset", KNOWN),
    ("scheduler,namespace", ["namespace", "scheduler"]),
    ("garbage-collector-controller, namespace-controller", ["garbagecollector", "namespace"]),
    ("-job,*", ["garbagecollector", "kubelet", "namespace", "scheduler"]),
    ("", []),
])
def test_controllers_as_upstream_selects_them(text: str, names: list[str]) -> None:
    """Given a selection, when it is read, then a name counts wherever it stands, ``*`` is all but
    those that are optional, and the order is that of the known ones.
    """
    assert selected(text, KNOWN, optional=["jobset"]) == names


def test_controllers_whose_names_have_changed() -> None:
    """Given names of today and of yesterday for one controller, when read, then they are the same
    one.
    """
    known = ["endpoint", "podgc"]
    assert selected("pod-garbage-collector-controller,endpoints-controller", known) == selected("podgc,endpoint", known) == known
    known = ["horizontalpodautoscaling"]
    assert selected("horizontal-pod-autoscaler-controller", known) == selected("horizontalpodautoscaling", known) == known


@pytest.mark.parametrize(("written", "meant"), [(True, True), ("false", False), ("1", True)])
def test_switches_of_one_option(written, meant):
    """Given a switch as a text or as it is, when options are made, then it is on or off; nonsense
    is refused.
    """
    assert ClusterOptions.of(metrics_server=written).metrics_server is meant
    with pytest.raises(OptionError, match="metrics_server"):
        ClusterOptions.of(metrics_server="perhaps")


def test_a_start_of_time_has_a_zone() -> None:
    """Given a start as a text, when options are made, then it is a time; one without a time zone is
    refused.
    """
    assert ClusterOptions.of(start="2026-02-01T00:00:00Z").start == datetime(2026, 2, 1, tzinfo=UTC)
    with pytest.raises(OptionError, match="no time with a time zone"):
        ClusterOptions.of(start="2026-02-01T00:00:00")


@pytest.mark.parametrize(("values", "text"), [
    ({"nodes": -1}, "nodes: -1 is no number of nodes"), ({"nodes": "two"}, "nodes: 'two' is no number"),
    ({"nodes": 1.5}, "nodes: 1.5 is no number"), ({"clock": 0}, "clock: 0 is none of"), ({"clock": "inf"}, "clock: 'inf'"),
    ({"seed": None}, "seed: None is no whole number"), ({"kubernetes_version": "1"}, "'1' is no version"),
    ({"feature_gates": {"A": "perhaps"}}, 'parsing "perhaps": invalid syntax'), ({"shape": 1}, "unknown option 'shape'"),
])
def test_what_cannot_be_meant_names_the_option(values: dict[str, Any], text: str) -> None:
    """Given a value that cannot be meant, when options are made, then the error names option and
    value.
    """
    with pytest.raises(OptionError) as caught:
        ClusterOptions.of(**values)
    assert text in str(caught.value)
