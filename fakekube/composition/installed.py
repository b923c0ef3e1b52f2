"""Which controllers and add-ons are installed, by their entry points."""

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakekube.util.entrypoints import EntryPoint

CONTROLLERS, ADDONS = "fakekube.controllers", "fakekube.addons"


class Installed(NamedTuple):
    """The installed entry points by name, and the names of the add-ons among them."""

    entry_points: "Mapping[str, EntryPoint]"
    addons: tuple[str, ...]


@cache
def installed() -> Installed:
    """Every installed controller; read once per process."""
    from fakekube.util.entrypoints import entry_points

    found = entry_points(CONTROLLERS, ADDONS)
    points = sorted([*found[CONTROLLERS], *found[ADDONS]])
    return Installed(
        MappingProxyType({point.name: point for point in points}), tuple(point.name for point in found[ADDONS]))
