"""How calls become queries and bodies, and answers become errors."""

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Response
from fakekube.apimachinery.types import Tree

Query = dict[str, list[str]]


def error_of(response: Response) -> APIError:
    """The error that an answer of 400 or above stands for, a Status or not."""
    try:
        status = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return APIError.from_status(status, response.status)
    return APIError(response.status, "", response.body.decode(errors="replace").strip())


def selectors(label_selector: str, field_selector: str) -> Query:
    """The query of a list; empty selectors are left out."""
    query: Query = {}
    if label_selector:
        query["labelSelector"] = [label_selector]
    if field_selector:
        query["fieldSelector"] = [field_selector]
    return query


def write_options(field_manager: str, field_validation: str, dry_run: bool) -> Query | None:
    """The query of a write, or None."""
    if not (field_manager or field_validation or dry_run):
        return None
    query: Query = {}
    if field_manager:
        query["fieldManager"] = [field_manager]
    if field_validation:
        query["fieldValidation"] = [field_validation]
    if dry_run:
        query["dryRun"] = ["All"]
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
