"""The options of a write: read from the query, checked, and worded as upstream words what is wrong
with them.

Upstream: apimachinery/pkg/apis/meta/v1/validation and the parameter codec of metav1. Left out: the
options of lists and watches, which ``read.py`` has.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fakekube.apimachinery import errors, field_errors, strconv
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from fakekube.registry.deletion import DeleteOptions
from fakekube.util.memory import memoized

MAX_MANAGER_BYTES = 128
INT64 = 1 << 63
DIRECTIVES = ("", "Ignore", "Strict", "Warn")
POLICIES = ("Foreground", "Background", "Orphan", "nil")
FALSE = ("false", "0")
UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"


class WriteOptions(NamedTuple):
    """What a create, an update or a patch was asked with. ``directive`` is Ignore, Warn or Strict.
    """

    dry_run: bool = False
    field_manager: str = ""
    directive: str = "Warn"
    force: bool = False
    raw: Tree | None = None  # as admission sees them

    @property
    def tree(self) -> Tree:
        """The options as an object of meta.k8s.io/v1."""
        return self.raw or {}


PLAIN = {kind: {"kind": kind, "apiVersion": "meta.k8s.io/v1"} for kind in ("CreateOptions", "UpdateOptions", "PatchOptions")}


def write_options(request: Request, kind: str, *, apply: bool = False) -> WriteOptions:
    """The options of a write, ``kind`` being CreateOptions, UpdateOptions or PatchOptions.

    Raises 422.
    """
    query = request.query
    if not query and not apply:
        return WriteOptions(raw=PLAIN[kind])
    dry_run, manager = query.get("dryRun", []), request.param("fieldManager")
    directive, force = request.param("fieldValidation"), "force" in query
    found: list[FieldError] = []
    if kind == "PatchOptions":
        found += _patch_errors(manager, apply=apply, force=force)
    found += manager_errors(manager) + dry_run_errors(dry_run)
    if directive not in DIRECTIVES:
        found.append(field_errors.not_supported("fieldValidation", directive, DIRECTIVES))
    if found:
        raise errors.invalid(GroupKind("meta.k8s.io", kind), "", found)
    raw: Tree = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    for name, value in (("dryRun", dry_run), ("fieldManager", manager), ("fieldValidation", directive)):
        if value:
            raw[name] = value
    if force:
        raw["force"] = request.flag("force")
    return WriteOptions(bool(dry_run), manager, directive or "Warn", request.flag("force"), raw)


def _patch_errors(manager: str, *, apply: bool, force: bool) -> list[FieldError]:
    if apply:
        return [] if manager else [field_errors.required("fieldManager", "is required for apply patch")]
    return [field_errors.forbidden("force", "may not be specified for non-apply patch")] if force else []


def dry_run_errors(values: list[str]) -> list[FieldError]:
    """What is wrong with ``dryRun``: it may only be ``All``."""
    return [field_errors.not_supported("dryRun", values, ["All"])] if any(value != "All" for value in values) else []


def manager_errors(manager: str) -> list[FieldError]:
    """What is wrong with ``fieldManager``: its length in bytes, and characters that do not print.
    """
    found: list[FieldError] = []
    if len(manager) <= MAX_MANAGER_BYTES // 4 and manager.isprintable():  # a character has four bytes at most
        return found
    if len(manager.encode()) > MAX_MANAGER_BYTES:
        found.append(field_errors.too_long("fieldManager", MAX_MANAGER_BYTES))
    for number, char in enumerate(manager):
        if not char.isprintable():
            at = len(manager[:number].encode())
            found.append(
                field_errors.invalid("fieldManager", manager, f"invalid character U+{ord(char):04X} (at position {at})")
            )
    return found


def manager_or_user_agent(manager: str, user_agent: str) -> str:
    """Who owns what a write sets: the given manager, else the User-Agent up to its first slash, cut
    to 128 bytes.
    """
    return manager or _manager_of(user_agent)


@memoized(512, longest=1024)
def _manager_of(user_agent: str) -> str:
    prefix = user_agent.split("/", 1)[0]
    if prefix.isascii() and prefix.isprintable() and len(prefix) <= MAX_MANAGER_BYTES:
        return prefix or "unknown"
    kept = bytearray()
    for char in prefix:
        if not char.isprintable():
            continue
        encoded = char.encode()
        if len(kept) + len(encoded) > MAX_MANAGER_BYTES:
            break
        kept += encoded
    return kept.decode() or "unknown"


def parse_int(text: str) -> int:
    """A whole number of 64 bits in a query parameter. Raises 400 in strconv's words."""
    try:
        return strconv.parse_int(text)
    except strconv.NumberError as error:
        raise errors.bad_request(str(error)) from None


def delete_options_of_query(query: Mapping[str, list[str]]) -> tuple[DeleteOptions, bool]:
    """The options of a DELETE without a body, and whether it is a dry run. Raises 400 and 422."""
    tree: Tree = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    if grace := query.get("gracePeriodSeconds"):
        tree["gracePeriodSeconds"] = parse_int(grace[0])
    if orphan := query.get("orphanDependents"):
        tree["orphanDependents"] = orphan[0] not in FALSE
    if policy := query.get("propagationPolicy"):
        tree["propagationPolicy"] = policy[0]
    if unsafe := query.get(UNSAFE):
        tree[UNSAFE] = unsafe[0].lower() not in FALSE
    if dry_run := query.get("dryRun"):
        tree["dryRun"] = list(dry_run)
    given = {name: (query.get(name) or [""])[0] for name in ("uid", "resourceVersion")}
    if preconditions := {name: text for name, text in given.items() if text}:
        tree["preconditions"] = preconditions
    return delete_options(tree)


def delete_options(tree: Tree) -> tuple[DeleteOptions, bool]:
    """Checked options of a DELETE from their tree, and whether it is a dry run. Raises 422."""
    policy, orphan = tree.get("propagationPolicy"), tree.get("orphanDependents")
    dry_run = tree.get("dryRun") or []
    found = []
    if policy is not None and orphan is not None:
        found.append(
            field_errors.invalid(
                "propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"
            )
        )
    if policy is not None and policy not in POLICIES[:3]:
        found.append(field_errors.not_supported("propagationPolicy", policy, POLICIES))
    found += dry_run_errors(dry_run)
    if tree.get(UNSAFE):
        found += [
            field_errors.invalid(UNSAFE, True, f"cannot be set together with .{name}")
            for name in ("propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions") if name in tree
        ]
    if found:
        raise errors.invalid(GroupKind("meta.k8s.io", "DeleteOptions"), "", found)
    preconditions = tree.get("preconditions") or {}
    return DeleteOptions(
        grace_period_seconds=tree.get("gracePeriodSeconds"), propagation_policy=policy, orphan_dependents=orphan,
        uid=preconditions.get("uid"), resource_version=preconditions.get("resourceVersion"), raw=tree,
    ), bool(dry_run)
