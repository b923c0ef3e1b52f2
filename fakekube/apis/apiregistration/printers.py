"""How APIServices print. Upstream: kube-aggregator/pkg/registry/apiservice/etcd."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, column, condition, dig, table


def _service(obj: Tree) -> str:
    service = dig(obj, "spec", "service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(obj: Tree) -> str:
    found = condition(obj, "Available")
    if found is None:
        return "Unknown"
    status, reason = str(found.get("status", "")), found.get("reason")
    return f"{status} ({reason})" if status != "True" and reason else status


API_SERVICE = table(NAME, column("Service", _service), column("Available", _available), AGE)
