"""What users of kubectl read: every form of output, watches, discovery, explanations and who may do
what.
"""

import json
import re
import shutil
from collections.abc import Callable

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
]

Kubectl = Callable[..., str]


@pytest.fixture
def maps(inside: Kubectl) -> list[str]:
    """The names of three ConfigMaps, with a label that numbers them downwards."""
    names = ["a", "b", "c"]
    inside("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"mode": name}, "metadata": {
            "name": name, "labels": {"rank": str(9 - number), "suite": "reads"}}}
        for number, name in enumerate(names)]}))
    return names


@pytest.mark.spec("API-054", "API-064", "API-065", "API-070", "API-172")
def test_every_form_of_output(inside: Kubectl, maps: list[str]) -> None:
    """Given three ConfigMaps, when they are got in every form that kubectl has, then each form
    shows these three, in the order and the columns that were asked for.
    """
    mine = ("get", "configmaps", "-l", "suite=reads")
    assert inside(*mine, "-o", "name").split() == ["configmap/a", "configmap/b", "configmap/c"]
    assert inside(*mine, "--no-headers").split()[:2] == ["a", "1"]
    assert inside(*mine, "-o", "wide").splitlines()[0].split() == ["NAME", "DATA", "AGE"]
    assert [item["data"]["mode"] for item in json.loads(inside(*mine, "-o", "json"))["items"]] == maps
    printed = inside("get", "configmap", "a", "-o", "yaml")
    assert printed.startswith("apiVersion: v1\ndata:\n  mode: a\nkind: ConfigMap\nmetadata:\n  creationTimestamp: ")
    assert "managedFields" not in printed
    assert "manager: kubectl-create" in inside("get", "configmap", "a", "-o", "yaml", "--show-managed-fields")
    assert inside(*mine, "-o", "jsonpath={.items[*].data.mode}") == "a b c"
    assert inside(*mine, "-o", "go-template={{range .items}}{{.data.mode}},{{end}}") == "a,b,c,"
    custom = inside(*mine, "-o", "custom-columns=WHO:.metadata.name,HOW:.data.mode")
    assert [line.split() for line in custom.splitlines()] == [["WHO", "HOW"], *([name, name] for name in maps)]
    by_rank = inside(*mine, "--sort-by=.metadata.labels.rank", "--no-headers")
    assert [line.split()[0] for line in by_rank.splitlines()] == ["c", "b", "a"]
    assert "rank=9,suite=reads" in inside(*mine, "--show-labels")
    assert inside(*mine, "-L", "rank").splitlines()[1].split()[-1] == "9"
    assert inside("get", "configmaps", "-l", "rank in (8,9)", "-o", "name").split() == ["configmap/a", "configmap/b"]
    assert inside("get", "configmaps", "--field-selector=metadata.name=b", "-o", "name") == "configmap/b\n"
    pages = inside("get", "configmaps", "-A", "-l", "suite=reads", "--chunk-size=2", "--no-headers")
    assert [line.split()[1] for line in pages.splitlines()] == maps


@pytest.mark.spec("API-007", "API-051", "API-066")
@pytest.mark.fakekube(metrics_server=False)
def test_what_is_not_there(inside: Kubectl) -> None:
    """Given an empty namespace, when what is not there is asked for, then kubectl says what, and
    which server has said it.
    """
    assert inside("get", "pods") == ""
    assert inside("get", "pod", "x", code=1) == 'Error from server (NotFound): pods "x" not found\n'
    assert inside("get", "pod", "x", "--ignore-not-found") == ""
    assert inside("get", "nonsense", code=1) == 'error: the server doesn\'t have a resource type "nonsense"\n'
    assert "field label not supported: spec.foo" in inside("get", "pods", "--field-selector=spec.foo=1", code=1)
    assert "unable to parse requirement" in inside("get", "pods", "-l", "a in (", code=1)
    assert "(NotFound)" in inside("get", "--raw", "/apis/batch/v1/nonsense", code=1)
    assert "error: Metrics API not available" in inside("top", "pods", code=1)


@pytest.mark.spec("API-076", "API-084")
def test_watching_ends_when_the_time_is_up(inside: Kubectl, maps: list[str]) -> None:
    """Given three ConfigMaps, when they are watched for a second, then they are shown first, under
    one line of headings, and the command ends well; a watch of changes alone shows nothing when
    nothing changes.
    """
    shown = inside("get", "configmaps", "-l", "suite=reads", "--watch", "--request-timeout=1s")
    assert [line.split()[0] for line in shown.splitlines()] == ["NAME", *maps]
    assert inside("get", "configmaps", "--watch-only", "--request-timeout=1s", "-o", "name") == ""


@pytest.mark.spec("API-001", "API-003", "API-008", "API-009")
def test_discovery(kubectl: Kubectl) -> None:
    """Given a cluster, when kubectl lists what it serves, then groups, names, short names, scopes
    and verbs are those of the release, and raw paths answer.
    """
    versions = kubectl("api-versions").split()
    assert {"v1", "apps/v1", "batch/v1", "rbac.authorization.k8s.io/v1"} <= set(versions)
    assert [line.split() for line in kubectl("api-resources", "--api-group=batch", "--no-headers").splitlines()] == [
        ["cronjobs", "cj", "batch/v1", "true", "CronJob"], ["jobs", "batch/v1", "true", "Job"]]
    unbound = kubectl("api-resources", "--namespaced=false", "-o", "name").split()
    assert {"namespaces", "nodes", "priorityclasses.scheduling.k8s.io"} <= set(unbound)
    assert "jobs.batch" not in unbound
    wide = kubectl("api-resources", "--api-group=batch", "-o", "wide", "--verbs=list")
    assert "create,delete,deletecollection,get,list,patch,update,watch" in wide
    server = json.loads(kubectl("version", "-o", "json"))["serverVersion"]
    assert server["gitVersion"].startswith(f"v{server['major']}.{server['minor'].rstrip('+')}.")
    assert json.loads(kubectl("get", "--raw", "/version"))["gitVersion"] == server["gitVersion"]
    assert kubectl("get", "--raw", "/readyz") == "ok"
    assert "is running at" in kubectl("cluster-info")


@pytest.mark.spec("API-010", "API-011")
def test_explain(kubectl: Kubectl) -> None:
    """Given nothing but the served OpenAPI, when kubectl explains Jobs, then it knows every field
    and its type.
    """
    field = kubectl("explain", "job.spec.backoffLimit")
    assert field.startswith("GROUP:      batch\nKIND:       Job\nVERSION:    v1\n")
    assert "FIELD: backoffLimit <integer>" in field
    assert "Specifies the number of retries before marking this job failed." in field
    everything = kubectl("explain", "job", "--recursive")
    for line in ("  spec\t<JobSpec>", "    parallelism\t<integer>", "          resources\t<ResourceRequirements>"):
        assert line in everything
    assert "<map[string]Quantity>" in kubectl("explain", "pods.spec.containers.resources")
    assert 'field "nonsense" does not exist' in kubectl("explain", "pod.spec.nonsense", code=1)


@pytest.mark.spec("API-168", "API-169")
def test_who_may_do_what(kubectl: Kubectl, inside: Kubectl, namespace: str) -> None:
    """Given an administrator and a service account that was allowed to read Jobs, when both are
    asked who they are and what they may, then the one may do everything, and the other at least
    that.
    """
    assert kubectl("auth", "can-i", "*", "*") == "yes\n"
    assert "Username" in kubectl("auth", "whoami")
    inside("create", "role", "reader", "--verb=get,list", "--resource=jobs.batch")
    inside("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={namespace}:default")
    default = f"system:serviceaccount:{namespace}:default"
    who = json.loads(inside("auth", "whoami", "--as", default, "-o", "json"))["status"]["userInfo"]
    assert who["username"] == default
    assert inside("auth", "can-i", "list", "jobs", "--as", default) == "yes\n"
    assert inside("auth", "can-i", "--list", "--as", default).split()[:2] == ["Resources", "Non-Resource"]


@pytest.mark.spec("API-172")
def test_describe_what_has_no_pods(kubectl: Kubectl, inside: Kubectl, namespace: str) -> None:
    """Given a namespace with a quota, a Deployment, a Service and a ConfigMap, when each is
    described, then the description says what is in it.
    """
    inside("create", "quota", "q", "--hard=pods=10")
    inside("create", "deployment", "web", "--image=nginx", "--replicas=0")
    inside("expose", "deployment", "web", "--port=80")
    inside("create", "configmap", "m", "--from-literal=mode=fast")
    inside("create", "cronjob", "c", "--image=busybox", "--schedule=@hourly", "--", "true")
    described = kubectl("describe", "namespace", namespace)
    for text in (f"Name:         {namespace}", "Status:       Active", "Resource Quotas", "No LimitRange resource."):
        assert text in described
    assert "RollingUpdateStrategy:  25% max unavailable, 25% max surge" in inside("describe", "deployment", "web")
    assert re.search(r"Port: +<unset> +80/TCP", inside("describe", "service/web"))
    assert "mode:\n----\nfast" in inside("describe", "configmap", "m")
    assert "Concurrency Policy:            Allow" in inside("describe", "cronjob", "c")
