"""``fakekube cel``: what an expression gives, or what is wrong with it."""

import click

from fakekube.apimachinery import yaml
from fakekube.apimachinery.releases import BY_NAME, NEWEST, OLDEST, minor_of
from fakekube.cel import errors, trial


def evaluate(expression: str, data: bytes, release: str, *, new: bool, verbose: bool) -> int:
    """Print the value on standard output, what is wrong on standard error; the exit code.

    ``data`` is YAML or JSON, empty for none. ``new`` takes the expression as one written anew.
    Raises ClickException for data and releases that are none.
    """
    try:
        known = BY_NAME.get(f"1.{minor_of(release)}")
        if known is None:
            raise ValueError(f"{release} is not among the releases {OLDEST.name} to {NEWEST.name}")
        found = trial.run(expression, yaml.load(data)[0] if data else None, minor=known.minor, stored=not new)
    except errors.CelError as error:
        click.echo(error, err=True)
        return 1
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(found.value)
    if verbose:
        click.echo(f"type: {found.type}\ncost: {found.cost}", err=True)
    return 0
