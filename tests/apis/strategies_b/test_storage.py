"""Volumes, claims, and the kinds of storage.k8s.io."""

import pytest

from fakekube.apis.core import persistentvolume, persistentvolumeclaim
from fakekube.apis.storage import (
    csidriver,
    csinode,
    csistoragecapacity,
    storageclass,
    volumeattachment,
    volumeattributesclass,
)
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused, status_changed, warnings

CLAIMS, VOLUMES = persistentvolumeclaim.STRATEGY, persistentvolume.STRATEGY


def claim(**spec):
    return named({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}})


def volume(**spec):
    basic = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}}
    return named({"spec": {**basic, **spec}})


def test_a_claim_is_pending_and_wants_a_file_system():
    """Given a bare claim / when made / then mode and phase are filled in."""
    obj = created(CLAIMS, claim())
    assert obj["spec"]["volumeMode"] == "Filesystem"
    assert obj["status"] == {"phase": "Pending"}


def test_both_names_of_a_data_source_say_the_same():
    """Given one of dataSource and dataSourceRef / when made / then both are there, with a null
    group.
    """
    source = {"kind": "PersistentVolumeClaim", "name": "a"}
    both = {"apiGroup": None, **source}
    for field in ("dataSource", "dataSourceRef"):
        spec = created(CLAIMS, claim(**{field: source}))["spec"]
        assert {**spec["dataSource"], "apiGroup": None} == both
        assert {**spec["dataSourceRef"], "apiGroup": None} == both


def test_a_data_source_in_another_namespace_needs_a_gate():
    """Given a source in another namespace / when no gate allows it / then it is dropped, unless the
    claim had one before.
    """
    source = {"apiGroup": "a.io", "kind": "K", "name": "n", "namespace": "other"}
    assert "dataSourceRef" not in created(CLAIMS, claim(dataSourceRef=source))["spec"]
    old = created(CLAIMS, claim(dataSourceRef=source), World("CrossNamespaceVolumeDataSource"))
    assert old["spec"]["dataSourceRef"] == source
    obj, wrong = changed(CLAIMS, old, {})
    assert (obj["spec"]["dataSourceRef"], wrong) == (source, [])


def test_the_health_of_a_claims_volume_needs_a_gate():
    """Given a status that tells of health / when no gate allows it / then it is dropped, unless it
    was there before.
    """
    health = {"healthConditions": [{"status": "a"}]}
    old, sick = created(CLAIMS, claim()), {"status": {"phase": "Pending", "healthStatus": health}}
    assert status_changed(CLAIMS, old, sick)[0]["status"] == {"phase": "Pending"}
    assert status_changed(CLAIMS, old, sick, World("CSIVolumeHealth"))[0]["status"] == sick["status"]
    assert status_changed(CLAIMS, {**old, **sick}, sick)[0]["status"] == sick["status"]


def test_groups_of_sources_are_looked_at_unless_there_was_one_before():
    """Given claims whose source has no group, and an invalid one / when changed to another invalid
    one / then it is told of the first alone.
    """
    source = {"apiGroup": "-a", "kind": "K", "name": "n"}
    for group, count in ((None, 2), ("b_", 0)):
        old = claim(volumeMode="Filesystem", dataSourceRef={**source, "apiGroup": group})
        _, wrong = changed(CLAIMS, old, {"spec": {**old["spec"], "dataSourceRef": source}})
        assert sum("dataSource" in each and ".apiGroup: Invalid value" in each for each in wrong) == count


def test_an_unknown_data_source_is_dropped():
    """Given a dataSource of another group / when made / then it is as if it was not there."""
    assert "dataSource" not in created(CLAIMS, claim(dataSource={"apiGroup": "a.io", "kind": "K", "name": "n"}))["spec"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"accessModes": []}, ["spec.accessModes: Required value: at least 1 access mode is required"]),
        (
            {"accessModes": ["ReadWriteOncePod", "ReadOnlyMany"]},
            ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        ),
        ({"resources": {}}, ["spec.resources[storage]: Required value"]),
        (
            {"resources": {"requests": {"storage": "0"}}},
            ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
        ),
        (
            {"volumeMode": "Tape"},
            ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
        ),
    ],
)
def test_what_is_refused_of_a_claim(spec, expected):
    """Given something wrong in a claim / when made / then it is named."""
    assert refused(CLAIMS, claim(**spec)) == expected


def test_a_claim_is_bound_once_and_its_class_set_once():
    """Given a claim without volume and class / when they are set, and changed / then only the first
    is allowed.
    """
    old = created(CLAIMS, claim())
    bound, wrong = changed(CLAIMS, old, {"spec": {**old["spec"], "volumeName": "v", "storageClassName": "c"}})
    assert wrong == []
    again = changed(CLAIMS, bound, {"spec": {**bound["spec"], "volumeName": "w"}})[1]
    (text,) = again
    assert text.startswith(f"spec: Forbidden: {persistentvolumeclaim.FROZEN}\n@@ ")
    assert '\n- "VolumeName": "v",\n+ "VolumeName": "w",\n' in text


def test_only_a_bound_claim_grows():
    """Given a claim / when it asks for more before and after it is bound / then only the second
    passes.
    """
    old = created(CLAIMS, claim())
    larger = {"spec": {**old["spec"], "resources": {"requests": {"storage": "2Gi"}}}}
    (text,) = changed(CLAIMS, old, larger)[1]
    assert text == (
        f'spec: Forbidden: {persistentvolumeclaim.FROZEN}\n@@ -6,7 +6,7 @@\n  "Resources": {{\n   "Limits": null,\n'
        '   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n')
    bound = {**old, "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    assert changed(CLAIMS, bound, larger)[1] == []
    smaller = {"spec": {**old["spec"], "resources": {"requests": {"storage": "1Mi"}}}}
    assert changed(CLAIMS, bound, smaller)[1] == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]


@pytest.mark.parametrize(("status", "expected"), [
    ({"capacity": {"storage": "-1"}}, ["status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"]),
    ({"allocatedResources": {"cpu": "1", "example.com/x": "1"}},
     ['status.allocatedResources: Unsupported value: "cpu": supported values: "storage"']),
    ({"allocatedResourceStatuses": {"storage": "NodeResizePending"}}, []),
    ({"allocatedResourceStatuses": {"storage": "Done"}},
     [('status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", '
       '"ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"')]),
])
def test_what_is_refused_of_a_claims_status(status, expected):
    """Given a claim / when its status is written / then amounts and states of a resize are looked
    at.
    """
    assert status_changed(CLAIMS, created(CLAIMS, claim()), {"status": status})[1] == expected


def test_an_odd_group_of_a_data_source_stays_where_there_was_one():
    """Given a claim whose data source has a group / when it is written again / then the group's
    form is not asked for.
    """
    source = {"apiGroup": "Odd", "kind": "K", "name": "n"}
    found = refused(CLAIMS, claim(dataSourceRef=source))
    assert [error.partition(":")[0] for error in found] == ["spec.dataSource.apiGroup", "spec.dataSourceRef.apiGroup"]
    old = created(CLAIMS, claim(dataSourceRef={**source, "apiGroup": "g"}))
    old["spec"]["dataSource"]["apiGroup"] = old["spec"]["dataSourceRef"]["apiGroup"] = "Odd"
    assert changed(CLAIMS, old, {})[1] == []


def test_fractions_of_a_byte_are_warned_of():
    """Given a request of half a byte / when made / then a warning."""
    assert warnings(CLAIMS, claim(resources={"requests": {"storage": "1500m"}})) == [
        'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'
    ]


def test_a_volume_is_kept_and_pending():
    """Given a bare volume / when made / then policy, mode, type and phase are filled in, with the
    time.
    """
    obj = created(VOLUMES, volume())
    assert obj["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert obj["spec"]["hostPath"] == {"path": "/x", "type": ""}
    assert obj["status"] == {"phase": "Pending", "lastPhaseTransitionTime": "2026-01-01T00:00:00Z"}


def test_the_time_of_a_phase_is_the_servers():
    """Given a volume / when its phase changes and when it does not / then the time follows the
    phase.
    """
    old = {**created(VOLUMES, volume()), "status": {"phase": "Pending", "lastPhaseTransitionTime": "earlier"}}
    obj, _ = status_changed(VOLUMES, old, {"status": {"phase": "Available"}})
    assert obj["status"]["lastPhaseTransitionTime"] == "2026-01-01T00:00:00Z"
    obj, _ = status_changed(VOLUMES, old, {"status": {"phase": "Pending", "message": "m"}})
    assert obj["status"]["lastPhaseTransitionTime"] == "earlier"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nfs": {"server": "s", "path": "/"}}, ["spec.nfs: Forbidden: may not specify more than 1 volume type"]),
        (
            {"capacity": {}},
            [
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: {}: supported values: "storage"',
            ],
        ),
        (
            {"persistentVolumeReclaimPolicy": "Burn"},
            ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"'],
        ),
    ],
)
def test_what_is_refused_of_a_volume(spec, expected):
    """Given something wrong in a volume / when made / then it is named."""
    assert refused(VOLUMES, volume(**spec)) == expected


def test_a_volume_has_a_source_which_stays():
    """Given a volume without source, and one whose source changes / when written / then both are
    refused.
    """
    bare = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    assert refused(VOLUMES, named({"spec": bare})) == ["spec: Required value: must specify a volume type"]
    old = created(VOLUMES, volume())
    assert changed(VOLUMES, old, {"spec": {**old["spec"], "hostPath": {"path": "/y"}}})[1] == [(
        'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -2,7 +2,7 @@\n'
        '  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/x",\n+  "Path": "/y",\n'
        '   "Type": ""\n  },\n  "Glusterfs": null,\n')]


def test_a_storage_class_defaults_and_stays():
    """Given a class / when made and changed / then it deletes and binds at once, and its
    provisioner stays.
    """
    old = created(storageclass.STRATEGY, named({"provisioner": "a.io/b"}))
    assert (old["reclaimPolicy"], old["volumeBindingMode"]) == ("Delete", "Immediate")
    assert changed(storageclass.STRATEGY, old, {"provisioner": "c"})[1] == [
        "provisioner: Invalid value: null: field is immutable"
    ]
    assert refused(storageclass.STRATEGY, named()) == ["provisioner: Required value"]


def test_a_driver_defaults_and_some_of_it_stays():
    """Given a driver / when made and changed / then its defaults are there and attaching stays."""
    old = created(csidriver.STRATEGY, named())
    assert old["spec"] == {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "volumeLifecycleModes": ["Persistent"],
    }
    assert changed(csidriver.STRATEGY, old, {"spec": {**old["spec"], "attachRequired": False}})[1] == [
        "spec.attachedRequired: Invalid value: false: field is immutable"
    ]
    tokens = [{"audience": "a"}, {"audience": "a"}, {"audience": "b", "expirationSeconds": 1}]
    assert refused(csidriver.STRATEGY, named({"spec": {"tokenRequests": tokens}})) == [
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
        "spec.tokenRequests[2].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
    ]


def test_a_changed_driver_counts_its_generation():
    """Given a driver / when its spec changes / then its generation is 1, and without a change it
    has none.
    """
    old = created(csidriver.STRATEGY, named())
    assert "generation" not in old["metadata"]
    assert changed(csidriver.STRATEGY, old, {"spec": {**old["spec"], "podInfoOnMount": True}})[0]["metadata"]["generation"] == 1
    for same in ({}, {"tokenRequests": []}):
        assert "generation" not in changed(csidriver.STRATEGY, old, {"spec": {**old["spec"], **same}})[0]["metadata"]


def test_new_tokens_in_plain_sight_are_warned_of():
    """Given a driver that asks for tokens / when it says where to take them from, or asked before /
    then nothing is warned of.
    """
    world = World("CSIServiceAccountTokenSecrets")
    asking = {"tokenRequests": [{"audience": "a"}]}
    driver = named({"spec": asking})
    assert len(warnings(csidriver.STRATEGY, driver, world=world)) == 1
    assert len(warnings(csidriver.STRATEGY, driver, named({"spec": {}}), world)) == 1
    assert warnings(csidriver.STRATEGY, driver, driver, world) == []
    assert warnings(csidriver.STRATEGY, named({"spec": {**asking, "serviceAccountTokenInSecrets": False}}), world=world) == []
    assert warnings(csidriver.STRATEGY, driver) == []


def test_the_drivers_of_a_node_are_listed_once():
    """Given a driver twice, and one that changes / when written / then refused; limits may change
    behind a gate.
    """
    drivers = [{"name": "a", "nodeID": "n", "allocatable": {"count": 1}}]
    assert refused(csinode.STRATEGY, named({"spec": {"drivers": drivers * 2}})) == ['spec.drivers[1].name: Duplicate value: "a"']
    old = created(csinode.STRATEGY, named({"spec": {"drivers": drivers}}))
    more = {"spec": {"drivers": [{**drivers[0], "allocatable": {"count": 2}}]}}
    assert changed(csinode.STRATEGY, old, more)[1] == ["spec.drivers: Invalid value: null: field is immutable"]
    assert changed(csinode.STRATEGY, old, more, World("MutableCSINodeAllocatableCount"))[1] == []


def test_an_attachment_names_one_source_and_stays():
    """Given attachments / when there is no source, and when the spec changes / then refused."""
    spec = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    old = created(volumeattachment.STRATEGY, named({"spec": spec, "status": {"attached": True}}))
    assert old["status"] == {"attached": False}
    assert changed(volumeattachment.STRATEGY, old, {"spec": {**spec, "nodeName": "m"}})[1] == [
        "spec: Invalid value: null: field is immutable"
    ]
    assert refused(volumeattachment.STRATEGY, named({"spec": {**spec, "source": {}}})) == [
        f"spec.source: Required value: {volumeattachment.ONE_OF}"
    ]


def test_attributes_classes_and_capacities_stay():
    """Given one of each / when what they are about changes / then refused."""
    old = created(volumeattributesclass.STRATEGY, named({"driverName": "a", "parameters": {"k": "v"}}))
    assert changed(volumeattributesclass.STRATEGY, old, {"parameters": {"k": "w"}})[1] == [
        "parameters: Forbidden: updates to parameters are forbidden."
    ]
    assert refused(volumeattributesclass.STRATEGY, named({"driverName": "a"})) == [
        "parameters: Required value: must contain at least one key/value pair"
    ]
    old = created(csistoragecapacity.STRATEGY, named({"storageClassName": "a", "capacity": "1Gi"}))
    assert changed(csistoragecapacity.STRATEGY, old, {"storageClassName": "b"})[1] == [
        'storageClassName: Invalid value: "b": field is immutable'
    ]
    assert refused(csistoragecapacity.STRATEGY, named({"storageClassName": "a", "capacity": "-1"})) == [
        'capacity: Invalid value: "-1": must be greater than or equal to 0'
    ]


def test_where_a_volume_is_reached_from_stays():
    """Given a volume with node affinity / when it changes / then that is refused, but for a label's
    newer name.
    """
    def affinity(key, value="a"):
        return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]}}

    beta, stable = "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"
    free = created(VOLUMES, volume())
    old, wrong = changed(VOLUMES, free, {"spec": {**free["spec"], "nodeAffinity": affinity(beta)}})
    assert wrong == []
    assert changed(VOLUMES, old, {"spec": {**old["spec"], "nodeAffinity": affinity(stable)}})[1] == []
    for other in (affinity(beta, "b"), affinity("x"), None):
        (text,) = changed(VOLUMES, old, {"spec": {**free["spec"], **({"nodeAffinity": other} if other else {})}})[1]
        assert text.startswith("nodeAffinity: Invalid value: ")
        assert text.endswith(": field is immutable, except for updating from beta label to GA")


@pytest.mark.parametrize(("minor", "text"), [
    (35, "updates to provisioner are forbidden."), (36, "field is immutable"), (37, "field is immutable")])
def test_what_a_storage_class_fixes_is_worded_by_the_release(minor, text):
    """Given a StorageClass whose provisioner changes / then it is refused, since 1.36 in the words
    that all other kinds have.
    """
    world = World()
    world.release = f"1.{minor}"
    old = created(storageclass.STRATEGY, named({"provisioner": "a/b"}), world)
    _, found = changed(storageclass.STRATEGY, old, {"provisioner": "a/c"}, world)
    assert [each for each in found if text in each], found


def test_an_unknown_data_source_stays_where_there_was_one():
    """Given a claim with a dataSourceRef of another group, so that it has such a dataSource, too /
    when it is written with the dataSource alone / then both stay.
    """
    source = {"apiGroup": "a.io", "kind": "K", "name": "n"}
    old = created(CLAIMS, claim(dataSourceRef=source))
    assert old["spec"]["dataSource"] == source
    spec = {key: value for key, value in old["spec"].items() if key != "dataSourceRef"}
    obj, wrong = changed(CLAIMS, old, {"spec": spec})
    assert (obj["spec"]["dataSource"], obj["spec"]["dataSourceRef"], wrong) == (source, source, [])
