"""Codecs and definitions for the tests of the schema package."""

from functools import cache

from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.schema import definitions
from fakekube.schema.decode import Codec
from fakekube.schema.definitions import Definitions
from fakekube.schema.structural import Schema


@cache
def release(name: str = "1.37") -> Definitions:
    """The definitions of a release; opened once for all tests, which do not change them."""
    return definitions.load(name)


def schema(api_version: str, kind: str, name: str = "1.37") -> Schema:
    """The schema of a kind that the release must know."""
    found = release(name).schema(GroupVersionKind(*split_api_version(api_version), kind))
    assert found is not None
    return found


def codec(api_version: str, kind: str, name: str = "1.37") -> Codec:
    """The decoder of a kind."""
    return Codec(schema(api_version, kind, name))
