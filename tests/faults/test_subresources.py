"""Faults of what is no plain write: subresources, whole collections, questions, and dry runs."""

from typing import Any, NamedTuple

import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import Response
from tests.faults.asking import MAPS, ask, create

PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LABELS = {"app": "d"}
DEPLOYMENT = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": LABELS}, "template": {
    "metadata": {"labels": LABELS}, "spec": POD["spec"]}}}
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


class Case(NamedTuple):
    """A request: its resource as rules name it, and its verb."""

    resource: str
    verb: str
    method: str
    path: str
    body: Any = None


CASES = [
    Case("pods/binding", "create", "POST", f"{PODS}/p/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}),
    Case("pods/eviction", "create", "POST", f"{PODS}/p/eviction", {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}),
    Case("pods/status", "update", "PUT", f"{PODS}/p/status", POD | {"status": {"phase": "Failed"}}),
    Case("pods/ephemeralcontainers", "update", "PUT", f"{PODS}/p/ephemeralcontainers", POD | {"spec": {
        **POD["spec"], "ephemeralContainers": [{"name": "debug", "image": "busybox"}]}}),  # type: ignore[dict-item]
    Case("deployments.apps/scale", "update", "PUT", f"{DEPLOYMENTS}/d/scale", {
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": 3}}),
    Case("configmaps", "deletecollection", "DELETE", MAPS),
]


async def furnished() -> Cluster:
    """A cluster in which nothing happens by itself, with an object for each case."""
    cluster = Cluster(nodes=0, controllers="", clock="manual")
    await cluster.start()
    await create(cluster, "a")
    for path, body in ((PODS, POD), (DEPLOYMENTS, DEPLOYMENT), (ACCOUNTS, {"metadata": {"name": "s"}})):
        answer = await ask(cluster, "POST", path, body)
        assert answer.status == 201, answer.body
    return cluster


async def sent(cluster: Cluster, case: Case, **query: str) -> Response:
    """The answer to the request of a case."""
    return await ask(cluster, case.method, case.path, case.body, **query)


@pytest.mark.parametrize("case", CASES, ids=[case.resource for case in CASES])
@pytest.mark.parametrize(("rule", "status", "is_done"), [
    ({"error": "EtcdTimeout"}, 500, False), ({"cut": "before"}, 0, False),
    ({"error": "EtcdTimeout", "moment": "after"}, 500, True),
    ({"cut": "after"}, 0, True), ({"cut": "body"}, 0, True), ({}, 2, True)])
async def test_it_fails_before_or_after_its_commit(case: Case, rule: dict[str, Any], status: int, is_done: bool) -> None:
    """Given a rule of a subresource, or of a collection / when that is written / then it is done or
    not as the rule says, and its sender meets it.
    """
    cluster = await furnished()
    try:
        if rule:
            cluster.faults.add(resources=case.resource, verbs=case.verb, **rule)
        before = cluster.apiserver.storage.revision
        answer = await sent(cluster, case)
        assert (cluster.apiserver.storage.revision > before) == is_done
        if "cut" in rule:
            assert answer.cut is not None
        else:
            assert (answer.status, answer.cut) == (status, None) if rule else (answer.status // 100, answer.cut) == (2, None)
    finally:
        await cluster.stop()


@pytest.mark.parametrize("case", CASES[:-1], ids=[case.resource for case in CASES[:-1]])
async def test_a_rule_of_objects_is_not_one_of_subresources(case: Case) -> None:
    """Given rules of the object and of everything without subresources / when a subresource is
    written / then it meets none, and one of all subresources.
    """
    cluster = await furnished()
    try:
        plain = case.resource.partition("/")[0]
        rules = [cluster.faults.add(resources=text, compact=True, optional=True) for text in (plain, "*", f"{plain}/*", "*/*")]
        assert (await sent(cluster, case)).status < 300
        assert [rule.met for rule in rules] == [0, 0, 1, 1]
    finally:
        await cluster.stop()


@pytest.mark.parametrize("case", CASES, ids=[case.resource for case in CASES])
@pytest.mark.parametrize("rule", [{"error": "EtcdTimeout", "moment": "after"}, {"cut": "after"}])
async def test_a_dry_run_fails_and_stores_nothing(case: Case, rule: dict[str, Any]) -> None:
    """Given an answer that is lost after the commit / when it is that of a dry run / then it is
    lost, and nothing was stored.
    """
    cluster = await furnished()
    try:
        cluster.faults.add(resources=case.resource, verbs=case.verb, **rule)
        before = cluster.apiserver.storage.revision
        answer = await sent(cluster, case, dryRun="All")
        assert cluster.apiserver.storage.revision == before
        assert answer.cut == 0 or answer.status == 500
    finally:
        await cluster.stop()


async def test_a_token_is_asked_for_again() -> None:
    """Given an answer with a token that is lost / when it is asked for again / then another comes.
    """
    cluster = await furnished()
    try:
        path, body = f"{ACCOUNTS}/s/token", {"spec": {"expirationSeconds": 3600}}
        with cluster.faults.add(resources="serviceaccounts/token", cut="after", times=1):
            assert (await ask(cluster, "POST", path, body)).cut == 0
            assert (await ask(cluster, "POST", path, body)).status == 201
    finally:
        await cluster.stop()


async def test_etcd_has_no_space_for_what_is_stored() -> None:
    """Given an etcd without space / when objects are made, changed and deleted, questions are asked
    and writes are tried / then creations and changes are refused, and the others are not.
    """
    cluster = await furnished()
    try:
        cluster.faults.add(error="EtcdNoSpace")
        review = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
        for method, path, body, query, code in (
            ("POST", MAPS, {"metadata": {"name": "b"}}, {}, 500),
            ("PUT", f"{PODS}/p/status", POD, {}, 500),
            ("POST", f"{PODS}/p/eviction", CASES[1].body, {}, 500),
            ("POST", MAPS, {"metadata": {"name": "b"}}, {"dryRun": "All"}, 201),
            ("POST", f"{ACCOUNTS}/s/token", {"spec": {}}, {}, 201),
            ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, {}, 201),
            ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, {}, 201),
            ("DELETE", f"{MAPS}/a", None, {}, 200),
        ):
            assert (await ask(cluster, method, path, body, **query)).status == code, path
    finally:
        await cluster.stop()
