"""The kind Workload of the first text of KEP-4671, as a definition of an API group of its own.

The text spells the version ``scheduling/v1alpha1``; a group of definitions needs a dot. It gives a
label of ``podGroupSelector`` and the two numbers of a gang flat in YAML and nested in Go: both are
taken.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource

GROUP, VERSION = "scheduling.fakekube.dev", "v1alpha1"
WORKLOADS = Resource(GROUP, VERSION, "workloads", "Workload")
SINGLE, OFF, REPLICATED = "Single", "Off", "Replicated"
MOST_GROUPS = 8

_NAME = {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
_LABELS = {"type": "object", "maxProperties": 8, "additionalProperties": {"type": "string", "maxLength": 63}}
_NUMBERS: Tree = {
    "minCount": {"type": "integer", "format": "int32", "minimum": 1},
    "schedulingTimeoutSeconds": {"type": "integer", "format": "int32", "minimum": 1},
}
_POD_GROUP: Tree = {
    "type": "object", "required": ["name"], "properties": {
        "name": _NAME,
        "gangMode": {"type": "string", "enum": [SINGLE, OFF, REPLICATED], "default": SINGLE},
        **_NUMBERS,
        "gangSchedulingPolicy": {"type": "object", "properties": _NUMBERS},
        "podGroupSelector": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"matchLabels": _LABELS}},
        "replicatedGangKey": {"type": "string", "maxLength": 400},
        "replicas": {"type": "integer", "format": "int32", "minimum": 0},
    },
}
_REFERENCE: Tree = {"type": "object", "properties": {
    key: {"type": "string"} for key in ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath")}}
_SCHEMA: Tree = {
    "type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["podGroups"], "properties": {
            "controllerRef": _REFERENCE,
            "podGroups": {
                "type": "array", "minItems": 1, "maxItems": MOST_GROUPS, "items": _POD_GROUP,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        }},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def definition() -> Tree:
    """The CustomResourceDefinition."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"workloads.{GROUP}"},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"kind": "Workload", "listKind": "WorkloadList", "plural": "workloads", "singular": "workload"},
            "versions": [{"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": _SCHEMA}}],
        },
    }
