"""Answers to "who is this?": reviews are created, answered and forgotten.

Upstream: pkg/registry/authentication. Left out: audiences of tokens.
"""

from collections.abc import Callable, Mapping

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.registry.strategy import WriteContext

Authenticate = Callable[[str], UserInfo | None]
"""From a bearer token to who it stands for; None for a token that nobody knows."""


def user_info(user: UserInfo) -> Tree:
    """A user as reviews print one; what is empty is absent."""
    shown: Tree = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    shown["extra"] = {name: list(values) for name, values in user.extra.items()}
    return {name: value for name, value in shown.items() if value}


def self_subject_review(_review: Tree, ctx: WriteContext) -> Tree:
    """Who am I?"""
    return {"metadata": {"creationTimestamp": ctx.now}, "status": {"userInfo": user_info(ctx.user)}}


def token_review(review: Tree, authenticate: Authenticate) -> Tree:
    """Whose token is this? Raises BadRequest without one."""
    token = (review.get("spec") or {}).get("token", "")
    if not token:
        raise errors.bad_request("token is required for TokenReview in authentication")
    user = authenticate(token)
    if user is None:
        text = "[invalid bearer token, unable to authenticate the request]"
        return {**review, "status": {"user": {}, "error": text}}
    return {**review, "status": {"authenticated": True, "user": user_info(user)}}


def reviewers(authenticate: Authenticate) -> Mapping[str, Callable[[Tree, WriteContext], Tree]]:
    """The reviewer of each resource of the group, by plural."""

    def of_token(review: Tree, _ctx: WriteContext) -> Tree:
        return token_review(review, authenticate)

    return {"selfsubjectreviews": self_subject_review, "tokenreviews": of_token}
