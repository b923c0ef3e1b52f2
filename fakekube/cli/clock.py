"""``fakekube clock``: what time it is in a served cluster, and what it should be."""

from typing import Any

import click

PATH = "/fakekube/v1/clock"


def run(server: str | None, kubeconfig: str | None, **wanted: Any) -> None:
    """Move the clock as ``wanted`` says (``advance``, ``set``, ``paused``; nothing: only look), and
    say where it stands then.
    """
    import orjson

    from fakekube.cli import remote

    body = orjson.dumps(wanted) if wanted else b""
    answer = remote.call(server, kubeconfig, "POST" if wanted else "GET", PATH, body)
    try:
        clock = orjson.loads(answer)
        text = f"{clock['now'][:19]}Z  {_state(clock)}"
    except (ValueError, KeyError, TypeError) as error:
        raise click.ClickException("what answers there is no fakekube that knows this command") from error
    click.echo(text)


def _state(clock: dict[str, Any]) -> str:
    mode = clock["mode"]
    if mode == "manual":
        return "manual: it moves when it is told to"
    if clock["paused"]:
        return f"{mode}, paused"
    if mode == "auto":
        return "auto: it jumps to what is waited for"
    return f"{clock['factor']:g} times as fast as the wall's" if mode == "scaled" else "real: it runs as the wall's"
