"""Which libraries the expressions of a Kubernetes release may use.

What is written anew may use only what the release before had as well, so that a step back stays
possible; what is stored already may use all that the release knows. Until 1.27 there was no such
difference. Upstream: apiserver/pkg/cel/environment/base.go of each release, with its cel-go.
"""

from collections.abc import Callable
from typing import NamedTuple

from fakekube.apimachinery.releases import NEWEST
from fakekube.cel import validators
from fakekube.cel.checker import Options
from fakekube.cel.environment import Environment
from fakekube.cel.libraries import Library
from fakekube.cel.library import (
    authorizer,
    kubernetes_lists,
    lists,
    named_formats,
    network,
    optionals,
    quantities,
    regex,
    semvers,
    sets,
    strings,
    two_variables,
    urls,
)
from fakekube.util.memory import memoized

SPLIT_SINCE = 28
CROSS_TYPE_COMPARISONS_SINCE = 28
VALIDATORS_SINCE = 29


class Introduced(NamedTuple):
    """A library, the first minor release that has it, and the first that has it no more."""

    since: int
    library: Callable[[], Library]
    until: int = 1000


def _literal_validators() -> Library:
    looked_at = (validators.duration_literals, validators.timestamp_literals, validators.regex_literals)
    return Library("literals", validators=looked_at)


_INTRODUCED = (
    Introduced(0, urls.library),
    Introduced(0, regex.library),
    Introduced(0, lambda: kubernetes_lists.library(0), 37),
    Introduced(27, authorizer.library),
    Introduced(28, quantities.library),
    Introduced(0, lambda: strings.library(0), 29),
    Introduced(29, lambda: strings.library(2)),
    Introduced(29, sets.library),
    Introduced(29, _literal_validators),
    Introduced(30, network.ip_library),
    Introduced(30, network.cidr_library),
    Introduced(31, named_formats.library),
    Introduced(31, authorizer.selectors_library),
    Introduced(32, two_variables.library),
    Introduced(33, semvers.library),
    Introduced(34, lists.library),
    Introduced(37, lambda: kubernetes_lists.library(1)),
)


def libraries(minor: int = NEWEST.minor, *, stored: bool = True) -> tuple[Library, ...]:
    """The libraries of a release, by the minor number of it: 37 of ``1.37``.

    ``stored`` says that the expression was written before; new ones may use less.
    """
    compatible = compatible_with(minor, stored=stored)
    chosen = [entry.library() for entry in _INTRODUCED if entry.since <= compatible < entry.until]
    if compatible >= 28:
        chosen.append(optionals.library(_optional_version(minor)))
    if minor >= VALIDATORS_SINCE:
        chosen.append(Library("homogeneous literals", validators=(validators.homogeneous_literals,)))
    return tuple(chosen)


def compatible_with(minor: int, *, stored: bool) -> int:
    """The minor release whose functions an expression may use."""
    return minor - 1 if not stored and minor >= SPLIT_SINCE else minor


def _optional_version(minor: int) -> int:
    """Optionals have what the cel-go of the release brings, whoever wrote the expression."""
    return 0 if minor < 29 else 1 if minor < 33 else 2


@memoized(64)
def environment(minor: int = NEWEST.minor, *, stored: bool = True) -> Environment:
    """The environment of a release without variables; ``extended`` gives it some."""
    compatible = compatible_with(minor, stored=stored)
    options = Options(
        homogeneous_literals=minor < VALIDATORS_SINCE,
        cross_type_comparisons=compatible >= CROSS_TYPE_COMPARISONS_SINCE,
    )
    return Environment(libraries=libraries(minor, stored=stored), options=options)
