"""Kueue's metrics, under upstream's names: what was counted, and how things stand when they are
read.
"""

import pytest

from fakekube_controllers.kueue.configuration import Configuration, FairSharing, Metrics
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world

CONFIGURATION = Configuration(
    metrics=Metrics(enable_cluster_queue_resources=True), fair_sharing=FairSharing(),
    features=Features(UnadmittedWorkloadsObservability=True))


def value(of: World, metric: str, /, **labels: str) -> float:
    return of.cluster.metrics.value(f"kueue_{metric}", **labels)


async def filled(of: World) -> None:
    """Two queues in a cohort: one borrows 1 of 5, and one of its Workloads waits."""
    await of.create(COHORTS, "root", {})
    await of.create(COHORTS, "c", {"parentName": "root"})
    await of.queues("3", cohortName="c")
    await of.create(CLUSTER_QUEUES, "lender", cluster_queue({"f": "2"}, cohortName="c"))
    for name, cpu in (("a", "4"), ("b", "3")):
        await of.workload(name, cpu)
        await of.cluster.advance("2s")


async def test_how_things_stand() -> None:
    """Given a queue that borrows, and one that lends, then the gauges say who has what."""
    async with world(CONFIGURATION) as of:
        await filled(of)
        assert value(of, "pending_workloads", cluster_queue="cq") == value(of, "local_queue_pending_workloads", name="q") == 1
        assert value(of, "pending_workloads", cluster_queue="cq", status="inadmissible") == 1
        assert value(of, "reserving_active_workloads", cluster_queue="cq") == 1
        assert value(of, "admitted_active_workloads", cluster_queue="cq") == 1
        assert value(of, "cluster_queue_status", cluster_queue="cq", status="active") == 1
        assert value(of, "cluster_queue_status", cluster_queue="cq", status="pending") == 0
        assert value(of, "local_queue_status", name="q", active="True") == 1
        assert value(of, "cluster_queue_resource_usage", cluster_queue="cq", cohort="c", flavor="f", resource="cpu") == 4
        assert value(of, "cluster_queue_nominal_quota", cluster_queue="cq") == 3
        assert value(of, "cluster_queue_borrowing_limit", cluster_queue="cq") == float("inf")
        assert value(of, "cluster_queue_resource_pending", cluster_queue="cq") == 3
        assert value(of, "cluster_queue_weighted_share", cluster_queue="cq") == pytest.approx(200)
        assert value(of, "local_queue_resource_reservation", name="q", namespace=NAMESPACE) == 4
        assert value(of, "cohort_subtree_quota", cohort="c") == value(of, "cohort_subtree_quota", cohort="root") == 5
        assert value(of, "cohort_subtree_resource_reservations", cohort="c") == 4
        assert value(of, "cohort_info", cohort="c", parent_cohort="root", root_cohort="root") == 1
        assert value(of, "cluster_queue_info", cluster_queue="cq", parent_cohort="c", root_cohort="root") == 1
        assert value(of, "unadmitted_workloads", cluster_queue="cq", underlying_cause="WaitingForQuota") == 1
        assert 'kueue_cluster_queue_borrowing_limit{cohort="c",cluster_queue="cq",flavor="f",resource="cpu",' in (
            of.cluster.metrics.text())


async def test_what_is_gone_is_shown_no_more() -> None:
    """Given metrics of a queue, when it is deleted, or Kueue stops, then they are gone; counts
    stay.
    """
    async with world(CONFIGURATION) as of:
        await filled(of)
        await of.client.delete(CLUSTER_QUEUES, "lender")
        await of.cluster.advance("2s")
        assert 'kueue_cluster_queue_status{cluster_queue="lender"' not in of.cluster.metrics.text()
        await of.cluster.stop_controller("kueue")
        assert "kueue_cluster_queue_status" not in of.cluster.metrics.text()
        assert value(of, "admitted_workloads_total", cluster_queue="cq") == 1


async def test_what_happened_is_counted() -> None:
    """Given a Workload, when it is admitted and then deactivated, then each is counted once."""
    async with world() as of:
        await of.queues()
        await of.workload("w")
        await of.cluster.advance("5s")
        for name in ("quota_reserved_workloads_total", "admitted_workloads_total", "local_queue_admitted_workloads_total"):
            assert value(of, name) == 1
        assert value(of, "admission_wait_time_seconds", cluster_queue="cq") == 1
        await of.patch(WORKLOADS, "w", {"active": False})
        await of.cluster.settle()
        labels = {"reason": "Deactivated", "underlying_cause": ""}
        assert value(of, "evicted_workloads_total", cluster_queue="cq", **labels) == 1
        assert value(of, "evicted_workloads_once_total", cluster_queue="cq", **labels) == 1
        assert value(of, "local_queue_evicted_workloads_total", name="q", **labels) == 1


async def test_metrics_of_local_queues_may_be_left_out() -> None:
    """Given a configuration without metrics of LocalQueues, then there are none."""
    async with world(Configuration(metrics=Metrics(local_queues=False))) as of:
        await of.queues()
        await of.workload("w")
        await of.cluster.advance("2s")
        assert await of.get(LOCAL_QUEUES, "q")
        assert "kueue_local_queue" not in of.cluster.metrics.text()
