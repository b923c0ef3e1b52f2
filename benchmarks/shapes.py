"""Pods that a server never met: a hundred shapes in turn, and no two bodies with the same spec.

A shape says which parts a pod has; every part that can hold a value holds one of this very pod. The
average body has 0.8 KB.
"""

from collections.abc import Callable

import orjson

from fakekube.apimachinery.types import Tree

SHAPES = 100
IN_A_ROW = 50


def body(number: int) -> bytes:
    """The body of a create: shape ``number % 100``, and what is the number's own in its name, its
    labels and its spec.
    """
    return orjson.dumps(pod(number))


def again(number: int) -> bytes:
    """The body of a create as a template gives it: the shape's spec stays as it is for 50 pods, of
    which each has its name.
    """
    first = pod(number // IN_A_ROW % SHAPES)
    return orjson.dumps({**first, "metadata": {**first["metadata"], "name": f"again-{number}"}})


def pod(number: int) -> Tree:
    """The same as a tree."""
    shape = number % SHAPES
    labels = {"app": f"app-{shape}", "run": f"run-{number}"}
    spec: Tree = {"containers": [_container(number, shape, position) for position in range(1 + shape % 3)]}
    if shape % 2:
        spec["restartPolicy"] = "Never"
    if shape % 3 == 0:
        spec["volumes"] = [{"name": "data", "emptyDir": {}}, {"name": "more"} | _volume(number, shape)]
    if shape % 6 == 0:
        spec["nodeSelector"] = {"pool": f"pool-{shape}"}
    if shape % 7 == 0:
        spec["tolerations"] = [{"key": f"key-{shape}", "operator": "Exists"}]
    if shape % 11 == 0:
        spec["affinity"] = _AFFINITIES[shape // 11 % len(_AFFINITIES)](number, labels)
    if shape % 9 == 0:
        spec["initContainers"] = [_init_container(number, shape)]
    if shape % 13 == 0:
        spec["topologySpreadConstraints"] = [{
            "maxSkew": 1 + shape % 4, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"run": labels["run"]}}}]
    if shape % 17 == 0:
        spec["securityContext"] = {"runAsUser": 1000 + number, "fsGroup": 2000, "runAsNonRoot": True}
    if shape % 19 == 0:
        spec["terminationGracePeriodSeconds"] = 5 + shape
        spec["hostAliases"] = [{"ip": "192.0.2.1", "hostnames": [f"host-{number}"]}]
    metadata = {"name": f"pod-{number}", "labels": labels, "annotations": {"note": f"note-{number}"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _container(number: int, shape: int, position: int) -> Tree:
    container: Tree = {
        "name": f"c{position}", "image": f"registry.example/app-{shape}:{number}",
        "env": [_variable(number, shape, index) for index in range(shape % 7)],
        "resources": {"requests": {"cpu": f"{100 + shape}m", "memory": f"{64 + number % 1000}Mi"}},
    }
    if shape % 2:
        container["command"] = ["run", f"--seed={number}"]
    if shape % 5 == 0:
        container["ports"] = [{"containerPort": 8000 + shape}]
    if shape % 4 == 0:
        container["readinessProbe"] = _PROBES[shape // 4 % len(_PROBES)](number)
    if shape % 3 == 0:
        container["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    if shape % 8 == 0:
        container["resources"]["limits"] = {"cpu": "2", "memory": f"{2000 + number % 1000}Mi"}
    if shape % 12 == 0:
        container["lifecycle"] = {"preStop": {"exec": {"command": ["stop", str(number)]}}}
    if shape % 14 == 0:
        container["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return container


def _variable(number: int, shape: int, index: int) -> Tree:
    name = f"VAR_{index}"
    if index == 4:
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    if index == 5:
        return {"name": name, "valueFrom": {"secretKeyRef": {"name": f"secret-{shape}", "key": f"key-{number}"}}}
    return {"name": name, "value": f"value-{number}-{index}"}


def _init_container(number: int, shape: int) -> Tree:
    container = {"name": "init", "image": f"init:{number}"}
    return container | {"restartPolicy": "Always"} if shape % 2 else container


def _volume(number: int, shape: int) -> Tree:
    return _VOLUMES[shape // 3 % len(_VOLUMES)](number)


_VOLUMES: tuple[Callable[[int], Tree], ...] = (
    lambda number: {"configMap": {"name": f"map-{number}"}},
    lambda number: {"secret": {"secretName": f"secret-{number}"}},
    lambda number: {"persistentVolumeClaim": {"claimName": f"claim-{number}"}},
    lambda number: {"hostPath": {"path": f"/var/data/{number}"}},
    lambda number: {"projected": {"sources": [{"configMap": {"name": f"map-{number}"}}]}},
    lambda number: {"downwardAPI": {"items": [{"path": f"name-{number}", "fieldRef": {"fieldPath": "metadata.name"}}]}},
)
_PROBES: tuple[Callable[[int], Tree], ...] = (
    lambda number: {"httpGet": {"path": f"/healthy/{number}", "port": 8080}},
    lambda number: {"exec": {"command": ["check", str(number)]}, "periodSeconds": 5},
    lambda number: {"tcpSocket": {"port": 1000 + number % 60_000}},
    lambda number: {"grpc": {"port": 1000 + number % 60_000}, "initialDelaySeconds": 3},
)
_AFFINITIES: tuple[Callable[[int, Tree], Tree], ...] = (
    lambda number, _: {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": [f"zone-{number}"]}]}]}}},
    lambda _, labels: {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}]}},
    lambda number, labels: {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1 + number % 100, "podAffinityTerm": {
            "labelSelector": {"matchLabels": labels}, "topologyKey": "topology.kubernetes.io/zone"}}]}},
)


def job(number: int, pods: int) -> Tree:
    """A Job whose pods all run at once, on any node and for as long as containers do here.

    No two have the same template.
    """
    container = _container(number, number % SHAPES, 0)
    for field in ("readinessProbe", "lifecycle", "volumeMounts"):
        container.pop(field, None)
    container["env"] = [variable for variable in container["env"] if "value" in variable]
    container["resources"] = {"requests": {"cpu": f"{10 + number % 90}m", "memory": f"{16 + number % 100}Mi"}}
    return {
        "metadata": {"name": f"j{number}", "namespace": "default"},
        "spec": {"completions": pods, "parallelism": pods, "template": {"spec": {
            "restartPolicy": "Never", "containers": [container]}}}}
