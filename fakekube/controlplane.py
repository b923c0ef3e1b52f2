"""Puts the server's parts together: what is served, what is stored, who is let in, what is refused.

The only place that knows all of them. Upstream: cmd/kube-apiserver/app.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from fakekube.admission import chain
from fakekube.apimachinery import errors, times
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Stream, UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.apis import bootstrap
from fakekube.apis.catalog import Catalog, catalog
from fakekube.apis.gates import Gates
from fakekube.apiserver.apiserver import APIServer
from fakekube.apiserver.nodeproxy import LogOptions
from fakekube.options import ClusterOptions, OptionError
from fakekube.schema import definitions
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Storage
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

NAMESPACES = GroupResource("", "namespaces")


class ControlPlane(NamedTuple):
    """An API server, and the state of its feature gates."""

    apiserver: APIServer
    gates: Mapping[str, bool]


class LogReader(Protocol):
    """Whoever knows what containers have logged."""

    def __call__(self, namespace: str, name: str, container: str, *, previous: bool) -> list[tuple[float, str]] | None:
        """Lines with their times (Unix seconds), or None when there is no such run."""


class PodLogs:
    """Answers ``kubectl logs`` from the lines that a reader has."""

    def __init__(self, reader: LogReader) -> None:
        self._read = reader

    async def logs(self, pod: Tree, container: str, options: LogOptions) -> bytes | Stream:
        """The lines that the options ask for. Raises APIError as a kubelet does."""
        meta = pod["metadata"]
        lines = self._read(meta["namespace"], meta["name"], container, previous=options.previous)
        if lines is None:
            if options.previous:
                raise errors.bad_request(
                    f'previous terminated container "{container}" in pod "{meta["name"]}" not found')
            raise errors.bad_request(
                f'container "{container}" in pod "{meta["name"]}" is waiting to start: {_waiting(pod, container)}')
        return _text(lines, options)


def _waiting(pod: Tree, container: str) -> str:
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if status["name"] == container:
            reason: str = (status["state"].get("waiting") or {}).get("reason", "ContainerCreating")
            return reason
    return "ContainerCreating"


def _text(lines: list[tuple[float, str]], options: LogOptions) -> bytes:
    if options.since_time is not None:
        lines = [line for line in lines if line[0] >= (options.since_time or 0.0)]
    if options.tail_lines is not None:
        lines = lines[len(lines) - min(options.tail_lines, len(lines)):]
    text = "".join(f"{_stamp(at)} {line}\n" if options.timestamps else f"{line}\n" for at, line in lines)
    data = text.encode()
    return data if options.limit_bytes is None else data[: options.limit_bytes]


def _stamp(at: float) -> str:
    """The time in front of a line, in billionths of a second as the runtimes write it."""
    return times.format_micro_time(at).removesuffix("Z") + "000Z"


def build_apiserver(
    options: ClusterOptions, clock: Clock, rng: Rng, *, tokens: Mapping[str, UserInfo], logs: PodLogs,
    service_accounts: Callable[[], bool],
) -> ControlPlane:
    """An API server for these options. Raises OptionError for a release, gate, API or plugin that does not exist."""
    release = options.kubernetes_version
    try:
        gates, served = _served(
            release, tuple(options.feature_gates.items()), tuple(options.runtime_config.items()))
        admission = chain.build_chain(disabled=options.disable_admission_plugins, service_accounts=service_accounts)
        known = _definitions(release)
    except (ValueError, KeyError) as error:
        raise OptionError(str(error.args[0] if error.args else error)) from error
    storage = Storage()
    apiserver = APIServer(
        served.kinds, storage, clock, rng, known, release=release, gates=lambda name: gates.get(name, False),
        bootstrap=lambda resource: bootstrap.bootstrap_objects(resource, served), tokens=tokens, nodes=logs)
    apiserver.use_admission(admission)
    apiserver.stores.bucket(NAMESPACES)
    storage.compact()  # a cluster is found at work: nobody can ask for what was before its first namespaces
    return ControlPlane(apiserver, gates)


# What follows from the release and the options alone never changes: clusters of one process share it, which is why the
# second one starts in a fraction of the first one's time. The definitions grow by what is compiled from them, no more.


@lru_cache(maxsize=16)
def _served(
    release: str, feature_gates: tuple[tuple[str, bool], ...], runtime_config: tuple[tuple[str, bool], ...],
) -> tuple[Gates, Catalog]:
    gates = Gates(release, dict(feature_gates))
    return gates, catalog(release, gates, dict(runtime_config))


@lru_cache(maxsize=4)
def _definitions(release: str) -> Definitions:
    return definitions.load(release)
