"""What plugins make of selectors that make no sense, nodes that are gone, pods that come and go
within a cycle, and more than they keep.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import labels
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.events import EventResource
from fakekube_controllers.scheduler.framework.snapshot import NodeMap, Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins import node_changes, topology_counts, volume_binder
from fakekube_controllers.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from fakekube_controllers.scheduler.plugins.missing import affinity, domains, spreading
from fakekube_controllers.scheduler.plugins.node_changes import NodeChanges
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from fakekube_controllers.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from fakekube_controllers.scheduler.plugins.pod_topology_spread import PodTopologySpread
from fakekube_controllers.scheduler.plugins.resource_scores import utilization_score
from fakekube_controllers.scheduler.plugins.topology_counts import TopologyCounts
from fakekube_controllers.scheduler.plugins.volume_restrictions import VolumeRestrictions
from fakekube_controllers.scheduler.plugins.volume_zone import VolumeZone
from tests.controllers.scheduler.plugins.cases import (
    HOSTNAME,
    ZONE,
    Handle,
    node,
    plugin_of,
    pod,
    said,
    snapshot,
    statuses,
    zoned,
)

REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
NEAR = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
WRONG = '"Near" is not a valid label selector operator'
APP = {"matchLabels": {"app": "a"}}


def constraint(action: str = "DoNotSchedule", key: str = ZONE, selector: Any = None, skew: int = 1) -> Any:
    chosen = APP if selector is None else selector
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": action, "labelSelector": chosen}


def spread(*constraints: Any) -> Any:
    return pod(labels={"app": "a"}, topologySpreadConstraints=list(constraints))


def anti(selector: Any, key: str = ZONE, **rest: Any) -> Any:
    term = {"topologyKey": key, "labelSelector": selector, **rest}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def near(selector: Any, key: str = ZONE) -> Any:
    return {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": key, "labelSelector": selector}]}}}


def test_nothing_is_missing_where_nothing_was_asked() -> None:
    """Given plugins that a pod has skipped, or no node / then they have nothing to propose."""
    handle = Handle()
    state, info = CycleState(), pod_info(pod())
    for kind in (PodTopologySpread, VolumeZone):
        plugin = plugin_of(kind, handle)
        assert (plugin.missing(state, info, node("n1")), plugin.filter(state, info, node("n1"))) == (None, None)
    limits = plugin_of(NodeVolumeLimits, handle)
    assert (limits.missing(state, info, node("n1")), limits.missing(state, info, None)) == ([], None)
    restrictions = plugin_of(VolumeRestrictions, handle)
    assert restrictions.filter(state, info, node("n1")) is None


def test_a_pod_with_the_claim_comes_and_goes() -> None:
    """Given a claim for one pod alone that nobody uses / when a pod with it comes within a cycle,
    and goes / then it is in the way, and is not.
    """
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    claim = {"metadata": {"name": "c", "namespace": "n"}, "spec": {"accessModes": ["ReadWriteOncePod"]}}
    handle = Handle(persistentvolumeclaims=[claim])
    plugin, state, info = plugin_of(VolumeRestrictions, handle), CycleState(), pod_info(pod(volumes=[volume]))
    where = node("n1", pod("o", volumes=[volume]))
    assert plugin.pre_filter(state, info, snapshot(where)) is None
    other = pod_info(pod("o", volumes=[volume]))
    taken = (Code.UNSCHEDULABLE, (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"))
    found = [said(plugin.filter(state, info, where))]
    for change in (plugin.remove_pod, plugin.add_pod, plugin.remove_pod):
        assert change(state, info, other, where) is None
        found.append(said(plugin.filter(state, info, where)))
    assert found == [taken, None, taken, None]


def test_claims_of_others_that_are_gone_do_not_count() -> None:
    """Given a node with a pod whose claim is gone / when a pod with a volume comes / then the
    volume is counted, the claim is not.
    """
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    gone = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    claim = {"metadata": {"name": "c", "namespace": "n"}, "spec": {"volumeName": "pv"}}
    made = {"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "d", "volumeHandle": "h"}}}
    limits = {"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": "d", "allocatable": {"count": 0}}]}}
    handle = Handle(persistentvolumeclaims=[claim], persistentvolumes=[made], csinodes=[limits])
    plugin, info = plugin_of(NodeVolumeLimits, handle), pod_info(pod(volumes=[volume]))
    where = node("n1", pod("o", volumes=[gone]))
    assert plugin.missing(CycleState(), info, where) == [changes.add_volume_limit("node/n1", "d", 1)]
    assert said(plugin.filter(CycleState(), pod_info(pod(volumes=[gone])), where)) == (
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, 'looking up PVC n/gone: persistentvolumeclaim "gone" not found')


def test_affinity_that_cannot_be_read() -> None:
    """Given a pod whose affinity makes no sense / then it goes nowhere, and prefers nothing; a pod
    on a node with such terms keeps nobody away.
    """
    handle = Handle()
    plugin = plugin_of(InterPodAffinity, handle)
    assert statuses(plugin, pod(**anti(NEAR)), [node("n1")], handle) == (
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, f"parsing pod: {WRONG}")
    assert said(plugin.pre_score(CycleState(), pod_info(pod(**anti(NEAR))), [node("n1")])) == (Code.SKIP, "")
    nodes = [zoned("a1", "a", pod("x", **anti(NEAR)), pod("y", **anti(APP))), zoned("b1", "b", pod("z", **anti(NEAR)))]
    found = statuses(plugin, pod(labels={"app": "a"}), nodes, handle)
    assert found == {"a1": (Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules"), "b1": None}


def test_a_pod_that_keeps_others_away_comes_and_goes() -> None:
    """Given a pod that others of its application keep away from their zone / when such a pod comes
    to a zone within a cycle, and goes / then that zone is closed, and open again; on a node that is
    in no zone it keeps nobody away.
    """
    handle = Handle()
    plugin, state, info = plugin_of(InterPodAffinity, handle), CycleState(), pod_info(pod(labels={"app": "a"}, **anti(APP)))
    where, nowhere = zoned("a1", "a"), node("c1")
    handle.snapshot = snapshot(where, nowhere)
    assert plugin.pre_filter(state, info, handle.snapshot) is None
    for other, closed in ((pod("o", **anti(APP)), "existing pods"), (pod("q", {"app": "a"}), "pod")):
        added = pod_info(other)
        for place, expected in ((where, True), (nowhere, False)):
            plugin.add_pod(state, info, added, place)
            found = said(plugin.filter(state, info, place))
            assert (found is not None) is expected
            assert not expected or closed in found[1]
            plugin.remove_pod(state, info, added, place)
            assert plugin.filter(state, info, place) is None


def test_terms_that_select_namespaces_are_forgotten_with_their_pods() -> None:
    """Given a pod that keeps others of some namespaces away / when it goes / then it does not."""
    namespaces = [{"metadata": {"name": "n", "labels": {"team": "x"}}}]
    handle = Handle(namespaces=namespaces)
    plugin = plugin_of(InterPodAffinity, handle)
    keeps = pod("o", namespace="other", **anti(APP, namespaceSelector={"matchLabels": {"team": "x"}}))
    here = zoned("a1", "a", keeps)
    assert statuses(plugin, pod(labels={"app": "a"}), [here], handle)["a1"] is not None
    assert statuses(plugin, pod(labels={"app": "a"}), [zoned("a1", "a")], handle) == "skipped"
    assert (plugin._existing._selecting, plugin._existing._by_namespace) == ({}, {})


def test_a_node_without_a_hostname_is_in_no_domain_of_its_own() -> None:
    """Given terms about single nodes / then a node without that label has no count, others have
    theirs.
    """
    handle = Handle()
    plugin, info = plugin_of(InterPodAffinity, handle), pod_info(pod(labels={"app": "a"}, **anti(APP, HOSTNAME)))
    bare = node("n2", labels={"other": "x"})
    handle.snapshot = snapshot(node("n1", pod("x", {"app": "a"})), bare, node("n3", pod("y", **anti(APP, HOSTNAME))))
    plugin.pre_filter(CycleState(), info, handle.snapshot)
    fields = plugin.node_fields(info)
    assert [plugin.sign_node(fields, each) for each in handle.snapshot.all_nodes.infos()] == [(1, 0), (None, None), (0, 1)]
    assert plugin.sign_node((), bare) == ()


def test_what_affinity_lacks() -> None:
    """Given a pod that wants to be near others / then a pod is proposed that all its terms take, on
    this node; where none can be thought of, nothing is.
    """
    for selector, expected in ((APP, {"app": "a"}), ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}, {
            "key": "app", "operator": "NotIn", "values": ["a"]}]}, None)):
        handle = Handle()
        plugin, state, info = plugin_of(InterPodAffinity, handle), CycleState(), pod_info(pod(**near(selector, HOSTNAME)))
        where = node("n1")
        handle.snapshot = snapshot(where)
        assert plugin.pre_filter(state, info, handle.snapshot) is None
        found = plugin.missing(state, info, where)
        assert found == (None if expected is None else [changes.create_pod(where, "n", expected)])
    nothing: Any = SimpleNamespace()
    assert affinity._matched_domain(nothing, HOSTNAME) is None
    taken: Any = SimpleNamespace(affinity=[SimpleNamespace(selector=labels.from_label_selector(NEVER))])
    assert affinity._pod_that_matches(taken) is None


NEVER: Any = {"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]}


def test_a_node_joins_a_domain() -> None:
    """Given a node / then it joins a zone, a new one, or by its name the domain that it is."""
    where = node("n1")
    joined = ((ZONE, "a"), (ZONE, None), (HOSTNAME, None), (HOSTNAME, "x"))
    assert [domains.join(where, key, domain) for key, domain in joined] == [
        changes.set_label("node/n1", ZONE, "a"), changes.set_label("node/n1", ZONE, "new"),
        changes.set_label("node/n1", HOSTNAME, "n1"), changes.set_label("node/n1", HOSTNAME, "n1")]


def test_domains_with_room_lack_nothing() -> None:
    """Given a pod that is spread over zones and over nodes / when its node's zone is full, and the
    node is not / then only the zone's pods are to go.
    """
    handle = Handle()
    plugin, state = plugin_of(PodTopologySpread, handle), CycleState()
    info = pod_info(spread(constraint(), constraint(key=HOSTNAME, skew=9)))
    nodes = [zoned("a1", "a", pod("x", {"app": "a"}, priority=1)), zoned("b1", "b")]
    handle.snapshot = snapshot(*nodes)
    assert plugin.pre_filter(state, info, handle.snapshot) is None
    text = f"of which there are too many with {ZONE}=a"
    assert plugin.missing(state, info, nodes[0]) == [changes.delete_pod(next(iter(nodes[0].pods.values())).pod, text, nodes[0])]
    assert plugin.missing(state, info, nodes[1]) == []
    assert spreading._priority((pod_info(pod(priority=4)), nodes[0])) == 4


def test_selectors_are_asked_as_they_are() -> None:
    """Given selectors / then what is asked in their place answers the same: also where a key is
    asked for twice, and for one that takes nothing.
    """
    twice = labels.from_label_selector({"matchLabels": {"a": "b"}, "matchExpressions": [
        {"key": "a", "operator": "In", "values": ["c"]}]})
    plain = labels.from_label_selector({"matchLabels": {"a": "b", "c": "d"}})
    for selector, expected in ((twice, [False] * 3), (plain, [False, True, False]), (labels.NOTHING, [False] * 3)):
        ask = topology_counts.selecting(selector)
        assert [ask({"a": "b"}), ask({"a": "b", "c": "d", "e": "f"}), ask({"a": "c"})] == expected
    assert topology_counts.labels_of(None) == {}


def test_only_so_many_counts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more counts than are kept / then those that were asked for longest ago are made anew.
    """
    monkeypatch.setattr(topology_counts, "MOST_COUNTS", 2)
    kept, made = topology_counts.CountsByKey(NodeChanges()), list[str]()
    for key in "aabacab":
        def make(of: str = key) -> TopologyCounts:
            made.append(of)
            return TopologyCounts(ZONE, lambda _: 0)

        kept.get(key, make)
    assert made == ["a", "b", "c", "b"]


def test_only_so_many_changes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more changes of nodes than are kept / then half are forgotten, and whoever has not seen
    them has to begin anew.
    """
    monkeypatch.setattr(node_changes, "KEPT", 4)
    seen, nodes = NodeChanges(), dict[str, Any]()
    for number in range(4):
        nodes[f"n{number}"] = node(f"n{number}")
        seen.update(Snapshot(NodeMap([*nodes.values()]), {}))
    assert (seen.position, [each.name for each in seen.since(0) or ()]) == (4, ["n0", "n1", "n2", "n3"])
    nodes["n4"] = node("n4")
    seen.update(Snapshot(NodeMap([*nodes.values()]), {}))
    assert (seen.position, seen.since(5), seen.since(2)) == (5, (), None)
    assert [each.name for each in seen.since(3) or ()] == ["n3", "n4"]


@pytest.mark.parametrize("strategy", ["MostAllocated", "LeastAllocated"])
def test_scores_by_usage_say_where_a_pod_does_not_fit(strategy: str) -> None:
    """Given a way to score that is not the default one / then the score of a usage is that of a
    node with it, and -1 where the pod does not fit; the bound is no less than the score.
    """
    handle = Handle()
    args = {"scoringStrategy": {"type": strategy, "resources": [{"name": "cpu", "weight": 3}, {"name": "pods", "weight": 1}]}}
    plugin, info = plugin_of(NodeResourcesFit, handle, **args), pod_info(pod(requests={"cpu": "1"}))
    for count in range(6):
        where = node("n1", *(pod(f"x{number}", requests={"cpu": "1"}) for number in range(count)))
        found = plugin.resource_score(info, dict(where.allocatable))
        state = CycleState()
        fits = plugin.filter(state, info, where) is None
        score = plugin.score(state, info, where) if fits else -1
        assert (fits, found.score(where.usage)) == (count < 4, score)
        assert found.bound(where.usage) >= score
        assert (found.bound(where.usage) == -1) is not fits


def test_a_class_that_is_gone_may_help() -> None:
    """Given a pod that waits for a resource / when a DeviceClass goes / then it is tried again."""
    handle = Handle(gates=("DynamicResourceAllocation", "DRAExtendedResource"))
    handle.common, handle.add_handler = {}, lambda *_: None  # type: ignore[attr-defined]
    plugin = plugin_of(NodeResourcesFit, handle)
    [hint] = [hint for event, hint, _ in plugin.events_to_register() if event.resource == EventResource.DEVICE_CLASS]
    assert hint(pod_info(pod()), {}, None).name == "QUEUE"


@pytest.mark.parametrize(("requested", "capacity", "expected"), [
    (0, 10, 0), (5, 10, 5), (10, 10, 10), (11, 10, 10), (0, 0, 10), (1, 3, 3)])
def test_how_much_a_resource_is_used(requested: int, capacity: int, expected: int) -> None:
    """Given a shape that rises / then a resource is worth what it is used, and the most where there
    is none or more is asked for.
    """
    assert utilization_score(((0, 0), (100, 10)), requested, capacity) == expected


@pytest.mark.parametrize(("topology", "expected"), [
    (None, False), ({}, True), ({"matchLabels": {ZONE: "a"}}, True), ({"matchLabels": {ZONE: "b"}}, False), (NEAR, False)])
def test_which_capacity_is_for_a_node(topology: Any, expected: bool) -> None:
    """Given storage for the nodes that a selector takes / then it is for a node of these; for none
    without a selector, or with one that makes no sense.
    """
    assert volume_binder._has_access(zoned("n1", "a"), {} if topology is None else {"nodeTopology": topology}) is expected
