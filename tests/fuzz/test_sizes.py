"""Large requests of shapes that once took the square of their size: minutes, at these sizes, where
now they take no time.
"""

from typing import Any

import orjson
import pytest

from tests.fuzz.blowing import Blower, Sent, spend
from tests.fuzz.conftest import DRY_RUN, JSON_PATCH, MAP, NAMESPACE, PODS, YAML, Target

JOBS = "/apis/batch/v1/namespaces/default/jobs"
MANY = 60_000


def named(spec: Any) -> bytes:
    """An object."""
    return orjson.dumps({"metadata": {"name": "x"}, "spec": spec})


def pod(container: Any = None, **spec: Any) -> bytes:
    """A pod."""
    return named({"containers": [{"name": "c", "image": "i", **(container or {})}], **spec})


def job(**spec: Any) -> bytes:
    """A Job."""
    return named({"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}, **spec})


BODIES = {
    "quantity": (PODS, lambda: pod({"resources": {"limits": {"cpu": "9" * 1_000_000}}})),
    "quantity that ends in no unit": (PODS, lambda: pod({"resources": {"limits": {"cpu": "0" * 1_000_000 + "x"}}})),
    "fraction that ends in no unit": (PODS, lambda: pod({"resources": {"limits": {"cpu": "0.0" + "0" * 1_000_000 + "x"}}})),
    "claims": (PODS, lambda: pod({"resources": {"claims": [{"name": f"a{i}"} for i in range(MANY)]}})),
    "pull secrets": (PODS, lambda: pod(imagePullSecrets=[{"name": f"a{i}"} for i in range(MANY)])),
    "spread constraints": (PODS, lambda: pod(topologySpreadConstraints=[
        {"maxSkew": 1, "topologyKey": f"k{i}", "whenUnsatisfiable": "DoNotSchedule"} for i in range(MANY // 3)])),
    "service ports": (f"{NAMESPACE}/services", lambda: named(
        {"ports": [{"name": f"p{i}", "port": i % 65535 + 1} for i in range(MANY // 3)]})),
    "owners": (f"{NAMESPACE}/configmaps", lambda: orjson.dumps({"metadata": {"name": "x", "ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": f"u{i}"} for i in range(MANY // 3)]}})),
    "exit codes": (JOBS, lambda: job(podFailurePolicy={"rules": [
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": list(range(1, MANY * 3))}}]})),
    "errors that show the whole list": (f"{NAMESPACE}/resourcequotas", lambda: named(
        {"scopes": [f"a{i}" for i in range(MANY * 2)]})),
    "scopes that a selector asks for": (f"{NAMESPACE}/resourcequotas", lambda: named({
        "hard": {"services": "1"},
        "scopeSelector": {"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists"}] * (MANY // 10)}})),
    "equal topologies": ("/apis/storage.k8s.io/v1/storageclasses", lambda: orjson.dumps(
        {"metadata": {"name": "x"}, "provisioner": "p", "allowedTopologies": [
            {"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}] * (MANY // 3)})),
    "schedule": ("/apis/batch/v1/namespaces/default/cronjobs", lambda: named(
        {"schedule": "9" * 1_000_000 + " * * * *", "jobTemplate": orjson.loads(job())})),
}  # fmt: skip
QUERIES = {
    "blanks behind a label": {"labelSelector": "a" + " " * 1_000_000},
    "labels": {"labelSelector": ",".join(f"a{i}=b" for i in range(MANY))},
    "values of a label": {"labelSelector": "a in (" + "," * 1_000_000 + ")"},
    "absent labels": {"labelSelector": ",".join(f"!a{i}" for i in range(MANY))},
    "fields": {"fieldSelector": ",".join(f"metadata.name!=b{i}" for i in range(MANY))},
    "backslashes": {"fieldSelector": "\\" * 1_000_000},
    "timeout": {"timeout": "9" * 1_000_000},
    "numbers": dict.fromkeys(("limit", "resourceVersion", "timeoutSeconds"), "9" * 1_000_000),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_large_body_takes_time_linear_in_its_size(target: Target, name: str) -> None:
    """Given an object that is long in one place / when it is created / then it is taken or refused,
    in no time to speak of.
    """
    path, body = BODIES[name]
    assert target.send("POST", path, body(), query=DRY_RUN).status in (201, 400, 422)


def test_digits_in_yaml_take_time_linear_in_their_number(target: Target) -> None:
    """Given JSON, sent as YAML, with a text of many digits behind a colon / when created / then it
    is, in no time to speak of.
    """
    body = orjson.dumps({"metadata": {"name": "x"}, "data": {"a": "+23:" + "9" * 300_000}})
    assert target.send("POST", f"{NAMESPACE}/configmaps", body, YAML, query=DRY_RUN).status == 201


@pytest.mark.parametrize("name", QUERIES)
def test_a_large_query_takes_time_linear_in_its_size(target: Target, name: str) -> None:
    """Given a query of a megabyte / when a list is asked for / then there is an answer, in no time
    to speak of.
    """
    assert target.send("GET", PODS, query=QUERIES[name]).status in (200, 400)


def test_a_list_that_moves_is_not_copied(target: Target) -> None:
    """Given a patch that makes a list of 400,000 items and moves it 9,998 times / when it is sent /
    then it is not copied.
    """
    operations: list[Any] = [{"op": "add", "path": "/data/a", "value": [0] * 400_000}]
    operations += [{"op": "move", "from": f"/data/{a}", "path": f"/data/{b}"} for a, b in (("a", "b"), ("b", "a"))] * 4_999
    assert target.send("PATCH", MAP, orjson.dumps(operations), JSON_PATCH, query=DRY_RUN).status in (400, 422)


def test_what_errors_show_is_bounded(target: Target) -> None:
    """Given a list of which every item is wrong in a way that shows the list / when refused / then
    the answer ends somewhere.
    """
    path, body = BODIES["errors that show the whole list"]
    assert len(target.send("POST", path, body(), query=DRY_RUN).body) < 16 << 20


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_request_stays_within_its_budget(target: Target, seed: int) -> None:
    """Given objects, queries and headers, each blown up in a place / when they are sent / then none
    breaks a promise, and none costs more CPU time than its bytes allow.
    """
    blower = Blower(seed)
    bad = [spent for _ in range(20_000) if (spent := spend(target, blower.next())).why or spent.over_budget]
    assert not bad, [(spent.sent.method, spent.sent.path, spent.sent.size, spent.cpu_seconds, spent.why) for spent in bad]


def test_a_request_that_costs_too_much_is_found(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a budget of nothing / when a request is sent / then it is over budget, and within a
    real one it is not.
    """
    sent = Sent("GET", PODS)
    assert not spend(target, sent)._replace(cpu_seconds=0.0).over_budget
    monkeypatch.setattr("tests.fuzz.blowing.CONSTANT_SECONDS", -1.0)
    assert spend(target, sent).over_budget
