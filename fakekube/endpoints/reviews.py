"""Questions in the shape of objects: who am I, may I, whose token is this. Nothing is stored.

Upstream: pkg/registry/authentication and pkg/registry/authorization, with their validation. Left
out: webhooks that answer.
"""

from typing import Protocol

from fakekube.apimachinery import errors, field_errors
from fakekube.apimachinery.field_errors import FieldError, Verbatim
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import as_told
from fakekube.auth.authorizer import ANONYMOUS, Access, Authorizer, Decision
from fakekube.auth.rules import PolicyRule
from fakekube.auth.tokens import ISSUER, InvalidToken, Token
from fakekube.endpoints import bodies, negotiation, selectorattributes
from fakekube.endpoints.answers import object_answer
from fakekube.endpoints.options import write_options
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

GROUP = "authorization.k8s.io"
EXACTLY_ONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


class TokenCheck(Protocol):
    """Who knows tokens."""

    def check_token(self, token: str, audiences: tuple[str, ...]) -> Token:
        """Whom a token names, and for which of the audiences. Raises InvalidToken."""


class Reviews:
    """The endpoints of all review kinds."""

    def __init__(self, authorizer: Authorizer, tokens: TokenCheck) -> None:
        self._authorizer, self._tokens = authorizer, tokens

    async def access(self, scope: Scope, info: RequestInfo, request: Request) -> Response:
        """Answer a SelfSubjectAccessReview, a SubjectAccessReview or a LocalSubjectAccessReview."""
        kind = scope.kind.kind
        form, review = _posted(scope, info, request)
        _own_fields(scope, info, request, review)
        _validate(kind, review, scope.minor)
        spec = review.get("spec") or {}
        if kind == "SelfSubjectAccessReview":
            user = request.user or ANONYMOUS
        else:
            extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
            user = UserInfo(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)
        access, ignored = _access(spec)
        review["status"] = _status(self._authorizer.decide(user, access), ignored)
        return object_answer(scope, request, form, review, status=201)

    async def rules(self, scope: Scope, info: RequestInfo, request: Request) -> Response:
        """Answer a SelfSubjectRulesReview: what the user may do, as far as the authorizer can list
        it.
        """
        form, review = _posted(scope, info, request)
        namespace = (review.get("spec") or {}).get("namespace")
        if not namespace:
            raise errors.bad_request("no namespace on request")
        found = self._authorizer.rules(request.user or ANONYMOUS, namespace)
        review["spec"] = {}
        review["status"] = {
            "resourceRules": [_resource_rule(rule) for rule in found.rules if rule.resources],
            "nonResourceRules": [
                {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.urls)} for rule in found.rules if rule.urls],
            "incomplete": found.incomplete,
        } | ({"evaluationError": found.error} if found.error else {})
        return object_answer(scope, request, form, review, status=201)

    async def self_review(self, scope: Scope, info: RequestInfo, request: Request) -> Response:
        """Answer a SelfSubjectReview."""
        form, review = _posted(scope, info, request)
        review["metadata"] = {"creationTimestamp": scope.services.now()}
        review["status"] = {"userInfo": (request.user or ANONYMOUS).tree()}
        return object_answer(scope, request, form, review, status=201)

    async def token(self, scope: Scope, info: RequestInfo, request: Request) -> Response:
        """Answer a TokenReview."""
        form, review = _posted(scope, info, request)
        _own_fields(scope, info, request, review)
        spec = review.get("spec") or {}
        if not spec.get("token"):
            raise errors.bad_request("token is required for TokenReview in authentication")
        try:
            found = self._tokens.check_token(spec["token"], tuple(spec.get("audiences") or (ISSUER,)))
        except InvalidToken as error:
            review["status"] = {"user": {}, "error": str(error)}
        else:
            review["status"] = {"authenticated": True, "user": found.user.tree(), "audiences": list(found.audiences)}
        return object_answer(scope, request, form, review, status=201)


def _posted(scope: Scope, info: RequestInfo, request: Request) -> tuple[negotiation.Form, Tree]:
    form = scope.negotiate(request, table=False)
    bodies.input_type(request)
    bodies.check_size(request)
    options = write_options(request, "CreateOptions")
    return form, bodies.decode(scope, request, options.directive, info.warnings)


def _own_fields(scope: Scope, info: RequestInfo, request: Request, review: Tree) -> None:
    """Metadata as upstream leaves it: the namespace of the path, and who set the fields."""
    meta = review.setdefault("metadata", {})
    for name in ("uid", "creationTimestamp", "deletionTimestamp", "selfLink", "resourceVersion"):
        meta.pop(name, None)
    if scope.kind.namespaced:
        if meta.setdefault("namespace", info.namespace) != info.namespace:
            raise errors.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
    else:
        meta.pop("namespace", None)
    status = review.pop("status", None)
    options = write_options(request, "CreateOptions")
    context = scope.context(info, request, "CREATE", options)
    schema = scope.services.definitions.schema(scope.gvk)
    from fakekube.managedfields.manager import FieldManager

    FieldManager(schema, scope.kind.api_version).update(None, review, manager=context.field_manager, now=context.now)
    if status is not None:
        review["status"] = status


def _validate(kind: str, review: Tree, minor: int) -> None:
    spec, meta = review.get("spec") or {}, review.get("metadata") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    found: list[FieldError] = []
    if (resource is None) == (path is None):
        before = field_errors.invalid("spec.resourceAttributes", None, EXACTLY_ONE) if path is None else field_errors.invalid(
            "spec.nonResourceAttributes", _go_path(path), "cannot be specified in combination with resourceAttributes")
        found.append(field_errors.invalid("spec", _go_path(path), EXACTLY_ONE)._replace(before=before))
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        found.append(field_errors.invalid("spec.user", "", "at least one of user or group must be specified"))
    found += selectorattributes.selector_errors(resource)
    local, namespace = kind == "LocalSubjectAccessReview", meta.get("namespace", "")
    if any(name not in ("managedFields", "namespace") or (name == "namespace" and not local) for name in meta):
        found.append(field_errors.invalid("metadata", meta, "must be empty except for namespace" if local else "must be empty"))
    if local:
        if resource is not None and resource.get("namespace", "") != namespace:
            asked = resource.get("namespace", "")
            found.append(
                field_errors.invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace")
            )
        if path is not None:
            found.append(field_errors.invalid(
                "spec.nonResourceAttributes", _go_path(path), "disallowed on this kind of request"))
    if found:
        raise errors.invalid(GroupKind(GROUP, ""), "", as_told(found, minor))


def _go_path(path: Tree | None) -> object:
    if path is None:
        return None
    return Verbatim('{"Path":%s,"Verb":%s}' % (  # noqa: UP031
        field_errors.go_quote(path.get("path", "")), field_errors.go_quote(path.get("verb", ""))))


def _access(spec: Tree) -> tuple[Access, str]:
    """What a review asks about, and what of its selectors does not count."""
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes") or {}
    if resource is None:
        return Access(path.get("verb", ""), path=path.get("path", "")), ""
    names = ("group", "resource", "subresource", "namespace", "name")
    by_fields = selectorattributes.field_selector_text(resource.get("fieldSelector"))
    by_labels = selectorattributes.label_selector_text(resource.get("labelSelector"))
    access = Access(
        resource.get("verb", ""), **{name: resource.get(name, "") for name in names}, version=resource.get("version") or "*",
        field_selector=by_fields.text, label_selector=by_labels.text)
    return access, "; ".join(one.ignored for one in (by_fields, by_labels) if one.ignored)


def _resource_rule(rule: PolicyRule) -> Tree:
    shown = (
        ("verbs", rule.verbs), ("apiGroups", rule.groups), ("resources", rule.resources), ("resourceNames", rule.names))
    return {name: list(values) for name, values in shown if values}


def _status(decision: Decision, ignored: str) -> Tree:
    told = {"reason": decision.reason, "evaluationError": ignored}
    return {"allowed": decision.allowed} | {name: text for name, text in told.items() if text}
