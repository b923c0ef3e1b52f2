"""Texts that become Warning headers."""

import pytest

from fakekube.apimachinery.http import Response
from fakekube.endpoints.warnings import add_warnings


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "b", "a", ""], ["a", "b"]),
        (["a\nb", "c\x7f", "d\x9f", "e é"], ["e é"]),
        (['q"u\\o'], [r"q\"u\\o"]),
        (["x" * 4096], ["x" * 4096]),
        (["x" * 4097], ["x" * 256]),
        (["x" * 2000, "y" * 2096], ["x" * 2000, "y" * 2096]),
        (["x" * 2000, "y" * 2097], ["x" * 256, "y" * 256]),
        ([f"{number:03}" + "z" * 253 for number in range(20)], [f"{number:03}" + "z" * 253 for number in range(16)]),
    ],
)
def test_warnings_of_an_answer(texts: list[str], expected: list[str]) -> None:
    """Given texts, then each is a Warning header once, those that no header can hold aside; beyond
    4096 characters each is cut to 256, until 4096 are written.
    """
    response = Response(200, headers=[("A", "b")])
    add_warnings(response, texts)
    assert response.headers == [("A", "b"), *(("Warning", f'299 - "{text}"') for text in expected)]
