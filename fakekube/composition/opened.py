"""What options name, opened: a snapshot, a plan of faults.

What is behind each is imported only where an option names one.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from fakekube.composition.snapshot import Snapshot
    from fakekube.faults.rules import Rule
    from fakekube.util.choices import Choices


def snapshot(given: "Snapshot | Path | str") -> "Snapshot":
    """A snapshot, or that in a file. Raises SnapshotError, OSError."""
    from fakekube.composition.snapshot import Snapshot, read

    return given if isinstance(given, Snapshot) else read(given)


def faults(given: Any, choices: "Choices | None" = None) -> "list[Rule]":
    """The rules of a plan, or of a file with one, and those that a schedule plans.

    Raises OptionError.
    """
    planned = choices.planned_faults if choices is not None else []
    if not given and not planned:
        return []
    from fakekube.composition import clusterfaults

    return [*clusterfaults.read(given), *clusterfaults.planned(planned)]
