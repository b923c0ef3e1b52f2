"""A bucket of pods, and trees to put into it."""

from typing import Any

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Storage

PODS = GroupResource("", "pods")


def pod(name: str, namespace: str = "ns", *, node: str = "", labels: dict[str, str] | None = None) -> dict[str, Any]:
    """A pod's tree, fresh at every call."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    if labels:
        metadata["labels"] = labels
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": node}}


def pods(storage: Storage) -> Bucket:
    """The bucket of pods, added if need be, with the node's name as a selectable field."""
    if storage.has(PODS):
        return storage.bucket(PODS)
    return storage.add_bucket(PODS, fields=lambda tree: {"spec.nodeName": tree["spec"]["nodeName"]})
