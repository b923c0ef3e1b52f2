"""Rows of kinds other than pods: tables of an object and the cells that kubectl shows for it."""

from typing import Any

import pytest

from fakekube.apimachinery.times import parse_time
from fakekube.apis.catalog import catalog

NOW = parse_time("2026-01-01T01:00:00Z")
CATALOG = catalog("1.37", {}, {"api/all": True})
AGE = "5m"
CREATED = "2026-01-01T00:55:00Z"


def cells(resource: str, obj: dict[str, Any]) -> list[Any]:
    """``resource`` is like ``batch/v1/jobs``; the core group is ``v1/pods``."""
    *group, version, plural = resource.split("/")
    kind = CATALOG.kind(group[0] if group else "", version, plural)
    assert kind is not None
    assert kind.printer is not None
    obj = {"kind": kind.kind, "apiVersion": kind.api_version, **obj}
    obj["metadata"] = {"name": "x", "creationTimestamp": CREATED, **obj.get("metadata", {})}
    return kind.printer.cells(obj, NOW)


def conditions(**states: str) -> list[dict[str, str]]:
    return [{"type": name, "status": status} for name, status in states.items()]


POD_SPEC = {"spec": {"containers": [{"name": "a", "image": "one"}, {"name": "b", "image": "two"}]}}
SELECTOR = {"matchLabels": {"app": "x"}}
WORKLOAD_TAIL = ["a,b", "one,two", "app=x"]


def job(**status: Any) -> dict[str, Any]:
    spec = {"parallelism": 1, "completions": 3, "selector": SELECTOR, "template": POD_SPEC}
    return {"spec": spec, "status": status}


class TestJobs:
    @pytest.mark.parametrize(
        ("states", "word"),
        [
            ({}, "Running"),
            ({"Suspended": "True"}, "Suspended"),
            ({"Suspended": "False"}, "Running"),
            ({"SuccessCriteriaMet": "True"}, "SuccessCriteriaMet"),
            ({"FailureTarget": "True"}, "FailureTarget"),
            ({"SuccessCriteriaMet": "True", "Complete": "True"}, "Complete"),
            ({"FailureTarget": "True", "Failed": "True"}, "Failed"),
        ],
    )
    def test_the_status_comes_from_conditions(self, states, word):
        """Given conditions / when a Job prints / then the one that matters most names it."""
        assert cells("batch/v1/jobs", job(conditions=conditions(**states)))[1] == word

    def test_a_deleted_job_terminates_unless_it_is_finished(self):
        """Given a deletion / when a Job prints / then Terminating, but Complete stays."""
        deleted = {"metadata": {"deletionTimestamp": CREATED}}
        assert cells("batch/v1/jobs", {**job(), **deleted})[1] == "Terminating"
        assert cells("batch/v1/jobs", {**job(conditions=conditions(Complete="True")), **deleted})[1] == "Complete"

    @pytest.mark.parametrize(
        ("spec", "text"),
        [
            ({"completions": 3, "parallelism": 2}, "2/3"),
            ({"parallelism": 4}, "2/1 of 4"),
            ({"parallelism": 1}, "2/1"),
            ({}, "2/1"),
        ],
    )
    def test_completions(self, spec, text):
        """Given completions or none / when a Job prints / then what it counts towards."""
        assert cells("batch/v1/jobs", {"spec": spec, "status": {"succeeded": 2}})[2] == text

    def test_a_whole_row(self):
        """Given a running and a finished Job / when printed / then duration runs, and stands still
        at the end.
        """
        running = job(startTime="2026-01-01T00:59:00Z")
        assert cells("batch/v1/jobs", running) == ["x", "Running", "0/3", "60s", AGE, *WORKLOAD_TAIL]
        finished = job(startTime="2026-01-01T00:56:00Z", completionTime="2026-01-01T00:58:30Z", succeeded=3)
        assert cells("batch/v1/jobs", finished)[2:4] == ["3/3", "2m30s"]
        assert cells("batch/v1/jobs", job())[3] == ""


ROWS: list[tuple[str, dict[str, Any], list[Any]]] = [
    (
        "batch/v1/cronjobs",
        {"spec": {"schedule": "* * * * *", "suspend": False, "timeZone": "Etc/UTC",
                  "jobTemplate": {"spec": {"template": POD_SPEC}}},
         "status": {"active": [{}, {}], "lastScheduleTime": "2026-01-01T00:59:00Z"}},
        ["x", "* * * * *", "Etc/UTC", "False", 2, "60s", AGE, "a,b", "one,two", "<none>"],
    ),
    ("batch/v1/cronjobs", {"spec": {"schedule": "@daily", "suspend": True}},
     ["x", "@daily", "<none>", "True", 0, "<none>", AGE, "", "", "<none>"]),
    (
        "apps/v1/deployments",
        {"spec": {"replicas": 3, "selector": SELECTOR, "template": POD_SPEC},
         "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1}},
        ["x", "1/3", 2, 1, AGE, *WORKLOAD_TAIL],
    ),
    ("apps/v1/deployments", {"spec": {"selector": {"matchExpressions": [{"operator": "Near"}]}}},
     ["x", "0/0", 0, 0, AGE, "", "", "<invalid>"]),
    (
        "apps/v1/replicasets",
        {"spec": {"replicas": 3, "selector": SELECTOR, "template": POD_SPEC}, "status": {"replicas": 2}},
        ["x", 3, 2, 0, AGE, *WORKLOAD_TAIL],
    ),
    ("apps/v1/statefulsets", {"spec": {"replicas": 2, "template": POD_SPEC}}, ["x", "0/2", AGE, "a,b", "one,two"]),
    (
        "apps/v1/daemonsets",
        {"spec": {"selector": SELECTOR, "template": {"spec": {**POD_SPEC["spec"], "nodeSelector": {"b": "2",
         "a": "1"}}}},
         "status": {"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberReady": 1}},
        ["x", 3, 2, 1, 0, 0, "a=1,b=2", AGE, *WORKLOAD_TAIL],
    ),
    (
        "apps/v1/controllerrevisions",
        {"revision": 4, "metadata": {"ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}]}},
        ["x", "statefulset.apps/web", 4, AGE],
    ),
    ("v1/replicationcontrollers", {"spec": {"replicas": 1, "selector": {"a": "b"}, "template": POD_SPEC}},
     ["x", 1, 0, 0, AGE, "a,b", "one,two", "a=b"]),
    ("v1/podtemplates", {"template": {"metadata": {"labels": {"a": "b"}}, **POD_SPEC}}, ["x", "a,b", "one,two", "a=b"]),
    ("v1/namespaces", {"status": {"phase": "Active"}}, ["x", "Active", AGE]),
    ("v1/configmaps", {"data": {"a": "", "b": ""}, "binaryData": {"c": ""}}, ["x", 3, AGE]),
    ("v1/secrets", {"type": "Opaque", "data": {"a": ""}}, ["x", "Opaque", 1, AGE]),
    ("v1/serviceaccounts", {}, ["x", AGE]),
    (
        "v1/resourcequotas",
        {"status": {"hard": {"pods": "4", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "1"}}},
        ["x", "cpu: 0/1, pods: 1/4", "limits.cpu: 0/2", AGE],
    ),
    ("v1/componentstatuses", {"conditions": [{"type": "Healthy", "status": "True", "message": "ok"}]},
     ["x", "Healthy", "ok", ""]),
    (
        "v1/persistentvolumeclaims",
        {"spec": {"volumeName": "pv", "storageClassName": "fast", "volumeMode": "Filesystem"},
         "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany",
          "ReadWriteOnce"]}},
        ["x", "Bound", "pv", "1Gi", "RWO,RWX", "fast", "<unset>", AGE, "Filesystem"],
    ),
    ("v1/persistentvolumeclaims", {"spec": {"resources": {"requests": {"storage": "1Gi"}}},
     "status": {"phase": "Pending"}},
     ["x", "Pending", "", "", "", "", "<unset>", AGE, "<unset>"]),
    (
        "v1/persistentvolumes",
        {"spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadOnlyMany"],
         "persistentVolumeReclaimPolicy": "Retain",
                  "claimRef": {"namespace": "n", "name": "c"}}, "status": {"phase": "Bound"}},
        ["x", "5Gi", "ROX", "Retain", "Bound", "n/c", "", "<unset>", "", AGE, "<unset>"],
    ),
    (
        "v1/services",
        {"spec": {"type": "NodePort", "clusterIPs": ["10.0.0.5"], "selector": {"a": "b"}, "ports": [
            {"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]}},
        ["x", "NodePort", "10.0.0.5", "<none>", "80:30080/TCP,53/UDP", AGE, "a=b"],
    ),
    ("v1/services", {"spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.5"]}},
     ["x", "LoadBalancer", "10.0.0.5", "<pending>", "<none>", AGE, "<none>"]),
    ("v1/services", {"spec": {"type": "ExternalName", "externalName": "example.com"}},
     ["x", "ExternalName", "<none>", "example.com", "<none>", AGE, "<none>"]),
    (
        "v1/endpoints",
        {"subsets": [{"addresses": [{"ip": f"10.0.0.{n}"} for n in range(4)], "ports": [{"port": 80}]}]},
        ["x", "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 1 more...", AGE],
    ),
    ("v1/endpoints", {}, ["x", "<none>", AGE]),
    (
        "discovery.k8s.io/v1/endpointslices",
        {"addressType": "IPv4", "ports": [{"port": 80}, {"name": "web"}],
         "endpoints": [{"addresses": ["10.0.0.1"]}, {"addresses": ["10.0.0.2"]}]},
        ["x", "IPv4", "80,web", "10.0.0.1,10.0.0.2", AGE],
    ),
    (
        "policy/v1/poddisruptionbudgets", {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 2}},
        ["x", "50%", "N/A", 2, AGE],
    ),
    (
        "autoscaling/v2/horizontalpodautoscalers",
        {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": 1, "maxReplicas": 2,
         "metrics": [
            {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}]}},
        ["x", "Deployment/d", "cpu: <unknown>/80%", "1", 2, 0, AGE],
    ),
    (
        "autoscaling/v1/horizontalpodautoscalers",
        {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 2,
                  "targetCPUUtilizationPercentage": 50},
         "status": {"currentReplicas": 1, "currentCPUUtilizationPercentage": 30}},
        ["x", "Deployment/d", "cpu: 30%/50%", "<unset>", 2, 1, AGE],
    ),
    (
        "networking.k8s.io/v1/ingresses",
        {"spec": {"ingressClassName": "nginx", "rules": [{"host": f"h{n}"} for n in range(5)], "tls": [{}]},
         "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "lb"}]}}},
        ["x", "nginx", "h0,h1,h2 + 2 more...", "1.2.3.4,lb", "80, 443", AGE],
    ),
    ("networking.k8s.io/v1/ingresses", {"spec": {}}, ["x", "<none>", "*", "", "80", AGE]),
    ("networking.k8s.io/v1/networkpolicies", {"spec": {"podSelector": {}}}, ["x", "<none>", AGE]),
    (
        "networking.k8s.io/v1/ingressclasses",
        {"metadata": {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
         "spec": {"controller": "c", "parameters": {"apiGroup": "g", "kind": "K", "name": "n"}}},
        ["x (default)", "c", "K.g/n", AGE],
    ),
    ("networking.k8s.io/v1/servicecidrs", {"spec": {"cidrs": ["10.0.0.0/24", "fd00::/112"]}},
     ["x", "10.0.0.0/24,fd00::/112", AGE]),
    (
        "networking.k8s.io/v1/ipaddresses",
        {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}}, ["x", "services/n/s", AGE],
    ),
    (
        "rbac.authorization.k8s.io/v1/rolebindings",
        {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [
            {"kind": "User", "name": "u"}, {"kind": "Group", "name": "g"}, {"kind": "User", "name": "v"},
            {"kind": "ServiceAccount", "namespace": "n", "name": "s"}]},
        ["x", "Role/r", AGE, "u, v", "g", "n/s"],
    ),
    ("storage.k8s.io/v1/storageclasses", {"provisioner": "p", "reclaimPolicy": "Retain"},
     ["x", "p", "Retain", "Immediate", False, AGE]),
    ("storage.k8s.io/v1/csidrivers", {"spec": {"attachRequired": False, "volumeLifecycleModes": ["Persistent"]}},
     ["x", False, False, False, "<unset>", False, "Persistent", AGE]),
    ("scheduling.k8s.io/v1/priorityclasses", {"value": 7, "preemptionPolicy": "Never"}, ["x", 7, False, AGE, "Never"]),
    (
        "scheduling.k8s.io/v1beta1/podgroups",
        {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "workloadRef": {"workloadName": "w"}},
         "status": {"conditions": conditions(PodGroupInitiallyScheduled="False")}},
        ["x", "Gang", "w", "Unschedulable", AGE],
    ),
    ("scheduling.k8s.io/v1beta1/podgroups", {"spec": {"schedulingPolicy": {"basic": {}}}},
     ["x", "Basic", "<none>", "Pending", AGE]),
    ("coordination.k8s.io/v1/leases", {"spec": {"holderIdentity": "me"}}, ["x", "me", AGE]),
    ("node.k8s.io/v1/runtimeclasses", {"handler": "runc"}, ["x", "runc", AGE]),
    (
        "certificates.k8s.io/v1/certificatesigningrequests",
        {"spec": {"signerName": "s", "username": "u", "expirationSeconds": 86400},
         "status": {"conditions": conditions(Approved="True"), "certificate": "Zm9v"}},
        ["x", AGE, "s", "u", "24h", "Approved,Issued"],
    ),
    (
        "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        {"spec": {"policyName": "p", "paramRef": {"name": "q"}}}, ["x", "p", "*/q", AGE],
    ),
    (
        "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        {"spec": {"policyName": "p", "paramRef": {"selector": {"matchLabels": {"a": "b"}}}}},
        ["x", "p",
         "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}",
         AGE],
    ),
    ("admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"webhooks": [{}, {}]}, ["x", 2, AGE]),
    (
        "apiextensions.k8s.io/v1/customresourcedefinitions",
        {"spec": {"scope": "Namespaced", "group": "g", "names": {"kind": "K", "shortNames": ["k", "ks"]}, "versions": [
            {"name": "v2", "served": True}, {"name": "v1", "served": True, "storage": True}, {"name": "v0"}]},
         "status": {"conditions": conditions(Established="True")}},
        ["x", "Namespaced", "v1(storage),v2", CREATED, "g", "K", "k,ks", True],
    ),
    ("apiregistration.k8s.io/v1/apiservices", {"spec": {}, "status": {"conditions": conditions(Available="True")}},
     ["x", "Local", "True", AGE]),
    (
        "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
        {"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}}},
        ["x", "Limited", 5, "<none>", "<none>", "<none>", AGE],
    ),
    (
        "resource.k8s.io/v1/resourceclaims", {"status": {"allocation": {}, "reservedFor": [{}]}},
        ["x", "allocated,reserved", AGE],
    ),
    (
        "resource.k8s.io/v1alpha3/resourcepoolstatusrequests",
        {"spec": {"driver": "d"}, "status": {"poolCount": 2, "pools": [{"totalDevices": 3, "availableDevices": 1}],
         "conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:59:30Z"}]}},
        ["x", "d", "3", "1", "0", "0", "0", 2, "Complete (1/2 pools)", "30s"],
    ),
    (
        "storagemigration.k8s.io/v1/storageversionmigrations",
        {"spec": {"resource": {"group": "apps", "resource": "deployments"}},
         "status": {"conditions": conditions(Running="False", Succeeded="True")}},
        ["x", "deployments.apps", "Succeeded"],
    ),
    (
        "lifecycle.k8s.io/v1alpha1/evictions",
        {"spec": {"target": {"pod": {"name": "p"}}}, "status": {
            "observedGeneration": 1, "requesters": [{"name": "b"}, {"name": "a"}],
            "targetResponders": [{"name": "r", "state": "Active"}, {"name": "s", "state": "Inactive"}],
            "responders": [{"name": "r", "startTime": "2026-01-01T00:59:00Z", "message": " hm ",
                            "expectedCompletionTime": "2026-01-01T01:01:00Z"}]}},
        ["x", "p", "Pod", "Progressing", "r (1/2)", "Started (60s ago)", "in 60s", "a + 1 more...", AGE, "<unset>",
         "hm"],
    ),
]  # fmt: skip


@pytest.mark.spec("API-070")
@pytest.mark.parametrize(
    ("resource", "obj", "expected"), ROWS, ids=[f"{row[0]}-{number}" for number, row in enumerate(ROWS)]
)
def test_a_row(resource: str, obj: dict[str, Any], expected: list[Any]):
    """Given an object / when printed / then the cells are those that a real server answers."""
    assert cells(resource, obj) == expected


class TestNodes:
    @pytest.mark.parametrize(
        ("spec", "states", "word"),
        [
            ({}, {"Ready": "True"}, "Ready"),
            ({}, {"Ready": "Unknown"}, "NotReady"),
            ({}, {}, "Unknown"),
            ({"unschedulable": True}, {"Ready": "True"}, "Ready,SchedulingDisabled"),
        ],
    )
    def test_the_status(self, spec, states, word):
        """Given a node / when printed / then its readiness, and whether it is cordoned."""
        assert cells("v1/nodes", {"spec": spec, "status": {"conditions": conditions(**states)}})[1] == word

    def test_a_whole_row(self):
        """Given roles, addresses and what the kubelet told / when printed / then all of it is
        there.
        """
        node = {
            "metadata": {"labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge", "a": "b"}},
            "status": {
                "addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "10.1.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1.37.1", "kernelVersion": "6.1", "architecture": "arm64"},
            },
        }
        assert cells("v1/nodes", node) == [
            "x", "Unknown", "edge,worker", AGE, "v1.37.1", "10.1.0.1", "<none>", "<unknown>", "6.1 (arm64)",
             "<unknown>",
        ]  # fmt: skip


class TestEvents:
    def test_an_event_with_counts(self):
        """Given an event of the old kind / when printed / then first and last time and the count
        are its own.
        """
        event = {
            "type": "Normal", "reason": "Pulled", "message": " done \n", "count": 3,
            "firstTimestamp": "2026-01-01T00:50:00Z", "lastTimestamp": "2026-01-01T00:59:00Z",
            "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{a}"},
            "source": {"component": "kubelet", "host": "n"},
        }  # fmt: skip
        expected = ["60s", "Normal", "Pulled", "pod/p", "spec.containers{a}", "kubelet, n", "done", "10m", 3, "x"]
        assert cells("v1/events", event) == expected

    def test_an_event_without_times(self):
        """Given an event with nothing but an object / when printed / then unknown times and a count
        of one.
        """
        expected = ["<unknown>", "", "", "pod", "", "", "", "<unknown>", 1, "x"]
        assert cells("v1/events", {"involvedObject": {"kind": "Pod"}}) == expected

    def test_an_event_of_the_group_prints_as_the_same_event(self):
        """Given a series of events.k8s.io / when printed / then like the core event that it is
        stored as.
        """
        event = {
            "eventTime": "2026-01-01T00:58:00.000000Z", "note": "hello", "reportingController": "c",
            "reportingInstance": "i", "regarding": {"kind": "Node", "name": "n"}, "type": "Warning",
            "series": {"count": 7, "lastObservedTime": "2026-01-01T00:59:30.000000Z"},
        }  # fmt: skip
        expected = ["30s", "Warning", "", "node/n", "", "c, i", "hello", "2m", 7, "x"]
        assert cells("events.k8s.io/v1/events", event) == expected


METRICS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"type": "Pods", "pods": {"target": {"averageValue": "10"}}}, {}, "<unknown>/10"),
    ({"type": "Pods", "pods": {"target": {"averageValue": "10"}}}, {"pods": {"current": {"averageValue": "3"}}},
     "3/10"),
    ({"type": "Object", "object": {"target": {"value": "5"}}}, {"object": {"current": {"value": "1"}}}, "1/5"),
    ({"type": "External", "external": {"target": {"averageValue": "5"}}}, {}, "<unknown>/5 (avg)"),
    ({"type": "Resource", "resource": {"name": "memory", "target": {"averageValue": "1Gi"}}}, {},
     "memory: <unknown>/1Gi"),
    ({"type": "Resource", "resource": {"name": "cpu", "target": {}}}, {}, "cpu: <unknown>/<auto>"),
    ({"type": "ContainerResource", "containerResource": {"name": "cpu", "target": {"averageUtilization": 60}}},
     {"containerResource": {"current": {"averageUtilization": 20}}}, "cpu: 20%/60%"),
    ({"type": "Odd"}, {}, "<unknown type>"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "status", "text"), METRICS)
def test_targets_of_an_autoscaler(spec: dict[str, Any], status: dict[str, Any], text: str):
    """Given a metric and what was measured / when printed / then current over target."""
    hpa = {"spec": {"metrics": [spec]}, "status": {"currentMetrics": [status] if status else []}}
    assert cells("autoscaling/v2/horizontalpodautoscalers", hpa)[2] == text


def test_more_than_two_targets_are_cut():
    """Given three metrics / when printed / then two are shown."""
    metric = {"type": "Pods", "pods": {"target": {"averageValue": "10"}}}
    shown = cells("autoscaling/v2/horizontalpodautoscalers", {"spec": {"metrics": [metric] * 3}})[2]
    assert shown == "<unknown>/10, <unknown>/10 + 1 more..."
