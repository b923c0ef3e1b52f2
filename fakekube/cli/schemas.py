"""``fakekube schema``: the JSON schema of what people write, for editors and for reading."""

import json
from typing import Any

import click


def show(name: str, serve: click.Command) -> None:
    """Print the schema of the file that ``serve`` takes, or of a typed model.

    Raises ClickException for any other name.
    """
    click.echo(json.dumps(_schema(name, serve), indent=2))


def _schema(name: str, serve: click.Command) -> dict[str, Any]:
    if name == "config":
        from fakekube.cli import configuration

        options = [option for option in serve.params if isinstance(option, click.Option)]
        return configuration.json_schema({option.name or "": option.help or "" for option in options})
    if name == "faults":
        from fakekube.faults import rules

        return rules.json_schema()
    import fakekube.types
    from fakekube.types import Object

    found = getattr(fakekube.types, name) if name in fakekube.types.__all__ else None
    if not (isinstance(found, type) and issubclass(found, Object)):
        raise click.ClickException(f"there is no schema of {name}: say config, faults, or a kind of fakekube.types as Job")
    schema: dict[str, Any] = found.model_json_schema()
    return schema
