"""``fakekube record``, ``replay`` and ``verify``: their options.

Nothing heavy is imported before a command runs.
"""

from collections.abc import Callable
from typing import Any

import click

from fakekube.cli.clusteroptions import where


@click.command()
@where
@click.option("-o", "--output", type=click.Path(dir_okay=False), default="recording.jsonl", show_default=True, help=(
    "The file to write: lines of JSON, or an HTTP archive if its name ends with .har."))
@click.option("--secrets", is_flag=True, help="Record values of Secrets, tokens and credentials as they are.")
@click.option("--from", "source", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help=(
    "Write what FILE has recorded already in the other form."))
@click.argument("command", nargs=-1, metavar="[-- pytest ...]")
@click.pass_context
def record(
    context: click.Context, server: str | None, kubeconfig: str | None, output: str, source: str | None,
    command: tuple[str, ...], *, secrets: bool,
) -> None:
    """Write down what clients ask and are answered: of a served cluster until Ctrl-C, or of the
    tests of a command in which pytest runs.
    """
    from fakekube.cli.record import run as run_recording

    context.exit(run_recording(server, kubeconfig, output, secrets=secrets, source=source, command=command))


def _playing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of what plays a recording."""
    for option in reversed([
        click.option("--against", "kubeconfig", type=click.Path(exists=True, dir_okay=False), metavar="KUBECONFIG", help=(
            "The cluster that is asked.")),
        click.option("--context", default="", metavar="NAME", help=(
            "The context of the kubeconfig; the current one if not given.")),
        click.option("--server", metavar="URL", help="The address of the cluster, in place of a kubeconfig."),
        click.option("--yes", is_flag=True, help="Go on without asking, once it was shown what would be done."),
        click.option("--allow-cluster-scoped", "cluster_scoped", is_flag=True, help=(
            "Make objects without a namespace too, with names of their own, and delete them at the end.")),
        click.option("--alone", is_flag=True, help=(
            "Nobody else uses the cluster: make also what others would notice, such as nodes, volumes, defaults, rights, and "
            "objects without a namespace of kinds whose controllers are there.")),
        click.option("--any-setup", is_flag=True, help=(
            "Play also what was recorded with add-ons and feature gates that the cluster does not have.")),
        click.option("--wait", default="10s", show_default=True, metavar="DURATION", help=(
            "How long an answer may take to become the recorded one.")),
        click.option("--jobs", type=click.IntRange(1, 64), default=8, show_default=True, help=(
            "How many tests are played at a time.")),
        click.option("--state", is_flag=True, help="Tell also what differs in fields that controllers write."),
        click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help=(
            "A text for people, or JSON for programs.")),
    ]):
        function = option(function)
    return function


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@_playing
@click.pass_context
def replay(context: click.Context, /, file: str, **values: Any) -> None:
    """Ask a cluster what FILE has recorded, and say where its answers differ.

    It is asked in namespaces that are made for it. Exits with 1 when anything differs.
    """
    from fakekube.cli.verify import replay as play

    context.exit(play(file, values))


@click.command()
@click.argument("tests", nargs=-1, metavar="[TESTS] [-- OPTIONS OF PYTEST]")
@_playing
@click.pass_context
def verify(context: click.Context, /, tests: tuple[str, ...], **values: Any) -> None:
    """Run TESTS with pytest, ask a cluster what they asked ours, and say where the answers differ.

    It may be a real one: it is asked in namespaces that are made for it. Exits with 1 when anything
    differs.
    """
    from fakekube.cli.verify import verify as play

    context.exit(play(tests, values))
