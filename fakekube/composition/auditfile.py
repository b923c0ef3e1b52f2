"""Where audit events go: a file to which lines are added, or standard output.

Upstream: apiserver/plugin/pkg/audit/log. Left out: rotation.
"""

import logging
import sys
from pathlib import Path
from typing import BinaryIO

from fakekube.composition.options import OptionError

STDOUT = "-"

log = logging.getLogger(__name__)


class AuditFile:
    """One file, open from its first line until ``close``.

    Raises OptionError for a name that no file can have, before a cluster starts.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._file: BinaryIO | None = None
        if name != STDOUT:
            try:
                Path(name).open("ab").close()
            except (OSError, ValueError) as error:
                raise OptionError(f"audit_log: {name}: {error}") from error

    def write(self, line: bytes) -> None:
        """Add a line, so that a reader sees it at once; what cannot be written is told to the log.

        Standard output may be no file of bytes, where somebody captures it.
        """
        try:
            file = self._open()
            file.write(line)
            file.flush()
        except (OSError, ValueError, AttributeError) as error:
            log.warning("an audit event is lost: %s", error)

    def _open(self) -> BinaryIO:
        if self._name == STDOUT:
            return sys.stdout.buffer
        if self._file is None:
            self._file = Path(self._name).open("ab")  # noqa: SIM115 - it stays open with the cluster
        return self._file

    def close(self) -> None:
        """Close the file; harmless when it is closed."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
