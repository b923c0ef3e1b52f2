"""The past of a StatefulSet or DaemonSet, kept in ControllerRevisions, and the hashes that pod
templates are known by.

A revision's data is a strategic merge patch that puts its pod template back.
Upstream: pkg/controller/history/controller_history.go, and ComputeHash in
pkg/controller/controller_utils.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Json, ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONTROLLER_REVISIONS, Resource
from fakekube.runtime.context import Context
from fakekube.runtime.gotemplate import printed
from fakekube.runtime.owned import selector_of
from fakekube.runtime.ownership import ControllerRefManager, recheck_deletion
from fakekube.util.rng import SUFFIX_ALPHABET

REVISION_HASH = "controller.kubernetes.io/hash"
MAX_PREFIX = 223

_FNV_OFFSET, _FNV_PRIME = 2166136261, 16777619


def _fnv1(data: bytes) -> int:
    value = _FNV_OFFSET
    for byte in data:
        value = value * _FNV_PRIME & 0xFFFFFFFF ^ byte
    return value


def fnv1a(data: bytes) -> int:
    """The 32 bits of FNV-1a. Upstream: hash/fnv.New32a."""
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return value


def safe_encode(text: str) -> str:
    """A text without vowels and look-alikes, a letter for each letter.

    Upstream: util/rand.SafeEncodeString.
    """
    return "".join(SUFFIX_ALPHABET[ord(letter) % len(SUFFIX_ALPHABET)] for letter in text)


def template_hash(template: ReadOnlyTree, collision_count: int | None, release: str) -> str:
    """What a pod template is known by in names and labels; another one for each count of
    collisions, and in some releases.
    """
    data = printed(template, release).encode()
    if collision_count is not None:
        data += collision_count.to_bytes(8, "little")
    return safe_encode(str(fnv1a(data)))


def template_patch(template: ReadOnlyTree) -> Tree:
    """The data of a revision: a patch that puts ``template`` in place, its keys sorted as clients
    compare it.
    """
    patch: Tree = orjson.loads(orjson.dumps(
        {"spec": {"template": {**template, "$patch": "replace"}}}, option=orjson.OPT_SORT_KEYS))
    return patch


def template_of(revision: ReadOnlyTree) -> Tree:
    """The pod template that a revision holds."""
    template = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


def data_hash(data: Json, probe: int | None) -> str:
    """What a revision of this data is known by; another one for each count of collisions."""
    raw = orjson.dumps(data) + (b"" if probe is None else str(probe).encode())
    return safe_encode(str(_fnv1(raw)))


def revision_name(prefix: str, revision_hash: str) -> str:
    """The name of a revision: its owner's, cut where needed, and the hash."""
    return f"{prefix[:MAX_PREFIX]}-{revision_hash}"


def in_order(revisions: Iterable[Tree]) -> list[Tree]:
    """Revisions by their number, then by age and name."""
    return sorted(revisions, key=lambda r: (r["revision"], r["metadata"]["creationTimestamp"], meta.name_of(r)))


def next_number(revisions: Sequence[ReadOnlyTree]) -> int:
    """The number of the revision after these."""
    return max((int(revision["revision"]) for revision in revisions), default=0) + 1


def new_revision(
    owner: ReadOnlyTree, data: Json, number: int, labels: Mapping[str, str], collision_count: int,
) -> Tree:
    """A revision of ``owner`` that is not created yet."""
    revision_hash = data_hash(data, collision_count)
    metadata: dict[str, Any] = {
        "name": revision_name(meta.name_of(owner), revision_hash), "namespace": meta.namespace_of(owner),
        "labels": {**labels, REVISION_HASH: revision_hash}, "ownerReferences": [meta.controller_reference(owner)],
    }
    if meta.annotations_of(owner):
        metadata["annotations"] = dict(meta.annotations_of(owner))
    return {"metadata": metadata, "data": data, "revision": number}


async def create(client: Client, owner: ReadOnlyTree, revision: Tree, collision_count: int) -> tuple[Tree, int]:
    """Create a revision under the first name that is free or holds the same data; it, and the count
    of collisions.

    Raises APIError.
    """
    namespace = meta.namespace_of(owner)
    while True:
        name = revision_name(meta.name_of(owner), data_hash(revision["data"], collision_count))
        wanted = {**revision, "metadata": {**revision["metadata"], "name": name}}
        try:
            return await client.create(CONTROLLER_REVISIONS, wanted), collision_count
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise
        there = await client.get(CONTROLLER_REVISIONS, name, namespace)
        if there.get("data") == revision["data"]:
            return there, collision_count
        collision_count += 1


async def renumber(client: Client, revision: ReadOnlyTree, number: int) -> Tree:
    """Give a revision another number. Raises APIError."""
    if revision["revision"] == number:
        return dict(revision)
    return await client.update(CONTROLLER_REVISIONS, {**revision, "revision": number})


class History:
    """The revisions of all owners of one resource."""

    def __init__(self, ctx: Context, owners: Resource) -> None:
        self._client, self._owners, self._revisions = ctx.client, owners, ctx.lister(CONTROLLER_REVISIONS)

    async def claim(self, owner: Tree, *, releases: bool) -> list[Tree]:
        """An owner's revisions, after it has adopted those without an owner that its selector
        matches.

        ``releases``: whether it lets go of those of its own that the selector does not match; else
        they are only left out. Raises ClaimFailed.
        """
        found = [*self._revisions.controlled_by(meta.uid_of(owner)), *self._revisions.orphans(meta.namespace_of(owner))]
        selector = selector_of(owner)
        manager = ControllerRefManager(
            self._client, CONTROLLER_REVISIONS, owner, selector, can_adopt=recheck_deletion(self._client, self._owners, owner))
        return await manager.claim(found if releases else [one for one in found if selector.matches(meta.labels_of(one))])

    async def delete_oldest(self, unused: Sequence[ReadOnlyTree], surplus: int) -> None:
        """Delete the first ``surplus`` of revisions that nobody uses, given in their order. Raises
        APIError.
        """
        for one in unused[:max(0, surplus)]:
            await self._client.delete(CONTROLLER_REVISIONS, meta.name_of(one), meta.namespace_of(one), missing_ok=True)
