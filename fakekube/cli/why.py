"""``fakekube why``: why an object of a served cluster waits, and what would let it go on."""

import click

from fakekube.cli import remote

PATH = "/fakekube/v1/why"


def run(server: str | None, kubeconfig: str | None, what: str, namespace: str, output: str) -> None:
    """Print the answer for one object, named as ``pod/web-0``.

    Raises ClickException where there is no such object.
    """
    query = {"object": [what], "namespace": [namespace], "output": [output]}
    click.echo(remote.call(server, kubeconfig, "GET", PATH, query=query), nl=False)
