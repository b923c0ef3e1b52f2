"""The version of the server. Upstream: component-base/version and apimachinery/pkg/version."""

from fakekube.apimachinery import releases
from fakekube.apimachinery.types import Tree

MINOR_WITH_EMULATION = 33


def info(release: str) -> Tree:
    """The document of /version for a release like ``1.37``.

    Major and minor are whole numbers, as clients expect.
    """
    major, minor = release.split(".")[:2]
    version: Tree = {"major": major, "minor": minor}
    if int(minor) >= MINOR_WITH_EMULATION:
        version |= {"emulationMajor": major, "emulationMinor": minor}
        version |= {"minCompatibilityMajor": major, "minCompatibilityMinor": str(int(minor) - 1)}
    known = releases.BY_NAME.get(f"{major}.{minor}")
    recorded = known if known and known.recorded else None
    name = f"v{major}.{minor}.{recorded.patch if recorded else 0}"
    commit = recorded.commit if recorded else ""
    return version | {
        "gitVersion": name, "gitCommit": commit or _digest(name), "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.26.0", "compiler": "gc", "platform": "linux/amd64",
    }


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
