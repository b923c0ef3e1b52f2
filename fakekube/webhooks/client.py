"""One call of a webhook: a review is posted, the review that comes back is read.

What goes wrong is a CallError whose text is that of upstream's client, since users see it in the
Status of their request. The time that a webhook has is measured on the wall's clock, whatever clock
the cluster has, and virtual time stands still meanwhile.
Upstream: apiserver/pkg/util/webhook/client.go, client-go/rest/request.go.
"""

import asyncio
import base64
import posixpath
from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import orjson

from fakekube.apimachinery import gojson
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.wallclock import RealClock
from fakekube.webhooks.callables import Callables
from fakekube.webhooks.services import ServiceResolver
from fakekube.webhooks.statuses import unstructured
from fakekube.webhooks.transport import Answer, NoAnswer, Post, Transport

USER_AGENT = "kube-apiserver-admission"
HTTPS_PORT = 443
MAX_RETRIES = 10
"""So often a webhook that asks for it with Retry-After is called again, while time is left."""
LARGE_BYTES = 1 << 18
"""A longer answer is read in a thread, and only as JSON."""
_TYPE_META = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
_SCHEME = "k8s.io/apiserver/pkg/util/webhook/client.go:74"
_PATH_SAFE = "/:@!$&'()*+,;=~-._"


class CallError(Exception):
    """A call that failed; the text is upstream's, without the name of the webhook."""


class ReviewKind(NamedTuple):
    """Which review is expected back: ``admission.k8s.io/v1``, ``AdmissionReview``.

    ``others`` are further types that upstream would read and then not convert: their names in Go,
    by apiVersion and kind.
    """

    api_version: str
    kind: str
    others: Mapping[tuple[str, str], str] = MappingProxyType({})

    @property
    def go_type(self) -> str:
        """``v1.AdmissionReview``."""
        return f"{self.api_version.rpartition('/')[2]}.{self.kind}"


class WebhookClient:
    """Calls webhooks.

    ``resolver`` says where services listen. ``activity`` is held during a call. ``wall`` is the
    clock of real time. ``callables`` are the webhooks that are functions.
    """

    def __init__(
        self, transport: Transport, resolver: ServiceResolver, activity: Activity | None = None, wall: Clock | None = None,
        callables: Callables | None = None,
    ) -> None:
        self.callables = callables or Callables()
        self._transport, self._resolver, self._activity = transport, resolver, activity
        self._wall = wall or RealClock()

    async def call(self, config: Tree, review: Tree | bytes, *, timeout_seconds: int, expected: ReviewKind) -> Tree:
        """The review that the webhook at a ``clientConfig`` answers; its fields are not checked
        yet.

        ``review`` is what is sent, as a tree or encoded. Raises CallError.
        """
        url = url_of(config, timeout_seconds)
        body = review if isinstance(review, bytes) else orjson.dumps(review)
        with self._activity.busy() if self._activity is not None else nullcontext():
            try:
                async with asyncio.timeout(timeout_seconds):
                    answer = await self._answer(config, url, body)
            except TimeoutError:
                raise CallError(f"Post {go_quote(url)}: context deadline exceeded") from None
            except NoAnswer as error:
                raise CallError(f"Post {go_quote(url)}: {error}") from error
        if len(answer.body) > LARGE_BYTES:  # nobody else has to wait until it is read
            return await asyncio.to_thread(read_review, answer, expected)
        return read_review(answer, expected)

    async def _answer(self, config: Tree, url: str, body: bytes) -> Answer:
        headers = {"Accept": "application/json, */*", "Content-Type": "application/json", "User-Agent": USER_AGENT}
        post = Post(url, headers, body, base64.b64decode(config.get("caBundle") or ""))
        retries = 0
        while True:
            answer = await self._transport.post(self._located(post, config))
            after = answer.headers.get("retry-after", "")
            asks_again = (answer.status == 429 or answer.status >= 500) and after.isdecimal() and len(after) < 10
            if not asks_again or retries == MAX_RETRIES:
                return answer
            retries += 1
            await self._wall.sleep(int(after))

    def _located(self, post: Post, config: Tree) -> Post:
        service = config.get("service")
        if service is None:
            return post
        found = self._resolver.resolve(service.get("namespace", ""), service.get("name", ""), service.get("port") or HTTPS_PORT)
        url = f"http{post.url.removeprefix('https')}" if found.plain else post.url
        return post._replace(url=url, address=found.address)


def url_of(config: Tree, timeout_seconds: int) -> str:
    """The URL that a ``clientConfig`` leads to, as it is called and as errors name it."""
    service = config.get("service")
    if service is not None:
        base = f"https://{service.get('name', '')}.{service.get('namespace', '')}.svc:{service.get('port') or HTTPS_PORT}"
        path = service.get("path") or ""
    else:
        parts = urlsplit(config.get("url") or "")
        base, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path)
    # Go cleans the path: no slash at the end, no empty segments
    clean = posixpath.normpath(f"/{path.lstrip('/')}")
    return f"{base}{quote(clean, safe=_PATH_SAFE)}?timeout={timeout_seconds}s"


def read_review(answer: Answer, expected: ReviewKind) -> Tree:
    """The review in an answer. Raises CallError."""
    if not 200 <= answer.status <= 206:
        raise CallError(_status_text(answer.body) or unstructured(answer))
    if not answer.body:
        told = answer.headers.get("content-type", "") or "application/json"
        raise CallError(f"0-length response with status code: {answer.status} and content type: {told}")
    tree = _type_meta(answer.body)
    api_version, kind = tree.get("apiVersion") or "", tree.get("kind") or expected.kind
    if not api_version or (api_version, kind) == (expected.api_version, expected.kind):
        return tree
    if kind == "Status" and api_version == "v1":
        if tree.get("status") == "Success":
            return {}
        raise CallError(str(tree.get("message", "")))
    if (api_version, kind) in expected.others:
        raise CallError(f"converting ({expected.others[api_version, kind]}) to ({expected.go_type}): unknown conversion")
    raise CallError(f'no kind {go_quote(kind)} is registered for version {go_quote(api_version)} in scheme "{_SCHEME}"')


def _type_meta(body: bytes) -> Tree:
    """The object in a body, whose ``apiVersion`` and ``kind`` are texts. Raises CallError."""
    problem = "couldn't get version/kind; json parse error: "
    value = _value(body, problem)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise CallError(f"{problem}json: cannot unmarshal {gojson.type_name(value)} into Go value of type {_TYPE_META}")
    for name in ("apiVersion", "kind"):
        if not isinstance(value.get(name, ""), str | None):
            told = gojson.type_name(value[name])
            raise CallError(f"{problem}json: cannot unmarshal {told} into Go struct field .{name} of type string")
    return value


def _value(body: bytes, problem: str) -> Any:
    """What a body holds: JSON if it begins like an object, else YAML. Raises CallError."""
    try:
        if body.lstrip()[:1] == b"{" or len(body) > LARGE_BYTES:
            return gojson.loads(body)
        from fakekube.apimachinery import yaml  # webhooks answer JSON, but for those that fail

        return yaml.load(body)[0]
    except gojson.SyntaxProblem as error:
        raise CallError(f"{problem}{error}") from None
    except ValueError as error:
        raise CallError(str(error)) from None


def _status_text(body: bytes) -> str:
    """What a Status in the body of a failure says; empty when there is none."""
    try:
        value = _value(body, "") if body else None
    except CallError:
        return ""
    if not isinstance(value, dict) or value.get("kind") != "Status" or value.get("apiVersion", "v1") not in ("", "v1"):
        return ""
    return str(value.get("message") or "") if value.get("status") == "Failure" else ""
