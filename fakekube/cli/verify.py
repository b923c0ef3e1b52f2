"""``fakekube replay`` and ``fakekube verify``: what was recorded, asked of another cluster."""

import asyncio
import re
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import orjson

from fakekube.apimachinery.releases import RELEASES
from fakekube.cli.record import record_command
from fakekube.cli.remote import told_in_a_sentence
from fakekube.recording import exchanges, report
from fakekube.recording.asking import Target
from fakekube.recording.binary import Unpacking
from fakekube.recording.lines import RecordingError
from fakekube.recording.outcomes import Played
from fakekube.recording.plan import SYSTEM, Conversation, other_setup, plan
from fakekube.recording.player import PREFIX, Interrupted, play_all
from fakekube.recording.report import Found
from fakekube.util.durations import seconds_of
from fakekube.util.rng import Rng
from fakekube.util.wallclock import RealClock

if TYPE_CHECKING:
    from fakekube.client.client import Client

NAMESPACES = "/api/v1/namespaces"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
OF_ALL = ("default", *SYSTEM)
GATE_ON = re.compile(r'^kubernetes_feature_enabled\{name="(\w+)",[^}]*\} 1$', re.MULTILINE)


class Wanted(NamedTuple):
    """What the command line says: where to play, and how."""

    kubeconfig: str | None
    context: str
    server: str | None
    yes: bool
    cluster_scoped: bool
    alone: bool
    any_setup: bool
    wait: float
    jobs: int
    state: bool
    output: str


def _wanted(values: Mapping[str, Any]) -> Wanted:
    """Raises UsageError."""
    if bool(values["kubeconfig"]) == bool(values["server"]):
        raise click.UsageError("say which cluster is asked: --against KUBECONFIG or --server URL")
    try:
        return Wanted(**{**values, "wait": seconds_of(values["wait"])})
    except ValueError as error:
        raise click.UsageError(f"--wait: {error}") from error


def replay(file: str, values: Mapping[str, Any]) -> int:
    """Play a recording; the exit code. Raises ClickException."""
    wanted = _wanted(values)
    with told_in_a_sentence():
        target = asyncio.run(_look(wanted))
        return _play(_conversations(Path(file), target, wanted), target, wanted)


def verify(tests: tuple[str, ...], values: Mapping[str, Any]) -> int:
    """Record tests, and play what they asked; the exit code. Raises ClickException."""
    wanted = _wanted(values)
    with told_in_a_sentence(), tempfile.TemporaryDirectory() as folder:
        target = asyncio.run(_look(wanted))
        known = target.release in [release.name for release in RELEASES]
        options = f"-o fakekube_kubernetes_version={target.release}" if known else ""
        if not known:
            click.echo(f"the cluster is Kubernetes {target.release}, which is not known here: tests run as they are", err=True)
        file = Path(folder) / "recording"
        # what is played needs the values of Secrets; the file is gone afterwards
        code = record_command((sys.executable, "-m", "pytest", *tests), file, secrets=True, options=options)
        if not file.exists() or not file.stat().st_size:
            raise click.ClickException(f"nothing was recorded: pytest ended with {code}, and no cluster of fakekube was used")
        if code:
            click.echo(f"pytest ended with {code}; what was asked is played all the same", err=True)
        return _play(_conversations(file, target, wanted), target, wanted)


def _client(wanted: Wanted) -> "Client":
    """The client that leads there. Raises ConfigError."""
    from fakekube.client.client import Client
    from fakekube.client.http import HTTP
    from fakekube.client.kubeconfig import load_client

    if wanted.server:
        url = wanted.server if "://" in wanted.server else f"http://{wanted.server}"
        return Client(HTTP(url, impersonate=True))
    return load_client(wanted.kubeconfig, context=wanted.context, impersonate=True)


async def _look(wanted: Wanted) -> Found:
    """What is there. Raises APIError, TransportError, ConfigError; ClickException where namespaces
    may not be made.
    """
    client = _client(wanted)
    try:
        version = orjson.loads((await client.request("GET", "/version")).body)
        for verb in ("create", "delete"):
            body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
                "resourceAttributes": {"verb": verb, "resource": "namespaces"}}}
            answer = orjson.loads((await client.request("POST", REVIEWS, body=orjson.dumps(body))).body)
            if not answer["status"].get("allowed"):
                raise click.ClickException(f"who asks may not {verb} namespaces there, which is all that is needed")
        found = orjson.loads((await client.request("GET", NAMESPACES)).body)
        nodes = orjson.loads((await client.request("GET", "/api/v1/nodes")).body)
        groups = orjson.loads((await client.request("GET", "/apis")).body)["groups"]
        gates = await _gates(client)
    finally:
        await client.close()
    names = [item["metadata"]["name"] for item in found["items"]]
    url = str(wanted.server or getattr(client.transport, "url", ""))
    return Found(
        url, f"{version['major']}.{version['minor'].rstrip('+')}", tuple(name for name in names if name not in OF_ALL),
        len(nodes["items"]), gates, tuple(group["name"] for group in groups))


async def _gates(client: "Client") -> tuple[str, ...]:
    """The feature gates that are on there, as far as its metrics tell."""
    from fakekube.apimachinery.errors import APIError

    try:
        text = (await client.request("GET", "/metrics", accept="*/*")).body.decode()
    except APIError:
        return ()
    return tuple(GATE_ON.findall(text))


def _conversations(file: Path, target: Found, wanted: Wanted) -> list[Conversation]:
    """What would be played. Raises ClickException for what cannot be."""
    try:
        recording = exchanges.read(file)
    except (RecordingError, OSError) as error:
        raise click.ClickException(str(error)) from error
    used = {name: _groups_of(name) for facts in recording.clusters.values() for name in facts.get("addons") or ()}
    addons = [name for name, groups in used.items() if groups and all(group in target.groups for group in groups)]
    unpacking = Unpacking()
    for exchange in recording.exchanges:
        unpacking.unpack(exchange, str(recording.clusters[exchange.cluster].get("release")))
    found = []
    for test, cluster, asked in recording.conversations():
        facts = recording.clusters[cluster]
        setup = () if wanted.any_setup else other_setup(facts, target.gates, addons)
        found.append(plan(
            test, facts, asked, cluster_scoped=wanted.cluster_scoped or wanted.alone, alone=wanted.alone, setup=setup,
            groups=target.groups, nodes=target.nodes))
        found[-1].addon_groups = tuple(group for name in facts.get("addons") or () for group in used[name])
    for text in report.of_setups(found, target):
        click.echo(text, err=True)
    return found


def _groups_of(addon: str) -> tuple[str, ...]:
    """The API groups of an add-on; none if it is not installed."""
    from fakekube.cli import operators
    from fakekube.composition.addons import definitions_of
    from fakekube.composition.options import OptionError

    try:
        return tuple({tree["spec"]["group"]: None for tree in definitions_of(operators.made(addon))})
    except OptionError:  # it was installed where it was recorded
        return ()


def _play(conversations: Sequence[Conversation], target: Found, wanted: Wanted) -> int:
    """Show what would be done, do it if that is wished, and tell what came of it."""
    for line in report.of_plan(conversations, target, alone=wanted.alone):
        click.echo(line, err=wanted.output == "json")
    if not any(conversation.played for conversation in conversations):
        raise click.ClickException("there is nothing to play")
    if not wanted.yes and not (sys.stdin.isatty() and click.confirm("Go on?", err=True)):
        raise click.ClickException("nothing was done: say --yes to go on")
    plays = asyncio.run(_played(conversations, wanted))
    if wanted.output == "json":
        click.echo(orjson.dumps(report.tree(plays, target), option=orjson.OPT_INDENT_2))
    else:
        for line in report.of_plays(plays, state=wanted.state):
            click.echo(line)
    return 0 if report.totals(plays).is_equal else 1


async def _played(conversations: Sequence[Conversation], wanted: Wanted) -> list[Played]:
    """Play them; Ctrl-C ends it, and what was made is removed first."""
    loop, running = asyncio.get_running_loop(), asyncio.current_task()
    assert running is not None

    def end() -> None:
        if running.cancelling():
            click.echo("what was made is being removed", err=True)
            return
        click.echo(f"ending: removing the namespaces {PREFIX}*", err=True)
        running.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    client = _client(wanted)
    random = Rng.unpredictable()
    try:
        return await play_all(
            Target(client.transport, RealClock()), [one for one in conversations if one.played], suffix=random.suffix,
            wait_seconds=wanted.wait, jobs=wanted.jobs)
    except Interrupted as interrupted:
        gone = f"still there: {', '.join(interrupted.left)}" if interrupted.left else "what was made is removed"
        raise click.ClickException(f"interrupted; {gone}") from None
    finally:
        await client.close()
