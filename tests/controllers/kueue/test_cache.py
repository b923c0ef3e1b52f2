"""The cache: which ClusterQueues may admit and why not, and the figures in the status of queues."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.cache.clusterqueue import Settings
from fakekube_controllers.kueue.cache.usage import cluster_queue_usage, local_queue_usage
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.cache import TASCache
from fakekube_controllers.kueue.workload.info import InfoOptions
from tests.controllers.kueue import trees
from tests.controllers.kueue.trees import podset

ONE = {"one": {"cpu": 5}}


def check(name, *, active=True, controller="ours"):
    conditions = [{"type": "Active", "status": "True" if active else "False"}]
    return {"metadata": {"name": name}, "spec": {"controllerName": controller}, "status": {"conditions": conditions}}


def with_checks(*checks, **spec):
    listed = [{"name": name, "onFlavors": list(flavors)} for name, *flavors in checks]
    return trees.cluster_queue("cq", ONE, admissionChecksStrategy={"admissionChecks": listed}, **spec)


def used(name, flavor, amount, *, queue="cq", local_queue="q", reserved_only=False, resource="cpu"):
    obj = trees.workload(name, podset(**{resource: amount}), queue=local_queue)
    return trees.admitted(obj, queue, {resource: (flavor, amount)}, reserved_only=reserved_only)


@pytest.mark.spec("KUEUE-027")
def test_a_missing_flavor():
    """Given a queue of a flavor that is not there, when it comes and goes, then the queue follows,
    and is named when it may admit.
    """
    cache = trees.cache_of(trees.cluster_queue("cq", {"one": {"cpu": 1}, "two": {"cpu": 1}}))
    assert cache.cluster_queue_readiness("cq") == (
        "False", "FlavorNotFound", "Can't admit new workloads: references missing ResourceFlavor(s): one,two.")
    assert cache.add_or_update_resource_flavor(trees.flavor("one")) == []
    assert cache.add_or_update_resource_flavor(trees.flavor("two")) == ["cq"]
    assert cache.cluster_queue_readiness("cq") == ("True", "Ready", "Can admit new workloads")
    cache.delete_resource_flavor(trees.flavor("one"))
    assert cache.cluster_queue_readiness("cq").message.endswith("references missing ResourceFlavor(s): one.")
    assert (cache.active_cluster_queues(), cache.snapshot().cluster_queue("cq")) == ([], None)
    assert cache.cluster_queues_using_flavor("two") == ["cq"]
    assert cache.cluster_queue_readiness("x") == ("False", "NotFound", "ClusterQueue not found")


@pytest.mark.spec("KUEUE-028")
def test_missing_and_inactive_checks():
    """Given checks that are missing, then inactive, then active, when it is asked, then the queue
    says so.
    """
    cache = trees.cache_of(trees.flavor("one"), with_checks(("b",), ("a",)))
    assert cache.cluster_queue_readiness("cq") == (
        "False", "AdmissionCheckNotFound", "Can't admit new workloads: references missing AdmissionCheck(s): a,b.")
    cache.add_or_update_admission_check(check("a", active=False))
    assert cache.add_or_update_admission_check(check("b", active=False)) == []
    assert cache.cluster_queue_readiness("cq") == (
        "False", "AdmissionCheckInactive", "Can't admit new workloads: references inactive AdmissionCheck(s): a,b.")
    cache.add_or_update_admission_check(check("a"))
    assert cache.add_or_update_admission_check(check("b")) == ["cq"]
    assert cache.cluster_queues_using_admission_check("a") == ["cq"]
    cache.delete_admission_check("a")
    assert cache.cluster_queue_readiness("cq").reason == "AdmissionCheckNotFound"


@pytest.mark.spec("KUEUE-029")
def test_several_problems_at_once():
    """Given a stopped queue with a missing flavor, when it is asked, then the reason is the first,
    and the message has both.
    """
    cache = trees.cache_of(trees.cluster_queue("cq", ONE, stopPolicy="Hold"))
    assert cache.cluster_queue_readiness("cq") == (
        "False", "Stopped", "Can't admit new workloads: is stopped, references missing ResourceFlavor(s): one.")
    cache.terminate_cluster_queue("cq")
    assert cache.cluster_queue_readiness("cq") == (
        "False", "Terminating", "Can't admit new workloads; clusterQueue is terminating")
    cache.add_or_update_resource_flavor(trees.flavor("one"))
    assert cache.cluster_queue_readiness("cq").reason == "Terminating"


MULTIKUEUE, PROVISIONING = names.MULTIKUEUE_CONTROLLER_NAME, names.PROVISIONING_REQUEST_CONTROLLER_NAME


@pytest.mark.parametrize(("queue", "reason", "message"), [
    (with_checks(("m1",), ("m2",)), "MultipleMultiKueueAdmissionChecks", (
        "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: m1,m2")),
    (with_checks(("m1", "other")), "MultiKueueAdmissionCheckAppliedPerFlavor", (
        "Cannot specify MultiKueue AdmissionCheck per flavor, found: m1")),
    (with_checks(("m1",), ("p1",)), "MultiKueueWithProvisioningRequest", (
        "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: m1, p1")),
    (with_checks(("m1", "one")), "Ready", ""), (with_checks(("p1", "one")), "Ready", ""),
])
def test_checks_that_do_not_go_together(queue, reason, message):
    """Given checks of MultiKueue and of provisioning, when they exclude each other, then it is
    told.
    """
    cache = trees.cache_of(trees.flavor("one"), queue)
    for each in (check("m1", controller=MULTIKUEUE), check("m2", controller=MULTIKUEUE), check("p1", controller=PROVISIONING)):
        cache.add_or_update_admission_check(each)
    found = cache.cluster_queue_readiness("cq")
    assert (found.reason, message in found.message) == (reason, True)
    if reason == "Ready":
        snapshot = cache.snapshot().cluster_queue("cq")
        is_multikueue = "m1" in snapshot.admission_checks
        assert snapshot.has_multikueue_admission_check() == is_multikueue
        assert snapshot.has_prov_request_admission_check("one") != is_multikueue


def test_a_topology_that_is_missing():
    """Given a flavor with a topology, when the Topology comes, then the queue may admit."""
    settings = Settings(InfoOptions(), tas=TASCache(Features()))
    cache = trees.cache_of(
        trees.flavor("one", {"a": "b"}, topologyName="t"), trees.cluster_queue("cq", ONE), settings=settings)
    assert cache.cluster_queue_readiness("cq") == (
        "False", "TopologyNotFound", 'Can\'t admit new workloads: there is no Topology "t" for TAS flavor "one".')
    assert cache.add_or_update_topology({"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "rack"}]}}) == ["cq"]
    assert cache.cluster_queues_using_topology("t") == ["cq"]
    assert list(cache.snapshot().cluster_queue("cq").tas_flavors) == ["one"]
    assert cache.snapshot().cluster_queue("cq").is_tas_only()
    cache.delete_topology("t")
    assert cache.cluster_queue_readiness("cq").reason == "TopologyNotFound"


@pytest.mark.spec("KUEUE-030", "KUEUE-056")
def test_figures_list_every_flavor_in_the_order_of_the_spec():
    """Given three Workloads in two flavors, when figures are read, then every flavor is there with
    what is used and borrowed; and with zeros when all is done.
    """
    cache = trees.cache_of(
        trees.flavor("b"), trees.flavor("a"),
        trees.cluster_queue("cq", {"b": {"memory": "4Gi", "cpu": 2}, "a": {"memory": 0, "cpu": 5}}, cohort="c"),
        trees.cluster_queue("lender", {"b": {"memory": 0, "cpu": 9}}, cohort="c"))
    for name, flavor, amount in (("u", "b", 2), ("v", "b", 1), ("w", "a", 4)):
        cache.add_or_update_workload(used(name, flavor, amount))
    found = cluster_queue_usage(cache, "cq")
    assert (found.reserving_workloads, found.admitted_workloads) == (3, 3)
    assert found.reserved_resources == found.admitted_resources == [
        {"name": "b", "resources": [
            {"name": "cpu", "total": "3", "borrowed": "1"}, {"name": "memory", "total": "0", "borrowed": "0"}]},
        {"name": "a", "resources": [
            {"name": "cpu", "total": "4", "borrowed": "0"}, {"name": "memory", "total": "0", "borrowed": "0"}]}]
    for name in "uvw":
        cache.delete_workload(("ns", name))
    found = cluster_queue_usage(cache, "cq")
    assert [each["resources"][0]["total"] for each in found.reserved_resources] == ["0", "0"]
    assert cluster_queue_usage(cache, "x") is None


@pytest.mark.parametrize(("cohort", "borrowed"), [("", "0"), ("c", "2")])
def test_who_is_in_no_cohort_borrows_nothing(cohort, borrowed):
    """Given a quota that was cut below use, when figures are read, then only a queue in a cohort
    borrows.
    """
    cache = trees.cache_of(trees.flavor("one"), trees.cluster_queue("cq", ONE, cohort=cohort))
    cache.add_or_update_workload(used("w", "one", 5))
    cache.update_cluster_queue(trees.cluster_queue("cq", {"one": {"cpu": 3}}, cohort=cohort))
    assert cluster_queue_usage(cache, "cq").reserved_resources[0]["resources"] == [
        {"name": "cpu", "total": "5", "borrowed": borrowed}]


@pytest.mark.spec("KUEUE-031")
def test_what_is_reserved_and_what_is_admitted():
    """Given a Workload with quota that waits for a check, when it is admitted, then it counts for
    both.
    """
    cache = trees.cache_of(trees.flavor("one"), trees.cluster_queue("cq", ONE))
    cache.add_local_queue(trees.local_queue("q", "cq"))
    cache.add_or_update_workload(used("w", "one", 2, reserved_only=True))

    def figures():
        queue, local = cluster_queue_usage(cache, "cq"), local_queue_usage(cache, trees.local_queue("q", "cq"))
        return [
            (each.reserving_workloads, each.reserved_resources[0]["resources"][0]["total"], each.admitted_workloads,
             each.admitted_resources[0]["resources"][0]["total"]) for each in (queue, local)]

    assert figures() == [(1, "2", 0, "0")] * 2
    cache.add_or_update_workload(used("w", "one", 2))
    assert figures() == [(1, "2", 1, "2")] * 2
    assert local_queue_usage(cache, trees.local_queue("q", "cq")).reserved_resources == [
        {"name": "one", "resources": [{"name": "cpu", "total": "2"}]}]


@pytest.mark.spec("KUEUE-033")
def test_what_is_no_longer_needed():
    """Given a Workload of 4 pods, when 3 of them are reclaimable, then the figures drop."""
    cache = trees.cache_of(trees.flavor("one"), trees.cluster_queue("cq", ONE))
    cache.add_local_queue(trees.local_queue("q", "cq"))
    obj = trees.admitted(trees.workload("w", podset(count=4, cpu=1)), "cq", {"cpu": ("one", 4)})
    cache.add_or_update_workload(obj)
    assert cluster_queue_usage(cache, "cq").reserved_resources[0]["resources"][0]["total"] == "4"
    cache.add_or_update_workload({**obj, "status": {**obj["status"], "reclaimablePods": [{"name": "main", "count": 3}]}})
    assert cluster_queue_usage(cache, "cq").reserved_resources[0]["resources"][0]["total"] == "1"
    assert local_queue_usage(cache, trees.local_queue("q", "cq")).admitted_resources[0]["resources"][0]["total"] == "1"


def test_a_queue_that_comes_late_counts_what_is_there():
    """Given Workloads that were seen before their queues, when these come, then they are counted.
    """
    early = [used("u", "one", 1), used("v", "one", 2, local_queue="other"), trees.workload("w")]
    cache = trees.cache_of(trees.flavor("one"))
    assert not any(cache.add_or_update_workload(each) for each in early)
    cache.add_cluster_queue(trees.cluster_queue("cq", ONE), [trees.local_queue("q", "cq")], early)
    cache.add_local_queue(trees.local_queue("other", "cq"))
    assert cluster_queue_usage(cache, "cq").reserving_workloads == 2
    totals = [local_queue_usage(cache, trees.local_queue(name, "cq")).reserved_resources for name in ("q", "other")]
    assert [each[0]["resources"][0]["total"] for each in totals] == ["1", "2"]
    cache.update_local_queue(trees.local_queue("q", "cq"), trees.local_queue("q", "elsewhere"))
    assert local_queue_usage(cache, trees.local_queue("q", "cq")).reserved_resources == []
    assert cache.local_queue("cq", ("ns", "q")) is None


@pytest.mark.parametrize(("weight", "share"), [(None, 334), ("2", 167), ("0", 2**63 - 1)])
def test_shares_are_rounded_up(weight, share):
    """Given one of three borrowed, when the share is read, then it is rounded up, and the largest
    number for a weight of 0.
    """
    fair = {} if weight is None else {"fairSharing": {"weight": weight}}
    cache = trees.cache_of(
        trees.flavor("one"), trees.cluster_queue("cq", {"one": {"cpu": 0}}, cohort="c", **fair),
        trees.cluster_queue("lender", {"one": {"cpu": 3}}, cohort="c"))
    assert cluster_queue_usage(cache, "cq").weighted_share == 0
    cache.add_or_update_workload(used("w", "one", 1))
    assert cluster_queue_usage(cache, "cq").weighted_share == share
    assert cache.cohort_share("c").rounded_weighted_share() == 0
    assert cache.cohort_share("x").is_zero()


def test_who_waits_for_pods():
    """Given that pods are tracked, when all Workloads have theirs ready, then the cache says so,
    and calls whoever waits for it.
    """
    cache = trees.cache_of(
        trees.flavor("one"), trees.cluster_queue("cq", ONE), settings=Settings(InfoOptions(), is_pods_ready_tracked=True))
    calls = []
    cache.when_pods_ready_changes = lambda: calls.append(cache.pods_ready_for_all_admitted_workloads())
    obj = used("w", "one", 1)
    cache.add_or_update_workload(obj)
    ready = [*obj["status"]["conditions"], trees.condition("PodsReady")]
    cache.add_or_update_workload({**obj, "status": {**obj["status"], "conditions": ready}})
    cache.add_or_update_workload(used("v", "one", 1))
    cache.delete_workload(("ns", "v"))
    assert calls == [False, True, False, True]


def test_a_workload_that_ends_or_moves_leaves_its_queue():
    """Given a Workload with quota, when it is finished, deactivated or of another queue, then the
    first counts it no longer.
    """
    cache = trees.cache_of(trees.flavor("one"), trees.cluster_queue("cq", ONE), trees.cluster_queue("other", ONE))
    obj = used("w", "one", 1)
    for change in (
        {**obj, "spec": {**obj["spec"], "active": False}},
        {**obj, "status": {**obj["status"], "conditions": [*obj["status"]["conditions"], trees.condition("Finished")]}},
        used("w", "one", 1, queue="other"),
    ):
        cache.add_or_update_workload(obj)
        assert cache.is_added(("ns", "w"), "cq")
        cache.add_or_update_workload(change)
        assert cache.cluster_queue_empty("cq")
    assert cache.is_added(("ns", "w"), "other")
    assert cache.workload_ancestors(obj) == []


KEYS = st.sampled_from("uvwxyz")


@settings(deadline=None)
@given(st.lists(
    st.tuples(KEYS, st.sampled_from(("p", "q", "")), st.integers(0, 5), st.booleans(), st.sampled_from("ab")), max_size=20))
def test_figures_are_the_sum_of_what_is_there(changes):
    """Given Workloads that come, change, move and go, when figures are read, then they are the sums
    over those that are there, in every queue.
    """
    cache = Cache(Settings(InfoOptions()))
    cache.add_or_update_resource_flavor(trees.flavor("one"))
    for queue in "pq":
        cache.add_cluster_queue(trees.cluster_queue(queue, ONE), [trees.local_queue(name, queue) for name in "ab"])
    present = {}
    for name, queue, amount, is_admitted, local_queue in changes:
        if not queue:
            present.pop(name, None)
            cache.delete_workload(("ns", name))
            continue
        present[name] = queue, amount, is_admitted, local_queue
        cache.add_or_update_workload(
            used(name, "one", amount, queue=queue, local_queue=local_queue, reserved_only=not is_admitted))
    for queue in "pq":
        assert_sums(cluster_queue_usage(cache, queue), [each for each in present.values() if each[0] == queue])
        for local_queue in "ab":
            of_both = [each for each in present.values() if (each[0], each[3]) == (queue, local_queue)]
            assert_sums(local_queue_usage(cache, trees.local_queue(local_queue, queue)), of_both)


def assert_sums(found, listed):
    admitted = [each for each in listed if each[2]]
    assert (found.reserving_workloads, found.admitted_workloads) == (len(listed), len(admitted))
    totals = [each[0]["resources"][0]["total"] for each in (found.reserved_resources, found.admitted_resources)]
    assert totals == [str(sum(each[1] for each in some)) for some in (listed, admitted)]
