"""How the kinds of networking.k8s.io print."""

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.core.printers import load_balancer
from fakekube.apis.printing import (
    AGE,
    NAME,
    NONE,
    age,
    column,
    columns,
    dig,
    format_selector,
    joined,
    table,
)  # fmt: skip
from fakekube.registry.kind import Printer

DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
SHOWN_HOSTS = 3


def _hosts(obj: Tree) -> str:
    rules = dig(obj, "spec", "rules") or ()
    hosts: list[str] = []
    more = False
    for rule in rules:
        more = more or len(hosts) == SHOWN_HOSTS
        if not more and rule.get("host"):
            hosts.append(rule["host"])
    text = ",".join(hosts) or "*"
    return f"{text} + {len(rules) - SHOWN_HOSTS} more..." if more else text


def _ports(obj: Tree) -> str:
    return "80, 443" if dig(obj, "spec", "tls") else "80"


def _class_name(obj: Tree) -> str:
    name = dig(obj, "metadata", "name") or ""
    default = (dig(obj, "metadata", "annotations") or {}).get(DEFAULT_CLASS) == "true"
    return f"{name} (default)" if default else name


def _parameters(obj: Tree) -> str:
    parameters = dig(obj, "spec", "parameters")
    if parameters is None:
        return NONE
    group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


def _parent(obj: Tree) -> str:
    parent = dig(obj, "spec", "parentRef")
    if parent is None:
        return NONE
    resource = str(GroupResource(parent.get("group", ""), parent.get("resource", ""))).lower()
    return "/".join(filter(None, [resource, parent.get("namespace"), parent.get("name", "")]))


def _ip_address(obj: Tree, now: float) -> list[Json]:
    return [dig(obj, "metadata", "name"), _parent(obj), age(obj, now)]


INGRESS = table(
    NAME,
    column("Class", "spec.ingressClassName", NONE),
    column("Hosts", _hosts),
    column("Address", lambda obj: load_balancer(dig(obj, "status", "loadBalancer", "ingress"))),
    column("Ports", _ports),
    AGE,
)
INGRESS_CLASS = table(
    column("Name", _class_name), column("Controller", "spec.controller"), column("Parameters", _parameters), AGE
)
# Upstream prints the age too, without a column for it.
IP_ADDRESS = Printer(columns("Name", "ParentRef"), _ip_address)
NETWORK_POLICY = table(
    NAME, column("Pod-Selector", lambda obj: format_selector(dig(obj, "spec", "podSelector") or {})), AGE
)
SERVICE_CIDR = table(NAME, column("CIDRs", joined("spec.cidrs")), AGE)
