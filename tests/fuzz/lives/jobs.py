"""Draws the lives of Jobs."""

from random import Random
from typing import Any

from tests.fuzz.lives.seeing import Tree

DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}
GROUP_OF_OTHERS = "others"  # a PodGroup that nobody makes


class Draw:
    """One life's dice."""

    def __init__(self, seed: int) -> None:
        self.rnd = Random(seed)

    def chance(self, share: float) -> bool:
        """True in so many cases."""
        return self.rnd.random() < share

    def one(self, *values: Any) -> Any:
        """One of them."""
        return self.rnd.choice(values)

    def number(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``."""
        return self.rnd.randint(low, high)

    def maybe(self, share: float, **fields: Any) -> Tree:
        """The fields, in so many cases."""
        return fields if self.chance(share) else {}

    def pod_template(self, restart_policy: str) -> Tree:
        """A template of pods of a Job."""
        containers = [{"name": "main", "image": "busybox:1", **self.maybe(0.1, resources={"requests": {"cpu": "1"}})}]
        if self.chance(0.1):
            containers.append({"name": "side", "image": "busybox:1"})
        spec = {
            "restartPolicy": restart_policy, "automountServiceAccountToken": False, "containers": containers,
            **self.maybe(0.05, schedulingGates=[{"name": "example.com/gate"}]), **self.maybe(0.05, subdomain="sub"),
            **self.maybe(0.05, nodeSelector={"a": "b"}), **self.maybe(0.05, priorityClassName="system-cluster-critical"),
            **self.maybe(0.05, initContainers=[{"name": "init", "image": "busybox:1"}]),
            **self.maybe(0.06, schedulingGroup={"podGroupName": GROUP_OF_OTHERS})}
        metadata = {**self.maybe(0.15, labels={"app": "a"}), **self.maybe(0.1, annotations={"note": "n"})}
        return {"spec": spec, **({"metadata": metadata} if metadata else {})}

    def end(self) -> Tree:
        """How pods end."""
        code = self.one(0, 0, 1, 1, 2, 42, 137)
        return {
            "do": "end", "pick": self.rnd.random(), "count": self.one(1, 1, 1, 2, 3, 10), "code": code,
            "of": self.one("unfinished", "unfinished", "active", "running", "terminating"),
            **self.maybe(0.15, conditions=[DISRUPTED]), **self.maybe(0.1, now=True), **self.maybe(0.1, bare=True),
            **self.maybe(0.1, restarts=self.number(1, 4))}

    def pod_step(self) -> Tree:
        """What a kubelet, or somebody else, does to pods."""
        pick, count = self.rnd.random(), self.one(1, 1, 2, 10)
        which = self.number(0, 9)
        if which <= 2:
            return {"do": "run", "pick": pick, "count": count, "of": self.one("unready", "pending", "active"),
                    "ready": self.chance(0.7), "restarts": self.one(0, 0, 0, 1, 2, 3)}
        if which <= 6:
            return self.end()
        if which <= 7:
            return {"do": "delete", "pick": pick, "count": count, "of": self.one("any", "active", "running"),
                    **self.maybe(0.7, bound=True), **self.maybe(0.2, gracePeriodSeconds=0)}
        return {"do": "kill", "pick": pick, "count": self.one(1, 10), "code": self.one(0, 143, 137)}


def _policy(draw: Draw, *, per_index: bool) -> Tree:
    """A podFailurePolicy."""
    actions = ["Ignore", "Count", "FailJob", *(["FailIndex"] if per_index else [])]
    rules = []
    for _ in range(draw.number(1, 3)):
        action = draw.one(*actions)
        if draw.chance(0.6):
            values = sorted(draw.rnd.sample([1, 2, 42, 137], draw.number(1, 2)))
            codes = {"operator": draw.one("In", "In", "NotIn"), "values": values}
            rules.append({"action": action, "onExitCodes": {**codes, **draw.maybe(0.3, containerName="main")}})
        else:
            rules.append({"action": action, "onPodConditions": [{"type": "DisruptionTarget", **draw.maybe(0.5, status="True")}]})
    return {"rules": rules}


def _success(draw: Draw, completions: int) -> Tree:
    """A successPolicy."""
    rules = []
    for _ in range(draw.number(1, 2)):
        rule: Tree = {}
        if draw.chance(0.7):
            rule["succeededIndexes"] = draw.one("0", "0,1", f"0-{max(completions - 1, 0)}", "1", "")
        if not rule or draw.chance(0.4):
            rule["succeededCount"] = draw.number(1, max(completions, 1))
        rules.append(rule)
    return {"rules": rules}


def _scheduling(draw: Draw, parallelism: int) -> Tree:
    """A ``spec.scheduling`` of 1.37."""
    gang = draw.chance(0.6)
    policy = {"gang": draw.one({}, {"minCount": draw.number(1, max(parallelism, 1))})} if gang else {"basic": {}}
    return {
        **draw.maybe(0.85, schedulingPolicy=policy),
        **draw.maybe(0.25, disruptionMode=draw.one({"single": {}}, {"all": {}})),
        **draw.maybe(0.2, schedulingConstraints={"topology": [{"key": "kubernetes.io/hostname"}]}),
        **draw.maybe(0.1, resourceClaims=[{"name": "c", "resourceClaimName": "claim"}])}


def job_spec(draw: Draw, *, gangs: float = 0.4) -> Tree:
    """The spec of a Job."""
    indexed, parallelism = draw.chance(0.5), draw.one(0, 1, 2, 2, 3, 3, 4, 5)
    spec: Tree = {"parallelism": parallelism, **draw.maybe(0.05, suspend=False)}
    completions = parallelism if draw.chance(0.4) else draw.number(0, 6)
    if indexed or draw.chance(0.6):
        spec["completions"] = completions
    per_index = indexed and draw.chance(0.4)
    if indexed:
        spec["completionMode"] = "Indexed"
        spec |= draw.maybe(0.3, successPolicy=_success(draw, completions))
    if per_index:
        spec["backoffLimitPerIndex"] = draw.number(0, 2)
        spec |= draw.maybe(0.4, maxFailedIndexes=draw.number(0, max(completions, 0)))
    failing = draw.chance(0.3)
    if failing:
        spec["podFailurePolicy"] = _policy(draw, per_index=per_index)
    spec |= draw.maybe(0.6, backoffLimit=draw.number(0, 4))
    spec |= draw.maybe(0.3, podReplacementPolicy="Failed" if failing else draw.one("Failed", "TerminatingOrFailed"))
    spec |= draw.maybe(0.25, suspend=True) | draw.maybe(0.08, activeDeadlineSeconds=draw.one(1, 600))
    spec |= draw.maybe(0.08, ttlSecondsAfterFinished=draw.one(0, 1, 600))
    spec |= draw.maybe(0.03, managedBy=draw.one("example.com/mine", "kubernetes.io/job-controller"))
    spec |= draw.maybe(gangs, scheduling=_scheduling(draw, parallelism))
    spec["template"] = draw.pod_template("Never" if failing or draw.chance(0.75) else "OnFailure")
    return spec


def _change(draw: Draw, spec: Tree) -> Tree:
    """Somebody changes a Job."""
    parallelism = draw.number(0, 6)
    changes: list[Any] = [
        {"spec": {"parallelism": parallelism}}, {"spec": {"parallelism": parallelism, "completions": parallelism}},
        {"spec": {"suspend": True}}, {"spec": {"suspend": True}}, {"spec": {"suspend": False}}, {"spec": {"suspend": False}},
        {"spec": {"backoffLimit": draw.number(0, 2)}}, {"spec": {"activeDeadlineSeconds": draw.one(1, 500, None)}},
        {"spec": {"ttlSecondsAfterFinished": draw.one(0, 1, None)}}, {"spec": {"maxFailedIndexes": draw.number(0, 2)}},
        {"spec": {"scheduling": {"schedulingPolicy": {"gang": {"minCount": draw.one(1, 2, 3, None)}}}}},
        {"spec": {"scheduling": draw.one(None, {"schedulingPolicy": {"basic": {}}}, {"disruptionMode": {"all": {}}})}},
        {"spec": {"template": {"spec": {"nodeSelector": {"x": "y"}}, "metadata": {"labels": {"more": "l"}}}}},
        {"spec": {"suspend": False, "template": {"spec": {"schedulingGates": [{"name": "example.com/other"}]}}}},
        {"spec": {"template": {"spec": {"schedulingGroup": draw.one(None, {"podGroupName": "mine"})}}}},
        {"spec": {"podReplacementPolicy": draw.one("Failed", "TerminatingOrFailed")}},
        {"metadata": {"annotations": {"touched": draw.one("a", "b")}}},
        [{"op": "replace", "path": "/spec/template/spec/containers/0/resources", "value": {"requests": {"memory": "1Gi"}}}]]
    weights = [4, 4, 2, 2, 2, 2, 2, 2, 1, 1, 3 if "scheduling" in spec else 1, 1, 1, 1, 1, 1, 1, 1]
    return {"do": "patch", "kind": "jobs", "pick": 0, "body": draw.rnd.choices(changes, weights)[0]}


def _interference(draw: Draw) -> Tree:
    """Somebody deletes or changes what the controller made."""
    pick = draw.rnd.random()
    return draw.one(
        {"do": "delete", "kind": "workloads", "pick": pick}, {"do": "delete", "kind": "podgroups", "pick": pick},
        {"do": "relabel", "pick": pick, "labels": {"batch.kubernetes.io/controller-uid": None, "controller-uid": None}},
        {"do": "relabel", "pick": pick, "labels": {"batch.kubernetes.io/job-completion-index": draw.one(None, "0", "x")}},
        {"do": "delete", "kind": "jobs", "pick": 0, "propagationPolicy": draw.one("Foreground", "Background", "Orphan")},
        {"do": "patch", "kind": "pods", "pick": pick, "body": {"metadata": {"finalizers": None}}})


def _parents(draw: Draw) -> list[Tree]:
    """A Job of another controller, which has a Workload for it, or none."""
    policy = draw.one({"basic": {}}, {"gang": {"minCount": draw.number(1, 3)}})
    templates = [{"name": name, "schedulingPolicy": policy} for name in ("first", "second")[:draw.number(1, 2)]]
    reference = {"apiGroup": "example.com", "kind": "Parent", "name": draw.one("p", "p", "other")}
    workload = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w"}, "spec": {
        "controllerRef": reference, "podGroupTemplates": templates}}
    return [{"do": "create", "kind": "workloads", "body": workload}]


def _surroundings(draw: Draw, metadata: Tree, spec: Tree) -> list[Tree]:
    """What is there before the Job: a quota, a Workload of a user's or of a parent's."""
    if draw.chance(0.06):
        hard = {"pods": str(draw.number(1, 4))}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
        return [{"do": "create", "kind": "resourcequotas", "body": quota}]
    if draw.chance(0.08):
        owner = {"apiVersion": "example.com/v1", "kind": "Parent", "name": "p", "uid": "1-2-3", "controller": True}
        metadata |= {"ownerReferences": [owner]} | draw.maybe(0.8, annotations={
            "scheduling.k8s.io/group-template-name": draw.one("first", "second", "")})
        return _parents(draw) if draw.chance(0.9) else []
    if draw.chance(0.04):
        template = {"name": "t", "schedulingPolicy": {"basic": {}}}
        workload = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w"}, "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}, "podGroupTemplates": [template]}}
        return [{"do": "create", "kind": "workloads", "body": workload}]
    if draw.chance(0.05):
        spec["manualSelector"], spec["selector"] = True, {"matchLabels": {"of": "j"}}
        labels = {"of": "j", **draw.maybe(0.3, **{"batch.kubernetes.io/job-completion-index": "0"})}
        spec["template"]["metadata"] = {"labels": labels}
        pod = {"metadata": {"name": "stray", "labels": labels, **draw.maybe(0.5, annotations={
            "batch.kubernetes.io/job-completion-index": draw.one("0", "1", "x")})}, "spec": draw.pod_template("Never")["spec"]}
        return [{"do": "create", "kind": "pods", "body": pod}]
    return []


def _written_status(draw: Draw) -> Tree:
    """Somebody writes a Job's status, as Kueue does, or a pod's."""
    body = draw.one(
        {"status": {"startTime": None}}, {"status": {"succeeded": draw.number(0, 3)}}, {"status": {"failed": draw.number(0, 3)}},
        {"status": {"active": draw.number(0, 2)}}, {"status": {"completedIndexes": draw.one("0", "0,1", "")}},
        {"status": {"conditions": [{"type": "Suspended", "status": draw.one("True", "False")}]}})
    return {"do": "patch", "kind": "jobs", "pick": 0, "below": "/status", "body": body}


def steps(draw: Draw) -> list[Tree]:
    """A Job, and what happens to it."""
    spec = job_spec(draw)
    name = draw.one(*["j"] * 30, "j.dots", f"j-{'o' * 58}")
    metadata: Tree = {"name": name, **draw.maybe(0.05, labels={"mine": "1"})}
    before = _surroundings(draw, metadata, spec)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    found: list[Tree] = [*before, {"do": "create", "kind": "jobs", "body": job}]
    for _ in range(draw.one(3, 4, 5, 6, 7, 8, 9, 14)):
        which = draw.rnd.random()
        if which < 0.62:
            found.append(draw.pod_step())
        elif which < 0.9:
            found.append(_change(draw, spec))
        elif which < 0.97:
            found.append(_interference(draw))
        elif which < 0.985:
            found.append({"do": "wait", "seconds": 11.0})
        else:
            found.append(_written_status(draw))
        if draw.chance(0.15):
            found[-1]["on"] = True
    return found
