"""Volumes of storage systems: what pods and PersistentVolumes are refused, and how the two differ.
"""

import pytest

from fakekube.apis.core import persistentvolume
from fakekube.apis.core.volumes_validation import validate_volumes
from tests.apis.strategies_b.steps import created, named, refused

IQN = "iqn.2015-02.example.com:test"
ISCSI = {"targetPortal": "p", "iqn": IQN}
DISK = {"diskName": "d", "diskURI": "https://blob/x", "kind": "Shared", "cachingMode": "None"}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"}
REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
LABEL = ("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
         "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")
PATH = "v.volumes[0]"


@pytest.mark.parametrize(("source", "expected"), [
    ({"gcePersistentDisk": {"pdName": "p", "partition": 256}},
     ["persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive"]),
    ({"iscsi": {"lun": 256, "iqn": "x", "targetPortal": ""}},
     ["iscsi.targetPortal: Required value", 'iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
      "iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive"]),
    ({"iscsi": {**ISCSI, "iqn": "iqn.x", "chapAuthSession": True, "initiatorName": "eui.1"}},
     ['iscsi.iqn: Invalid value: "iqn.x": must be valid format', "iscsi.secretRef: Required value",
      'iscsi.initiatorname: Invalid value: "eui.1": must be valid format']),
    ({"fc": {"targetWWNs": ["a"], "lun": -1}}, ["fc.lun: Invalid value: -1: must be between 0 and 255, inclusive"]),
    ({"quobyte": {"volume": "v"}}, [f"quobyte.registry: Required value: {REGISTRY}"]),
    ({"quobyte": {"registry": "a:1,b", "volume": "v"}}, [f'quobyte.registry: Invalid value: "a:1,b": {REGISTRY}']),
    ({"quobyte": {"registry": "[::1]:1", "volume": "v"}}, []),
    ({"flexVolume": {"driver": "d", "options": {"x.Kubernetes.io/y": "1"}}},
     [('flexVolume.options[x.Kubernetes.io/y]: Invalid value: "x.Kubernetes.io/y": kubernetes.io and k8s.io namespaces are '
      "reserved")]),
    ({"azureDisk": {**DISK, "kind": "Managed"}},
     [('azureDisk.diskURI: Unsupported value: "https://blob/x": supported values: "/subscriptions/{sub-id}/resourcegroups/'
      '{group-name}/providers/microsoft.compute/disks/{disk-id}"')]),
    ({"storageos": {"volumeName": "A", "secretRef": {}}},
     [f'storageos.volumeName: Invalid value: "A": {LABEL}', "storageos.secretRef.name: Required value"]),
    ({"cinder": {"volumeID": "v", "secretRef": {}}}, ["cinder.secretRef.name: Required value"]),
    ({"ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "n", "uid": "u"}, "spec": {"volumeMode": "Tape"}}}},
     ["ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
      "ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set",
      "ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
      "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
      'ephemeral.volumeClaimTemplate.spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']),
    ({"ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}, []),
])
def test_what_is_refused_of_a_pods_volume(source, expected):
    """Given a source with something wrong / when looked at / then each fault is told in upstream's
    order.
    """
    _, found = validate_volumes([{"name": "n", **source}], "", "v.volumes")
    assert [str(error) for error in found] == [f"{PATH}.{text}" for text in expected]


@pytest.mark.parametrize(("source", "expected"), [
    ({"iscsi": {**ISCSI, "iqn": "x", "secretRef": {}}},
     ['iscsi.iqn: Invalid value: "x": must be valid format', "iscsi.secretRef.name: Required value"]),
    ({"iscsi": {**ISCSI, "targetPortal": "p" * 64, "initiatorName": IQN}},
     [(f'iscsi.targetportal: Invalid value: "{"p" * 64}": Total length of <volume name>:<iscsi.targetPortal> must be under 64 '
      "characters if iscsi.initiatorName is specified.")]),
    ({"cinder": {"volumeID": "v", "secretRef": {}}},
     ["cinder.secretRef.name: Required value", "cinder.secretRef.namespace: Required value"]),
    ({"glusterfs": {"endpoints": "e", "path": "p", "endpointsNamespace": ""}},
     ['glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name']),
    ({"csi": {"driver": "d", "nodePublishSecretRef": {"name": "s"}}},
     ["csi.volumeHandle: Required value", "csi.nodePublishSecretRef.namespace: Required value"]),
    ({"local": {"path": "/a/.."}},
     ['local.path: Invalid value: "/a/..": must not contain \'..\'', ("nodeAffinity: Required value: Local volume requires "
      "node affinity")]),
    ({"hostPath": {"path": "/"}, "nfs": {"server": "s", "path": "/"}, "nodeAffinity": {}},
     ["nodeAffinity.required: Required value: must specify required node constraints",
      "nfs: Forbidden: may not specify more than 1 volume type"]),
    ({"hostPath": {"path": "//"}, "persistentVolumeReclaimPolicy": "Recycle"},
     ["persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"]),
    ({"hostPath": {"path": "/x"}, "capacity": {"storage": "-1"}},
     ["capacity[storage]: Invalid value: -1: must be a valid resource quantity",
      'capacity[storage]: Invalid value: "-1": must be greater than zero']),
])
def test_what_is_refused_of_a_persistent_volume(source, expected):
    """Given a volume with something wrong / when made / then each fault is told; secrets need a
    namespace.
    """
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, **source}
    assert refused(persistentvolume.STRATEGY, named({"spec": spec})) == [f"spec.{text}" for text in expected]


def test_sources_of_persistent_volumes_are_filled_in_as_those_of_pods():
    """Given disks without details / when made / then they are there, and amounts are whole
    thousandths.
    """
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "500u"}, "rbd": {"monitors": ["m"], "image": "i"}}
    kept = created(persistentvolume.STRATEGY, named({"spec": spec}))["spec"]
    assert kept["rbd"] == {"monitors": ["m"], "image": "i", "pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}
    assert kept["capacity"] == {"storage": "1m"}
