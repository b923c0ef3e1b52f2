"""How the arguments of a call become the query and the body of a request.

Upstream: apimachinery/pkg/apis/meta/v1 (ListOptions, CreateOptions, PatchOptions, DeleteOptions).
"""

from collections.abc import Mapping
from typing import Literal

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.client.rest import Query

PatchType = Literal["merge", "json", "strategic", "apply"]

PATCH_CONTENT_TYPES: Mapping[PatchType, str] = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


def selectors(label_selector: str, field_selector: str) -> Query:
    """The query of a DELETE of a collection; empty selectors are left out."""
    query: Query = {}
    if label_selector:
        query["labelSelector"] = [label_selector]
    if field_selector:
        query["fieldSelector"] = [field_selector]
    return query


def list_options(
    label_selector: str, field_selector: str, limit: int, continue_token: str, resource_version: str,
    resource_version_match: str,
) -> Query:
    """The query of a list; what is empty or 0 is left out."""
    query = selectors(label_selector, field_selector)
    if limit:
        query["limit"] = [str(limit)]
    if continue_token:
        query["continue"] = [continue_token]
    if resource_version:
        query["resourceVersion"] = [resource_version]
    if resource_version_match:
        query["resourceVersionMatch"] = [resource_version_match]
    return query


def watch_options(
    label_selector: str, field_selector: str, resource_version: str, allow_bookmarks: bool, timeout_seconds: int | None,
    send_initial_events: bool,
) -> Query:
    """The query of a watch. Initial events come with bookmarks, one of which marks their end."""
    query = selectors(label_selector, field_selector) | {"watch": ["true"]}
    if resource_version:
        query["resourceVersion"] = [resource_version]
    if allow_bookmarks or send_initial_events:
        query["allowWatchBookmarks"] = ["true"]
    if timeout_seconds is not None:
        query["timeoutSeconds"] = [str(timeout_seconds)]
    if send_initial_events:
        query |= {"sendInitialEvents": ["true"], "resourceVersionMatch": ["NotOlderThan"]}
    return query


def write_options(field_manager: str, field_validation: str, dry_run: bool, *, force: bool = False) -> Query | None:
    """The query of a write, or None."""
    if not (field_manager or field_validation or dry_run or force):
        return None
    query: Query = {}
    if field_manager:
        query["fieldManager"] = [field_manager]
    if field_validation:
        query["fieldValidation"] = [field_validation]
    if dry_run:
        query["dryRun"] = ["All"]
    if force:
        query["force"] = ["true"]
    return query


def delete_options(
    propagation_policy: str, uid: str, resource_version: str, grace_period_seconds: int | None, dry_run: bool,
) -> Tree | None:
    """The body of a DELETE, or None where nothing differs from the server's defaults."""
    options: Tree = {}
    if grace_period_seconds is not None:
        options["gracePeriodSeconds"] = grace_period_seconds
    preconditions = ({"uid": uid} if uid else {}) | ({"resourceVersion": resource_version} if resource_version else {})
    if preconditions:
        options["preconditions"] = preconditions
    if propagation_policy:
        options["propagationPolicy"] = propagation_policy
    if dry_run:
        options["dryRun"] = ["All"]
    return {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None


def with_type(resource: Resource, obj: Tree) -> Tree:
    """The object with apiVersion and kind, which callers may leave out."""
    return obj if "kind" in obj else {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
