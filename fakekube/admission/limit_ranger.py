"""LimitRanger: default requests and limits of containers, and the least and most they may have.

Upstream: plugin/pkg/admission/limitranger.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import pod_resources, quantity
from fakekube.apimachinery.amounts import Amounts, read
from fakekube.apimachinery.quantity import Quantity
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

ANNOTATION = "kubernetes.io/limit-ranger"
ZERO = quantity.parse("0")
OF_PODS = pod_resources.Options(exclude_overhead=True, pod_level=pod_resources.QOS_RESOURCES.__contains__)
"""What a Pod is measured by: neither its overhead nor what a resize has in flight, and huge pages
by its containers alone.
"""


class LimitRanger(Plugin):
    """Fills requests and limits of new pods, and refuses pods and claims that break a LimitRange.
    """

    name = "LimitRanger"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New pods, their resizing, and claims."""
        if is_resource(kind, "", "pods"):
            return (operation, subresource) in (("CREATE", ""), ("UPDATE", "resize"))
        return is_resource(kind, "", "persistentvolumeclaims") and not subresource and operation in ("CREATE", "UPDATE")

    def admit(self, attrs: Attributes) -> None:
        """The defaults, range by range."""
        pod = attrs.obj
        if pod is None or attrs.kind.plural != "pods" or _is_deleting(attrs.old):
            return
        for limit_range in _ranges(attrs):
            _fill(pod, limit_range)

    def validate(self, attrs: Attributes) -> None:
        """Minimum, maximum and ratio, range by range."""
        obj = attrs.obj
        if obj is None or _is_deleting(attrs.old):
            return
        check = _pod_complaints if attrs.kind.plural == "pods" else _claim_complaints
        for limit_range in _ranges(attrs):
            found = list(dict.fromkeys(check(obj, limit_range)))
            if found:
                raise forbidden(attrs, found[0] if len(found) == 1 else f"[{', '.join(found)}]")


def _is_deleting(old: Tree | None) -> bool:
    return old is not None and "deletionTimestamp" in old["metadata"]


def _ranges(attrs: Attributes) -> list[list[Tree]]:
    return [
        (tree.get("spec") or {}).get("limits") or []
        for tree in attrs.ctx.cluster.select("", "limitranges", attrs.namespace)]


def _fill(pod: Tree, limits: list[Tree]) -> None:
    usual: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    for limit in limits:
        if limit.get("type") == "Container":
            usual["requests"].update(limit.get("defaultRequest") or {})
            usual["limits"].update(limit.get("default") or {})
    if not usual["limits"] and not usual["requests"]:
        return
    said: list[str] = []
    spec = dict(pod["spec"])
    for field, words in (("containers", "container"), ("initContainers", "init container")):
        if field in spec:
            spec[field] = [dict(container) for container in spec[field] or ()]
            for container in spec[field]:
                said += _fill_container(container, usual, words)
    if said:
        pod["spec"] = spec
        metadata = pod["metadata"]
        text = f"LimitRanger plugin set: {'; '.join(said)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}


def _fill_container(container: Tree, usual: dict[str, dict[str, str]], words: str) -> list[str]:
    """Fill one container, and say what was filled: requests first."""
    resources = dict(container.get("resources") or {})
    said = []
    for part, word in (("requests", "request"), ("limits", "limit")):
        present = resources.get(part) or {}
        missing = sorted(name for name in usual[part] if name not in present)
        if missing:
            resources[part] = {**present, **{name: usual[part][name] for name in missing}}
            said.append(f"{', '.join(missing)} {word} for {words} {container.get('name', '')}")
    container["resources"] = {name: resources[name] for name in ("limits", "requests", *resources) if name in resources}
    return said


def _pod_complaints(pod: Tree, limits: list[Tree]) -> list[str]:
    spec, found = pod["spec"], []
    for limit in limits:
        if limit.get("type") == "Container":
            for field in ("containers", "initContainers"):
                for container in spec.get(field) or ():
                    resources = container.get("resources") or {}
                    found += _complaints(limit, read(resources.get("requests")), read(resources.get("limits")))
        elif limit.get("type") == "Pod":
            found += _complaints(
                limit, pod_resources.quantities(pod_resources.requests(pod, OF_PODS)),
                pod_resources.quantities(pod_resources.limits(pod, OF_PODS)))
    return found


def _claim_complaints(claim: Tree, limits: list[Tree]) -> list[str]:
    requests, found = read((claim["spec"].get("resources") or {}).get("requests")), []
    for limit in limits:
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        for name, low in read(limit.get("min")).items():
            found += _too_little("PersistentVolumeClaim", name, low, requests, {})
        for name, high in read(limit.get("max")).items():
            what = f"maximum {name} usage per PersistentVolumeClaim is {high.text}"
            if name not in requests:
                found.append(f"{what}.  No request is specified")
            elif requests[name].nano > high.nano:
                found.append(f"{what}, but request is {requests[name].text}")
    return found


def _complaints(limit: Tree, requests: Amounts, limits: Amounts) -> list[str]:
    kind, found = limit["type"], []
    for name, low in read(limit.get("min")).items():
        found += _too_little(kind, name, low, requests, limits)
    for name, high in read(limit.get("max")).items():
        found += _too_much(kind, name, high, requests, limits)
    for name, ratio in read(limit.get("maxLimitRequestRatio")).items():
        found += _too_wide(kind, name, ratio, requests.get(name, ZERO), limits.get(name, ZERO))
    return found


def _too_little(kind: str, name: str, low: Quantity, requests: Amounts, limits: Amounts) -> list[str]:
    what = f"minimum {name} usage per {kind} is {low.text}"
    if name not in requests:
        return [f"{what}.  No request is specified"]
    if requests[name].nano < low.nano:
        return [f"{what}, but request is {requests[name].text}"]
    if name in limits and limits[name].nano < low.nano:
        return [f"{what}, but limit is {limits[name].text}"]
    return []


def _too_much(kind: str, name: str, high: Quantity, requests: Amounts, limits: Amounts) -> list[str]:
    what = f"maximum {name} usage per {kind} is {high.text}"
    if name not in limits:
        return [f"{what}.  No limit is specified"]
    if limits[name].nano > high.nano:
        return [f"{what}, but limit is {limits[name].text}"]
    if name in requests and requests[name].nano > high.nano:
        return [f"{what}, but request is {requests[name].text}"]
    return []


def _too_wide(kind: str, name: str, ratio: Quantity, request: Quantity, limit: Quantity) -> list[str]:
    what = f"{name} max limit to request ratio per {kind} is {ratio.text}"
    if not request.nano:
        return [f"{what}, but no request is specified or request is 0"]
    if not limit.nano:
        return [f"{what}, but no limit is specified or limit is 0"]
    if limit.nano * quantity.NANO > ratio.nano * request.nano:
        return [f"{what}, but provided ratio is {quantity.quotient(limit.nano, request.nano):f}"]
    return []
