"""The fields of every message of the API, from a table that ships with the package.

Field numbers stay the same from release to release, so one table serves all of them;
``tools/protobuf.py`` makes it.
Upstream: the generated.proto files of k8s.io/api, apimachinery, apiextensions-apiserver and
kube-aggregator, and the struct tags beside them, which say what JSON calls a field.
"""

import gzip
import pkgutil
from typing import NamedTuple

VARINTS = ("int32", "int64", "bool")


class Field(NamedTuple):
    """One field, by JSON's name.

    ``type`` is a scalar or the full name of a message; ``repeated`` and ``mapped`` tell lists and
    maps, ``inline`` a message whose fields JSON shows as those of the message around it.
    """

    number: int
    name: str
    type: str
    repeated: bool
    mapped: bool
    inline: bool


class Messages:
    """Messages by full name, such as ``api.core.v1.Pod``; each is parsed when somebody first asks.
    """

    def __init__(self) -> None:
        table = pkgutil.get_data(__package__, "messages.gz")
        assert table is not None, "the package has its table"
        lines = gzip.decompress(table).decode().split("\n")
        self._lines = dict(line.partition("\t")[::2] for line in lines)
        self._fields: dict[str, dict[int, Field]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def fields(self, name: str) -> dict[int, Field]:
        """The fields of a message by number, in their order; a message that the table has not has
        none.
        """
        found = self._fields.get(name)
        if found is None:
            found = {}
            for item in filter(None, self._lines.get(name, "").split("\t")):
                number, field, kind = item.split(":", 2)
                bare = kind.lstrip("[]{}>")
                found[int(number)] = Field(
                    int(number), field, bare, kind.startswith("[]"), kind.startswith("{}"), kind.startswith(">"))
            found = self._fields[name] = dict(sorted(found.items()))
        return found

    def wraps_list(self, name: str) -> bool:
        """Whether a message is there for the list in it only, which is all that JSON shows."""
        return self._lines.get(name) == "1:items:[]string"
