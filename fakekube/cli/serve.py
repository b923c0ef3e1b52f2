"""``fakekube serve``: a cluster on a port, until SIGINT or SIGTERM."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fakekube.cli.echo import say
from fakekube.cli.servefiles import ServeFiles
from fakekube.composition.options import CALLBACKS, ClusterOptions, OptionError
from fakekube.util.collector import PacedCollector

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.fleet import Fleet
    from fakekube.composition.servedfleet import ServedFleet
    from fakekube.composition.serving import Served
    from fakekube.composition.snapshot import Snapshot

STDIN = "-"


def run(values: dict[str, Any], given: Sequence[str] = ()) -> None:
    """Serve with the options of the command line, of which ``given`` were said and the others have
    their defaults.

    What a configuration file says goes before defaults. Raises ClickException for options that
    cannot be meant.
    """
    if config := values.pop("config"):
        said = {name: value for name, value in _configured(config).items() if name not in given}
        values, given = values | said, [*given, *said]
    _log(values.pop("verbosity"))
    listen = {"port": values.pop("port"), "host": values.pop("bind_address"), "insecure": values.pop("insecure")}
    file, files = values.pop("snapshot"), values.pop("files")
    kubeconfig, ready = values.pop("kubeconfig"), values.pop("ready_file")
    fleet = values.pop("fleet")
    schedule = values.pop("schedule")
    values = {name: value for name, value in values.items() if value is not None}
    objects = _python_objects({name: values.pop(name) for name in (*CALLBACKS, "extra") if name in values})
    state = _read(file) if file else None
    try:
        if not listen["host"].strip():
            raise OptionError("bind-address: '' is no address: say 127.0.0.1, or an address of this machine")
        if fleet and state is not None:
            raise OptionError("fleet: several clusters cannot go on from one snapshot")
        if state is None:
            options = ClusterOptions.of(**values)
        else:
            options = state.options_with({"clock": values["clock"], **{name: values[name] for name in given if name in values}})
        written, loads = ServeFiles(kubeconfig, ready), [_manifests(name) for name in _named_once(files)]
        written.check()
        made_with = {**values, "fleet": fleet, **objects} if fleet else {"options": options, "state": state, **objects}
        made_with["schedule"] = schedule
        _runner(options)(_serve(made_with, options, listen, loads, written))
    except (OptionError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _log(verbosity: int) -> None:
    """Tell on stderr what upstream's components tell at a verbosity: from 2 on INFO, from 4 on
    DEBUG.
    """
    level = logging.DEBUG if verbosity >= 4 else logging.INFO if verbosity >= 2 else logging.WARNING
    logging.basicConfig(level=logging.WARNING, format="%(levelname).1s %(asctime)s %(name)s] %(message)s")
    for name in ("fakekube", "fakekube_controllers"):  # libraries keep quiet
        logging.getLogger(name).setLevel(level)


def _configured(file: str) -> dict[str, Any]:
    from fakekube.cli import configuration

    try:
        return configuration.read(Path(file))
    except (OptionError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _read(file: str) -> "Snapshot":
    from fakekube.composition.snapshot import SnapshotError, read

    try:
        return read(file)
    except (SnapshotError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _named_once(files: Sequence[str]) -> Sequence[str]:
    if list(files).count(STDIN) > 1:
        raise OptionError("load: standard input can be read once only")
    return files


def _manifests(name: str) -> "Path | str":
    """What is to be loaded: a path, or the text that came on standard input. Raises OptionError."""
    if name == STDIN:
        try:
            return sys.stdin.buffer.read().decode()
        except (UnicodeDecodeError, OSError, AttributeError) as error:
            raise OptionError(f"load: standard input: {error}") from error
    if "://" in name:
        raise OptionError(f"load: {name} is a URL, and nothing is fetched from the network here: fetch it, and name the file")
    if not Path(name).exists():
        raise OptionError(f"load: there is no file {name}")
    return Path(name)


def _python_objects(texts: dict[str, Any]) -> dict[str, Any]:
    """The options that name Python objects; such may lie in the current directory, as for ``python
    -m``.
    """
    given = {name: text for name, text in texts.items() if text}
    if given:
        sys.path.insert(0, str(Path.cwd()))
    return given


def _import_server() -> None:
    """Import the HTTP server, without what its library prepares for clients.

    aiohttp reads the system's certificates while it is imported, which takes a seventh of the whole
    start. This process calls nobody with them; whoever makes a TLS context of their own later finds
    the paths as they were.
    """
    paths = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}
    before = {name: os.environ.get(name) for name in paths}
    os.environ.update(paths)
    try:
        import fakekube.composition.serving  # noqa: F401
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _runner(options: ClusterOptions) -> Any:
    """What runs a coroutine: uvloop where it is installed and time is real; virtual time needs
    asyncio's own loop.
    """
    if options.clock == "real":
        with contextlib.suppress(ImportError):
            import uvloop

            return uvloop.run
    return asyncio.run


async def _serve(
    made_with: dict[str, Any], options: ClusterOptions, listen: dict[str, Any], loads: "Sequence[Path | str]", files: ServeFiles,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    _import_server()
    cluster, collector = _made(made_with), PacedCollector(loop.call_later)
    try:
        # as on any cluster, it answers before the controllers are up
        server = await cluster.serve(**listen)
        await cluster.start()
        await cluster.settle()
        for manifests in loads:
            await _load(_first(cluster), manifests)
        # who finds them finds nodes, default accounts and what was loaded
        written = await files.write(server)
        say(_greeting(server, files.kubeconfig if written else None, options, listen))
        collector.start()
        await stop.wait()
        files.remove_ready()
        say("stopping")
    finally:
        collector.stop()
        await cluster.stop()


def _made(made_with: dict[str, Any]) -> "Cluster | Fleet":
    """Raises OptionError."""
    if "fleet" not in made_with:
        from fakekube.composition.cluster import Cluster

        return Cluster(**made_with)
    from fakekube.composition.fleet import Fleet, names_of

    return Fleet(*names_of(made_with.pop("fleet")), **made_with)


def _first(made: "Cluster | Fleet") -> "Cluster":
    """The cluster that manifests are loaded into."""
    from fakekube.composition.cluster import Cluster

    return made if isinstance(made, Cluster) else made.first


async def _load(cluster: "Cluster", manifests: "Path | str") -> None:
    """Create what a file, a directory or a text holds.

    Raises OptionError with its name for what the server refuses.
    """
    from fakekube.apimachinery.errors import APIError

    name = str(manifests) if isinstance(manifests, Path) else "standard input"
    try:
        await cluster.load(manifests)
    except APIError as error:
        raise OptionError(f"{name}: {error.message}") from error
    except OptionError as error:
        text = str(error)
        raise OptionError(text if text.startswith(name) else f"{name}: {text}") from error


def _greeting(server: "Served | ServedFleet", kubeconfig: Path | None, options: ClusterOptions, listen: dict[str, Any]) -> str:
    from fakekube.apimachinery.origins import is_loopback
    from fakekube.composition.serving import Served

    host, url = listen["host"], server.url
    where = "on loopback: nobody outside this machine can reach it" if is_loopback(host) else (
        f"on {host}: whoever reaches this address is the cluster's administrator" if listen["insecure"] else
        f"on {host}: whoever reaches this address and has the token is the cluster's administrator")
    header, flags = "", ""
    asks = options.authorization_mode != ("AlwaysAllow",)
    if options.tls or asks:
        header = f"{' --insecure' if options.tls else ''} --header 'Authorization: Bearer {server.token}'"
    if options.tls:
        flags = f" --insecure-skip-tls-verify --token {server.token}"
    kubectl = f"kubectl{flags} --server {url} get nodes" if kubeconfig is None else (
        f"kubectl --kubeconfig {kubeconfig} get nodes\n  export KUBECONFIG={kubeconfig.absolute()}")
    if asks and not options.tls:
        kubectl = "kubectl and other clients in Go send a token over TLS only: start with --tls to use them"
    members = "" if isinstance(server, Served) else "".join(
        f"  context {name}: {one.url}\n" for name, one in server.servers.items())
    return f"""\
Kubernetes {options.kubernetes_version} with {options.nodes} node{'' if options.nodes == 1 else 's'}, listening at {url}
({where})
{members}
  curl{header} {url}/api/v1/namespaces
  {kubectl}

Stop it with Ctrl-C."""
