"""Compares a served cluster with answers recorded on a real control plane, and keeps the list of
cases that still differ.

``python tests/fidelity/recordings.py --write`` plays everything and writes the list anew, with
``--release 1.36`` that of another release. The recordings and the tool that plays them are not part
of this repository: FAKEKUBE_RECORDINGS names the folder that has them, ``../shared`` beside the
repository by default.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fakekube.apimachinery import releases

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RELEASES = tuple(reversed(releases.RECORDED))
RELEASE = RELEASES[0]
# the ground that is held; the others need schedulers, gates and add-ons that are yet to come
PHASES = ("quiet", "full")
OPTIONS = "--authorization-mode Node,RBAC"  # as the recorded control plane was started
SERVE = f"{sys.executable} -c 'from fakekube.cli import main; main()' serve"


def tool() -> Path | None:
    """The tool that plays the recordings, if it is there."""
    folder = Path(os.environ.get("FAKEKUBE_RECORDINGS") or ROOT.parent / "shared")
    found = folder / "tools" / "fidelity"
    return found if found.is_file() and (folder / "probes" / "cases").is_dir() else None


def play(fidelity: Path, release: str = RELEASE, *, options: Iterable[str] = (), timeout_seconds: float = 1500) -> list[str]:
    """The names of the cases that differ, sorted: in an answer, or because their server did not
    start.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [sys.executable, str(fidelity), "--release", release, "--serve", SERVE, "--json", str(report),
             "--options", OPTIONS, "--phases", *PHASES, *options],
            capture_output=True, text=True, timeout=timeout_seconds, check=False)
        assert report.exists(), done.stdout + done.stderr
        return differing(report)


def differing(report: Path) -> list[str]:
    """The same from a report that the tool has written with its --json."""
    phases = json.loads(report.read_text())["phases"]
    names = {f"phase:{name}" for name, phase in phases.items() if not phase["results"]}
    for phase in phases.values():
        names.update(result["case"] for result in phase["results"] if any(result["differences"].values()))
    return sorted(names)


def known(release: str = RELEASE) -> list[str]:
    """The cases that are known to differ."""
    return list(_reasons(release))


def _reasons(release: str) -> dict[str, str]:
    """Why each known case differs: what stands behind a # on its line."""
    if not _file(release).exists():
        return {}
    lines = (line.partition("#") for line in _file(release).read_text().splitlines())
    return {name.strip(): reason.strip() for name, _, reason in lines if name.strip()}


def write(names: list[str], release: str = RELEASE) -> None:
    """Make these the known ones; of those that were known before the reasons stay."""
    reasons = _reasons(release)
    head = f"# Recorded cases of Kubernetes {release} whose answers still differ from ours. Written by recordings.py --write.\n"
    lines = [f"{name}  # {reasons[name]}" if reasons.get(name) else name for name in names]
    _file(release).write_text(head + "".join(f"{line}\n" for line in lines))


def _file(release: str) -> Path:
    return HERE / f"differs-{release}.txt"


def main() -> int:
    """Print what is new and what is mended; with --write, make the list what was found.

    Exit code 1 for any difference.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="write the list anew")
    parser.add_argument("--release", default=RELEASE, choices=RELEASES)
    parser.add_argument("--report", type=Path, metavar="FILE", help="play nothing: take what the tool wrote with its --json")
    arguments = parser.parse_args()
    fidelity = tool()
    if arguments.report is None and fidelity is None:
        print("no recordings here: set FAKEKUBE_RECORDINGS to the folder that has tools/fidelity and probes")
        return 2
    found = differing(arguments.report) if arguments.report else play(fidelity, arguments.release)
    before = known(arguments.release)
    print("new:", *sorted(set(found) - set(before)), "\nmended:", *sorted(set(before) - set(found)))
    if arguments.write:
        write(found, arguments.release)
    return int(found != before and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
