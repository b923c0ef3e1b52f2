"""``fakekube record``: what clients ask of a served cluster, or in a run of pytest, into a file."""

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from fakekube.cli.remote import client_of, told_in_a_sentence
from fakekube.recording import exchanges, har, report
from fakekube.recording.lines import RecordingError
from fakekube.util import files
from fakekube.util.wallclock import RealClock

if TYPE_CHECKING:
    from collections.abc import Callable

PATH = "/fakekube/v1/recording"
LOOK_SECONDS = 0.5
ARCHIVE = ".har"
ADDOPTS = "PYTEST_ADDOPTS"


def run(
    server: str | None, kubeconfig: str | None, output: str, *, secrets: bool, source: str | None, command: tuple[str, ...],
) -> int:
    """Record into a file; the exit code. Raises ClickException."""
    target = Path(output)
    if source is not None:
        if command or server or kubeconfig:
            raise click.UsageError("--from takes what is recorded already: give no cluster and no command with it")
        _finish(Path(source), target)
        return 0
    code = 0
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "recording"
        if command:
            code = record_command(command, part, secrets=secrets)
        else:
            record_cluster(server, kubeconfig, part, secrets=secrets)
        if not part.exists() or not part.stat().st_size:
            raise click.ClickException("nothing was recorded: no cluster of fakekube was used")
        _finish(part, target)
    return code


def _finish(source: Path, target: Path) -> None:
    """Write the file, in the form that its name asks for, and say what is in it."""
    try:
        recording = exchanges.read(source)
    except RecordingError as error:
        raise click.ClickException(str(error)) from error
    files.write(target, har.archive(recording) if target.suffix == ARCHIVE else source.read_bytes())
    tests = {exchange.test for exchange in recording.exchanges if exchange.test}
    of = f" of {report.counted(len(tests), 'test')}" if tests else ""
    click.echo(f"{target}: {report.counted(len(recording.exchanges), 'request')}{of}", err=True)


def record_command(command: tuple[str, ...], path: Path, *, secrets: bool, options: str = "") -> int:
    """Run a command in which pytest runs, with the option that records; its exit code.

    ``options`` are more options of pytest. Raises ClickException for a command that is not there.
    """
    wanted = f"--fakekube-record={shlex.quote(str(path))}{' --fakekube-record-secrets' if secrets else ''} {options}"
    environment = os.environ | {ADDOPTS: f"{os.environ.get(ADDOPTS, '')} {wanted}".strip()}
    try:
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 - the user's own command
    except OSError as error:
        raise click.ClickException(f"{command[0]}: {error.strerror}") from error


def record_cluster(server: str | None, kubeconfig: str | None, path: Path, *, secrets: bool) -> None:
    """Record what a served cluster is asked, until Ctrl-C or its end. Raises ClickException."""
    with told_in_a_sentence():
        asyncio.run(_record_cluster(server, kubeconfig, path, secrets=secrets))


async def _record_cluster(server: str | None, kubeconfig: str | None, path: Path, *, secrets: bool) -> None:
    from fakekube.client.transport import TransportError

    ended, clock, client = asyncio.Event(), RealClock(), client_of(server, kubeconfig)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    try:
        await client.request("POST", PATH, body=orjson.dumps({"start": True, "secrets": secrets}))
        click.echo("recording; Ctrl-C ends it", err=True)
        with path.open("wb") as file:
            write: Callable[[bytes], int] = file.write
            try:
                while not ended.is_set():
                    await clock.sleep(LOOK_SECONDS)
                    write((await client.request("GET", PATH)).body)
                await client.request("POST", PATH, body=orjson.dumps({"stop": True}))
            except TransportError:
                click.echo("the cluster has ended", err=True)
    finally:
        await client.close()
