"""One stored object, several versions of it: what changes on the way, and that nothing is lost."""

from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apis.autoscaling import conversion as hpa
from fakekube.apis.catalog import catalog
from fakekube.apis.converting import ConvertingStrategy
from fakekube.apis.events.conversion import from_core, to_core
from fakekube.apis.flowcontrol.conversion import from_nominal, to_nominal
from fakekube.apis.resource import conversion as resource
from fakekube.registry.strategy import Strategy

TARGET = {"kind": "Deployment", "name": "d"}
CPU_80 = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
MEMORY = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}
OTHERS = [
    MEMORY,
    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"averageValue": "5", "type": "AverageValue"}}},
    {"type": "Object", "object": {"describedObject": TARGET, "target": {"value": "3", "type": "Value"},
                                  "metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}}}},
    {"type": "External", "external": {"metric": {"name": "m"}, "target": {"averageValue": "7", "type": "AverageValue"}}},
    {"type": "ContainerResource", "containerResource": {
        "name": "cpu", "target": {"averageUtilization": 60, "type": "Utilization"}, "container": "c"}},
]  # fmt: skip
RULES = {"stabilizationWindowSeconds": 5, "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]}


def autoscaler(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x"}, **fields}


class TestAutoscaler:
    def test_v1_without_a_target_watches_cpu_at_80_percent(self):
        """Given a bare v1 autoscaler / when stored / then the old default is written out, and v1
        shows it.
        """
        stored = hpa.to_v2(autoscaler(spec={"maxReplicas": 3, "scaleTargetRef": TARGET}, status={"currentReplicas": 0}))
        assert stored["spec"]["metrics"] == [CPU_80]
        assert stored["status"] == {"currentMetrics": None}
        shown = hpa.from_v2(deepcopy(stored))
        assert shown["spec"] == {"maxReplicas": 3, "scaleTargetRef": TARGET, "targetCPUUtilizationPercentage": 80}
        assert shown["status"] == {"currentReplicas": 0}

    def test_what_v1_does_not_know_travels_in_annotations(self):
        """Given a v2 autoscaler with memory and behaviour / when read in v1 / then as upstream
        writes them.
        """
        spec = {"maxReplicas": 3, "metrics": [MEMORY], "behavior": {"scaleUp": {**RULES, "selectPolicy": "Max"}}}
        shown = hpa.from_v2(autoscaler(spec=spec))
        assert shown["spec"] == {"maxReplicas": 3}
        assert shown["metadata"]["annotations"] == {
            "autoscaling.alpha.kubernetes.io/metrics":
                '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
            "autoscaling.alpha.kubernetes.io/behavior":
                '{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,'
                '"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}',
        }  # fmt: skip

    @pytest.mark.parametrize("metrics", [[CPU_80], OTHERS, [*OTHERS, CPU_80], [MEMORY]])
    def test_nothing_is_lost_on_the_way_through_v1(self, metrics):
        """Given metrics of every source / when read in v1 and written back / then they are the
        same.
        """
        status = {
            "desiredReplicas": 2,
            "currentMetrics": [
                {"type": "Resource", "resource": {"name": "cpu", "current": {
                    "averageValue": "10m", "averageUtilization": 30}}},
                {"type": "External", "external": {"metric": {"name": "m"}, "current": {
                    "value": "4", "averageValue": "2"}}},
                {"type": "Pods", "pods": {"metric": {"name": "m"}, "current": {"averageValue": "4"}}},
            ],
            "conditions": [{"type": "AbleToScale", "status": "True"}],
        }  # fmt: skip
        stored = autoscaler(
            spec={"maxReplicas": 3, "metrics": metrics, "behavior": {"scaleUp": RULES, "scaleDown": RULES}}, status=status,
        )  # fmt: skip
        shown = hpa.from_v2(deepcopy(stored))
        assert shown["status"]["currentCPUUtilizationPercentage"] == 30
        assert hpa.to_v2(shown) == stored

    def test_v1_tells_conditions_field_by_field_in_its_own_order(self):
        """Given a condition of v2 / when read in v1 / then the annotation has its fields as
        upstream's type declares them.
        """
        condition = {"reason": "r", "lastTransitionTime": "t", "message": "m", "status": "True", "type": "AbleToScale"}
        shown = hpa.from_v2(autoscaler(spec={}, status={"conditions": [condition]}))
        assert shown["metadata"]["annotations"][hpa.CONDITIONS] == (
            '[{"type":"AbleToScale","status":"True","lastTransitionTime":"t","reason":"r","message":"m"}]')

    @pytest.mark.parametrize("text", ["no json", '"a"', "[1]", "{}"])
    def test_annotations_that_are_none_of_ours_are_overlooked(self, text):
        """Given rubbish in the annotations of v1 / when stored / then it is dropped."""
        names = ("metrics", "current-metrics", "conditions", "behavior")
        annotations = {f"autoscaling.alpha.kubernetes.io/{name}": text for name in names}
        stored = hpa.to_v2({"metadata": {"name": "x", "annotations": annotations}, "spec": {}})
        assert stored["spec"] == {"metrics": [CPU_80]}
        assert stored["metadata"] == {"name": "x"}


class TestEvents:
    def test_the_two_apis_name_the_same_things_differently(self):
        """Given an event of the group / when stored and read in core / then it has core's names and
        empty fields.
        """
        event = {
            "kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": {"name": "e"}, "note": "why", "type": "Normal",
            "regarding": {"kind": "Pod"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "c",
        }  # fmt: skip
        stored = to_core(event)
        assert list(stored) == [
            "kind", "apiVersion", "metadata", "involvedObject", "message", "source", "firstTimestamp", "lastTimestamp",
            "type", "eventTime", "reportingComponent", "reportingInstance",
        ]  # fmt: skip
        assert (stored["message"], stored["involvedObject"], stored["reportingInstance"]) == ("why", {"kind": "Pod"}, "")

    @given(
        st.fixed_dictionaries(
            {"involvedObject": st.just({"kind": "Pod"}), "source": st.just({}), "firstTimestamp": st.none(),
             "lastTimestamp": st.none(), "eventTime": st.none(), "reportingComponent": st.sampled_from(["", "c"]),
             "reportingInstance": st.sampled_from(["", "i"])},
            optional={"message": st.just("m"), "count": st.integers(1, 9), "series": st.just({"count": 2}),
                      "related": st.just({"kind": "Node"}), "action": st.just("a"), "reason": st.just("r")},
        )
    )  # fmt: skip
    def test_there_and_back_is_the_same_event(self, fields):
        """Given any stored event / when read in the group's API and written back / then it is the
        same.
        """
        event = {"kind": "Event", "metadata": {"name": "e"}, **fields}
        assert to_core(from_core(deepcopy(event))) == event


REQUESTS = [
    {"name": "a", "exactly": {"deviceClassName": "c", "count": 2}},
    {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]},
]


class TestDevices:
    def test_requests_lose_their_wrapping_in_v1beta1(self):
        """Given a claim of v1 / when read in v1beta1 and back / then requests are flat there, and
        the same after.
        """
        claim = {"spec": {"devices": {"requests": REQUESTS}}}
        flat = resource.claim_from_exactly(deepcopy(claim))
        assert flat["spec"]["devices"]["requests"][0] == {"name": "a", "deviceClassName": "c", "count": 2}
        assert resource.claim_to_exactly(flat) == claim
        template = {"spec": {"spec": claim["spec"]}}
        assert resource.template_to_exactly(resource.template_from_exactly(deepcopy(template))) == template

    def test_devices_are_basic_in_v1beta1_and_capacities_plain_in_v1alpha3(self):
        """Given a slice of v1 / when read in older versions and back / then shapes change, content
        does not.
        """
        piece = {"spec": {"devices": [{"name": "d", "capacity": {"memory": {"value": "1Gi"}}}]}}
        older = resource.slice_to_basic(deepcopy(piece))
        assert older["spec"]["devices"] == [{"name": "d", "basic": {"capacity": {"memory": {"value": "1Gi"}}}}]
        assert resource.slice_from_basic(older) == piece
        oldest = resource.slice_to_alpha(deepcopy(piece))
        assert oldest["spec"]["devices"] == [{"name": "d", "basic": {"capacity": {"memory": "1Gi"}}}]
        assert resource.slice_from_alpha(oldest) == piece


def test_shares_were_once_assured():
    """Given a level of v1beta2 / when stored and read back / then the field changes its name."""
    level = {"spec": {"limited": {"assuredConcurrencyShares": 5}}}
    stored = to_nominal(deepcopy(level))
    assert stored["spec"]["limited"] == {"nominalConcurrencyShares": 5}
    assert from_nominal(stored) == level


class TestStrategies:
    class Nominal(Strategy):
        """Knows the stored shape only."""

        def default(self, obj, ctx):
            obj["spec"].setdefault("limited", {}).setdefault("nominalConcurrencyShares", 30)

        def validate(self, obj, ctx):
            return [obj["spec"]["limited"]["nominalConcurrencyShares"]]

        def warnings(self, obj, old, ctx):
            return [f"{old is None}"]

    def test_a_strategy_sees_the_stored_shape(self):
        """Given a strategy of the stored shape / when it serves an older version / then its changes
        come back in it.
        """
        strategy = ConvertingStrategy(self.Nominal(), to_nominal, from_nominal)
        level: dict[str, Any] = {"spec": {"limited": {}}}
        strategy.default(level, None)  # type: ignore[arg-type]
        assert level == {"spec": {"limited": {"assuredConcurrencyShares": 30}}}
        assert strategy.validate(level, None) == [30]  # type: ignore[arg-type]
        assert level == {"spec": {"limited": {"assuredConcurrencyShares": 30}}}
        assert strategy.warnings(level, None, None) == ["True"]  # type: ignore[arg-type]
        assert strategy.spec_changed(level, {"spec": {}})
        assert not strategy.spec_changed(level, deepcopy(level))

    def test_the_catalog_wraps_strategies_of_versions_with_another_shape(self):
        """Given versions of one resource / when the catalog is built / then only the converted ones
        are wrapped.
        """
        found = catalog("1.37", {}, {"api/all": True})
        stored = found.kind("resource.k8s.io", "v1", "resourceclaims")
        same = found.kind("resource.k8s.io", "v1beta2", "resourceclaims")
        flat = found.kind("resource.k8s.io", "v1beta1", "resourceclaims")
        assert stored is not None
        assert same is not None
        assert flat is not None
        assert stored.conversion is None
        assert same.strategy is stored.strategy
        assert isinstance(flat.strategy, ConvertingStrategy)
        assert flat.conversion is not None
        assert flat.conversion.stored == stored.gvk
        tree = {"apiVersion": "resource.k8s.io/v1beta1", "spec": {"devices": {"requests": [{"name": "a", "count": 1}]}}}
        converted = flat.conversion.to_stored(orjson.loads(orjson.dumps(tree)))
        assert converted["apiVersion"] == "resource.k8s.io/v1"
        assert flat.conversion.from_stored(converted) == tree
