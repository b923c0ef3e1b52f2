"""How the endpoints of a Service are spread over slices: changing as few slices as possible, never
filling one beyond its limit.

Upstream: k8s.io/endpointslice/reconciler.go and utils.go, trafficdist/trafficdist.go.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cache.lister import Lister
from fakekube.runtime import pods
from fakekube_controllers.endpoints import backends
from fakekube_controllers.endpoints.hashes import slice_port_hash

MANAGER = "endpointslice-controller.k8s.io"
SERVICE_NAME, MANAGED_BY = "kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"
MAX_ENDPOINTS = 100
ZONE = "topology.kubernetes.io/zone"
FAMILIES: Mapping[str, int] = {"IPv4": 4, "IPv6": 6}
CLOSE = ("PreferClose", "PreferSameZone", "PreferSameNode")
TOPOLOGY_MODES = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode")
RESERVED = (SERVICE_NAME, MANAGED_BY, backends.HEADLESS)

Identity = tuple[Any, ...]
Endpoints = dict[Identity, Tree]


class Changes(NamedTuple):
    """What is to be done to slices."""

    create: list[Tree]
    update: list[Tree]
    delete: list[Tree]


def address_types(service: Tree) -> list[str]:
    """The families of a Service's addresses: those that it names, or both for a headless one that
    names none.
    """
    families = service["spec"].get("ipFamilies")
    if families:
        return list(families)
    if not backends.has_address(service):
        return list(FAMILIES)
    return ["IPv6" if ":" in service["spec"]["clusterIP"] else "IPv4"]


def identity(endpoint: Tree) -> Identity:
    """What makes two endpoints the same one, whatever their state."""
    target = endpoint.get("targetRef") or {}
    where = tuple(sorted(endpoint["addresses"]))
    return where, endpoint.get("hostname", ""), target.get("namespace", ""), target.get("name", "")


def same_state(one: Tree, other: Tree) -> bool:
    """Whether nothing else differs either. Hints do not count: they follow from the rest."""
    def state(endpoint: Tree) -> Tree:
        target = {key: value for key, value in (endpoint.get("targetRef") or {}).items() if key != "resourceVersion"}
        return {key: value for key, value in endpoint.items() if key != "hints" and value is not None} | {"targetRef": target}

    return state(one) == state(other)


def port_key(ports: Sequence[Tree]) -> tuple[Any, ...]:
    """Slices with the same ports belong together."""
    return tuple(sorted(slice_port_hash(port) for port in ports))


class Planner:
    """Works out the changes for one Service and one family.

    ``lost`` are pods whose nodes are not there.
    """

    def __init__(self, service: Tree, nodes: Lister, *, limit: int = MAX_ENDPOINTS, same_traffic: bool = True) -> None:
        self.service, self.nodes, self.limit = service, nodes, limit
        self.lost: list[Tree] = []
        distribution = service["spec"].get("trafficDistribution")
        annotations = meta.annotations_of(service)
        wanted = next((annotations[key] for key in TOPOLOGY_MODES if key in annotations), "")
        known = distribution in (CLOSE if same_traffic else CLOSE[:1]) and wanted not in ("Auto", "auto")
        self.hints = str(distribution) if known else ""

    def plan(self, family: str, pods_: Sequence[Tree], existing: Sequence[Tree]) -> Changes:
        """The changes that make ``existing`` slices of a family tell of these pods."""
        wanted, ports = self._wanted(family, pods_)
        mine: dict[tuple[Any, ...], list[Tree]] = {}
        changes = Changes([], [], [])
        for each in existing:
            if any(owner["uid"] == meta.uid_of(self.service) for owner in meta.owners_of(each)):
                mine.setdefault(port_key(each.get("ports") or ()), []).append(each)
            else:
                changes.delete.append(each)
        for key, endpoints in wanted.items():
            self._fill(changes, mine.get(key, []), endpoints, self._empty(family, ports[key]))
        for key, slices in mine.items():
            if key not in wanted:
                changes.delete.extend(slices)
        self._keep_one(changes, existing, self._empty(family, []))
        self._hint(changes, existing)
        return self._recycled(changes)

    def _wanted(self, family: str, pods_: Sequence[Tree]) -> tuple[dict[Any, Endpoints], dict[Any, list[Tree]]]:
        wanted: dict[Any, Endpoints] = {}
        ports: dict[Any, list[Tree]] = {}
        for pod in pods_:
            if not backends.belongs(pod, terminating=True):
                continue
            found = sorted(backends.found_ports(pod, self.service), key=slice_port_hash)
            key = port_key(found)
            ports.setdefault(key, found)
            endpoints = wanted.setdefault(key, {})
            node = self.nodes.get("", pod["spec"].get("nodeName", ""))
            if node is None and not self.service["spec"].get("publishNotReadyAddresses"):
                if pod not in self.lost:
                    self.lost.append(pod)
                continue
            endpoint = self._endpoint(pod, node, backends.addresses(pod, FAMILIES[family]))
            if endpoint["addresses"]:
                endpoints[identity(endpoint)] = endpoint
        return wanted, ports

    def _endpoint(self, pod: Tree, node: Tree | None, addresses: list[str]) -> Tree:
        serving, terminating = pods.is_ready(pod), pods.is_terminating(pod)
        ready = bool(self.service["spec"].get("publishNotReadyAddresses")) or (serving and not terminating)
        endpoint: Tree = {
            "addresses": addresses, "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
            "targetRef": backends.target(pod),
        }
        optional = {
            "hostname": backends.hostname(pod, self.service), "nodeName": pod["spec"].get("nodeName"),
            "zone": meta.labels_of(node).get(ZONE) if node is not None else None,
        }
        return endpoint | {key: value for key, value in optional.items() if value}

    def _fill(self, changes: Changes, slices: Sequence[Tree], wanted: Endpoints, empty: Tree) -> None:
        """Keep endpoints where they are, fill up slices that change anyway, then one that has room,
        then new ones.
        """
        labels = self.labels()
        untouched, touched = [], []
        for each in slices:
            before = each.get("endpoints") or []
            found = [(endpoint, wanted.pop(identity(endpoint), None)) for endpoint in before]
            kept = [(old, new) for old, new in found if new is not None]
            if len(kept) == len(before) and all(same_state(old, new) for old, new in kept) and self._is_labelled(each):
                untouched.append(each)
            elif len(kept) < len(before) and not kept:
                changes.delete.append(each)
            else:
                metadata = {**each["metadata"], "labels": labels}
                touched.append({**each, "metadata": metadata, "endpoints": [new for _, new in kept]})
        left = list(wanted.values())
        for each in sorted(touched, key=lambda each: -len(each["endpoints"])):
            room = max(self.limit - len(each["endpoints"]), 0)
            each["endpoints"] += left[:room]
            left = left[room:]
        while left:
            fullest = self._with_room(untouched, len(left)) if len(left) < self.limit else None
            if fullest is not None:
                untouched.remove(fullest)
                touched.append({**fullest, "endpoints": [*(fullest.get("endpoints") or ()), *left]})
                break
            changes.create.append({**copy.deepcopy(empty), "endpoints": left[:self.limit]})
            left = left[self.limit:]
        changes.update.extend(touched)

    def _with_room(self, slices: Sequence[Tree], number: int) -> Tree | None:
        """The slice that so many more would fill the most."""
        sizes = [(len(each.get("endpoints") or ()), each) for each in slices]
        fitting = [(size, each) for size, each in sizes if 0 < size + number <= self.limit]
        return max(fitting, key=lambda pair: pair[0], default=(0, None))[1]

    def _keep_one(self, changes: Changes, existing: Sequence[Tree], placeholder: Tree) -> None:
        """A Service without endpoints has an empty slice."""
        if len(existing) != len(changes.delete) or changes.create:
            return
        if len(existing) == 1 and _is_like(existing[0], placeholder):
            changes.delete.clear()
        else:
            changes.create.append(placeholder)

    def _recycled(self, changes: Changes) -> Changes:
        """A slice that would go becomes one that would come."""
        create, update, delete = list(changes.create), list(changes.update), []
        for gone in changes.delete:
            mine = any(owner["uid"] == meta.uid_of(self.service) for owner in meta.owners_of(gone))
            if create and mine and create[-1]["addressType"] == gone["addressType"]:
                new = create.pop()
                update.append({**new, "metadata": {**new["metadata"], "name": meta.name_of(gone)}})
            else:
                delete.append(gone)
        return Changes(create, update, delete)

    # the form of slices

    def labels(self) -> dict[str, str]:
        """The Service's own labels, and what every slice has."""
        given = {key: value for key, value in meta.labels_of(self.service).items() if key not in RESERVED}
        headless = {} if backends.has_address(self.service) else {backends.HEADLESS: ""}
        return given | headless | {SERVICE_NAME: meta.name_of(self.service), MANAGED_BY: MANAGER}

    def _is_labelled(self, present: Tree) -> bool:
        def own(labels: Mapping[str, str]) -> dict[str, str]:
            return {key: value for key, value in labels.items() if key not in RESERVED}

        return own(meta.labels_of(present)) == own(meta.labels_of(self.service))

    def _empty(self, family: str, ports: list[Tree]) -> Tree:
        return {
            "metadata": {
                "generateName": f"{meta.name_of(self.service)}-", "namespace": meta.namespace_of(self.service),
                "labels": self.labels(), "ownerReferences": [meta.controller_reference(self.service)],
            },
            "addressType": family, "ports": ports, "endpoints": [],
        }

    # hints

    def _hint(self, changes: Changes, existing: Sequence[Tree]) -> None:
        """Say of every ready endpoint for which zone and node it is meant, if the Service asks for
        that; else say nothing.
        """
        busy = {meta.name_of(each) for each in (*changes.update, *changes.delete)}
        for each in existing:
            endpoints = each.get("endpoints") or ()
            if meta.name_of(each) not in busy and any(self._hinted(endpoint) != endpoint for endpoint in endpoints):
                changes.update.append({**each})
        for each in (*changes.create, *changes.update):
            each["endpoints"] = [self._hinted(endpoint) for endpoint in each["endpoints"] or ()]

    def _hinted(self, endpoint: Tree) -> Tree:
        if self.hints and not endpoint["conditions"].get("ready"):
            return endpoint
        hints: Tree = {}
        if self.hints and endpoint.get("zone"):
            hints["forZones"] = [{"name": endpoint["zone"]}]
        if self.hints == CLOSE[-1] and endpoint.get("nodeName"):
            hints["forNodes"] = [{"name": endpoint["nodeName"]}]
        bare = {key: value for key, value in endpoint.items() if key != "hints"}
        return bare | ({"hints": hints} if hints else {})


def _is_like(present: Tree, placeholder: Tree) -> bool:
    same_owners = meta.owners_of(present) == meta.owners_of(placeholder)
    same_labels = meta.labels_of(present) == meta.labels_of(placeholder)
    return same_owners and same_labels and not present.get("endpoints") and not present.get("ports")
