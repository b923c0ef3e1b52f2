"""The tables that an add-on of upstream's ships with: the definitions of its kinds, and the structs
behind them.

``tools/addon_tables.py`` makes both files, in the package of the add-on.
"""

import gzip
import pkgutil

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.runtime.gostructs import Structs
from fakekube.util.memory import memoized


def definitions(package: str) -> list[Tree]:
    """The CustomResourceDefinitions of a package; the caller's own."""
    found: list[Tree] = orjson.loads(gzip.decompress(_read(package, "definitions.gz")))
    return found


@memoized(8)
def structs(package: str) -> Structs:
    """What Go says of the structs of a package's kinds."""
    name, spec = package.rpartition(".")[2], definitions(package)[0]["spec"]
    stored = next(version["name"] for version in spec["versions"] if version["storage"])
    return Structs(_read(package, "structs.txt").decode("ascii"), {name: stored})


def _read(package: str, name: str) -> bytes:
    data = pkgutil.get_data(package, name)
    assert data is not None, "the package has its tables"
    return data
