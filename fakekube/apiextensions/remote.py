"""Conversion by a webhook: what a version is in another one, somebody else's server knows.

An answer has to be waited for, and a commit waits for nothing. So objects are converted before:
what is read when its record is known, what is written after its last check. What was converted is
remembered by uid until the object changes. Upstream:
apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go, which asks for each object by
itself; here one review holds all objects of a list.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery import errors, field_errors
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import labels as label_errors
from fakekube.util.rng import Rng
from fakekube.webhooks.client import CallError, ReviewKind

if TYPE_CHECKING:
    from fakekube.webhooks.client import WebhookClient

GROUP, KIND = "apiextensions.k8s.io", "ConversionReview"
REVIEW_VERSIONS = ("v1", "v1beta1")
TIMEOUT_SECONDS = 30
REMEMBERED = 20_000
"""So many objects are remembered, each in the form in which it was read last."""


class WebhookConverter:
    """The conversion of one definition.

    ``client`` gives what calls webhooks, ``rng`` the uids of reviews.
    """

    def __init__(self, definition: Tree, client: "Callable[[], WebhookClient]", rng: Rng) -> None:
        webhook = definition["spec"]["conversion"]["webhook"]
        self._config: Tree = webhook["clientConfig"]
        self._review = next(version for version in webhook["conversionReviewVersions"] if version in REVIEW_VERSIONS)
        self._kind: str = definition["status"]["acceptedNames"]["kind"]
        self._client, self._rng = client, rng

    async def convert(self, objects: Sequence[Tree], wanted: GroupVersionKind) -> list[Tree]:
        """Objects in another version; none of them is in it already. Raises APIError with
        upstream's words.
        """
        gvk = GroupVersionKind(*split_api_version(objects[0]["apiVersion"]), self._kind)
        callables = self._client().callables
        try:
            callables.check(f"{wanted.kind}.{wanted.group}", self._config, TIMEOUT_SECONDS)
        except CallError as error:
            raise errors.raw(f"conversion webhook for {gvk} failed: {error}") from None
        function = callables.find_conversion(self._config)
        if function is not None:
            own: list[Tree] = orjson.loads(orjson.dumps(objects))
            try:
                found = [function(each, wanted.api_version) for each in own]
            except (TypeError, AttributeError, LookupError, ValueError) as error:
                raise errors.raw(f"conversion webhook for {gvk} failed: {type(error).__name__}: {error}") from error
            return [_with_metadata(gvk, old, new) for old, new in zip(objects, found, strict=True)]
        uid = self._rng.uid()
        request = {"uid": uid, "desiredAPIVersion": wanted.api_version, "objects": list(objects)}
        api_version = f"{GROUP}/{self._review}"
        try:
            review = await self._client().call(
                self._config, {"kind": KIND, "apiVersion": api_version, "request": request, "response": None},
                timeout_seconds=TIMEOUT_SECONDS, expected=ReviewKind(api_version, KIND))
            converted = self._answered(review, uid)
        except CallError as error:
            raise errors.raw(f"conversion webhook for {gvk} failed: {error}") from None
        if len(converted) != len(objects):
            raise errors.raw(f"conversion webhook for {gvk} returned {len(converted)} objects, expected {len(objects)}")
        for place, (before, after) in enumerate(zip(objects, converted, strict=True)):
            if why := _why_invalid(before, after, wanted):
                what = "object" if why.startswith("must") else f"object at index {place}"
                raise errors.raw(f"conversion webhook for {gvk} returned invalid {what}: {why}")
        return [_with_metadata(gvk, before, after) for before, after in zip(objects, converted, strict=True)]

    def _answered(self, review: Tree, uid: str) -> list[Any]:
        """The objects in a review. Raises CallError."""
        response = review.get("response")
        if not isinstance(response, dict):
            raise CallError("no response provided")
        if self._review == "v1" and response.get("uid", "") != uid:
            raise CallError(f"expected response.uid={go_quote(uid)}, got {go_quote(str(response.get('uid', '')))}")
        result = response.get("result") or {}
        if result.get("status") != "Success":
            raise CallError(result.get("message") or f"response.result.status was '{result.get('status', '')}', not 'Success'")
        objects = response.get("convertedObjects")
        return objects if isinstance(objects, list) else []


def _why_invalid(before: Tree, after: Any, wanted: GroupVersionKind) -> str:
    """Why a converted object is none; empty when it is one."""
    if not isinstance(after, dict) or not isinstance(after.get("metadata"), dict):
        return "missing metadata in converted object"
    if after.get("apiVersion") != wanted.api_version:
        return f"invalid groupVersion (expected {wanted.api_version}, received {after.get('apiVersion', '')})"
    if after.get("kind") != before["kind"]:
        return f"invalid kind (expected {before['kind']}, received {after.get('kind', '')})"
    for name, told in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        old, new = before["metadata"].get(name, ""), after["metadata"].get(name, "")
        if old != new:
            return f"must have the same {told}: {old} != {new}"
    return ""


def _with_metadata(gvk: GroupVersionKind, before: Tree, after: Tree) -> Tree:
    """The converted object with the metadata that it had, but for labels and annotations."""
    metadata, said = dict(before["metadata"]), f"conversion webhook for {gvk} returned invalid metadata"
    for name in ("labels", "annotations"):
        metadata.pop(name, None)
        given = after["metadata"].get(name)
        if given is None:
            continue
        if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
            raise errors.raw(f"{said}: invalid metadata.{name} in converted object")
        if name == "labels" and (wrong := label_errors(given, "metadata.labels")):
            raise errors.raw(f"{said}: {field_errors.aggregate(wrong)}")
        metadata[name] = given
    return {**after, "metadata": metadata}


class RemoteVersion:
    """One version of a definition whose objects a webhook converts: a ``RemoteConversion``."""

    def __init__(self, version: DefinedVersion, stored: DefinedVersion, converter: WebhookConverter) -> None:
        self._version, self._stored, self._converter = version, stored, converter
        self._known: dict[str, tuple[Tree, Tree]] = {}  # by uid: as it is stored, and in this version
        self._to_store: dict[int, tuple[Tree, Tree]] = {}  # by the id of what is being written

    # reading

    async def read(self, trees: Sequence[Tree]) -> None:
        """Convert stored objects, so that ``from_stored`` knows them. Raises APIError."""
        missing = [tree for tree in trees if self._found(tree) is None]
        if missing:
            converted = await self._converter.convert(missing, self._version.gvk)
            for tree, found in zip(missing, converted, strict=True):
                self._remember(tree, self._version.reader.converted(found))

    def from_stored(self, tree: Tree) -> Tree:
        """An object that was read before in this version.

        One whose metadata alone has changed since (it is being deleted, say) is taken for what it
        was, with the new metadata.
        """
        found = self._found(tree)
        if found is not None:
            return found
        known = self._known.get(tree["metadata"]["uid"])
        if known is None or not _is_same_but_for_metadata(known[0], tree):
            return {**tree, "apiVersion": self._version.gvk.api_version}
        return {**known[1], "metadata": tree["metadata"]}

    def _found(self, tree: Tree) -> Tree | None:
        if tree["apiVersion"] == self._version.gvk.api_version:
            return tree
        known = self._known.get(tree["metadata"]["uid"])
        if known is None or known[0]["metadata"]["resourceVersion"] != tree["metadata"]["resourceVersion"]:
            return None
        return known[1]

    def _remember(self, stored: Tree, here: Tree) -> None:
        uid = stored["metadata"]["uid"]
        self._known.pop(uid, None)
        self._known[uid] = stored, here
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    # writing

    async def store(self, tree: Tree) -> None:
        """Convert an object that is about to be stored, so that ``to_stored`` knows it. Raises
        APIError.
        """
        if tree["apiVersion"] == self._stored.gvk.api_version:
            return
        copy: Tree = orjson.loads(orjson.dumps(tree))
        converted = (await self._converter.convert([copy], self._stored.gvk))[0]
        self._to_store[id(tree)] = tree, self._stored.reader.converted(converted, defaults=True)

    def to_stored(self, tree: Tree) -> Tree:
        """An object as it is stored: as it was converted, or as it is stored already, with other
        metadata.
        """
        if tree["apiVersion"] == self._stored.gvk.api_version:
            return tree
        prepared = self._to_store.pop(id(tree), None)
        if prepared is not None and prepared[0] is tree:
            return prepared[1]
        known = self._known.get(tree["metadata"].get("uid", ""))
        return tree if known is None else {**known[0], "metadata": tree["metadata"]}


def _is_same_but_for_metadata(left: Tree, right: Tree) -> bool:
    names = dict.fromkeys([*left, *right])
    return all(left.get(name) == right.get(name) for name in names if name != "metadata")
