"""Plays of nodes: kubelets that fall silent, pods that have to go, the life of pods on a node."""

from fakekube.client.resources import NODES, PODS
from tests.exploration.plays.play import Play, all_of, load, one_of

POD = """
{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default},
 spec: {nodeName: %s, tolerations: %s, containers: [{name: a, image: a}]}}"""
PATIENT = "[{key: k, effect: NoExecute, tolerationSeconds: 7}]"
LIVES = """
- apiVersion: v1
  kind: Pod
  metadata: {name: ends, namespace: default}
  spec: {restartPolicy: Never, initContainers: [{name: i, image: "i:1"}], containers: [{name: a, image: "i:1"}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: fails, namespace: default, annotations: {fakekube.dev/exit-codes: "1,1,0"}}
  spec: {restartPolicy: OnFailure, containers: [{name: a, image: "i:1"}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: stays, namespace: default, annotations: {fakekube.dev/ready-after: 10s}}
  spec: {containers: [{name: a, image: a}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: goes, namespace: default}
  spec: {terminationGracePeriodSeconds: 5, containers: [{name: a, image: a}]}
"""


async def silence(cluster):
    await load(cluster, POD % ("here", "node-1", "[]"))
    await load(cluster, POD % ("there", "node-0", "[]"))
    await cluster.advance("2m")
    await cluster.node("node-1").stop_kubelet()
    await cluster.advance("20m")
    left = await all_of(cluster, PODS, "metadata.name", "metadata.deletionTimestamp")
    return await _nodes(cluster), [(name, bool(goes)) for name, goes in left]


async def silence_for_a_while(cluster):
    await silence(cluster)
    await cluster.node("node-1").start_kubelet()
    await cluster.advance("20m")
    return await _nodes(cluster), await all_of(cluster, PODS)


async def _nodes(cluster):
    found = await all_of(cluster, NODES, "metadata.name", "status.conditions[Ready].status", "spec.taints")
    return [(name, ready, [one["key"] for one in taints or ()]) for name, ready, taints in found]


async def taints(cluster):
    for name, tolerations in (("a", PATIENT), ("b", "[]"), ("c", "[{operator: Exists}]")):
        await load(cluster, POD % (name, "node-0", tolerations))
    await cluster.advance("2m")
    await cluster.node("node-0").taint("k", "NoExecute")
    await cluster.advance("20m")
    return await all_of(cluster, PODS)


async def lost_node(cluster):
    await load(cluster, POD % ("here", "node-1", "[]"))
    await load(cluster, POD % ("there", "node-0", "[]"))
    await cluster.advance("2m")
    await cluster.node("node-1").stop_kubelet()
    await cluster.client.delete(NODES, "node-1")
    await cluster.advance("20m")
    return await all_of(cluster, NODES), await all_of(cluster, PODS, "metadata.name", "status.phase")


async def lives(cluster):
    await load(cluster, LIVES)
    await cluster.advance("2m")
    await cluster.client.delete(PODS, "goes", "default")
    await cluster.advance("20m")
    restarts = "status.containerStatuses[a].restartCount"
    return await all_of(cluster, PODS, "metadata.name", "status.phase", "status.conditions[Ready].status", restarts)


async def ttl(cluster):
    await cluster.advance("2m")
    await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"node.alpha.kubernetes.io/ttl": "7"}}})
    await cluster.advance("10m")
    return await one_of(cluster, NODES, "node-0", "metadata.annotations[node.alpha.kubernetes.io/ttl]")


PLAYS = (
    Play("silence", silence, ("nodelifecycle", "tainteviction"), {"nodes": 2}),
    Play("silence-for-a-while", silence_for_a_while, ("nodelifecycle", "tainteviction"), {"nodes": 2}),
    Play("taints", taints, ("tainteviction",)),
    Play("lost-node", lost_node, ("podgc",), {"nodes": 2}),
    Play("lives", lives, ("kubelet",)),
    Play("ttl", ttl, ("ttl",), {"controllers": "*,ttl"}),
)
