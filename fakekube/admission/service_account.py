"""ServiceAccount: every pod runs as an account of its namespace, and gets that account's token and
pull secrets.

Upstream: plugin/pkg/admission/serviceaccount, which waits a second or two for the account of a new
namespace; here the controllers get some turns of the event loop, so that no time passes.
"""

from collections.abc import Awaitable, Iterator

from fakekube.admission.plugin import Plugin, forbidden, is_resource, unaskable
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.util.tasks import turn

DEFAULT_ACCOUNT = "default"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
ENFORCE_ANNOTATION = "kubernetes.io/enforce-mountable-secrets"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
PATIENCE_TURNS = 100
VOLUME_PREFIX = "kube-api-access-"
TOKEN_EXPIRATION_SECONDS = 3607  # marks tokens of pods that may outlive their token
TRUE_TEXTS = ("1", "t", "T", "TRUE", "true", "True")


class ServiceAccount(Plugin):
    """Fills account, token volume and pull secrets of a new pod; refuses pods whose account is not
    there.
    """

    name = "ServiceAccount"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New pods, and new containers for debugging."""
        if not is_resource(kind, "", "pods"):
            return False
        return (operation, subresource) in (("CREATE", ""), ("UPDATE", "ephemeralcontainers"))

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        """The account, its token and its pull secrets; an account that is not there is given a
        moment to come.
        """
        pod = attrs.obj
        if attrs.operation != "CREATE" or pod is None:
            return None
        if _is_mirror(pod):
            self.validate(attrs)
            return None
        spec = pod["spec"]
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = spec["serviceAccount"] = DEFAULT_ACCOUNT
        if _find(attrs, spec["serviceAccountName"]) is None:
            return self._admit_late(attrs, spec)
        self._admit(attrs, spec)
        return None

    async def _admit_late(self, attrs: Attributes, spec: Tree) -> None:
        for _ in range(PATIENCE_TURNS):
            await turn()
            if _find(attrs, spec["serviceAccountName"]) is not None:
                break
        self._admit(attrs, spec)

    def _admit(self, attrs: Attributes, spec: Tree) -> None:
        account = _account(attrs, spec["serviceAccountName"])
        if spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True)):
            _mount_token(spec, attrs)
        pull_secrets = account.get("imagePullSecrets")
        if pull_secrets and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [{"name": secret.get("name", "")} for secret in pull_secrets]
        self.validate(attrs)

    def validate(self, attrs: Attributes) -> None:
        """The account exists, and grants the secrets that the pod names when it says that it guards
        them.
        """
        pod = attrs.obj
        if pod is None:
            return
        if _is_mirror(pod) and attrs.operation == "CREATE":
            _check_mirror(attrs, pod["spec"])
            return
        name = pod["spec"].get("serviceAccountName")
        if not name:
            pod_name = pod["metadata"].get("name", "")
            raise forbidden(attrs, f"no service account specified for pod {attrs.namespace}/{pod_name}")
        account = _account(attrs, name)
        annotations = account["metadata"].get("annotations") or {}
        if annotations.get(ENFORCE_ANNOTATION) in TRUE_TEXTS:
            why = _not_granted(pod["spec"], account, ephemeral=attrs.subresource == "ephemeralcontainers")
            if why:
                raise forbidden(attrs, why)


def _is_mirror(pod: Tree) -> bool:
    return MIRROR_ANNOTATION in (pod["metadata"].get("annotations") or {})


def _find(attrs: Attributes, name: str) -> Tree | None:
    return attrs.ctx.cluster.lookup("", "serviceaccounts", attrs.namespace, name)


def _account(attrs: Attributes, name: str) -> Tree:
    found = _find(attrs, name)
    if found is None:
        why = unaskable(name) or f'serviceaccount "{name}" not found'
        raise forbidden(attrs, f"error looking up service account {attrs.namespace}/{name}: {why}")
    return found


def _check_mirror(attrs: Attributes, spec: Tree) -> None:
    if spec.get("serviceAccountName"):
        raise forbidden(attrs, "a mirror pod may not reference service accounts")
    volumes = spec.get("volumes") or ()
    if any(_container_secrets(spec)) or spec.get("imagePullSecrets") or any("secret" in volume for volume in volumes):
        raise forbidden(attrs, "a mirror pod may not reference secrets")
    for volume in volumes:
        for source in (volume.get("projected") or {}).get("sources") or ():
            if "secret" in source:
                raise forbidden(attrs, "a mirror pod may not reference secrets")
            if "serviceAccountToken" in source:
                raise forbidden(attrs, "a mirror pod may not use ServiceAccountToken volume projections")


def _container_secrets(spec: Tree, *fields: str) -> Iterator[tuple[str, str]]:
    """Who refers to a secret through its environment, in words, and the secret's name."""
    prefixes = {
        "initContainers": "init container", "containers": "container", "ephemeralContainers": "ephemeral container",
    }
    for field in fields or tuple(prefixes):
        for container in spec.get(field) or ():
            who = f"{prefixes[field]} {container.get('name', '')}"
            for env in container.get("env") or ():
                if reference := (env.get("valueFrom") or {}).get("secretKeyRef"):
                    yield f"{who} with envVar {env.get('name', '')}", reference.get("name", "")
            for source in container.get("envFrom") or ():
                if reference := source.get("secretRef"):
                    yield f"{who} with envFrom", reference.get("name", "")


def _not_granted(spec: Tree, account: Tree, *, ephemeral: bool) -> str:
    """Why the account does not grant what the pod refers to; empty when it does."""
    name = account["metadata"]["name"]
    secrets = [secret.get("name", "") for secret in account.get("secrets") or ()]
    suffix = f"is not allowed because service account {name} does not reference that"
    if not ephemeral:
        for volume in spec.get("volumes") or ():
            secret = (volume.get("secret") or {}).get("secretName", "")
            if "secret" in volume and secret not in secrets:
                return f'volume with secret.secretName="{secret}" {suffix} secret'
    fields = ("ephemeralContainers",) if ephemeral else ("initContainers", "containers")
    for who, secret in _container_secrets(spec, *fields):
        if secret not in secrets:
            return f'{who} referencing secret.secretName="{secret}" {suffix} secret'
    if ephemeral:
        return ""
    pull_secrets = [secret.get("name", "") for secret in account.get("imagePullSecrets") or ()]
    for number, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if secret.get("name", "") not in pull_secrets:
            return f'imagePullSecrets[{number}].name="{secret.get("name", "")}" {suffix} imagePullSecret'
    return ""


def _mount_token(spec: Tree, attrs: Attributes) -> None:
    """Mount the token volume into every container that has nothing at its place; add the volume
    when one uses it.
    """
    present = next((name for name in _volume_names(spec) if name.startswith(VOLUME_PREFIX)), "")
    name = present or VOLUME_PREFIX + attrs.ctx.rng.suffix()
    mount, used = {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}, False
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or ():
            mounts = container.get("volumeMounts")
            if mounts and MOUNT_PATH in [here.get("mountPath") for here in mounts]:
                continue
            container["volumeMounts"] = [*mounts, mount] if mounts else [mount]
            used = True
    if used and not present:
        spec["volumes"] = [*(spec.get("volumes") or ()), {"name": name, "projected": _token_source()}]


def _volume_names(spec: Tree) -> list[str]:
    return [volume.get("name", "") for volume in spec.get("volumes") or ()]


def _token_source() -> Tree:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_EXPIRATION_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 420,
    }
