"""``fakekube faults``: what goes wrong on purpose in a served cluster."""

from typing import Any

import click

PATH = "/fakekube/v1/faults"


def show(server: str | None, kubeconfig: str | None) -> None:
    """Print the faults, how often each was met, and who met one last."""
    _print(_asked(server, kubeconfig, "GET"))


def add(server: str | None, kubeconfig: str | None, file: str) -> None:
    """Add the faults of a plan: a file of YAML or JSON, ``-`` for standard input."""
    import sys
    from pathlib import Path

    import orjson

    from fakekube.apimachinery import yamlfiles
    from fakekube.composition.clusterfaults import placed
    from fakekube.faults.rules import FaultError, rules_of

    name = "standard input" if file == "-" else file
    try:
        text = sys.stdin.read() if file == "-" else yamlfiles.text_of(Path(file))
        plan = yamlfiles.one(text, name)
        rules_of(plan)
    except yamlfiles.FileError as error:
        raise click.ClickException(str(error)) from error
    except FaultError as error:
        raise click.ClickException(f"{placed(text, name, error)}: {str(error).removeprefix('faults: ')}") from error
    if isinstance(plan, list):
        plan = {"faults": plan}
    _print(_asked(server, kubeconfig, "POST", body=orjson.dumps(plan)))


def remove(server: str | None, kubeconfig: str | None, names: "tuple[str, ...]") -> None:
    """Remove faults by name, all without names."""
    for query in [{"name": [name]} for name in names] or [{}]:
        found = _asked(server, kubeconfig, "DELETE", query)
    _print(found)


def _asked(
    server: str | None, kubeconfig: str | None, method: str, query: dict[str, list[str]] | None = None, body: bytes = b"",
) -> dict[str, Any]:
    import orjson

    from fakekube.cli import remote

    answer = remote.call(server, kubeconfig, method, PATH, body, query=query)
    try:
        found: dict[str, Any] = orjson.loads(answer)
        assert found["kind"] == "FaultList"
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise click.ClickException("what answers there is no fakekube that knows this command") from error
    return found


def _print(found: dict[str, Any]) -> None:
    if not found["items"]:
        click.echo("nothing goes wrong on purpose")
    for item in found["items"]:
        often = "once" if item["met"] == 1 else f"{item['met']} times"
        click.echo(f"{item['name']}: {item['what']}, met {often}")
    for meeting in found["meetings"][-5:]:
        who = meeting["component"] or meeting["user_agent"]
        click.echo(f"  {meeting['time'][:19]}Z  {meeting['fault']}  {meeting['verb']} {meeting['path']}  {who}")
