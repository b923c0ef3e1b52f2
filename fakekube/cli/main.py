"""``fakekube serve``, ``fakekube demo`` and what they have in common.

Option texts are upstream's where upstream has the option. Nothing heavy is imported before a
command runs.
"""

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from fakekube.apimachinery.releases import NEWEST, OLDEST
from fakekube.cli import recordings
from fakekube.cli.addonconfigs import WithAddOnConfigs
from fakekube.cli.clusteroptions import addon_config, cluster_options, where
from fakekube.cli.commandline import CommandLine
from fakekube.cli.demos.commands import demo
from fakekube.cli.exploring import explore
from fakekube.composition.options import DEFAULT_KUBECONFIG, DEFAULT_VERSION, MOST_NODES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@click.group(cls=CommandLine, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="fakekube")
def cli() -> None:
    """An in-memory fake Kubernetes: for tests, demos and teaching."""


@cli.command(cls=WithAddOnConfigs)
@click.option("--config", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help=(
    "A file, YAML or JSON, that says these options by their names in camelCase, as kubernetesVersion; what the command line "
    "says goes before it. `fakekube schema config` has them all."))
@cluster_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help=(
    "Port to listen on; 0 takes one that is free."))
@click.option("--bind-address", default="127.0.0.1", show_default=True, help="The IP address on which to listen.")
@click.option("--insecure", is_flag=True, help=(
    "Listen on an address that other machines reach, whose users are all administrators of the cluster."))
@click.option("--allow-host", multiple=True, metavar="NAME", help=(
    "A name by which clients reach the server besides localhost and its own address; * is any."))
@click.option("--allow-origin", multiple=True, metavar="ORIGIN", help=(
    "A web origin, as http://127.0.0.1:3000, whose pages may use the cluster by CORS; * is any."))
@click.option("--admission-control-config-file", type=click.Path(dir_okay=False), metavar="FILE", help=(
    "File with admission control configuration."))
@click.option("--scheduler-config", type=click.Path(dir_okay=False), metavar="FILE", help=(
    "File with the scheduler's configuration, a KubeSchedulerConfiguration."))
@addon_config
@click.option("--webhook-services", multiple=True, metavar="NAMESPACE/NAME=URL", help=(
    "Where the webhooks behind a service listen, as shop/hooks=https://127.0.0.1:9443."))
@click.option("--clock", default="real", show_default=True, help="real, manual, auto, or how many times as fast as the wall's.")
@click.option("--load", "files", multiple=True, type=click.Path(allow_dash=True), metavar="FILE", help=(
    "Manifests to create at the start, in the order given: a file, a directory (its *.yaml, *.yml and *.json, sorted), or - for "
    "standard input."))
@click.option("--schedule", metavar="TEXT", help=(
    "Choose what is free in a real cluster, how late requests and watches are say, by a seed: 1:17 is the seed 17."))
@click.option("--fleet", default="", metavar="NAMES", help=(
    "Serve several clusters with one clock, as manager,worker1,worker2: a port and a context of the kubeconfig for each."))
@click.option("--from", "snapshot", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help=(
    "Go on from a snapshot, which decides what the cluster is like; --clock and --controllers may be given with it."))
@click.option("--kubeconfig", type=click.Path(), default=DEFAULT_KUBECONFIG, show_default=True, help=(
    "A kubeconfig, new or not, to which cluster, user and context fakekube are added until the server ends; '' for none."))
@click.option("--ready-file", type=click.Path(), default="", metavar="FILE", help=(
    "A file that is there, with the URL in it, while the server is ready."))
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, show_default=True, metavar="N", help=(
    "Number for the log level verbosity: 0 tells warnings and errors, 2 what goes on, 4 also races that harm nobody."))
@click.pass_context
def serve(context: click.Context, /, **values: Any) -> None:
    """Serve a cluster until it is interrupted."""
    from fakekube.cli.serve import run

    given = [name for name in values if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    run(values, given)


@cli.command()
@click.argument("name", default="config")
def schema(name: str) -> None:
    """Print the JSON schema of NAME: config, the file of serve --config, or a kind of
    fakekube.types as Job.
    """
    from fakekube.cli.schemas import show

    show(name, serve)


@cli.command(cls=WithAddOnConfigs)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@where
@addon_config
@click.option("--nodes", type=click.IntRange(0, MOST_NODES), default=0, metavar="N", help=(
    "Nodes that the kubelet registers there, beside those that there are."))
@click.option("--lease", default="", metavar="NAME", help=(
    "Run only while this process holds the Lease of that name in kube-system."))
@click.option("--feature-gates", multiple=True, metavar="A=true,B=false", help="Gates that are not as by default there.")
@click.option("--webhook-host", default="127.0.0.1", show_default=True, metavar="IP", help=(
    "An address of this machine at which the cluster's API server reaches the webhooks and the APIs of an add-on."))
def run(
    names: tuple[str, ...], server: str | None, kubeconfig: str | None, nodes: int, lease: str,
    feature_gates: tuple[str, ...], webhook_host: str, addon_config: tuple[str, ...],
) -> None:
    """Run controllers and add-ons against any cluster.

    It may be a real one. NAME is one that is installed (job, cronjob ...), or MODULE:NAME.
    Definitions and manifests of an add-on are applied first.
    """
    from fakekube.cli.operators import run as run_there
    from fakekube.composition.options import addon_configs, switches

    run_there(
        names, server, kubeconfig, nodes=nodes, lease=lease, gates=switches(feature_gates), webhook_host=webhook_host,
        configs=addon_configs(addon_config))


@cli.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def crds(names: tuple[str, ...]) -> None:
    """Print what add-ons define, as YAML.

    NAME is one that is installed, or MODULE:NAME.
    """
    from fakekube.cli.operators import show_definitions

    show_definitions(names)


@cli.group(invoke_without_command=True)
@where
@click.pass_context
def faults(context: click.Context, server: str | None, kubeconfig: str | None) -> None:
    """What goes wrong on purpose in a served cluster. Without a command: how often it was met."""
    context.obj = server, kubeconfig
    if context.invoked_subcommand is None:
        from fakekube.cli.faults import show

        show(server, kubeconfig)


@faults.command("add")
@where
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.pass_context
def faults_add(context: click.Context, server: str | None, kubeconfig: str | None, file: str) -> None:
    """Let go wrong what FILE says, a plan in YAML or JSON; - is standard input."""
    from fakekube.cli.faults import add

    add(server or context.obj[0], kubeconfig or context.obj[1], file)


@faults.command("remove")
@where
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_context
def faults_remove(context: click.Context, server: str | None, kubeconfig: str | None, names: tuple[str, ...]) -> None:
    """Let the faults of these names be; all, without a name."""
    from fakekube.cli.faults import remove

    remove(server or context.obj[0], kubeconfig or context.obj[1], names)


@cli.group(invoke_without_command=True)
@where
@click.pass_context
def clock(context: click.Context, server: str | None, kubeconfig: str | None) -> None:
    """The time of a served cluster: look at it, move it, stop it. Without a command: now."""
    context.obj = server, kubeconfig
    if context.invoked_subcommand is None:
        move_clock(context, None, None)


def move_clock(context: click.Context, server: str | None, kubeconfig: str | None, **wanted: Any) -> None:
    """Do what a command of ``clock`` says, at the address after it, or else at the one before it.
    """
    from fakekube.cli.clock import run

    if server is None and kubeconfig is None:
        server, kubeconfig = context.obj
    run(server, kubeconfig, **wanted)


@clock.command("now")
@where
@click.pass_context
def clock_now(context: click.Context, server: str | None, kubeconfig: str | None) -> None:
    """What time it is there."""
    move_clock(context, server, kubeconfig)


@clock.command("advance", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@where
@click.argument("duration")
@click.pass_context
def clock_advance(context: click.Context, server: str | None, kubeconfig: str | None, duration: str) -> None:
    """Let DURATION (1h30m, 90s) pass, with all that happens in it."""
    move_clock(context, server, kubeconfig, advance=duration)


@clock.command("set")
@where
@click.argument("time")
@click.pass_context
def clock_set(context: click.Context, server: str | None, kubeconfig: str | None, time: str) -> None:
    """Let time pass until TIME (2026-02-01T00:00:00Z), which lies ahead."""
    move_clock(context, server, kubeconfig, set=time)


@clock.command("pause")
@where
@click.pass_context
def clock_pause(context: click.Context, server: str | None, kubeconfig: str | None) -> None:
    """Let time stand still: ages freeze, nothing that waits for time happens."""
    move_clock(context, server, kubeconfig, paused=True)


@clock.command("resume")
@where
@click.pass_context
def clock_resume(context: click.Context, server: str | None, kubeconfig: str | None) -> None:
    """Let time run on from where it stands."""
    move_clock(context, server, kubeconfig, paused=False)


@cli.command()
@where
@click.option("-o", "--output", type=click.Path(dir_okay=False), default="cluster.snapshot", show_default=True, help=(
    "The file to write; an older snapshot is replaced, and nothing else."))
def snapshot(server: str | None, kubeconfig: str | None, output: str) -> None:
    """Write all of a served cluster to a file, to go on from, or to compare."""
    from fakekube.cli.snapshots import take

    take(server, kubeconfig, output)


@cli.command()
@click.argument("object_name", metavar="OBJECT")
@where
@click.option("-n", "--namespace", default="default", show_default=True, help="The namespace of the object.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help=(
    "A text for people, or JSON for programs."))
def why(object_name: str, server: str | None, kubeconfig: str | None, namespace: str, output: str) -> None:
    """Say why OBJECT of a served cluster waits, and the smallest change that would let it go on.

    OBJECT is as kubectl names it: pod/web-0, podgroup/g, job/report.
    """
    from fakekube.cli.why import run as ask

    ask(server, kubeconfig, object_name, namespace, output)


@cli.command()
@click.argument("object_name", metavar="OBJECT")
@where
@click.option("-n", "--namespace", default="default", show_default=True, help="The namespace of the object.")
@click.option("--field", default="", metavar="PATH", help=(
    "Tell only what led to the present value of this field: status.phase, status.conditions[Ready].status."))
@click.option("--last", type=click.IntRange(0), default=20, show_default=True, metavar="N", help=(
    "Tell the last N changes of the object, with what led to each: 1,000 at most; of a snapshot any number, 0 is all."))
@click.option("-o", "--output", type=click.Choice(["text", "json", "chrome"]), default="text", show_default=True, help=(
    "A text for people, JSON for programs, or Chrome's trace event format, for Perfetto and chrome://tracing."))
@click.option("--from", "snapshot", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help=(
    "Read a snapshot in place of a served cluster."))
@click.option("--otlp", metavar="URL", help=(
    "Send the trace to a collector, as http://127.0.0.1:4318, and print nothing of it; needs fakekube[otlp]."))
def trace(object_name: str, **values: Any) -> None:
    """Say what led to the state of OBJECT, back to the first requests: who changed what, when, and
    because of which change.

    OBJECT is as kubectl names it: pod/web-0, job/report. It may be gone.
    """
    from fakekube.cli.trace import run as show

    show(object_name, **values)


@cli.command()
@click.argument("first", type=click.Path(exists=True, dir_okay=False))
@click.argument("second", type=click.Path(exists=True, dir_okay=False))
@click.argument("resources", nargs=-1)
@click.pass_context
def diff(context: click.Context, first: str, second: str, resources: tuple[str, ...]) -> None:
    """Say what differs between two snapshots, by object and field; of RESOURCES (pods, jobs) alone
    if given.

    Exits with 1 when anything differs.
    """
    from fakekube.cli.snapshots import diff as show

    context.exit(1 if show(first, second, resources) else 0)


@cli.command()
@click.argument("expression")
@click.option("--data", type=click.File("rb"), metavar="FILE", help=(
    "YAML or JSON: an object, which is self and object, or variables by their names; - is standard input."))
@click.option("--kubernetes-version", default=DEFAULT_VERSION, show_default=True, help=(
    f"Kubernetes release whose functions there are, {OLDEST.name} to {NEWEST.name}."))
@click.option("--new", is_flag=True, help=(
    "Take the expression as one that is written anew, which may use less than one that is stored already."))
@click.option("--verbose", is_flag=True, help="Print type and cost as well, on standard error.")
@click.pass_context
def cel(context: click.Context, expression: str, data: Any, kubernetes_version: str, *, new: bool, verbose: bool) -> None:
    """Tell the value of EXPRESSION, one of CEL, as Kubernetes would."""
    from fakekube.cli.expressions import evaluate

    read = data.read() if data is not None else b""
    context.exit(evaluate(expression, read, kubernetes_version, new=new, verbose=verbose))


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in SHELL: eval "$(fakekube completion
    bash)".
    """
    from fakekube.cli.completion import script

    click.echo(script(shell, cli))


for _command in (recordings.record, recordings.replay, recordings.verify, demo, explore):
    cli.add_command(_command)
