"""The requests of claims that are made for extended resources."""

import pytest

from fakekube_controllers.scheduler.devices.special import requests_of, special_claim


def container(name, count=0, **rest):
    asked = {"requests": {"cpu": "1", "example.com/nic": str(count)}} if count else {}
    return {"name": name, "resources": asked, **rest}


def asked(*containers, inits=()):
    """The counts by request, and by container the requests that it uses."""
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"},
           "spec": {"initContainers": list(inits), "containers": list(containers)}}
    classes = {"example.com/nic": {"metadata": {"name": "nic"}}}
    requests, mappings = requests_of(pod, ["example.com/nic", "example.com/unknown"], classes.get)
    assert all(each["exactly"]["deviceClassName"] == "nic" for each in requests)
    used = {}
    for each in mappings:
        used.setdefault(each["containerName"], []).append(each["requestName"])
    return {each["name"]: each["exactly"]["count"] for each in requests}, used


C0, C1, C2 = (f"container-{number}-request-1" for number in range(3))


@pytest.mark.parametrize(("containers", "inits", "requests", "used"), [
    ([container("a", 1), container("b", 2)], [], {C0: 1, C1: 2}, {"a": [C0], "b": [C1]}),
    ([container("a", 2)], [container("i", 1)], {C1: 2}, {"a": [C1], "i": [C1]}),
    ([container("a", 1)], [container("i", 3)], {C0: 2, C1: 1}, {"a": [C1], "i": [C1, C0]}),
    ([container("a")], [container("i", 1), container("j", 3)], {C1: 3}, {"i": [C1], "j": [C1]}),
    ([container("a", 1)], [container("s", 1, restartPolicy="Always"), container("i", 1)], {C0: 1, C2: 1},
     {"s": [C0], "a": [C2], "i": [C2]}),
    ([container("a")], [], {}, {}),
])
def test_init_containers_use_what_others_get_later(containers, inits, requests, used):
    """Given containers, init containers and sidecars that ask for devices / when requests are made
    / then init containers use those of containers that start later, and only what they need
    beyond is asked for, once for all of them.
    """
    assert asked(*containers, inits=inits) == (requests, used)


def test_the_claim_is_its_pods():
    """Given a pod / when its special claim is made / then the pod controls it, and it is marked."""
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": []}}
    metadata = special_claim(pod, "x")["metadata"]
    assert metadata["generateName"] == "p-extended-resources-"
    assert metadata["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert metadata["ownerReferences"][0]["uid"] == "u"
