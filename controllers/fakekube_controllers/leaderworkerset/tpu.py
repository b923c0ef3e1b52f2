"""What containers that ask for TPUs are told of each other.

Upstream: pkg/utils/accelerators/tpu.go.
"""

from collections.abc import Mapping, Sequence

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.leaderworkerset import names

RESOURCE, DEFAULT_PORT = "google.com/tpu", 8476
HOST_NAMES, WORKER_ID, NAME = "TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID", "TPU_NAME"
ADDRESSES, PORT = "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT"
OF_LEADER = f"{names.DOMAIN}/leader-requests-tpus"


def annotations_of(leader: ReadOnlyTree) -> dict[str, str]:
    """What the workers of a leader are annotated with."""
    return {OF_LEADER: "true"} if _asking(leader["spec"]) else {}


def add_variables(pod: Tree, size: int) -> None:
    """Tell the containers of a pod that ask for TPUs where the others are, in place.

    Raises ValueError for a pod that does not say which one it is.
    """
    containers = _asking(pod["spec"])
    if not containers or any(env["name"] in (HOST_NAMES, WORKER_ID) for env in containers[0].get("env") or ()):
        return
    if names.SUBGROUP_SIZE in meta.annotations_of(pod):
        _of_subgroup(pod, containers[0])
    else:
        _of_group(pod, containers, size)


def _of_group(pod: Tree, containers: Sequence[Tree], size: int) -> None:
    leader, index = (meta.name_of(pod), 0) if names.is_leader(pod) else names.parent_and_ordinal(meta.name_of(pod))
    if not leader:
        raise ValueError(f"parsing parent name from pod {meta.name_of(pod)}")
    of_leader = meta.annotations_of(pod).get(OF_LEADER) == "true" or names.is_leader(pod)
    index -= not of_leader
    ports = [_port(container) or str(DEFAULT_PORT + number) for number, container in enumerate(containers)]
    hosts = _hosts(pod, [leader] * of_leader + [f"{leader}-{number}" for number in range(1, size)])
    for number, container in enumerate(containers):
        places = [(host, port) for host in hosts for port in ports]
        _tell(container, leader, index * len(containers) + number, places, ports[number])


def _of_subgroup(pod: Tree, container: Tree) -> None:
    annotations, labels = meta.annotations_of(pod), meta.labels_of(pod)
    size = names.number(annotations[names.SUBGROUP_SIZE])
    number, index = (names.number(labels.get(label, "")) for label in (names.SUBGROUP_INDEX, names.WORKER_INDEX))
    of_leader = annotations.get(OF_LEADER) == "true"
    leader, start, end = meta.name_of(pod), size * number + 1, size * (number + 1)
    hosts: list[str] = []
    if index == 0:
        hosts, end = [leader], end - 1
    else:
        leader = names.parent_and_ordinal(meta.name_of(pod))[0]
        if not leader:
            raise ValueError(f"parsing parent name from pod {meta.name_of(pod)}")
        if of_leader and number == 0:
            hosts, end = [leader], end - 1
        elif of_leader:
            start, end = start - 1, end - 1
    hosts += [f"{leader}-{each}" for each in range(start, end + 1)]
    port = _port(container) or str(DEFAULT_PORT)
    worker_id = names.divided(index if of_leader else index - 1, size)[1]
    _tell(container, leader, worker_id, [(host, port) for host in _hosts(pod, hosts)], port)


def _tell(container: Tree, leader: str, worker_id: int, places: Sequence[tuple[str, str]], port: str) -> None:
    told = {
        HOST_NAMES: ",".join(host for host, _ in places), WORKER_ID: str(worker_id), NAME: leader,
        ADDRESSES: ",".join(f"{host}:{each}" for host, each in places)}
    if not _port(container):
        told[PORT] = port
    container["env"] = [*(container.get("env") or ()), *({"name": name, "value": value} for name, value in told.items())]


def _hosts(pod: ReadOnlyTree, pods: Sequence[str]) -> list[str]:
    return [f"{each}.{pod['spec'].get('subdomain', '')}" for each in pods]


def _port(container: ReadOnlyTree) -> str:
    return next((env.get("value", "") for env in container.get("env") or () if env["name"] == PORT), "")


def _asking(spec: ReadOnlyTree) -> list[Tree]:
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return [each for each in containers if _asks(each.get("resources") or meta.EMPTY)]


def _asks(resources: Mapping[str, Mapping[str, str]]) -> bool:
    return any(quantity.parse((resources.get(part) or {}).get(RESOURCE, "0")).nano for part in ("limits", "requests"))
