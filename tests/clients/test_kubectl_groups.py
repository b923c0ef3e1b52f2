"""What users of kubectl see of pods that start together: the user stories of KEP-4671 (gang
scheduling), KEP-5547 (Jobs) and KEP-6089 (fields that controllers share).
"""

import json
import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it counts on the nodes that there are, and on gates"),
    pytest.mark.fakekube(nodes=0, clock=20, feature_gates="workload-aware"),
]

Kubectl = Callable[..., str]
GPU, RACK = "nvidia.com/gpu", "topology.kubernetes.io/rack"
GANG: dict[str, Any] = {"schedulingPolicy": {"gang": {}}}
SCHEDULED, NOT_SCHEDULED = "condition=PodGroupInitiallyScheduled", "condition=PodGroupInitiallyScheduled=False"
UNAVAILABLE = (
    "pod group is unschedulable, 0/{} placements are available, first placement status: minCount ({}) cannot be satisfied")
NOBODY_TO_EVICT = "pod group preemption: No preemption victims found for incoming preemptor"


def text_of(objects: list[dict[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def nodes(kubectl: Kubectl, *names: str, gpus: int, **labels: str) -> None:
    """Nodes with so many GPUs, once pods can go there."""
    room = {"cpu": "8", "memory": "32Gi", "pods": "110", GPU: str(gpus)}
    kubectl("create", "-f", "-", stdin=text_of([{
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"capacity": room, "allocatable": room}} for name in names]))
    kubectl("wait", "--for=condition=Ready", *(f"node/{name}" for name in names), "--timeout=30s")


def template(seconds: int, **spec: Any) -> dict[str, Any]:
    """A pod of one GPU that runs for so long."""
    return {"metadata": {"annotations": {"fakekube.dev/run-duration": f"{seconds}s"}}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "train", "image": "train:1", "resources": {"limits": {GPU: "1"}}}], **spec}}


def job(name: str, pods: int, *, scheduling: Any = None, seconds: int = 3600, **spec: Any) -> str:
    """A Job of so many pods at once."""
    return json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "parallelism": pods, "completions": pods, "completionMode": "Indexed", "template": template(seconds, **spec),
        **({"scheduling": scheduling} if scheduling is not None else {})}})


def group(name: str, size: int, **spec: Any) -> dict[str, Any]:
    """A gang of so many."""
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": name}, "spec": {
        "schedulingPolicy": {"gang": {"minCount": size}}, **spec}}


def pods(group_name: str, *numbers: int) -> list[dict[str, Any]]:
    """Pods of a group."""
    found = []
    for number in numbers:
        pod = template(3600, schedulingGroup={"podGroupName": group_name})
        pod["metadata"]["name"] = f"{group_name}-{number}"
        found.append({"apiVersion": "v1", "kind": "Pod", **pod})
    return found


def table(kubectl: Kubectl, kind: str, *arguments: str) -> list[list[str]]:
    """The cells of ``kubectl get``, header first, without the age."""
    return [line.split()[:-1] for line in kubectl("get", kind, *arguments).splitlines()]


def group_of(kubectl: Kubectl, name: str) -> str:
    """The name of the PodGroup of a Job."""
    template = f'{{range .items[?(@.metadata.ownerReferences[0].name=="{name}")]}}{{.metadata.name}}{{end}}'
    return kubectl("get", "podgroups", "-o", f"jsonpath={template}")


def places(kubectl: Kubectl, name: str) -> list[str]:
    """The nodes of a Job's pods, sorted; empty for one that has none."""
    template = '{range .items[*]}{.spec.nodeName}{"\\n"}{end}'
    return sorted(kubectl("get", "pods", "-l", f"job-name={name}", "-o", f"jsonpath={template}").split("\n")[:-1])


def runs(kubectl: Kubectl, name: str, count: int) -> None:
    """Wait until so many pods of a Job are ready."""
    kubectl("wait", f"--for=jsonpath={{.status.ready}}={count}", f"job/{name}", "--timeout=30s")


def failures(kubectl: Kubectl, selector: str) -> set[str]:
    """What ``describe pod`` has below Events as the reason why pods have no node."""
    described = kubectl("describe", "pods", "-l", selector)
    return set(re.findall(r"Warning  FailedScheduling  \S+ +default-scheduler  (.*)", described))


# KEP-5547


@pytest.mark.spec("WAS-052", "WAS-107")
def test_a_training_job_waits_for_room_and_starts_whole(inside: Kubectl) -> None:
    """Given a Job of eight workers as a gang and seven GPUs, when it is created, then none starts,
    and Job, group and pods say so; when there are eight, then all start.
    """
    nodes(inside, "node-0", "node-1", gpus=3)
    nodes(inside, "node-2", gpus=1)
    assert inside("create", "-f", "-", stdin=job("train", 8, scheduling=GANG)) == "job.batch/train created\n"
    inside("wait", f"--for={NOT_SCHEDULED}", "podgroups", "--all", "--timeout=30s")
    name = group_of(inside, "train")
    workload = inside("get", "workloads", "-o", "name").strip().partition("/")[2]
    assert table(inside, "workloads") == [["NAME"], [workload]]
    assert table(inside, "podgroups") == [
        ["NAME", "POLICY", "WORKLOAD", "STATUS"], [name, "Gang", workload, "Unschedulable"]]
    header, row = table(inside, "jobs")
    assert (header, row[:3]) == (["NAME", "STATUS", "COMPLETIONS", "DURATION"], ["train", "Running", "0/8"])
    assert [row[1:3] for row in table(inside, "pods")[1:]] == [["0/1", "Pending"]] * 8
    why = f"{UNAVAILABLE.format(1, 8)}: 7 scheduled, 0 remaining, {NOBODY_TO_EVICT}"
    described = inside("describe", "podgroup", name)
    for text in (f"Workload Name:  {workload}", "Min Count:  8", "Reason:                Unschedulable", why):
        assert text in described
    assert failures(inside, "job-name=train") == {
        f"pod group is unschedulable, {why}", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}
    events = inside("events", "--for", "job/train")
    assert f"Created Workload {workload} for Job train" in events
    assert f"Created PodGroup {name} for Job train" in events
    nodes(inside, "node-3", gpus=1)
    runs(inside, "train", 8)
    assert table(inside, "podgroups")[1][1:] == ["Gang", workload, "Scheduled"]
    assert places(inside, "train") == ["node-0"] * 3 + ["node-1"] * 3 + ["node-2", "node-3"]


@pytest.mark.spec("WAS-047", "WAS-127")
def test_a_job_that_does_not_ask_for_it_runs_as_ever(inside: Kubectl) -> None:
    """Given a Job without a word about scheduling, when half of it has room, then that half runs;
    its group is a basic one, and is gone with the Job.
    """
    nodes(inside, "node-0", gpus=2)
    inside("create", "-f", "-", stdin=job("files", 4))
    runs(inside, "files", 2)
    assert table(inside, "podgroups")[1][1::2] == ["Basic", "Scheduled"]
    assert places(inside, "files") == ["", "", "node-0", "node-0"]
    inside("delete", "job", "files")
    inside("wait", "--for=delete", "podgroups,workloads,pods", "--all", "--timeout=30s")


@pytest.mark.spec("WAS-113")
def test_a_job_is_resized_and_its_gang_with_it(inside: Kubectl) -> None:
    """Given a gang that runs, when its Job grows beyond the room, then the size of Workload and
    group follow, and the new pod waits while the others run; other fields cannot change.
    """
    nodes(inside, "node-0", gpus=4)
    inside("create", "-f", "-", stdin=job("elastic", 3, scheduling=GANG))
    runs(inside, "elastic", 3)
    name = group_of(inside, "elastic")
    size = "jsonpath={.spec.schedulingPolicy.gang.minCount}"
    assert inside("get", "podgroup", name, "-o", size) == "3"
    inside("patch", "job", "elastic", "-p", '{"spec": {"parallelism": 4, "completions": 4}}')
    runs(inside, "elastic", 4)
    assert inside("get", "podgroup", name, "-o", size) == "4"
    template_size = "jsonpath={.items[0].spec.podGroupTemplates[0].schedulingPolicy.gang.minCount}"
    assert inside("get", "workloads", "-o", template_size) == "4"
    inside("patch", "job", "elastic", "-p", '{"spec": {"parallelism": 5, "completions": 5}}')
    inside("wait", "--for=jsonpath={.spec.schedulingPolicy.gang.minCount}=5", f"podgroup/{name}", "--timeout=30s")
    inside("wait", "--for=condition=PodScheduled=False", "pods", "-l", "batch.kubernetes.io/job-completion-index=4",
           "--timeout=30s")
    assert places(inside, "elastic") == ["", *["node-0"] * 4]
    refused = inside("patch", "job", "elastic", "--type=merge", "-p", '{"spec": {"scheduling": null}}', code=1)
    assert 'The Job "elastic" is invalid: spec.scheduling: Invalid value: null: field cannot be cleared once set' in refused


@pytest.mark.spec("WAS-112")
def test_a_block_that_makes_no_sense_is_refused(inside: Kubectl) -> None:
    """Given a Job that can only be disrupted as a whole but does not start so, when it is created,
    then kubectl says why not, and nothing is made.
    """
    wrong = inside("create", "-f", "-", stdin=job("wrong", 2, scheduling={"disruptionMode": {"all": {}}}), code=1)
    assert 'The Job "wrong" is invalid: spec.scheduling.disruptionMode: Invalid value' in wrong
    assert inside("get", "jobs,podgroups,workloads") == ""


# KEP-4671


@pytest.mark.spec("WAS-043", "WAS-044")
def test_two_gangs_compete_and_none_holds_what_the_other_needs(inside: Kubectl) -> None:
    """Given two groups made by hand that do not fit at once, when the pods of both come in turns,
    then one runs whole and the other holds nothing; when the first is gone, then it runs.
    """
    nodes(inside, "node-0", "node-1", gpus=2)
    inside("create", "-f", "-", stdin=text_of([group("red", 3), group("blue", 3)]))
    assert table(inside, "podgroups") == [
        ["NAME", "POLICY", "WORKLOAD", "STATUS"], ["blue", "Gang", "<none>", "Pending"], ["red", "Gang", "<none>", "Pending"]]
    inside("create", "-f", "-", stdin=text_of(
        [pod for number in range(3) for name in ("red", "blue") for pod in pods(name, number)]))
    inside("wait", f"--for={NOT_SCHEDULED}", "podgroup/blue", "--timeout=30s")
    inside("wait", "--for=condition=Ready", *(f"pod/red-{number}" for number in range(3)), "--timeout=30s")
    assert [row[3] for row in table(inside, "podgroups")[1:]] == ["Unschedulable", "Scheduled"]
    assert [row[:3] for row in table(inside, "pods")[1:]] == [
        [f"{name}-{number}", ready, phase] for name, ready, phase in (("blue", "0/1", "Pending"), ("red", "1/1", "Running"))
        for number in range(3)]
    inside("delete", "pods", *(f"red-{number}" for number in range(3)))
    inside("wait", "--for=condition=Ready", *(f"pod/blue-{number}" for number in range(3)), "--timeout=30s")
    inside("wait", f"--for={SCHEDULED}", "podgroup/blue", "--timeout=30s")


@pytest.mark.spec("WAS-032", "WAS-039", "WAS-040")
def test_the_gang_of_a_controller_of_ones_own(inside: Kubectl) -> None:
    """Given a controller that makes its pods one by one, when the last is missing, then the group
    is Pending and its pods say nothing, since they were not tried; with the last they start. The
    group outlives its deletion while they run.
    """
    nodes(inside, "node-0", gpus=4)
    inside("create", "-f", "-", stdin=text_of([*pods("gang", 0, 1), group("gang", 3)]))
    inside("wait", "--for=jsonpath={.status.phase}=Pending", "pod/gang-1", "--timeout=30s")
    assert table(inside, "podgroups")[1] == ["gang", "Gang", "<none>", "Pending"]
    described = inside("describe", "pod", "gang-0")
    assert re.search(r"Status: +Pending\n", described)
    assert "Conditions:" not in described
    assert "FailedScheduling" not in described
    inside("create", "-f", "-", stdin=text_of(pods("gang", 2)))
    inside("wait", "--for=condition=Ready", "pods", "--all", "--timeout=30s")
    assert table(inside, "podgroups")[1][3] == "Scheduled"
    inside("delete", "podgroup", "gang", "--wait=false")
    assert inside("get", "podgroup", "gang", "-o", "jsonpath={.metadata.finalizers}") == (
        '["scheduling.k8s.io/podgroup-protection"]')
    inside("delete", "pods", "--all")
    inside("wait", "--for=delete", "podgroup/gang", "--timeout=30s")


# KEP-6089


@pytest.mark.spec("WAS-078", "WAS-079")
def test_workers_share_a_rack_as_their_user_says(inside: Kubectl) -> None:
    """Given two racks and a Job that is to stay in one, when one has room, then all pods are there;
    the next such Job waits, says why, and runs where the first was.
    """
    nodes(inside, "east-0", "east-1", gpus=1, **{RACK: "east"})
    nodes(inside, "west-0", "west-1", gpus=2, **{RACK: "west"})
    in_a_rack = {**GANG, "schedulingConstraints": {"topology": [{"key": RACK}]}}
    inside("create", "-f", "-", stdin=job("first", 4, scheduling=in_a_rack))
    runs(inside, "first", 4)
    assert set(places(inside, "first")) == {"west-0", "west-1"}
    inside("create", "-f", "-", stdin=job("second", 3, scheduling=in_a_rack))
    inside("wait", f"--for={NOT_SCHEDULED}", f"podgroup/{group_of(inside, 'second')}", "--timeout=30s")
    assert f"{UNAVAILABLE.format(2, 3)}: 2 scheduled, 0 remaining, {NOBODY_TO_EVICT}" in inside(
        "describe", "podgroup", group_of(inside, "second"))
    assert places(inside, "second") == [""] * 3
    inside("delete", "job", "first")
    runs(inside, "second", 3)
    assert set(places(inside, "second")) == {"west-0", "west-1"}


@pytest.mark.spec("WAS-069")
def test_a_gang_that_matters_more_makes_room_by_groups(inside: Kubectl) -> None:
    """Given a gang that is disrupted as a whole, when one of a higher priority needs half of its
    room, then all of it goes and waits; its pods are told of in Events.
    """
    nodes(inside, "node-0", "node-1", gpus=2)
    inside("create", "priorityclass", "urgent", "--value=1000")
    together = {**GANG, "disruptionMode": {"all": {}}}
    inside("create", "-f", "-", stdin=job("batch", 4, scheduling=together))
    runs(inside, "batch", 4)
    inside("create", "-f", "-", stdin=job("now", 2, scheduling=GANG, priorityClassName="urgent"))
    runs(inside, "now", 2)
    uid = inside("get", "podgroup", group_of(inside, "now"), "-o", "jsonpath={.metadata.uid}")
    preempted = inside("get", "events", "--field-selector", "reason=Preempted", "--no-headers").splitlines()
    assert len(preempted) == 4
    assert {line.split(maxsplit=4)[4].strip() for line in preempted} == {f"Preempted by podgroup {uid} on node cluster"}
    inside("wait", "--for=jsonpath={.status.active}=4", "job/batch", "--timeout=30s")
    assert places(inside, "batch") == [""] * 4
    described = inside("describe", "job", "batch")
    assert re.search(r"Pods Statuses: +4 Active \(0 Ready\) / 0 Succeeded / 4 Failed", described)
    assert table(inside, "podgroups", group_of(inside, "now"))[1][3] == "Scheduled"


def test_two_roles_start_together(inside: Kubectl) -> None:
    """Given a tree of two roles, when there is room for one, then nobody starts; when there is for
    both, then all do.
    """
    nodes(inside, "node-0", gpus=3)
    roles = {"driver": 1, "workers": 3}
    tree = [
        {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "training"}, "spec": {
            "compositePodGroupTemplates": [{
                "name": "root", "schedulingPolicy": {"gang": {"minGroupCount": 2}}, "podGroupTemplates": [
                    {"name": name, "schedulingPolicy": {"gang": {"minCount": size}}} for name, size in roles.items()]}]}},
        {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup", "metadata": {"name": "training"}, "spec": {
            "schedulingPolicy": {"gang": {"minGroupCount": 2}},
            "workloadRef": {"workloadName": "training", "templateName": "root"}}},
        *(group(name, size, parentCompositePodGroupName="training", workloadRef={
            "workloadName": "training", "templateName": name}) for name, size in roles.items()),
        *(pod for name, size in roles.items() for pod in pods(name, *range(size)))]
    inside("create", "-f", "-", stdin=text_of(tree))
    inside("wait", f"--for={NOT_SCHEDULED}", "podgroups", "--all", "--timeout=30s")
    assert table(inside, "compositepodgroups") == [["NAME", "POLICY", "WORKLOAD"], ["training", "Gang", "training"]]
    assert table(inside, "podgroups") == [
        ["NAME", "POLICY", "WORKLOAD", "STATUS"], ["driver", "Gang", "training", "Unschedulable"],
        ["workers", "Gang", "training", "Unschedulable"]]
    assert [row[2] for row in table(inside, "pods")[1:]] == ["Pending"] * 4
    nodes(inside, "node-1", gpus=1)
    inside("wait", "--for=condition=Ready", "pods", "--all", "--timeout=30s")
    assert [row[3] for row in table(inside, "podgroups")[1:]] == ["Scheduled"] * 2
