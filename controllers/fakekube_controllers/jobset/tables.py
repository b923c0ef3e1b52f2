"""The definition of the kind as upstream publishes it, and the structs behind it.

``tools/addon_tables.py`` makes both files.
"""

import gzip
import pkgutil

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.runtime.gostructs import Structs
from fakekube.util.memory import memoized

SPEC = "jobset.JobSetSpec"


def definition() -> Tree:
    """The CustomResourceDefinition; the caller's own."""
    found: Tree = orjson.loads(gzip.decompress(_read("definition.gz")))
    return found


@memoized(1)
def structs() -> Structs:
    """What Go says of the structs of a JobSet."""
    return Structs(_read("structs.txt").decode("ascii"))


def _read(name: str) -> bytes:
    data = pkgutil.get_data(__package__, name)
    assert data is not None, "the package has its tables"
    return data
