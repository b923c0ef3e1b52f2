"""``fakekube run`` and ``fakekube crds``: controllers and add-ons outside of a Cluster.

The same declarations that a Cluster runs in its process run here against any server, a real one
included.
"""

import asyncio
import signal
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from fakekube.composition import controllermanager, options
from fakekube.composition.installed import installed
from fakekube.composition.options import OptionError

if TYPE_CHECKING:
    from fakekube.client.client import Client
    from fakekube.runtime.component import Component
    from fakekube.runtime.manager import Manager


def made(name: str, config: Any = True) -> Any:
    """What a name stands for: an installed controller or add-on, or ``module:attribute``.

    ``config`` as for ``controllermanager.component``. Raises OptionError.
    """
    if ":" in name:
        return controllermanager.made_of(options.named("run", name))
    known = installed().entry_points
    if name not in known:
        raise OptionError(f"there is no controller or add-on {name!r}: say module:attribute, or one of {', '.join(known)}")
    return controllermanager.component(name, config)


def show_definitions(names: tuple[str, ...]) -> None:
    """Print the CustomResourceDefinitions of add-ons as YAML. Raises OptionError."""
    import yaml

    from fakekube.composition.addons import definitions_of
    from fakekube.runtime.addon import AddOn

    trees = []
    for name in names:
        addon = made(name)
        if not isinstance(addon, AddOn):
            raise OptionError(f"{name} is no add-on, and has no definitions")
        try:
            trees += definitions_of(addon)
        except ValueError as error:
            raise OptionError(f"{name}: {error}") from error
    click.echo(yaml.safe_dump_all(trees, sort_keys=False), nl=False)


def run(
    names: tuple[str, ...], server: str | None, kubeconfig: str | None, *, nodes: int, lease: str, gates: dict[str, bool],
    webhook_host: str, configs: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Run them until Ctrl-C, each with its configuration. Raises OptionError, ClickException."""
    from fakekube.apimachinery.errors import APIError
    from fakekube.cli.remote import client_of
    from fakekube.client.kubeconfig import ConfigError
    from fakekube.client.transport import TransportError
    from fakekube.runtime.component import WrongOption

    if idle := [name for name in configs if name not in names]:
        raise OptionError(f"there is a configuration for {idle[0]}, which is not to run")
    if nodes and controllermanager.KUBELET not in names:
        raise OptionError("--nodes are registered by the kubelet, which is not to run")
    parts = [made(name, configs.get(name, True)) for name in names]
    try:
        with suppress(asyncio.CancelledError):
            asyncio.run(_run(client_of(server, kubeconfig), parts, nodes, lease, gates, webhook_host))
    except APIError as error:
        raise click.ClickException(error.message) from error
    except (ConfigError, TransportError, WrongOption) as error:
        raise click.ClickException(str(error)) from error


async def _run(
    client: "Client", parts: list[Any], nodes: int, lease: str, gates: dict[str, bool], webhook_host: str,
) -> None:
    from fakekube.composition.apiserviceserver import APIServiceServer
    from fakekube.composition.webhookserver import WebhookServer
    from fakekube.runtime.standalone import run_components

    loop, running = asyncio.get_running_loop(), asyncio.current_task()
    assert running is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.cancel)
    try:
        version = await _release(client)
        components = [one for part in parts for one in controllermanager.parts_of(part)]
        apis = [api for part in parts for api in controllermanager.apis_of(part)]
        managers: list[Manager] = []

        def find(name: str) -> "Component | None":
            return managers[0].working(name) if managers and managers[0].is_running(name) else None

        hooks = [hook for part in parts for hook in controllermanager.webhooks_of(part)]
        conversions = {name: function for part in parts for name, function in controllermanager.conversions_of(part).items()}
        async with (
            WebhookServer(client, hooks, conversions, find=find, host=webhook_host) as server,
            APIServiceServer(client, apis, find, host=webhook_host) as api_server,
        ):
            if api_server.refusal:
                click.echo(f"not served: {', '.join(api.name for api in apis)}: {api_server.refusal}", err=True)
            for part in parts:
                await controllermanager.install(client, part, server.conversion)
            await server.register()
            await api_server.register()
            click.echo(f"running {', '.join(one.name for one in components)}; Ctrl-C ends it", err=True)
            await run_components(
                client, components, version=version, gates=_gates(version, gates), options={"nodes": nodes}, lease=lease,
                on_start=managers.append)
    finally:
        await client.close()


async def _release(client: "Client") -> str:
    """The release of a server, ``1.37``; of one that is newer than all that are known here, the
    newest.
    """
    import orjson

    from fakekube.apimachinery.releases import NEWEST, RELEASES

    answer = await client.request("GET", "/version")
    told = orjson.loads(answer.body)
    name = f"{told['major']}.{told['minor'].rstrip('+')}"
    return name if name in [release.name for release in RELEASES] else NEWEST.name


def _gates(release: str, wanted: dict[str, bool]) -> Mapping[str, bool]:
    from fakekube.apis.gates import Gates

    try:
        return Gates(release, wanted)
    except (ValueError, KeyError) as error:
        raise OptionError(str(error.args[0])) from error
