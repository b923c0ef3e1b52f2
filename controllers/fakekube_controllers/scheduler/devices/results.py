"""What is written into a claim's ``status.allocation``.

Upstream: the end of Allocate, createNodeSelector.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util.rng import Rng
from fakekube_controllers.scheduler.devices.capacity import Amount
from fakekube_controllers.scheduler.devices.model import AllocationError, DeviceID, Features
from fakekube_controllers.scheduler.devices.pools import Pool
from fakekube_controllers.scheduler.devices.requests import ClaimRequests, Request, asked_of


class Taken(NamedTuple):
    """A device for a request: ``amounts`` of its capacity, if it is a share; ``counted`` is what
    was taken of the counters of its pool.
    """

    id: DeviceID
    slice: ReadOnlyTree
    device: ReadOnlyTree
    request: Request
    amounts: Mapping[str, Amount]
    pool: Pool
    counted: Sequence[ReadOnlyTree]
    is_share: bool


def allocation_of(
    claim: ClaimRequests, taken: Sequence[Taken], node_name: str, ids: Rng, features: Features,
) -> Tree:
    """The allocation of a claim. Raises AllocationError for a node selector that is none.

    The ids of its shares depend on the claim and the node alone, so that who only asks what would
    be allocated changes nothing.
    """
    selected = _selected(claim, taken)
    drawn = ids.fork(f"{meta.uid_of(claim.claim)} on {node_name}")
    devices: Tree = {"results": [_result(each, drawn, features) for each in taken]}
    config = [*_class_config(selected), *_claim_config(claim, selected)]
    if config:
        devices["config"] = [_for_all(each, selected) for each in config]
    found: Tree = {"devices": devices}
    selector = _node_selector(taken, node_name)
    if selector is not None:
        found["nodeSelector"] = selector
    return found


def _result(taken: Taken, ids: Rng, features: Features) -> Tree:
    request, id_ = taken.request, taken.id
    found: Tree = {"request": request.full_name, "driver": id_.driver, "pool": id_.pool, "device": id_.device}
    if request.has_admin_access:
        found["adminAccess"] = True
    if request.body.get("tolerations"):
        found["tolerations"] = request.body["tolerations"]
    if features.device_binding_and_status:
        for name in ("bindingConditions", "bindingFailureConditions"):
            if taken.device.get(name):
                found[name] = taken.device[name]
    if taken.is_share:
        found["shareID"] = ids.uid()
        if taken.amounts:
            found["consumedCapacity"] = {name: amount.text for name, amount in taken.amounts.items()}
    return found


def _selected(claim: ClaimRequests, taken: Sequence[Taken]) -> list[Request]:
    """Of each request the alternative that was taken."""
    used = {id(each.request): None for each in taken}
    return [
        next((each for each in alternatives if id(each) in used), alternatives[0]) for alternatives in claim.requests]


def _class_config(selected: Sequence[Request]) -> list[Tree]:
    """The configuration of each class, once, for all requests with that class."""
    requests: dict[str, list[str]] = {}
    classes: dict[str, ReadOnlyTree] = {}
    for each in selected:
        name = each.device_class["metadata"]["name"]
        classes[name] = each.device_class
        requests.setdefault(name, []).append(each.full_name)
    return [
        {"source": "FromClass", "requests": requests[name], **config}
        for name, device_class in classes.items() for config in device_class["spec"].get("config") or ()]


def _claim_config(claim: ClaimRequests, selected: Sequence[Request]) -> list[Tree]:
    """The claim's own configuration, but for what concerns only alternatives that were not taken.
    """
    names = dict.fromkeys(name for each in selected for name in (each.parent or each.name, each.full_name))
    return [
        {"source": "FromClaim", **config} for config in asked_of(claim.claim).get("config") or ()
        if not config.get("requests") or any(name in names for name in config["requests"])]


def _for_all(config: Tree, selected: Sequence[Request]) -> Tree:
    """Without the names of requests where these are all of them."""
    requests = config.get("requests") or ()
    if requests and not all((each.parent or each.name) in requests or each.full_name in requests for each in selected):
        return config
    return {key: value for key, value in config.items() if key != "requests"}


def _node_selector(taken: Sequence[Taken], node_name: str) -> Tree | None:
    """The nodes where all of the devices can be used; None: all nodes."""
    term: Tree = {}
    for each in taken:
        spec = each.slice["spec"]
        at = each.device if spec.get("perDeviceNodeSelection") else spec
        if at.get("nodeName") or each.device.get("bindsToNode"):
            only = {"key": "metadata.name", "operator": "In", "values": [node_name]}
            return {"nodeSelectorTerms": [{"matchFields": [only]}]}
        terms = (at.get("nodeSelector") or {}).get("nodeSelectorTerms") or ()
        if len(terms) > 1:
            raise AllocationError(f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
        for name in ("matchFields", "matchExpressions"):
            for requirement in (terms[0].get(name) or ()) if terms else ():
                known = term.setdefault(name, [])
                if not any(_is_same(requirement, other) for other in known):
                    known.append(requirement)
    return {"nodeSelectorTerms": [term]} if term else None


def _is_same(one: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    return (one["key"] == other["key"] and one["operator"] == other["operator"]
            and sorted(one.get("values") or ()) == sorted(other.get("values") or ()))
