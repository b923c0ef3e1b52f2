"""What the lines of a recording have to be like, for who reads one that somebody else has written.

``lines.py`` says what they mean.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

Seconds = Annotated[float, Field(ge=0, le=2.5e11)]  # until the year 9999
Name = Annotated[str, Field(min_length=1)]
Base64 = Annotated[str, Field(pattern="^[A-Za-z0-9+/]*=*$")]


class _Line(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    cluster: str


class _Cluster(_Line):
    format: str
    controllers: str = ""
    feature_gates: dict[str, bool] = {}
    addons: list[str] = []
    authorization_mode: list[str] = []


class _Setup(_Line):
    registered: list[dict[str, Any]]


class _Request(_Line):
    number: int
    time: Seconds
    until: Seconds = 0
    test: str = ""
    method: Name
    path: Annotated[str, Field(pattern="^/")]
    query: dict[str, list[str]] = {}
    headers: dict[str, str] = {}
    user: str = ""
    groups: list[str] = []
    body_text: str = ""
    body_base64: Base64 = ""
    code: Annotated[int, Field(ge=100, le=999)]
    content_type: str = ""
    answer_headers: list[tuple[str, str]] = []
    answer_text: str = ""
    answer_base64: Base64 = ""
    stream: str = ""
    fault: str = ""
    served: bool = True
    told: bool = True


class _Event(_Line):
    number: int
    time: Seconds
    latest: int
    event_text: str = ""
    fault: str = ""
    served: bool = True
    told: bool = True


_FORMS: Mapping[str, type[_Line]] = MappingProxyType({
    "cluster": _Cluster, "setup": _Setup, "request": _Request, "event": _Event, "end": _Event})


def check(kind: str, line: object) -> None:
    """Raises ValueError, which names a field, for a line that is not as its kind has to be."""
    if kind not in _FORMS:  # of a later version
        return
    try:
        _FORMS[kind].model_validate(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
