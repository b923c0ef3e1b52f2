"""What upstream's own parsers said of random selectors (apimachinery v0.37.1)."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fakekube.apimachinery import fields, labels


def recorded(kind: str) -> list[Any]:
    found: dict[str, list[Any]] = orjson.loads(Path(__file__).with_name("selector_answers.json").read_bytes())
    return found[kind]


@pytest.mark.parametrize(("text", "printed", "error"), recorded("labels"))
def test_a_label_selector_is_read_as_upstream_reads_it(text: str, printed: str | None, error: str | None) -> None:
    """Given any text / when it is read / then it prints as upstream prints it, or is refused in the
    same words.
    """
    if error is None:
        assert str(labels.parse(text)) == printed
    else:
        with pytest.raises(labels.SelectorError) as found:
            labels.parse(text)
        assert str(found.value) == error


@pytest.mark.parametrize(("text", "printed", "error"), recorded("fields"))
def test_a_field_selector_is_read_as_upstream_reads_it(text: str, printed: str | None, error: str | None) -> None:
    """Given any text / when it is read / then it prints as upstream prints it, or is refused in the
    same words.
    """
    if error is None:
        assert str(fields.parse(text)) == printed
    else:
        with pytest.raises(fields.SelectorError) as found:
            fields.parse(text)
        assert str(found.value) == error
