"""TokenRequest: a token for a service account, for the sub-resource ``token``.

Upstream: pkg/registry/core/serviceaccount/storage/token.go, pkg/apis/authentication/validation. Left out: keys; who
makes the token's text is the caller's to say.
"""

from collections.abc import Callable

from fakekube.apimachinery import errors
from fakekube.apimachinery.field_errors import go_quote, invalid
from fakekube.apimachinery.gvk import GroupKind, GroupResource, split_api_version
from fakekube.apimachinery.times import format_time, parse_time
from fakekube.apimachinery.types import Tree
from fakekube.apis.storage.csidriver import token_seconds
from fakekube.registry.strategy import WriteContext

KIND = GroupKind("authentication.k8s.io", "TokenRequest")
DEFAULT_SECONDS = 3600
BOUND_KINDS = {("", "Pod"): "pods", ("", "Secret"): "secrets", ("", "Node"): "nodes"}
Sign = Callable[[Tree, Tree], str]
"""From the account and the completed request to the token."""


def request_token(account: Tree, request: Tree, ctx: WriteContext, sign: Sign) -> Tree:
    """Answer a TokenRequest for ``account``, which is stored.

    Raises APIError: Invalid for another name or a bad duration, BadRequest and NotFound for what the token is bound to,
    Conflict for its uid.
    """
    metadata, spec = request.setdefault("metadata", {}), request.setdefault("spec", {})
    name, namespace = account["metadata"]["name"], account["metadata"]["namespace"]
    if metadata.get("name") and metadata["name"] != name:
        text = "must match the service account name if specified"
        raise errors.invalid(KIND, name, [invalid("metadata.name", metadata["name"], text)])
    seconds = spec.setdefault("expirationSeconds", DEFAULT_SECONDS)
    if found := token_seconds("spec.expirationSeconds", seconds):
        raise errors.invalid(KIND, "", found)
    spec.setdefault("boundObjectRef", None)
    if spec["boundObjectRef"] is not None:
        _check_bound(spec["boundObjectRef"], name, namespace, ctx)
    metadata.update(name=name, namespace=namespace, uid=account["metadata"]["uid"], creationTimestamp=ctx.now)
    expires = format_time(parse_time(ctx.now) + seconds)
    return {**request, "status": {"token": sign(account, request), "expirationTimestamp": expires}}


def _check_bound(reference: Tree, account: str, namespace: str, ctx: WriteContext) -> None:
    kind, name = reference.get("kind", ""), reference.get("name", "")
    group, version = split_api_version(reference.get("apiVersion", ""))
    resource = BOUND_KINDS.get((group, kind))
    if resource is None:
        raise errors.bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    found = ctx.cluster.lookup("", resource, "" if kind == "Node" else namespace, name)
    if found is None:
        raise errors.not_found(GroupResource("", resource), name)
    if kind == "Pod" and found["spec"].get("serviceAccountName", "") != account:
        who = f"cannot bind token for serviceaccount {go_quote(account)}"
        raise errors.bad_request(f"{who} to pod running with different serviceaccount name.")
    uid = reference.setdefault("uid", found["metadata"]["uid"])
    if uid != found["metadata"]["uid"]:
        raise errors.conflict(GroupResource("", kind), name, (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"))
