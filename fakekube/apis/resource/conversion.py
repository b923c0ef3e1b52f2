"""How resource.k8s.io changed: requests got an ``exactly`` around what they ask for, devices lost
the ``basic`` around what they are, and capacities became objects. Upstream:
pkg/apis/resource/v1beta1 and v1alpha3, conversion.go.
"""

from fakekube.apimachinery.types import Tree

# What a request says of the devices that it wants; with ``exactly`` around it since v1beta2.
EXACT = (
    "deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity",
    "derivedAttributes",
)  # fmt: skip


def claim_to_exactly(tree: Tree) -> Tree:
    """A ResourceClaim of v1beta1 in the shape of v1."""
    _spec_to_exactly(tree.get("spec") or {})
    return tree


def claim_from_exactly(tree: Tree) -> Tree:
    """A ResourceClaim of v1 in the shape of v1beta1."""
    _spec_from_exactly(tree.get("spec") or {})
    return tree


def template_to_exactly(tree: Tree) -> Tree:
    """A ResourceClaimTemplate of v1beta1 in the shape of v1."""
    _spec_to_exactly((tree.get("spec") or {}).get("spec") or {})
    return tree


def template_from_exactly(tree: Tree) -> Tree:
    """A ResourceClaimTemplate of v1 in the shape of v1beta1."""
    _spec_from_exactly((tree.get("spec") or {}).get("spec") or {})
    return tree


def slice_from_basic(tree: Tree) -> Tree:
    """A ResourceSlice of v1beta1 in the shape of v1."""
    spec = tree.get("spec") or {}
    if spec.get("devices"):
        spec["devices"] = [{"name": device.get("name", ""), **device.get("basic", {})} for device in spec["devices"]]
    return tree


def slice_to_basic(tree: Tree) -> Tree:
    """A ResourceSlice of v1 in the shape of v1beta1."""
    spec = tree.get("spec") or {}
    if spec.get("devices"):
        spec["devices"] = [
            {"name": device.get("name", ""), "basic": {key: device[key] for key in device if key != "name"}}
            for device in spec["devices"]
        ]
    return tree


def slice_from_plain_capacity(tree: Tree) -> Tree:
    """A ResourceSlice of v1alpha3 in the shape of v1beta1: a capacity is an object."""
    for basic in _basics(tree):
        if "capacity" in basic:
            basic["capacity"] = {name: {"value": value} for name, value in basic["capacity"].items()}
    return tree


def slice_to_plain_capacity(tree: Tree) -> Tree:
    """A ResourceSlice of v1beta1 in the shape of v1alpha3: a capacity is a quantity."""
    for basic in _basics(tree):
        if "capacity" in basic:
            basic["capacity"] = {name: value.get("value", "0") for name, value in basic["capacity"].items()}
    return tree


def slice_from_alpha(tree: Tree) -> Tree:
    """A ResourceSlice of v1alpha3 in the shape of v1beta2."""
    return slice_from_basic(slice_from_plain_capacity(tree))


def slice_to_alpha(tree: Tree) -> Tree:
    """A ResourceSlice of v1beta2 in the shape of v1alpha3."""
    return slice_to_plain_capacity(slice_to_basic(tree))


def _basics(tree: Tree) -> list[Tree]:
    return [device["basic"] for device in (tree.get("spec") or {}).get("devices") or () if "basic" in device]


def _spec_to_exactly(spec: Tree) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        exactly = {name: request.pop(name) for name in EXACT if name in request}
        if exactly:
            request["exactly"] = exactly


def _spec_from_exactly(spec: Tree) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        request.update(request.pop("exactly", {}))
