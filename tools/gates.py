"""Collects the feature gates of every release: fakekube/apis/gates.txt.

Each release says itself which gates its kube-apiserver has, how mature they are, whether they are
on, and which others they need. Newer releases also say what was so before a gate had a name, which
switches behaviour of older ones that have no such gate. Source: the Go modules of every release.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools import gosource
from tools.releases import RELEASES, ROOT, SINCE, Release, Sources

OUTPUT = ROOT / "fakekube" / "apis" / "gates.txt"
HEAD = """\
# Feature gates, one a line: NAME TRANSITION... [fromMINOR] [xMINOR] [needsMINOR=NAME,NAME]. tools/gates.py makes this file,
# gates.py reads it. A transition is the minor number of a release, the stage from there on (a alpha, b beta, g GA,
# d deprecated), the default (+ or -) and ! when it is locked to it. What the oldest release of the table has may be older.
# fromMINOR is the first release with the gate, where a transition says what was so without it; xMINOR is the first release
# that has it no more. needsMINOR names the gates that it cannot be on without from that release on.
"""
FOLDERS = {
    "component-base": ["featuregate", "logs/api/v1", "metrics/features", "zpages/features"],
    "client-go": ["features"],
    "apiextensions-apiserver": ["pkg/features"],
    "apiserver": ["pkg/features"],
    "controller-manager": ["pkg/features"],
    "kubernetes": ["pkg/features"],
}
STAGES = {"Alpha": "a", "Beta": "b", "GA": "g", "": "g", "Deprecated": "d"}

NAMES = re.compile(r'^\s*(?:const )?(\w+)\s+(?:featuregate\.)?Feature\s*=\s*"(\w+)"', re.MULTILINE)
SPECS = re.compile(r"map\[(?:\w+\.)?Feature\](?:\w+\.)?(?:FeatureSpec|VersionedSpecs)\{")
NEEDS = re.compile(r"map\[(?:\w+\.)?Feature\]\[\](?:\w+\.)?Feature\{")
KEY = re.compile(r'\s*(?:\w+\.)?"?(\w+)"?:\s*\{')
NEED = re.compile(r"(\w+)\)?\s*(?:,|$)")
SPEC = re.compile(r"\{([^{}]*)\}")
VERSION = re.compile(r'Version:\s*version\.(?:MustParse\("1\.(\d+)"\)|MajorMinor\(\d+, (\d+)\))')
COMPATIBILITY = re.compile(r'MinCompatibilityVersion:\s*version\.MustParse\("1\.(\d+)"\)')
ATTRIBUTE = re.compile(r"(Default|LockToDefault|PreRelease):\s*(?:\w+\.)?(\w+)")


class Gate(NamedTuple):
    """A gate in one release: its state as a transition writes it without its minor number (``b+``),
    the gates that it needs, and what the release says of the gate and all releases, as in Go.
    """

    state: str
    needs: tuple[str, ...]
    specs: str


def build(sources: Sources) -> dict[Path, bytes]:
    """The table of all releases, by the names of the gates."""
    known = {release.minor: gates_of(sources, release) for release in RELEASES}
    names = sorted({name for gates in known.values() for name in gates})
    lines = [line(name, {minor: gates.get(name) for minor, gates in known.items()}) for name in names]
    return {OUTPUT: (HEAD + "\n".join(lines) + "\n").encode()}


def line(name: str, known: dict[int, Gate | None]) -> str:
    """The line of a gate, which some releases have and others have not."""
    has = [minor for minor, gate in known.items() if gate]
    gone = next((minor for minor in known if minor > has[-1]), None)
    assert all(known[minor] for minor in known if has[0] <= minor <= has[-1]), f"{name} came back"
    newest = known[has[-1]]
    assert newest is not None
    states = {minor: gate.state if gate else before(newest, minor) for minor, gate in known.items() if minor <= has[-1]}
    words = [name, *(f"{minor}{state}" for minor, state in changes(states))]
    words += [f"from{has[0]}"] if any(state for minor, state in states.items() if minor < has[0]) else []
    words += [f"x{gone}"] if gone else []
    needs = {minor: ",".join(gate.needs) for minor, gate in known.items() if gate}
    return " ".join([*words, *(f"needs{minor}={names}" for minor, names in changes(needs))])


def before(gate: Gate, minor: int) -> str:
    """The state that a release has without having the gate, where later ones say that it was on;
    empty when it was not.
    """
    state = state_of(gate.specs, minor) if VERSION.search(gate.specs) else ""
    return state if "+" in state else ""


def changes(values: dict[int, str]) -> Iterator[tuple[int, str]]:
    """The releases that say something else than the one before, and what; nothing is said before
    the first.
    """
    last = ""
    for minor, value in values.items():
        if value != last:
            yield minor, value
        last = value


def gates_of(sources: Sources, release: Release) -> dict[str, Gate]:
    """The gates of a kube-apiserver of a release."""
    texts = [
        gosource.without_comments(file.read_text())
        for module, folders in FOLDERS.items() if release.minor >= SINCE.get(module, 0)
        for folder in folders
        for file in gosource.sources(sources.module(module, release) / folder)
    ]  # fmt: skip
    names = {constant: name for text in texts for constant, name in NAMES.findall(text)}
    needs = {
        names.get(key, key): tuple(sorted(names.get(need, need) for need in NEED.findall(body)))
        for text in texts
        for key, body in entries(text, NEEDS)
    }
    found = {}
    # kubernetes' own come last, which say again what the libraries say of themselves
    for text in texts:
        for key, body in entries(text, SPECS):
            name = names.get(key, key)
            if state := state_of(body, release.minor):
                found[name] = Gate(state, needs.get(name, ()), body)
    return found


def entries(text: str, head: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The keys and bodies of the map literals that begin with ``head``."""
    for match in head.finditer(text):
        at = match.end()
        while key := KEY.match(text, at):
            end = closing(text, key.end())
            yield key[1], text[key.end() : end]
            at = end + 2  # the brace and a comma


def closing(text: str, at: int) -> int:
    """Where the brace is that closes the one before ``at``."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at - 1


def state_of(body: str, minor: int) -> str:
    """What an entry says of a gate in a release: ``a-``, ``g+!``; empty when it says nothing yet.
    """
    state = ""
    for spec in SPEC.findall(body) or [body]:
        version = VERSION.search(spec)
        compatible = COMPATIBILITY.search(spec)
        if (version and int(version[1] or version[2]) > minor) or (compatible and int(compatible[1]) >= minor):
            continue  # a release is compatible with the one before by default
        told = dict(ATTRIBUTE.findall(spec))
        on = "+" if told.get("Default") == "true" else "-"
        state = STAGES[told.get("PreRelease", "")] + on + ("!" if told.get("LockToDefault") == "true" else "")
    return state
