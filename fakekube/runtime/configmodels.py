"""Configurations of components as models: what the fields of every one have in common, and what is
said of a wrong one.

Upstream: the strict decoding of k8s.io/component-base/config and of controller-runtime's
configuration files. Near names are told besides.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import NoneType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

Int32 = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31)]


STRICT = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)
"""Of every model: camel case outside, no other fields, nothing converted."""


def without_nulls(value: Any, raw: str = "") -> Any:
    """A tree without the fields that are null: those say nothing, in Go's JSON.

    What is an object under the name ``raw`` stays as it is.
    """
    if isinstance(value, list):
        return [without_nulls(each, raw) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {name: each if name == raw else without_nulls(each, raw) for name, each in value.items() if each is not None}


def near(word: str, known: Iterable[str]) -> str:
    """Which of the known words may be meant; empty for none."""
    names = [*known]
    holding = [name for name in names if len(word) > 3 and word.lower() in name.lower()]
    found = [*dict.fromkeys([*get_close_matches(word, names, 2, 0.7), *holding])][:2]
    return f": did you mean {' or '.join(found)}?" if found else ""


def decoding_error(error: ValidationError, model: type[BaseModel]) -> str:
    """What is wrong with fields, as upstream's strict decoding says it where that is one."""
    unknown, wrong = [], []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        path = ""
        for part in each["loc"]:
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
        if each["type"] == "extra_forbidden":
            unknown.append(f'unknown field "{path}"{near(str(each["loc"][-1]), _fields_at(model, each["loc"][:-1]))}')
        else:
            wrong.append(f"{path}: {each['msg'].removeprefix('Value error, ')}")
    return f"strict decoding error: {', '.join(unknown)}" if unknown and not wrong else "; ".join([*wrong, *unknown])


def _fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> Iterator[str]:
    """The fields of the model at a place below another."""
    for part in path:
        for field in model.model_fields.values():
            if field.alias == part:
                model = _model_in(field.annotation) or model
    return (str(field.alias) for field in model.model_fields.values())


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, alone, in a list or beside None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if each is not NoneType and (found := _model_in(each))), None)
