"""Hostile neighbours: what somebody else writes, changes or deletes between two writes of the same
template.

Every answer is the one that a server gives which never saw the template, and, where upstream words
it, in its words.
"""

import re
from typing import Any

import orjson
import pytest

from fakekube.client.resources import PODS as POD_RESOURCE
from fakekube.client.resources import REPLICA_SETS
from fakekube.composition.cluster import Cluster
from fakekube.runtime import controller
from tests.differential.servers import MERGE, NAMESPACE, PODS, Tree, named, new_cluster, own, pause, post, send

CONTAINER = {"name": "main", "image": "busybox"}
SPEC: Tree = {"containers": [CONTAINER]}
LABELS = {"app": "a"}
LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")
EARLIER = 5  # pods of a template before the one that is looked at


def with_volumes(*names: str) -> Tree:
    return {"containers": [CONTAINER], "volumes": [{"name": name, "emptyDir": {}} for name in names]}


def invalid_names(path: str, *names: str) -> list[str]:
    return [f'{path}.volumes[{at}].name: Invalid value: "{name}": {LABEL_RULE}' for at, name in enumerate(names) if name]


WRONG_NAMES = ["kube-api-access-UPPER", "kube-api-access-", "kube-api-access-a_b", "kube-api-access-ä"]


@pytest.mark.parametrize("name", WRONG_NAMES)
@pytest.mark.parametrize("before", [[], ["kube-api-access-abcde"]], ids=["first", "after good ones"])
async def test_a_volume_whose_name_looks_generated_is_validated(name: str, before: list[str]) -> None:
    """Given pods with a volume named as ServiceAccount admission names its own, or none When one
    comes whose volume has a wrong name with the same beginning Then it is refused with every
    complaint that any other name would get: admission has mounted it, so nobody finds it either.
    """
    async with new_cluster() as cluster:
        for number in range(EARLIER if before else 0):
            assert (await post(cluster, f"p{number}", with_volumes(*before)))[0] == 201
        code, answer = await post(cluster, "wrong", with_volumes(name))
        assert code == 422
        assert [cause["field"] for cause in answer["details"]["causes"]] == [
            "spec.volumes[0].name", "spec.containers[0].volumeMounts[0].name"]
        assert invalid_names("spec", name)[0] in answer["message"]


@pytest.mark.parametrize("name", WRONG_NAMES)
async def test_a_volume_that_looks_generated_is_validated_in_a_dry_run_and_in_an_update(name: str) -> None:
    """Given a pod / when one with a wrong volume name is sent as a dry run, and put over it / then
    both are refused.
    """
    async with new_cluster() as cluster:
        code, pod = await post(cluster, "p", with_volumes("kube-api-access-abcde"))
        assert code == 201
        wrong = named("wrong", with_volumes(name))
        assert (await send(cluster, "POST", PODS, wrong, query={"dryRun": "All"}))[0] == 422
        pod["spec"]["volumes"][0]["name"] = name
        for container in pod["spec"]["containers"]:
            container["volumeMounts"][0]["name"] = name
        code, answer = await send(cluster, "PUT", f"{PODS}/p", pod)
        assert code == 422
        assert invalid_names("spec", name)[0] in answer["message"]


def template(spec: Tree) -> Tree:
    return {"metadata": {"labels": LABELS}, "spec": spec}


def workload(spec: Tree) -> Tree:
    return {"selector": {"matchLabels": LABELS}, "template": template(spec)}


def ending(spec: Tree) -> Tree:
    return {"template": {"spec": {**spec, "restartPolicy": "Never"}}}


TEMPLATES: dict[str, tuple[str, str, Any]] = {
    "Job": ("/apis/batch/v1", "jobs", lambda spec: {"spec": ending(spec)}),
    "CronJob": ("/apis/batch/v1", "cronjobs", lambda spec: {
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": ending(spec)}}}),
    "Deployment": ("/apis/apps/v1", "deployments", lambda spec: {"spec": workload(spec)}),
    "ReplicaSet": ("/apis/apps/v1", "replicasets", lambda spec: {"spec": workload(spec)}),
    "DaemonSet": ("/apis/apps/v1", "daemonsets", lambda spec: {"spec": workload(spec)}),
    "StatefulSet": ("/apis/apps/v1", "statefulsets", lambda spec: {"spec": {**workload(spec), "serviceName": "s"}}),
    "ReplicationController": ("/api/v1", "replicationcontrollers", lambda spec: {
        "spec": {"selector": LABELS, "template": template(spec)}}),
    "PodTemplate": ("/api/v1", "podtemplates", lambda spec: {"template": template(spec)}),
}
TEMPLATE_PATHS = {"CronJob": "spec.jobTemplate.spec.template.spec", "PodTemplate": "template.spec"}


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("before", [[], ["kube-api-access-abcde"]], ids=["first", "after good ones"])
async def test_templates_validate_a_volume_whose_name_looks_generated(kind: str, before: list[str]) -> None:
    """Given workloads with a volume that is named as admission names its own, or none When one
    comes whose template has a wrong name with the same beginning / then it is refused, by its path.
    """
    root, plural, body = TEMPLATES[kind]
    path = f"{root}/namespaces/default/{plural}"
    async with new_cluster() as cluster:
        for number in range(EARLIER if before else 0):
            tree = {"metadata": {"name": f"w{number}"}, **body(with_volumes(*before))}
            assert (await send(cluster, "POST", path, tree))[0] == 201
        wrong = {"metadata": {"name": "wrong"}, **body(with_volumes("kube-api-access-UPPER"))}
        code, answer = await send(cluster, "POST", path, wrong)
        assert code == 422
        where = TEMPLATE_PATHS.get(kind, "spec.template.spec")
        assert answer["message"] == (
            f'{kind}{"." + root.split("/")[2] if "apis" in root else ""} "wrong" is invalid: '
            f'{invalid_names(where, "kube-api-access-UPPER")[0]}')


async def test_the_same_generated_name_twice_is_a_duplicate() -> None:
    """Given pods of a template / when one has two volumes of one name that looks generated / then
    it is refused.
    """
    async with new_cluster() as cluster:
        for number in range(EARLIER):
            assert (await post(cluster, f"p{number}", with_volumes("kube-api-access-abcde")))[0] == 201
        code, answer = await post(cluster, "twice", with_volumes("kube-api-access-abcde", "kube-api-access-abcde"))
        assert code == 422
        assert answer["message"] == (
            'Pod "twice" is invalid: spec.volumes[1].name: Duplicate value: "kube-api-access-abcde"')


@pytest.mark.parametrize(("field", "value"), [("hostname", "UPPER"), ("subdomain", "a_b"), ("nodeName", "-x")])
async def test_what_differs_between_pods_of_a_template_is_validated(field: str, value: str) -> None:
    """Given pods that differ in a name only / when one comes with a wrong one / then it is refused,
    as a first one would be.
    """
    async with new_cluster() as cluster, new_cluster() as fresh:
        for number in range(EARLIER):
            assert (await post(cluster, f"p{number}", {**SPEC, field: f"good-{number}"}))[0] == 201
        code, answer = await post(cluster, "wrong", {**SPEC, field: value})
        assert code == 422
        assert f"spec.{field}: Invalid value" in answer["message"]
        assert (code, answer) == await post(fresh, "wrong", {**SPEC, field: value})


# Something comes, and goes.

LIMITS = {"metadata": {"name": "limits"}, "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]}}
RUNTIME = {"metadata": {"name": "sandbox"}, "handler": "sandbox", "overhead": {"podFixed": {"cpu": "250m"}}}
PRIORITY = {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True}
MOUNTLESS = {"automountServiceAccountToken": False}
PULLING = {"imagePullSecrets": [{"name": "registry"}]}
ENFORCED = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
WARNED = {"metadata": {"labels": {"pod-security.kubernetes.io/warn": "baseline"}}}
NOT_ENFORCED = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": None, "pod-security.kubernetes.io/warn": None}}}
QUOTA = {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"

Step = tuple[str, str, Tree | None]
NEIGHBOURS: dict[str, tuple[Step, Step]] = {
    "a limit range": (
        ("POST", f"{NAMESPACE}/limitranges", LIMITS), ("DELETE", f"{NAMESPACE}/limitranges/limits", None)),
    "a quota": (
        ("POST", f"{NAMESPACE}/resourcequotas", QUOTA), ("DELETE", f"{NAMESPACE}/resourcequotas/none", None)),
    "a default priority": (("POST", CLASSES, PRIORITY), ("DELETE", f"{CLASSES}/usual", None)),
    "an account that mounts nothing": (
        ("PATCH", f"{NAMESPACE}/serviceaccounts/default", MOUNTLESS),
        ("PATCH", f"{NAMESPACE}/serviceaccounts/default", {"automountServiceAccountToken": None})),
    "an account that pulls": (
        ("PATCH", f"{NAMESPACE}/serviceaccounts/default", PULLING),
        ("PATCH", f"{NAMESPACE}/serviceaccounts/default", {"imagePullSecrets": None})),
    "pod security": (("PATCH", NAMESPACE, ENFORCED), ("PATCH", NAMESPACE, NOT_ENFORCED)),
}


def check_present(neighbour: str, code: int, answer: Tree) -> None:
    """That a pod was treated as its neighbour wants."""
    if neighbour == "a quota":
        assert code == 403
        assert re.search(r"exceeded quota: none, requested: pods=1, used: pods=\d+, limited: pods=0$", answer["message"])
        return
    if neighbour == "pod security":
        assert code == 403
        assert 'violates PodSecurity "restricted:latest"' in answer["message"]
        return
    assert code == 201
    spec = answer["spec"]
    if neighbour == "a limit range":
        assert spec["containers"][0]["resources"] == {"requests": {"cpu": "500m"}}
        assert answer["metadata"]["annotations"] == {
            "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container main"}
    elif neighbour == "a default priority":
        assert (spec["priority"], spec["priorityClassName"]) == (7, "usual")
    elif neighbour == "an account that pulls":
        assert spec["imagePullSecrets"] == [{"name": "registry"}]
    else:
        assert "volumes" not in spec


async def do(cluster: Cluster, step: Step) -> None:
    method, path, body = step
    code, answer = await send(cluster, method, path, body, MERGE if method == "PATCH" else "application/json")
    assert code in (200, 201), answer
    await cluster.settle()


@pytest.mark.parametrize("earlier", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
async def test_a_neighbour_comes_and_goes_between_pods_of_a_template(neighbour: str, earlier: int) -> None:
    """Given some pods of a template / when what decides about them comes, goes and comes again
    Then each next pod is treated as if it were the first of its template."""
    comes, goes = NEIGHBOURS[neighbour]
    async with new_cluster("namespace,serviceaccount,resourcequota") as cluster:
        plain = None
        for number in range(earlier):
            code, plain = await post(cluster, f"early-{number}", SPEC)
            assert code == 201
        for turn in range(2):
            await do(cluster, comes)
            for number in range(4):
                check_present(neighbour, *await post(cluster, f"with-{turn}-{number}", SPEC))
            await do(cluster, goes)
            for number in range(4):
                code, answer = await post(cluster, f"without-{turn}-{number}", SPEC)
                assert code == 201
                plain = plain or answer
                assert own(answer) == own(plain)


@pytest.mark.parametrize("earlier", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
async def test_a_neighbour_comes_while_a_plugin_awaits(neighbour: str, earlier: int) -> None:
    """Given pods of a template, and one more for which an admission plugin is waiting When what
    decides about pods comes in that moment / then all that follow are treated by it, and without it
    after it went.
    """
    comes, goes = NEIGHBOURS[neighbour]
    async with new_cluster("namespace,serviceaccount,resourcequota") as cluster:
        pause(cluster, lambda: do(cluster, comes))
        for number in range(earlier):
            assert (await post(cluster, f"early-{number}", SPEC))[0] == 201
        await post(cluster, "paused", SPEC)
        for number in range(4):
            check_present(neighbour, *await post(cluster, f"with-{number}", SPEC))
        await do(cluster, goes)
        for number in range(4):
            code, answer = await post(cluster, f"without-{number}", SPEC)
            assert code == 201
            assert answer["spec"]["containers"][0]["resources"] == {}
            assert "kubernetes.io/limit-ranger" not in answer["metadata"].get("annotations", {})


@pytest.mark.parametrize("earlier", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
async def test_a_neighbour_goes_while_a_plugin_awaits(neighbour: str, earlier: int) -> None:
    """Given what decides about pods, and pods of a template that were treated by it When it goes
    while an admission plugin is waiting for one of them / then all that follow know nothing of it.
    """
    comes, goes = NEIGHBOURS[neighbour]
    async with new_cluster("namespace,serviceaccount,resourcequota") as cluster, new_cluster() as fresh:
        _, plain = await post(fresh, "first", SPEC)
        await do(cluster, comes)
        pause(cluster, lambda: do(cluster, goes))
        for number in range(earlier):
            check_present(neighbour, *await post(cluster, f"early-{number}", SPEC))
        await post(cluster, "paused", SPEC)
        if neighbour in ("a quota", "pod security") and (await send(cluster, "GET", f"{PODS}/paused"))[0] == 404:
            await do(cluster, goes)  # refused before anybody waited
        for number in range(4):
            code, answer = await post(cluster, f"without-{number}", SPEC)
            assert code == 201
            assert own(answer) == own(plain)


async def test_a_runtime_class_comes_and_goes() -> None:
    """Given pods that name a runtime class / when it is made, removed, and made again with another
    overhead Then each pod is refused or gets the overhead of that moment.
    """
    classes, spec = "/apis/node.k8s.io/v1/runtimeclasses", {**SPEC, "runtimeClassName": "sandbox"}
    async with new_cluster() as cluster:
        for overhead in ("250m", "300m"):
            for number in range(4):
                code, answer = await post(cluster, f"refused-{overhead}-{number}", spec)
                assert code == 403
                assert answer["message"].endswith('pod rejected: RuntimeClass "sandbox" not found')
            await do(cluster, ("POST", classes, {**RUNTIME, "overhead": {"podFixed": {"cpu": overhead}}}))
            for number in range(4):
                code, answer = await post(cluster, f"with-{overhead}-{number}", spec)
                assert (code, answer["spec"]["overhead"]) == (201, {"cpu": overhead})
            await do(cluster, ("DELETE", f"{classes}/sandbox", None))


async def test_a_named_priority_class_changes_its_value() -> None:
    """Given pods of a priority class / when it goes and comes back with another value / then the
    next pods have that one.
    """
    spec = {**SPEC, "priorityClassName": "usual"}
    async with new_cluster() as cluster:
        for value in (7, 9):
            code, answer = await post(cluster, f"refused-{value}", spec)
            assert code == 403
            assert answer["message"].endswith("no PriorityClass with name usual was found")
            await do(cluster, ("POST", CLASSES, {"metadata": {"name": "usual"}, "value": value}))
            for number in range(4):
                code, answer = await post(cluster, f"p-{value}-{number}", spec)
                assert (code, answer["spec"]["priority"]) == (201, value)
            await do(cluster, ("DELETE", f"{CLASSES}/usual", None))


async def test_a_warning_comes_to_a_template_that_had_none() -> None:
    """Given pods without a warning / when the namespace asks for one / then each next pod gets it,
    and none once it is gone.
    """
    spec = {**SPEC, "hostNetwork": True}
    async with new_cluster() as cluster:
        for patch, expected in ((NOT_ENFORCED, False), (WARNED, True), (NOT_ENFORCED, False), (WARNED, True)):
            await do(cluster, ("PATCH", NAMESPACE, patch))
            for number in range(4):
                response = await cluster.client.request(
                    "POST", PODS, body=orjson.dumps(named(f"p-{number}", spec)))
                warned = any("PodSecurity" in value for name, value in response.headers if name == "Warning")
                assert warned is expected
                await send(cluster, "DELETE", f"{PODS}/p-{number}", {"gracePeriodSeconds": 0})


@pytest.mark.parametrize("first", [True, False])
async def test_clusters_of_one_process_with_other_gates_do_not_meet(first: bool) -> None:
    """Given two clusters in one process, one of which has a gate off / when both get pods of one
    template, in turn Then each pod is as in a cluster that is alone.
    """
    spec = {"os": {"name": "linux"}, "containers": [{**CONTAINER, "lifecycle": {"stopSignal": "SIGUSR1"}}]}
    async with new_cluster(feature_gates={"ContainerStopSignals": first}) as one, new_cluster(
            feature_gates={"ContainerStopSignals": not first}) as other:
        for number in range(EARLIER):
            for cluster, is_on in ((one, first), (other, not first)):
                code, answer = await post(cluster, f"p-{number}", spec)
                assert code == 201
                assert ("stopSignal" in answer["spec"]["containers"][0]["lifecycle"]) is is_on


# Who changes what a cache holds.

TOLERATION = {"key": "mine", "operator": "Exists"}


@pytest.fixture
def undetected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says that a cached object was changed: what comes of it is what is looked at."""
    monkeypatch.setenv("KUBE_CACHE_MUTATION_DETECTOR", "false")


class Careless:
    """Changes every pod that it finds in its cache: what is nested too."""

    def __init__(self, ctx: Any) -> None:
        self.pods, self.seen = ctx.lister(POD_RESOURCE), 0

    async def reconcile(self, request: Any) -> None:
        pod = self.pods.get(*request)
        if pod is None:
            return
        self.seen += 1
        pod["spec"].setdefault("tolerations", []).append(TOLERATION)
        pod["spec"]["containers"][0].setdefault("env", []).append({"name": "MINE", "value": "1"})
        pod["metadata"].setdefault("labels", {})["mine"] = "yes"
        for volume in pod["spec"].get("volumes", ()):
            volume["name"] = "mine"


@pytest.mark.parametrize("spec", [SPEC, {
    "containers": [{**CONTAINER, "env": [{"name": "A", "value": "1"}]}], "tolerations": [{"key": "a", "operator": "Exists"}],
    "volumes": [{"name": "data", "emptyDir": {}}]}], ids=["short", "long"])
@pytest.mark.usefixtures("undetected")
async def test_who_changes_cached_pods_changes_nothing_but_the_cache(spec: Tree) -> None:
    """Given a controller that changes pods in its cache, lists within them among others
    When pods of their template are created, read and listed
    Then each answer is as it is where there is no such controller."""
    careless = controller("careless").for_(POD_RESOURCE).complete(Careless)
    async with new_cluster(extra=[careless]) as cluster, new_cluster() as fresh:
        for number in range(EARLIER):
            name = f"p{number}"
            assert await answers_about(cluster, name, spec) == await answers_about(fresh, name, spec)
            await cluster.settle()
        assert cluster.manager.component("careless").reconciler.seen >= EARLIER


async def answers_about(cluster: Cluster, name: str, spec: Tree) -> list[Any]:
    """What a pod's create and reads answer."""
    created = await post(cluster, name, spec)
    await cluster.settle()
    return [created, await send(cluster, "GET", f"{PODS}/{name}"), await send(cluster, "GET", PODS)]


@pytest.mark.usefixtures("undetected")
async def test_who_changes_a_cached_workload_changes_no_pod_of_its_template() -> None:
    """Given a controller that changes ReplicaSets in its cache / when pods are created from the
    template as it is stored Then they are as the template says.
    """
    class Breaker:
        def __init__(self, ctx: Any) -> None:
            self.sets = ctx.lister(REPLICA_SETS)

        async def reconcile(self, request: Any) -> None:
            found = self.sets.get(*request)
            if found is not None:
                found["spec"]["template"]["spec"]["containers"][0]["image"] = "mine"

    breaker = controller("breaker").for_(REPLICA_SETS).complete(Breaker)
    path = "/apis/apps/v1/namespaces/default/replicasets"
    async with new_cluster(extra=[breaker]) as cluster:
        for number in range(EARLIER):
            body = {"metadata": {"name": f"w{number}"}, "spec": workload(SPEC)}
            assert (await send(cluster, "POST", path, body))[0] == 201
            await cluster.settle()
            assert (await post(cluster, f"p{number}", SPEC))[1]["spec"]["containers"][0]["image"] == "busybox"
            answer = (await send(cluster, "GET", f"{path}/w{number}"))[1]
            assert answer["spec"]["template"]["spec"]["containers"][0]["image"] == "busybox"
