"""``fakekube snapshot`` and ``fakekube diff``: a cluster as a file, and what differs between two.
"""

from pathlib import Path

import click

from fakekube.cli import remote

PATH = "/fakekube/v1/snapshot"


def take(server: str | None, kubeconfig: str | None, output: str) -> None:
    """Write a served cluster to a file. Raises ClickException."""
    from fakekube.composition import snapshot

    data = remote.call(server, kubeconfig, "GET", PATH)
    if not snapshot.is_one(data):
        raise click.ClickException("what answers there is no fakekube that knows this command")
    try:
        snapshot.write_file(Path(output), data)
    except OSError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{output}: {len(data):,} bytes; go on from it with: fakekube serve --from {output}")


def diff(first: str, second: str, resources: tuple[str, ...]) -> bool:
    """Print what differs between two files; whether anything does.

    Raises ClickException for one that cannot be read.
    """
    from fakekube.composition import snapshot_diff
    from fakekube.composition.snapshot import SnapshotError, read

    try:
        old, new = read(first), read(second)
    except (SnapshotError, OSError) as error:
        raise click.ClickException(str(error)) from error
    found = False
    for line in snapshot_diff.of_clusters(old, new):
        click.echo(line)
        found = True
    for one in snapshot_diff.between(old, new, resources):
        found = True
        for line in one.lines():
            click.echo(line)
    return found
