"""Which form an answer takes: what Accept, the ``pretty`` parameter and the User-Agent say.

Two gates stand in upstream's way from a request to its answer. The router compares bare media types
and words its own 406; the handler then reads parameters too (``as=Table``, ``stream=watch``,
``pretty``) and words another.
Upstream: apiserver/pkg/endpoints/handlers/negotiation, the vendored go-restful and goautoneg. Left
out: CBOR, whose gate is off. Protobuf is answered where nothing else is accepted only: who lists
JSON too gets the stored bytes.
"""

from collections.abc import Mapping

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.util.memory import memoized

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
OBJECT_TYPES = (JSON, YAML, PROTOBUF)
STREAM_TYPES = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
TRUE_WORDS = ("1", "t", "T", "TRUE", "true", "True")
TRANSFORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
HUMANS = ("curl", "Wget", "Mozilla/5.0")


class Form:
    """How to print an answer.

    ``transform`` is empty, Table, PartialObjectMetadata or PartialObjectMetadataList.
    """

    __slots__ = ("media", "pretty", "transform", "version")

    def __init__(self, media: str = JSON, *, pretty: bool = False, transform: str = "", version: str = "v1") -> None:
        self.media, self.pretty, self.transform, self.version = media, pretty, transform, version

    @property
    def plain(self) -> bool:
        """Whether stored bytes can go out as they are."""
        return self.media is JSON and not self.pretty and not self.transform

    @property
    def transform_version(self) -> str:
        """``meta.k8s.io/v1`` or ``meta.k8s.io/v1beta1``."""
        return f"meta.k8s.io/{self.version}"


PLAIN = Form()
PRETTY = Form(pretty=True)


class Clause:
    """One alternative of an Accept header."""

    __slots__ = ("params", "quality", "subtype", "type")

    def __init__(self, type: str, subtype: str, quality: float, params: Mapping[str, str]) -> None:  # noqa: A002
        self.type, self.subtype, self.quality, self.params = type, subtype, quality, params

    def matches(self, media: str) -> bool:
        """Whether a media type falls under this alternative."""
        major, _, minor = media.partition("/")
        return self.type in (major, "*") and self.subtype in (minor, "*")


def clauses(accept: str) -> list[Clause]:
    """The alternatives of an Accept header, best first: by quality, then the more specific, then as
    written.
    """
    result = []
    for part in accept.split(","):
        media, *rest = part.split(";")
        type_, _, subtype = media.strip(" ").partition("/")
        if not subtype:
            if type_ != "*":
                continue
            subtype = "*"
        quality, params = 1.0, {}
        for item in rest:
            name, equals, value = item.strip(" ").partition("=")
            if not equals:
                continue
            if name == "q":
                quality = _float(value)
            else:
                params[name] = value
        result.append(Clause(type_, subtype, quality, params))
    return sorted(result, key=lambda clause: (-clause.quality, clause.type == "*", clause.subtype == "*"))


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


@memoized(512, longest=1024)
def _select(accept: str, offered: tuple[str, ...], table: bool, transforms: bool) -> Form | None:
    if not accept:
        return Form(offered[0])
    last = None
    for clause in clauses(accept):
        for media in offered:
            if clause.matches(media) and (form := _form(media, clause.params, table, transforms)):
                if media != PROTOBUF:
                    return form
                last = last or form
    return last


def _form(media: str, params: Mapping[str, str], table: bool, transforms: bool) -> Form | None:
    if params.get("stream", "") not in ("", "watch") or params.get("sv"):
        return None
    if any(name in params for name in ("as", "g", "v")):
        kind, version = params.get("as", ""), params.get("v", "")
        if not transforms or kind not in TRANSFORMS:
            return None
        if params.get("g") != "meta.k8s.io" or version not in ("v1", "v1beta1"):
            return None
        if kind == "Table" and (not table or media == PROTOBUF):
            return None
    else:
        kind, version = "", "v1"
    return Form(media, pretty=params.get("pretty") == "1", transform=kind, version=version)


@memoized(512, longest=1024)
def _routable(accept: str, offered: tuple[str, ...]) -> bool:
    return not accept or any(part.split(";")[0].strip(" ") in ("*/*", *offered) for part in accept.split(","))


def check_route(request: Request, offered: tuple[str, ...] = OBJECT_TYPES, *, streams: bool = False) -> None:
    """The router's gate.

    Raises 406 unless Accept names, parameters aside, one of ``offered`` or everything.
    """
    accept = request.headers.get("accept", "")
    if not _routable(accept, offered):
        listed = ", ".join((*offered, *STREAM_TYPES) if streams else offered)
        error = errors.not_acceptable(f"406: Not Acceptable\n\nAvailable representations: {listed}")
        error.details = {}
        raise error


def negotiate(
    request: Request, *, table: bool = True, transforms: bool = True, offered: tuple[str, ...] = OBJECT_TYPES,
) -> Form:
    """The form of an object, a list or a Status.

    ``table`` says whether the kind has a Table, ``transforms`` whether the endpoint knows
    transformations at all.
    Raises 406 in the handler's words.
    """
    headers = request.headers
    form = _select(headers.get("accept", ""), offered, table, transforms)
    if form is None:
        raise not_acceptable(offered)
    if form.pretty or not is_pretty(request):
        return form
    return Form(form.media, pretty=True, transform=form.transform, version=form.version)


def not_acceptable(offered: tuple[str, ...] = OBJECT_TYPES) -> APIError:
    """406 in the handler's words."""
    return errors.not_acceptable(f"only the following media types are accepted: {', '.join(offered)}")


def negotiate_stream(request: Request, *, table: bool = True) -> Form:
    """The form of a watch: frames of JSON or of protobuf. Raises 406 in the handler's words."""
    form = _select(request.headers.get("accept", ""), OBJECT_TYPES, table, True)
    if form is None or form.media == YAML:
        raise not_acceptable(STREAM_TYPES)
    return form


def form_of_error(request: Request) -> Form:
    """The form of a Status that stands in for an answer: indented JSON when Accept cannot be
    satisfied.
    """
    form = _select(request.headers.get("accept", ""), OBJECT_TYPES, True, True)
    if form is None:
        return PRETTY
    pretty = form.pretty or is_pretty(request)
    return Form(form.media, pretty=pretty) if pretty or form.media != JSON else PLAIN


def is_pretty(request: Request) -> bool:
    """Whether to indent: as ``pretty`` says, else for clients behind which somebody reads."""
    asked = request.query.get("pretty")
    if asked and asked[0]:
        return asked[0] in TRUE_WORDS
    return request.headers.get("user-agent", "").startswith(HUMANS)
