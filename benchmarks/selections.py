"""Lists and watches that choose: selectors and pages over very many pods, and many watchers of whom
few are concerned.
"""

import asyncio
import re
import time
from collections.abc import Iterator

from benchmarks import pods
from benchmarks.inprocess import PODS, Counter, call, pod_bucket
from benchmarks.table import Figure
from fakekube.composition.cluster import Cluster

MANY = 50_000
NODES = 500
PAGE = 500
WATCHERS = 1000
EVENTS = 200
ROUNDS = 5
CONTINUE = re.compile(rb'"continue":"([^"]+)"')


def figures() -> Iterator[Figure]:
    """Milliseconds of CPU time a request, the best of some rounds."""
    yield from asyncio.run(_lists())
    yield from asyncio.run(_watches())


async def fill(cluster: Cluster) -> None:
    """One pod through the whole server, the others as its likeness: each its index, one of ten
    shards, one of 500 nodes.
    """
    await call(cluster, "POST", PODS, pods.short(0))
    bucket = pod_bucket(cluster)
    record = bucket.get("default", "pod-000000")
    assert record is not None
    tree = record.tree()
    for number in range(1, MANY):
        labels = {"app": "training", "index": str(number), "shard": str(number % 10)}
        bucket.create({
            **tree, "metadata": {**tree["metadata"], "name": f"pod-{number:06d}", "uid": f"{number:036d}", "labels": labels},
            "spec": {**tree["spec"], "nodeName": f"node-{number % NODES}"}})


async def _lists() -> list[Figure]:
    rows = []
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await fill(cluster)
        for name, query, must in (
            ("list of one by a label, indexed", {"labelSelector": "index=777"}, 1.0),
            ("list of a node's 100 by a field, indexed", {"fieldSelector": "spec.nodeName=node-7"}, 3.0),
            ("list of 5,000 by a label, indexed", {"labelSelector": "shard=7"}, 60.0),
            ("list of none by a set of labels, linear", {"labelSelector": "index notin (1),app!=training"}, 100.0),
            ("list of none by a field that is not equal, linear", {"fieldSelector": "spec.nodeName!=x,status.phase!=Pending"},
             100.0),
            ("a page of 500", {"limit": str(PAGE)}, 10.0),
        ):
            rows.append(Figure(f"{name}, {MANY:,} pods", 1000 * await _seconds(cluster, query), "ms", must))
        rows.append(Figure(f"all pages of {PAGE}, {MANY:,} pods", 1000 * await _paged(cluster), "ms"))
    return rows


async def _seconds(cluster: Cluster, query: dict[str, str]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        answer = await call(cluster, "GET", "/api/v1/pods", **query)
        best = min(best, time.process_time() - started)
        assert answer.status == 200, answer.body
    return best


async def _paged(cluster: Cluster) -> float:
    """A whole list by pages, with a write before each, so that every page but the first is one of
    the past.
    """
    started, query, bucket = time.process_time(), {"limit": str(PAGE)}, pod_bucket(cluster)
    for seen in range(PAGE, MANY + 1, PAGE):
        head = (await call(cluster, "GET", "/api/v1/pods", **query)).body[:400]
        token = CONTINUE.search(head)
        assert (token is None) == (seen == MANY), head
        if token is not None:
            query["continue"] = token[1].decode()
            record = bucket.get("default", f"pod-{seen:06d}")
            assert record is not None
            bucket.update({**record.tree(), "status": {"phase": "Pending", "message": str(seen)}}, record)
    return time.process_time() - started


async def _watches() -> list[Figure]:
    rows = []
    for name, label, selector in (
        ("a label each", "labelSelector", "index={}"), ("a set of labels", "labelSelector", "app in (training,x),index!={}"),
        ("a node each", "fieldSelector", "spec.nodeName=node-{}"),
    ):
        async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
            await call(cluster, "POST", PODS, pods.short(0))
            sinks = []
            for number in range(WATCHERS):
                query = {"watch": "true", "resourceVersion": str(pod_bucket(cluster).revision), label: selector.format(number)}
                answer = await call(cluster, "GET", PODS, **query)
                assert answer.stream is not None
                sinks.append(Counter())
                answer.stream.start(sinks[-1])
            rows.append(Figure(f"an event to {WATCHERS:,} watchers by {name}", _microseconds(cluster), "us"))
    return rows


def _microseconds(cluster: Cluster) -> float:
    bucket, best = pod_bucket(cluster), float("inf")
    for round_ in range(ROUNDS):
        started = time.process_time()
        for number in range(EVENTS):
            record = bucket.get("default", "pod-000000")
            assert record is not None
            bucket.update({**record.tree(), "status": {"phase": "Pending", "message": f"{round_} {number}"}}, record)
        best = min(best, (time.process_time() - started) / EVENTS)
    return best * 1e6
