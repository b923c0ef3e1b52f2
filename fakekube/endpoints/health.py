"""Whether the server is well: /healthz, /livez, /readyz and their single checks.

Upstream: apiserver/pkg/server/healthz. The checks have upstream's names, since clients exclude and
ask for them by name; here all of them hold as long as the server answers at all.
"""

from fakekube.apimachinery.http import Request, Response
from fakekube.endpoints.answers import page_not_found, text_answer

HOOKS = (
    "start-apiserver-admission-initializer", "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter", "storage-object-count-tracker-hook", "start-apiextensions-informers",
    "start-apiextensions-controllers", "crd-informer-synced", "start-system-namespaces-controller",
    "start-cluster-authentication-info-controller", "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector", "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers", "rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer", "bootstrap-controller", "start-kubernetes-service-cidr-controller",
    "aggregator-reload-proxy-client-cert", "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller", "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
)
LAST = (
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
CHECKS = ("ping", "log", "etcd", *(f"poststarthook/{name}" for name in HOOKS), *LAST)
READY_CHECKS = (*CHECKS[:3], "informer-sync", *CHECKS[3:], "shutdown")
ENDPOINTS = {"healthz": CHECKS, "livez": CHECKS, "readyz": READY_CHECKS}


def answer(request: Request) -> Response:
    """Answer a path below one of the three."""
    name, _, check = request.path.strip("/").partition("/")
    checks = ENDPOINTS[name]
    if check:
        return text_answer("ok") if check in checks else page_not_found()
    if "verbose" not in request.query:
        return text_answer("ok")
    excluded = request.query.get("exclude", [])
    lines = [f"[+]{each} excluded: ok" if each in excluded else f"[+]{each} ok" for each in checks]
    unknown = [f'"{each}"' for each in excluded if each not in checks]
    if unknown:
        lines.append(f"warn: some health checks cannot be excluded: no matches for {','.join(unknown)}")
    return text_answer("\n".join([*lines, f"{name} check passed", ""]))
