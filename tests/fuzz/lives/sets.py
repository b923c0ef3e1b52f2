"""Draws the lives of JobSets and of LeaderWorkerSets."""

from typing import Any

from tests.fuzz.lives.jobs import Draw, job_spec
from tests.fuzz.lives.seeing import Tree

REASONS = ("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy")
ACTIONS = (
    *("FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts") * 4, "RestartJob", "RestartJobAndIgnoreMaxRestarts")
NAMES = ("w", "x", "y")
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"


def _child(draw: Draw) -> Tree:
    """The spec of a JobSet's Jobs: mostly a plain one that fails soon."""
    if draw.chance(0.2):
        return job_spec(draw, gangs=0.2)
    count = draw.one(1, 1, 2, 2, 3)
    spec: Tree = {"parallelism": count, "completions": count, "backoffLimit": draw.one(0, 0, 0, 1)}
    spec |= draw.maybe(0.2, completionMode=draw.one("Indexed", "NonIndexed")) | draw.maybe(0.1, scheduling=draw.one(
        {}, {"schedulingPolicy": {"gang": {}}}, {"schedulingPolicy": {"gang": {"minCount": 1}}}))
    return {**spec, "template": draw.pod_template(draw.one("Never", "Never", "OnFailure"))}


def _replicated(draw: Draw, number: int) -> Tree:
    found: Tree = {"name": NAMES[number], "replicas": draw.one(1, 1, 2, 2, 3, 0), "template": {"spec": _child(draw)}}
    if draw.chance(0.15):
        found["template"]["metadata"] = {"labels": {"team": "t"}, **draw.maybe(0.4, annotations={EXCLUSIVE: "rack"})}
    if number and draw.chance(0.35):
        found["dependsOn"] = [{"name": draw.one(*NAMES[:number]), "status": draw.one("Ready", "Complete")}]
    return {**found, **draw.maybe(0.15, groupName=draw.one("g", "h"))}


def _failure_policy(draw: Draw, names: tuple[str, ...]) -> Tree:
    rules = [{
        "action": draw.one(*ACTIONS), **draw.maybe(0.4, name=f"rule{number}"),
        **draw.maybe(0.4, onJobFailureReasons=draw.rnd.sample(REASONS, draw.number(1, 2))),
        **draw.maybe(0.2, onJobFailureMessagePatterns=[draw.one("reached.*limit", "exit code 4[0-9]", "^Job")]),
        **draw.maybe(0.4, targetReplicatedJobs=[draw.one(*names)])} for number in range(draw.number(0, 3))]
    return {**draw.maybe(0.8, maxRestarts=draw.number(0, 3)), **draw.maybe(0.4, restartStrategy=draw.one(
        "Recreate", "BlockingRecreate")), **({"rules": rules} if rules else {})}


def _jobset(draw: Draw) -> Tree:
    jobs = [_replicated(draw, number) for number in range(draw.one(1, 2, 2, 3))]
    names = tuple(each["name"] for each in jobs)
    depends = any("dependsOn" in each for each in jobs)
    spec: Tree = {"replicatedJobs": jobs}
    spec |= draw.maybe(0.4, successPolicy={"operator": draw.one("All", "Any"), **draw.maybe(
        0.5, targetReplicatedJobs=[draw.one(*names)])})
    spec |= draw.maybe(0.6, failurePolicy=_failure_policy(draw, names))
    if not depends or draw.chance(0.1):
        spec |= draw.maybe(0.35, startupPolicy={"startupPolicyOrder": draw.one("InOrder", "InOrder", "AnyOrder")})
    spec |= draw.maybe(0.3, network=draw.one(
        {"enableDNSHostnames": False}, {"subdomain": "net"}, {"publishNotReadyAddresses": False}, {}))
    spec |= draw.maybe(0.15, coordinator={"replicatedJob": draw.one(*names), **draw.maybe(0.3, jobIndex=draw.number(0, 1))})
    spec |= draw.maybe(0.25, suspend=True) | draw.maybe(0.08, ttlSecondsAfterFinished=draw.one(0, 1, 600))
    spec |= draw.maybe(0.03, managedBy="example.com/mine")
    metadata: Tree = {"name": "s", **draw.maybe(0.05, annotations={EXCLUSIVE: "rack"}), **draw.maybe(0.05, labels={"mine": "1"})}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def _of_job(draw: Draw, step: Tree) -> Tree:
    """The same step, about the pods of one Job."""
    return {**step, **draw.maybe(0.5, prefix=f"s-{draw.one(*NAMES)}-{draw.one(0, 0, 1)}-")}


def _jobset_change(draw: Draw, jobset: Tree) -> Tree:
    place, size = "/spec/replicatedJobs/0/template/spec", draw.number(0, 4)
    bodies: list[Any] = [
        {"spec": {"suspend": True}}, {"spec": {"suspend": False}}, {"spec": {"suspend": True}}, {"spec": {"suspend": False}},
        {"metadata": {"annotations": {"touched": draw.one("a", "b")}}}, {"spec": {"ttlSecondsAfterFinished": draw.one(0, 1)}},
        [{"op": "add", "path": f"{place}/parallelism", "value": 2}],
        [{"op": "add", "path": f"{place}/template/spec/nodeSelector", "value": {"x": "y"}},
         {"op": "add", "path": "/spec/suspend", "value": False}],
        [{"op": "add", "path": f"{place}/template/spec/tolerations", "value": [{"key": "k", "operator": "Exists"}]}],
        [{"op": "replace", "path": "/spec/replicatedJobs/0/replicas", "value": 2}],
        [{"op": "add", "path": f"{place}/{field}", "value": size} for field in ("parallelism", "completions")],
        {"spec": {"failurePolicy": None}}, {"spec": {"successPolicy": {"operator": "Any"}}}]
    body = draw.rnd.choices(bodies, [4, 4, 3, 3, 1, 1, 1, 2, 1, 1, 2, 1, 1])[0]
    return {"do": "patch", "kind": "jobsets", "pick": 0, "body": body}


def _jobset_interference(draw: Draw) -> Tree:
    pick = draw.rnd.random()
    return draw.one(
        {"do": "delete", "kind": "jobs", "pick": pick, "propagationPolicy": draw.one("Foreground", "Background")},
        {"do": "delete", "kind": "jobs", "pick": pick, "propagationPolicy": "Background"},
        {"do": "delete", "kind": "services", "pick": pick}, {"do": "delete", "kind": "podgroups", "pick": pick},
        {"do": "delete", "kind": "workloads", "pick": pick},
        {"do": "patch", "kind": "jobs", "pick": pick, "body": {"spec": {"suspend": draw.one(True, False)}}},
        {"do": "patch", "kind": "jobs", "pick": pick, "body": {"spec": {"parallelism": draw.number(0, 3)}}},
        {"do": "delete", "kind": "jobsets", "pick": 0, "propagationPolicy": draw.one("Foreground", "Background")})


def jobset_steps(draw: Draw) -> list[Tree]:
    """A JobSet, and what happens to it."""
    jobset = _jobset(draw)
    found = [{"do": "create", "kind": "jobsets", "body": jobset}]
    for _ in range(draw.number(3, 9)):
        which = draw.rnd.random()
        if which < 0.3:
            code = draw.one(0, 0, 0, 1, 42)
            found.append(_of_job(draw, {"do": "end", "pick": draw.rnd.random(), "count": 10, "code": code, "of": "unfinished"}))
        elif which < 0.45:
            found.append(_of_job(draw, {"do": "run", "pick": draw.rnd.random(), "count": draw.one(1, 10, 10), "of": "unready"}))
        elif which < 0.65:
            found.append(_of_job(draw, draw.pod_step()))
        elif which < 0.9:
            found.append(_jobset_change(draw, jobset))
        else:
            found.append(_jobset_interference(draw))
    return found


def _pod(draw: Draw, image: str = "busybox:1") -> Tree:
    spec = {"automountServiceAccountToken": False, "containers": [{"name": "main", "image": image, **draw.maybe(
        0.15, env=[{"name": "A", "value": "b"}])}], **draw.maybe(0.1, schedulingGates=[{"name": "example.com/gate"}])}
    spec |= draw.maybe(0.1, subdomain="own") | draw.maybe(0.1, priorityClassName="system-cluster-critical")
    return {"spec": spec, **draw.maybe(0.2, metadata={"labels": {"role": "r"}, "annotations": {"note": "n"}})}


def _lws(draw: Draw) -> Tree:
    size = draw.one(1, 2, 2, 3, 3, 4)
    template: Tree = {"workerTemplate": _pod(draw), **draw.maybe(0.9, size=size)}
    template |= draw.maybe(0.4, leaderTemplate=_pod(draw)) | draw.maybe(0.5, restartPolicy=draw.one(
        "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None", "Default"))
    template |= draw.maybe(0.15, subGroupPolicy={"subGroupSize": draw.one(1, 2), **draw.maybe(0.5, subGroupPolicyType=draw.one(
        "LeaderWorker", "LeaderExcluded"))})
    spec: Tree = {"replicas": draw.one(0, 1, 2, 2, 3), "leaderWorkerTemplate": template}
    spec |= draw.maybe(0.5, rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": {
        **draw.maybe(0.5, maxUnavailable=draw.one(1, 2, "50%", 0)), **draw.maybe(0.5, maxSurge=draw.one(0, 1, 2, "50%")),
        **draw.maybe(0.4, partition=draw.number(0, 2))}})
    spec |= draw.maybe(0.3, startupPolicy=draw.one("LeaderCreated", "LeaderReady"))
    spec |= draw.maybe(0.3, networkConfig={"subdomainPolicy": draw.one("Shared", "UniquePerReplica")})
    own, version = "leaderworkerset.sigs.k8s.io/", "leaderworkerset.x-k8s.io/v1"
    annotations = {**draw.maybe(0.06, **{f"{own}exclusive-topology": "rack"}), **draw.maybe(
        0.05, **{f"{own}subgroup-exclusive-topology": "rack"})}
    metadata: Tree = {"name": "l", **draw.maybe(0.1, labels={"mine": "1"})}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": version, "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def _lws_change(draw: Draw) -> Tree:
    image = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
    restart = draw.one("None", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart")
    bodies: list[Any] = [
        {"spec": {"replicas": draw.number(0, 4)}},
        [{"op": "replace", "path": image, "value": draw.one("busybox:2", "busybox:3", "busybox:1")}],
        {"spec": {"leaderWorkerTemplate": {"size": draw.number(1, 4)}}},
        {"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": draw.one(
            {"partition": draw.number(0, 2)}, {"maxUnavailable": draw.number(0, 2)}, {"maxSurge": draw.number(0, 2)})}}},
        {"spec": {"networkConfig": {"subdomainPolicy": draw.one("Shared", "UniquePerReplica")}}},
        {"spec": {"startupPolicy": draw.one("LeaderCreated", "LeaderReady")}},
        {"spec": {"leaderWorkerTemplate": {"restartPolicy": restart}}},
        {"metadata": {"annotations": {"touched": draw.one("a", "b")}, "labels": {"more": "l"}}}]
    return {"do": "patch", "kind": "leaderworkersets", "pick": 0, "body": draw.rnd.choices(bodies, [4, 5, 2, 3, 1, 1, 1, 1])[0]}


def _lws_interference(draw: Draw) -> Tree:
    pick = draw.rnd.random()
    return draw.one(
        {"do": "delete", "kind": "statefulsets", "pick": pick}, {"do": "delete", "kind": "services", "pick": pick},
        {"do": "delete", "kind": "controllerrevisions", "pick": pick},
        {"do": "delete", "kind": "leaderworkersets", "pick": 0, "propagationPolicy": draw.one("Foreground", "Background")},
        {"do": "relabel", "pick": pick, "labels": {"example.com/mine": "1"}},
        {"do": "patch", "kind": "statefulsets", "pick": pick, "body": {"spec": {"replicas": draw.number(0, 3)}}})


def lws_steps(draw: Draw) -> list[Tree]:
    """A LeaderWorkerSet, and what happens to it."""
    found = [{"do": "create", "kind": "leaderworkersets", "body": _lws(draw)}]
    for _ in range(draw.number(3, 9)):
        which, pick = draw.rnd.random(), draw.rnd.random()
        if which < 0.3:
            found.append({"do": "run", "pick": pick, "count": draw.one(1, 2, 20, 20), "of": "unready"})
        elif which < 0.38:
            found.append({"do": "run", "pick": pick, "count": 1, "of": "running", "restarts": 1, "ready": draw.chance(0.5)})
        elif which < 0.45:
            found.append({"do": "end", "pick": pick, "count": 1, "of": "unfinished", "code": draw.one(0, 1)})
        elif which < 0.6:
            found.append({"do": "delete", "pick": pick, "of": "any", **draw.maybe(0.5, bound=True)})
        elif which < 0.68:
            found.append({"do": "kill", "pick": pick, "count": draw.one(1, 1, 20), "code": 143})
        elif which < 0.94:
            found.append(_lws_change(draw))
        else:
            found.append(_lws_interference(draw))
    return found
