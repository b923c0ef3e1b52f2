"""The Kubernetes releases that a cluster can be, oldest first: the one list from which everything
else takes them.

Each has its tables in this package, which the generators in ``tools/`` read from the sources of one
patch release. Upstream: the releases of k8s.io/kubernetes. Left out: releases before the oldest one
for which definitions are published.
"""

import re
from typing import NamedTuple


class Release(NamedTuple):
    """One minor release.

    ``name`` is like ``1.37``, ``patch`` the number of the patch release whose sources the tables
    were read from. ``tested`` ones go through the suites of clients and kinds. Of ``recorded`` ones
    the answers of a real control plane were recorded. ``commit`` is what that control plane said of
    its build, where a build of upstream's would name a commit.
    """

    name: str
    patch: int
    tested: bool = False
    recorded: bool = False
    commit: str = ""

    @property
    def minor(self) -> int:
        """37 for ``1.37``."""
        return minor_of(self.name)


def minor_of(release: str) -> int:
    """37 for ``1.37`` and ``1.37.1``. ValueError for anything else."""
    match = re.fullmatch(r"v?1\.(\d+)(\.\d+)?", release)
    if match is None:
        raise ValueError(f"{release!r} is not a Kubernetes release like {NEWEST.name}")
    return int(match[1])


RELEASES = (
    Release("1.25", 16),
    Release("1.26", 15),
    Release("1.27", 16),
    Release("1.28", 15),
    Release("1.29", 15),
    Release("1.30", 14, tested=True),
    Release("1.31", 14),
    Release("1.32", 13),
    Release("1.33", 13, tested=True),
    Release("1.34", 8),
    Release("1.35", 4, tested=True, recorded=True),
    Release("1.36", 4, tested=True, recorded=True),
    Release("1.37", 1, tested=True, recorded=True, commit="0" * 40),
)
OLDEST = RELEASES[0]
NEWEST = RELEASES[-1]
TESTED = tuple(release.name for release in RELEASES if release.tested)
RECORDED = tuple(release.name for release in RELEASES if release.recorded)
BY_NAME = {release.name: release for release in RELEASES}
