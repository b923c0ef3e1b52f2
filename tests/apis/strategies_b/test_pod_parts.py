"""Parts of pods that few have: owners of files in volumes, the claim of extended resources."""

from fakekube.apis.core.pod_status import validate_status_update
from fakekube.apis.core.podspec_gates import drop_disabled

ITEMS = [{"key": "a", "path": "b", "user": 5}]


def volumes():
    """A pod's volumes, each of which says whose its files are."""
    sources = [{"serviceAccountToken": {"path": "t", "user": 4}}, {"secret": {"name": "q", "items": [*map(dict, ITEMS)]}}]
    return {"volumes": [
        {"name": "v", "secret": {"secretName": "s", "defaultUser": 3, "items": [*map(dict, ITEMS)]}},
        {"name": "w", "projected": {"defaultUser": 1, "sources": sources}}, {"name": "x", "emptyDir": {}}]}


def test_files_belong_to_nobody_while_the_feature_is_off():
    """Given volumes with owners of files / when the gate is off / then the owners go, unless the
    old pod has any; when it is on / they stay.
    """
    spec = volumes()
    drop_disabled(spec, None, lambda _: False)
    assert "user" not in str(spec).lower()
    used = {"volumes": [{"name": "v", "configMap": {"items": [*map(dict, ITEMS)]}}]}
    for old, on in ((used, False), (None, True)):
        spec = volumes()
        drop_disabled(spec, old, lambda _, on=on: on)
        assert spec == volumes()


def test_the_claim_of_extended_resources_maps_requests_of_containers():
    """Given a status with such a claim / when its mappings name what is not in the pod, or come
    twice / then each is told; one that fits is fine.
    """
    container = {"name": "c", "resources": {"requests": {"r": "1"}}}
    pod = {"metadata": {}, "spec": {"containers": [container], "initContainers": [{"name": "i"}]}, "status": {}}

    def told(**claim):
        changed = {**pod, "status": {"extendedResourceClaimStatus": claim}}
        return [str(error).partition(": a lower")[0] for error in validate_status_update(changed, pod)]

    good = {"containerName": "c", "resourceName": "r", "requestName": "q"}
    assert told(resourceClaimName="a", requestMappings=[good]) == []
    path = "status.extendedResourceClaimStatus"
    assert told() == [
        f"{path}.requestMappings: Required value: at least one request mapping is required",
        f"{path}.resourceClaimName: Required value"]
    wrong = [{**good, "containerName": "x"}, {**good, "containerName": "i"}, good, good, {**good, "requestName": "Q"}]
    assert told(resourceClaimName="A", requestMappings=wrong) == [
        (f'{path}.requestMappings[0].containerName: Invalid value: "x": '
         "must match the name of an entry in spec.initContainers.name or spec.containers.name"),
        (f'{path}.requestMappings[1].resourceName: Invalid value: "r": must match the extended resource name of an entry in '
         "spec.initContainers.resources.requests or spec.containers.resources.requests"),
        f'{path}.requestMappings[3].containerName: Duplicate value: "c"',
        f'{path}.requestMappings[3].resourceName: Duplicate value: "r"',
        f'{path}.requestMappings[3].requestName: Duplicate value: "q"',
        f'{path}.requestName: Invalid value: "Q"',
        f'{path}.resourceClaimName: Invalid value: "A"']
