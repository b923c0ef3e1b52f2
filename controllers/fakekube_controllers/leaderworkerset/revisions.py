"""The templates that a LeaderWorkerSet has had, kept in ControllerRevisions.

Upstream: pkg/utils/revision/revision_utils.go. Left out: revisions that differ in their bytes
alone, which older versions of upstream wrote.
"""

from collections.abc import Sequence

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Json, ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.runtime import addontables, revisions
from fakekube_controllers.leaderworkerset import names

MAX_PREFIX = 220
PATCH, REPLACE = "$patch", "replace"


def data_of(lws: ReadOnlyTree) -> Json:
    """What a revision keeps: the templates, and how the network is shared; as Go writes them."""
    read = addontables.structs(__package__).encoded(lws["spec"], names.SPEC)
    network = read.get("networkConfig") or {"subdomainPolicy": names.SHARED}
    spec = {
        "networkConfig": {**network, PATCH: REPLACE}, "leaderWorkerTemplate": {**read["leaderWorkerTemplate"], PATCH: REPLACE}}
    data: Json = orjson.loads(orjson.dumps({"spec": spec}, option=orjson.OPT_SORT_KEYS))
    return data


def restored(lws: ReadOnlyTree, revision: ReadOnlyTree) -> Tree:
    """The LeaderWorkerSet as it was when the revision was made."""
    kept = {
        field: {key: value for key, value in part.items() if key != PATCH} for field, part in revision["data"]["spec"].items()}
    return {**lws, "spec": {**lws["spec"], **kept}}


def owned(lister: Lister, lws: ReadOnlyTree) -> list[Tree]:
    """The revisions of a LeaderWorkerSet, oldest first."""
    found = [
        each for each in lister.list(meta.namespace_of(lws), {names.NAME: meta.name_of(lws)})
        if (meta.controller_of(each) or {"uid": meta.uid_of(lws)})["uid"] == meta.uid_of(lws)]
    return revisions.in_order(found)


def find(history: Sequence[Tree], key: str) -> Tree | None:
    """The newest revision of a key."""
    found = [each for each in history if key and names.revision_key(each) == key]
    return found[-1] if found else None


def new(lws: ReadOnlyTree, history: Sequence[Tree], key: str = "") -> Tree:
    """A revision of what a LeaderWorkerSet is now, to be created."""
    data, number = data_of(lws), revisions.next_number(history)
    text = revisions.data_hash(data, None)
    metadata = {
        "name": f"{meta.name_of(lws)[:MAX_PREFIX]}-{text}-{number}", "namespace": meta.namespace_of(lws),
        "labels": {names.NAME: meta.name_of(lws), names.REVISION: key or text},
        "ownerReferences": [meta.controller_reference(lws)]}
    return {"metadata": metadata, "data": data, "revision": number}
