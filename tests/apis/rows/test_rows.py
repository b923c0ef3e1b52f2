"""The rows of Tables: of each object the cells, in the order of the columns, and the conditions of
the row.

Each object was made five minutes before it is printed and is called x, if it does not say
otherwise.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakekube.apimachinery.times import parse_time
from fakekube.apis.catalog import catalog, metrics_kinds

NOW = parse_time("2026-01-01T01:00:00Z")
CREATED = "2026-01-01T00:55:00Z"
KINDS = {f"{kind.api_version}/{kind.plural}": kind for kind in (*catalog("1.37", {}, {"api/all": True}).kinds, *metrics_kinds())}


def rows() -> Iterator[Any]:
    """All of them, each named after its kind and its place."""
    for number, row in enumerate(yaml.load(Path(__file__).with_name("rows.yaml").read_text(), yaml.CSafeLoader)):
        yield pytest.param(row, id=f"{number}-{row['of'].replace('/', '-')}")


def printed(row: dict[str, Any]) -> dict[str, Any]:
    """The cells, and the conditions if there are any."""
    kind = KINDS[row["of"]]
    assert kind.printer is not None
    metadata = {"name": "x", "creationTimestamp": CREATED, **row["object"].get("metadata", {})}
    tree = {"kind": kind.kind, "apiVersion": kind.api_version, **row["object"], "metadata": metadata}
    cells = kind.printer.cells(tree, NOW)
    conditions = kind.printer.conditions(tree) if kind.printer.conditions else []
    return {"cells": cells, **({"conditions": conditions} if conditions else {})}


@pytest.mark.parametrize("row", list(rows()))
def test_the_row_of_an_object(row: dict[str, Any]) -> None:
    """Given an object / when it is printed / then the cells are these, each of its own field."""
    assert printed(row) == {name: row[name] for name in ("cells", "conditions") if name in row}
