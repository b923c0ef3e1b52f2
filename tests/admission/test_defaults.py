"""Plugins that fill in taints, classes and finalizers."""

from fakekube.admission.defaults import (
    DefaultIngressClass,
    DefaultStorageClass,
    PodGroupProtection,
    StorageObjectInUseProtection,
    TaintNodesByCondition,
)
from tests.admission.world import World, kind

CLAIMS = kind("", "v1", "persistentvolumeclaims")


def test_a_new_node_is_tainted_once():
    """Given a node without and with the taint / when admitted / then it is there once."""
    nodes = kind("", "v1", "nodes")
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    for spec in ({}, {"taints": [taint]}):
        obj = {"metadata": {"name": "n"}, "spec": dict(spec)}
        TaintNodesByCondition().admit(World().attributes(nodes, obj))
        assert obj["spec"]["taints"] == [taint]


def test_the_newest_default_storage_class_is_taken():
    """Given two default classes / when a claim names none / then the newer; an empty name stays."""
    world = World()
    for name, created in (("old", "2026-01-01T00:00:00Z"), ("new", "2026-01-02T00:00:00Z")):
        world.put(
            "storage.k8s.io",
            "storageclasses",
            {
                "metadata": {
                    "name": name,
                    "creationTimestamp": created,
                    "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
                }
            },
        )
    claim, none = {"metadata": {"name": "c"}, "spec": {}}, {"metadata": {"name": "c"}, "spec": {"storageClassName": ""}}
    DefaultStorageClass().admit(world.attributes(CLAIMS, claim))
    DefaultStorageClass().admit(world.attributes(CLAIMS, none))
    assert (claim["spec"]["storageClassName"], none["spec"]["storageClassName"]) == ("new", "")


def test_an_ingress_gets_the_default_class_unless_annotated():
    """Given a default class / when an Ingress names none / then it gets it; the annotation counts
    as a name.
    """
    world = World()
    world.put(
        "networking.k8s.io",
        "ingressclasses",
        {"metadata": {"name": "usual", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}},
    )
    ingresses = kind("networking.k8s.io", "v1", "ingresses")
    plain = {"metadata": {"name": "i"}, "spec": {}}
    annotated = {"metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "x"}}, "spec": {}}
    DefaultIngressClass().admit(world.attributes(ingresses, plain))
    DefaultIngressClass().admit(world.attributes(ingresses, annotated))
    assert plain["spec"] == {"ingressClassName": "usual"}
    assert annotated["spec"] == {}


def test_protection_finalizers():
    """Given a claim and a PodGroup / when created / then each has its finalizer once; PodGroups
    only under the gate.
    """
    claim = {"metadata": {"name": "c"}, "spec": {}}
    for _ in range(2):
        StorageObjectInUseProtection().admit(World().attributes(CLAIMS, claim))
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    groups = kind("scheduling.k8s.io", "v1beta1", "podgroups")
    for gates, expected in (((), None), (("GenericWorkload",), ["scheduling.k8s.io/podgroup-protection"])):
        group = {"metadata": {"name": "g"}, "spec": {}}
        PodGroupProtection().admit(World(*gates).attributes(groups, group))
        assert group["metadata"].get("finalizers") == expected
