"""The files that ``fakekube serve`` writes while it runs: a kubeconfig, and the one that says that
it is ready.

Both are gone when it ends. What is not ours is never replaced: what would be is told before
anything is started.
"""

import asyncio
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from fakekube.composition.options import OptionError
from fakekube.util import files
from fakekube.util.files import NotReplaced

if TYPE_CHECKING:
    import http.client

    from fakekube.composition.servedfleet import ServedFleet
    from fakekube.composition.serving import Served
    from fakekube.server.kubeconfigfile import Owner

READY = re.compile(rb"https?://[^\s/]+\n?")
READY_BYTES = 1024
ANSWER_SECONDS = 2.0


class ServeFiles:
    """The files of one server. An empty name is no file."""

    def __init__(self, kubeconfig: str, ready: str) -> None:
        self.kubeconfig = _path("kubeconfig", kubeconfig)
        self.ready = _path("ready-file", ready)

    def check(self) -> None:
        """Look at what is there, and remove the ready file of a server that has died.

        Raises OptionError for what is not ours, and for a ready file that cannot be written.
        """
        if self.kubeconfig is not None:
            if not self.kubeconfig.exists() and os.pathsep in str(self.kubeconfig):
                raise OptionError(f"kubeconfig: {self.kubeconfig} are several files: name one of them")
            _refuse_live(self.kubeconfig, _owner(self.kubeconfig))
        if self.ready is not None:
            _remove_ready(self.ready)
            folder = Path(os.path.realpath(self.ready)).parent
            if not os.access(folder, os.W_OK):
                raise OptionError(f"ready-file: {folder} cannot be written")

    async def write(self, server: "Served | ServedFleet") -> bool:
        """Write both; whether there is a kubeconfig. That one cannot be written is a warning,
        unless it is not ours.

        Raises OptionError as ``check``, for what has changed since.
        """
        written = await self._write_kubeconfig(server)
        if self.ready is not None:
            try:
                files.write(self.ready, f"{server.url}\n".encode())
            except OSError as error:
                raise OptionError(f"ready-file: {_text(error)}") from error
        return written

    async def _write_kubeconfig(self, server: "Served | ServedFleet") -> bool:
        path = self.kubeconfig
        if path is None:
            return False
        owner = _owner(path)
        if owner is not None:
            await asyncio.to_thread(_refuse_live, path, owner)
        try:
            server.write_kubeconfig(path)
        except NotReplaced as error:
            raise OptionError(f"kubeconfig: {error}") from error
        except OSError as error:
            click.echo(f"Warning: there is no kubeconfig: {_text(error)}", err=True)
            return False
        return True

    def remove_ready(self) -> None:
        """Say that the server ends."""
        if self.ready is not None:
            try:
                _remove_ready(self.ready)
            except OptionError as error:
                click.echo(f"Warning: {error}", err=True)


def _path(option: str, name: str) -> Path | None:
    if not name:
        return None
    path = Path(name)
    try:
        has_folder = path.parent.is_dir()
    except (OSError, ValueError) as error:
        raise OptionError(f"{option}: {_text(error)}") from None
    if not has_folder:
        raise OptionError(f"{option}: there is no directory {path.parent}")
    if path.is_dir():
        raise OptionError(f"{option}: {path} is a directory")
    return path


def _owner(path: Path) -> "Owner | None":
    """The server that wrote its entries here; imported only where there is a file to read."""
    if not path.exists():
        return None
    from fakekube.server.kubeconfigfile import KubeconfigFile

    try:
        return KubeconfigFile(path).owner()
    except OSError as error:
        raise OptionError(f"kubeconfig: {_text(error)}") from error


def _refuse_live(path: Path, owner: "Owner | None") -> None:
    """Raises OptionError where the server that owns the entries still answers.

    Those of one that has died are taken over, whoever is at its address now.
    """
    if owner is not None and not owner.has_died and _answers(owner):
        raise OptionError(
            f"kubeconfig: the cluster fakekube in {path} belongs to the server at {owner.url}, which still answers: "
            "name another file by --kubeconfig")


def _answers(owner: "Owner") -> bool:
    """Whether a server of ours, or somebody who keeps silent, is at the address."""
    import http.client

    try:
        parts = urlsplit(owner.url)
        connection = _connection(parts.scheme, parts.hostname or "", parts.port)
        try:
            connection.request("GET", "/fakekube/v1/clock", headers={"Authorization": f"Bearer {owner.token}"})
            return b'"Clock"' in connection.getresponse().read(READY_BYTES)
        finally:
            connection.close()
    except TimeoutError:
        return True
    except (OSError, ValueError, http.client.HTTPException):
        return False


def _connection(scheme: str, host: str, port: int | None) -> "http.client.HTTPConnection":
    import http.client

    if scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    import ssl

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # it is asked only who it says to be
    return http.client.HTTPSConnection(host, port, timeout=ANSWER_SECONDS, context=context)


def _remove_ready(path: Path) -> None:
    try:
        found = files.read(path, READY_BYTES)
        if found:
            if not READY.fullmatch(found):
                raise NotReplaced(f"{path} holds something else than the address of a server, and is left as it is")
            files.remove(path)
    except OSError as error:
        raise OptionError(f"ready-file: {_text(error)}") from error


def _text(error: Exception) -> str:
    """An error as a sentence: the file first, then what is wrong with it."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)
