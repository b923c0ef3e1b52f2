"""POST serviceaccounts/<name>/token: a token for a service account.

Admission sees it as the CREATE of a TokenRequest, before there is a token.
Upstream: pkg/registry/core/serviceaccount/storage/token.go.
"""

from fakekube.apimachinery import errors, field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.gvk import GroupKind, GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.auth.tokens import ISSUER, Bound, Tokens
from fakekube.endpoints import bodies
from fakekube.endpoints.answers import object_answer
from fakekube.endpoints.options import WriteOptions, write_options
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.endpoints.write import WRONG_NAMESPACE
from fakekube.registry.attributes import Attributes

DEFAULT_SECONDS, MIN_SECONDS, MAX_SECONDS = 3600, 600, 1 << 32
KUBELET_SECONDS, EXTENDED_SECONDS = 3607, 365 * 24 * 3600
"""For how long a kubelet asks for a pod's token, and how long it then lasts: its holder may be of
a time when tokens had no end.
"""
ISSUED = "authentication.kubernetes.io/issued-credential-id"
NO_TOKEN: Tree = {"token": "", "expirationTimestamp": None}
MISMATCH = "authentication.k8s.io/token-request-uid-mismatch"
KIND = GroupKind("authentication.k8s.io", "TokenRequest")
BINDABLE = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class TokenRequests:
    """The endpoint, around who issues tokens."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def create(self, scope: Scope, info: RequestInfo, request: Request) -> Response:
        """Answer a TokenRequest."""
        form = scope.negotiate(request, table=False)
        bodies.input_type(request)
        bodies.check_size(request)
        options = write_options(request, "CreateOptions")
        asked = bodies.decode(scope, request, options.directive, info.warnings)
        meta, spec = dict(asked.get("metadata") or {}), dict(asked.get("spec") or {})
        if meta.setdefault("namespace", info.namespace) != info.namespace:
            raise errors.bad_request(WRONG_NAMESPACE)
        if not spec.get("expirationSeconds"):
            spec["expirationSeconds"] = DEFAULT_SECONDS
        asked = {**asked, "metadata": meta, "spec": spec}
        meta |= _owned(scope, info, request, options, asked)
        asked["spec"] = {"audiences": None, "boundObjectRef": None, **spec}
        asked["status"] = dict(NO_TOKEN)
        context, chain = scope.context(info, request, "CREATE", options), scope.store.admission()
        attrs = Attributes(
            scope.kind, info.namespace, info.name, context.operation, context.subresource, asked, None, context.options, context)
        await chain.admit(attrs)
        account = _complete(scope, info, attrs)
        await chain.validate(attrs)
        assert attrs.obj is not None, "admission does not take objects away"
        return object_answer(scope, request, form, self._issue(scope, info, attrs.obj, account), status=201)

    def _issue(self, scope: Scope, info: RequestInfo, asked: Tree, account: Tree) -> Tree:
        """The request with a token. Raises 400, 404 and 409 for what it is to be bound to."""
        spec = asked["spec"]
        audiences, seconds = spec["audiences"], spec["expirationSeconds"]
        bound = _bound_object(scope, info, spec["boundObjectRef"])
        now = scope.services.clock.time()
        expires = now + seconds
        if bound and bound[0].kind == "Pod" and seconds == KUBELET_SECONDS and audiences == [ISSUER]:
            issued = self._tokens.issue(account, audiences, now + EXTENDED_SECONDS, bound, warn_after=expires)
        else:
            issued = self._tokens.issue(account, audiences, expires, bound)
        info.audit_annotations[ISSUED] = issued.credential_id
        return {**asked, "status": {"token": issued.token, "expirationTimestamp": format_time(expires)}}


def _complete(scope: Scope, info: RequestInfo, attrs: Attributes) -> Tree:
    """Fill in what the server adds to what mutating admission left; the account that is meant.

    Raises 404, 409 and 422.
    """
    assert attrs.obj is not None, "admission does not take objects away"
    meta, spec = dict(attrs.obj.get("metadata") or {}), attrs.obj.get("spec") or {}
    owned = {"managedFields": meta.pop("managedFields")} if "managedFields" in meta else {}
    for name, wanted in (("name", info.name), ("namespace", info.namespace)):
        if meta.get(name, wanted) != wanted:
            text = f"must match the service account {name} if specified"
            raise errors.invalid(KIND, info.name, [field_errors.invalid(f"metadata.{name}", meta[name], text)])
    account = scope.store.load(scope.store.find(info.namespace, info.name))
    _check_account(scope, info, account, meta.get("uid", ""))
    seconds = spec.get("expirationSeconds", 0)
    if found := _seconds_errors(seconds):
        raise errors.invalid(KIND, "", found)
    attrs.obj = {
        "kind": attrs.obj["kind"], "apiVersion": attrs.obj["apiVersion"],
        "metadata": {**meta, "name": info.name, "namespace": info.namespace, "uid": account["metadata"]["uid"],
                     "creationTimestamp": attrs.ctx.now, **owned},
        "spec": {"audiences": spec.get("audiences") or [ISSUER], "expirationSeconds": seconds,
                 "boundObjectRef": spec.get("boundObjectRef")},
        "status": dict(NO_TOKEN)}
    return account


def _owned(scope: Scope, info: RequestInfo, request: Request, options: WriteOptions, asked: Tree) -> Tree:
    """The managedFields of the answer: who asks owns what they ask for."""
    from fakekube.managedfields.manager import FieldManager

    fields = FieldManager(scope.services.definitions.schema(scope.gvk), scope.gvk.api_version)
    context = scope.context(info, request, "CREATE", options)
    tree = {**asked, "metadata": dict(asked["metadata"])}
    fields.update(None, tree, manager=context.field_manager, now=context.now, subresource=scope.name)
    return {"managedFields": found} if (found := tree["metadata"].get("managedFields")) else {}


def _check_account(scope: Scope, info: RequestInfo, account: Tree, uid: str) -> None:
    """Whether the account is the one that a client means.

    Raises 409, where a feature gate wants it; else warns.
    """
    own = account["metadata"]["uid"]
    if uid in ("", own):
        return
    what = f"the UID in the token request ({uid}) does not match the UID of the service account ({own})"
    if scope.services.cluster.gate("TokenRequestServiceAccountUIDValidation"):
        raise errors.conflict(GroupResource(KIND.group, KIND.kind), info.name, what)
    info.audit_annotations[MISMATCH] = what
    info.warnings.append(
        f"{what} but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error")


def _seconds_errors(seconds: int) -> list[FieldError]:
    if seconds < MIN_SECONDS:
        return [
            field_errors.invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        ]
    if seconds > MAX_SECONDS:
        return [
            field_errors.invalid(
                "spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"
            )
        ]
    return []


def _bound_object(scope: Scope, info: RequestInfo, reference: Tree | None) -> tuple[Bound, ...]:
    """The object that the token's life hangs on, and a pod's node. Raises 400, 404 and 409."""
    if reference is None:
        return ()
    kind, version, name = reference.get("kind", ""), reference.get("apiVersion", ""), reference.get("name", "")
    if version != "v1" or kind not in BINDABLE:
        shown = version if "/" in version else f"/{version}"
        raise errors.bad_request(f"cannot bind token to object of type {shown}, Kind={kind}")
    namespace = "" if kind == "Node" else info.namespace
    obj = scope.services.cluster.lookup("", BINDABLE[kind], namespace, name)
    if obj is None:
        raise errors.not_found(GroupResource("", BINDABLE[kind]), name)
    if kind == "Pod" and obj["spec"].get("serviceAccountName", "") != info.name:
        raise errors.bad_request(
            f"cannot bind token for serviceaccount {field_errors.go_quote(info.name)} to pod running with different "
            "serviceaccount name.")
    uid = obj["metadata"]["uid"]
    if reference.get("uid", uid) != uid:
        raise errors.conflict(GroupResource("", kind), name, (
            f"the UID in the bound object reference ({reference['uid']}) does not match the UID in record. "
            "The object might have been deleted and then recreated"))
    node = obj["spec"].get("nodeName", "") if kind == "Pod" else ""
    if not node or not scope.services.cluster.gate("ServiceAccountTokenPodNodeInfo"):
        return (Bound(kind, name, uid),)
    there = scope.services.cluster.lookup("", "nodes", "", node)
    return Bound(kind, name, uid), Bound("Node", node, there["metadata"]["uid"] if there is not None else "")
