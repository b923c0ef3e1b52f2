"""Plays of volumes: claims that are bound, made for, protected, and go."""

from fakekube.client.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTRIBUTES_CLASSES,
)
from tests.exploration.plays.play import Play, all_of, load, phases

CLAIMED = """
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: v}
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: none, hostPath: {path: /tmp/x}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: c, namespace: default}
  spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: default}
  spec:
    containers: [{name: a, image: a}]
    volumes: [{name: c, persistentVolumeClaim: {claimName: c}}]
"""
MADE = """
- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: made}
  provisioner: fakekube.dev/provisioner
  volumeBindingMode: %s
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: c, namespace: default}
  spec: {accessModes: [ReadWriteOnce], storageClassName: made, resources: {requests: {storage: 1Gi}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: default}
  spec:
    containers: [{name: a, image: a}]
    volumes:
    - {name: c, persistentVolumeClaim: {claimName: c}}
    - name: scratch
      ephemeral:
        volumeClaimTemplate:
          spec: {accessModes: [ReadWriteOnce], storageClassName: made, resources: {requests: {storage: 1Gi}}}
"""
ATTRIBUTES = """
- apiVersion: storage.k8s.io/v1
  kind: VolumeAttributesClass
  metadata: {name: fast}
  driverName: example.com/d
  parameters: {a: b}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: c, namespace: default}
  spec:
    volumeAttributesClassName: fast
    storageClassName: ""
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
"""


async def _volumes(cluster):
    claims = await all_of(cluster, PERSISTENT_VOLUME_CLAIMS, "metadata.name", "status.phase")
    return claims, await all_of(cluster, PERSISTENT_VOLUMES, "status.phase", "spec.claimRef.name"), await phases(cluster)


async def _used(cluster):
    await cluster.advance("20m")
    return await _volumes(cluster)


async def _freed(cluster):
    await cluster.advance("2m")
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "default")
    await cluster.advance("2m")
    await cluster.client.delete(PODS, "p", "default", grace_period_seconds=0)
    await cluster.advance("20m")
    return await _volumes(cluster)


async def claimed(cluster):
    await load(cluster, CLAIMED)
    return await _used(cluster)


async def claimed_and_freed(cluster):
    await load(cluster, CLAIMED)
    await _freed(cluster)
    await cluster.client.delete(PERSISTENT_VOLUMES, "v")
    await cluster.advance("20m")
    return await _volumes(cluster)


async def made_at_once(cluster):
    await load(cluster, MADE % "Immediate")
    return await _used(cluster)


async def made_late(cluster):
    await load(cluster, MADE % "WaitForFirstConsumer")
    return await _freed(cluster)


async def attributes(cluster):
    await load(cluster, ATTRIBUTES)
    await cluster.advance("2m")
    await cluster.client.delete(VOLUME_ATTRIBUTES_CLASSES, "fast")
    await cluster.advance("2m")
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "default")
    await cluster.advance("20m")
    return await all_of(cluster, VOLUME_ATTRIBUTES_CLASSES), await all_of(cluster, PERSISTENT_VOLUME_CLAIMS)


PLAYS = (
    Play("claimed", claimed, ("persistentvolume-binder",)),
    Play("claimed-and-freed", claimed_and_freed, ("persistentvolumeclaim-protection", "persistentvolume-protection")),
    Play("made-at-once", made_at_once, ("volume-provisioner", "ephemeral-volume")),
    Play("made-late", made_late, ("volume-provisioner", "ephemeral-volume")),
    Play("attributes", attributes, ("volumeattributesclass-protection",)),
)
