"""Queries of Stages: ``compile(text)`` gives a function from a tree to the list of what the query
finds in it.

The package ``jq`` carries them out; it comes with the extra ``kwok``. A query that fails on a tree
finds nothing, as in KWOK.
Upstream: kwok/pkg/utils/gojq, on gojq. Left out: ``now``, which would be the wall's time and not
the cluster's.
"""

from collections.abc import Callable
from typing import Any

import orjson

Query = Callable[[Any], list[Any]]

MISSING = 'queries need the package jq: pip install "fakekube[kwok]"'
WITHOUT_NOW = 'def now: error("now is not supported"); '


class QueryError(ValueError):
    """A text that is no query, or one that nothing here can carry out."""


def compile(text: str) -> Query:  # noqa: A001 - what one does with a query
    """Read a query. Raises QueryError."""
    try:
        import jq
    except ImportError:
        raise QueryError(MISSING) from None
    if not text.strip():
        raise QueryError("a query is missing")
    try:
        program = jq.compile(WITHOUT_NOW + text)
    except ValueError as error:
        complaint = str(error).removeprefix("jq: error: ").splitlines()[0].partition(" at <")[0]
        raise QueryError(f"{complaint} in {text!r}") from error

    def run(tree: Any) -> list[Any]:
        try:
            found: list[Any] = program.input_text(orjson.dumps(tree).decode()).all()
        except ValueError:
            return []
        return found

    return run
