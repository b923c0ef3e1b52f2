"""What clients of a cluster reach: its server, or a recorder around it.

The cluster's own controllers reach the server itself. What is written to files is loaded when
somebody asks for it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakekube.client.inprocess import InProcess
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.util.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fakekube.apimachinery.http import Handler, Request, Response, UserInfo
    from fakekube.apimachinery.types import Tree
    from fakekube.apiserver.apiserver import APIServer
    from fakekube.composition.auditfile import AuditFile
    from fakekube.composition.identity import Identity
    from fakekube.composition.operatorservers import OperatorServer
    from fakekube.composition.recordingpath import RecordingPath
    from fakekube.composition.serving import Served
    from fakekube.composition.world import World
    from fakekube.recording.recorder import Recorder

RECORDING = "/fakekube/v1/recording"
RECORD_VARIABLE, SECRETS_VARIABLE = "FAKEKUBE_RECORD", "FAKEKUBE_RECORD_SECRETS"
TEST_VARIABLE = "PYTEST_CURRENT_TEST"
"""Set by pytest: ``tests/test_a.py::test_b (call)``."""


def audit_file(name: str) -> "AuditFile | None":
    """Where audit events go; None without a name. Raises OptionError."""
    if not name:
        return None
    from fakekube.composition.auditfile import AuditFile

    return AuditFile(name)


def recorder_of(record: "str | Recorder") -> "Recorder | None":
    """The recorder that an option names: itself, or a file; else one for the file that the
    environment names, which is how tests are recorded that make their clusters themselves. Raises
    OptionError.
    """
    if not isinstance(record, str):
        return record
    file = record or os.environ.get(RECORD_VARIABLE, "")
    if not file:
        return None
    from fakekube.recording.recorder import Recorder

    try:
        made = Recorder.to_file(Path(file), secrets=not record and SECRETS_VARIABLE in os.environ)
    except (OSError, ValueError) as error:
        raise OptionError(f"record: {file}: {error}") from error
    made.test = os.environ.get(TEST_VARIABLE, "").rpartition(" (")[0]
    return made


class Front:
    """The way in for the clients of one cluster, in this process and on ports.

    ``gates`` gives those of the moment. ``name`` is the cluster's in a fleet, ``extra`` says
    whether components of the user run in it, ``prepared`` whether it begins with objects that no
    request makes; ``registered`` are objects that functions of the process stand for. Raises
    OptionError for a file that cannot be.
    """

    def __init__(
        self, options: ClusterOptions, world: "World", identity: "Identity", gates: "Callable[[], Mapping[str, bool]]", *,
        name: str = "", extra: bool = False, prepared: bool = False,
    ) -> None:
        self.recorder = recorder_of(options.record)
        self.servers: list[Served] = []
        self.registered: list[Tree] = []
        self._prepared = prepared
        self._world, self._identity, self._gates, self._name, self._extra = world, identity, gates, name, extra
        self._path: RecordingPath | None = None

    def open(self, server: "APIServer", options: ClusterOptions) -> InProcess:
        """Lead clients to a server; the transport for those of this process."""
        self._server, self._options = server, options
        self.transport = InProcess(self._handler())
        return self.transport

    def lead_to(self, server: "APIServer", options: ClusterOptions) -> None:
        """Lead clients to another server from now on, whatever it has already."""
        self._server, self._options, self._prepared = server, options, True
        self.transport.handler = handler = self._handler()
        for served in self.servers:
            served.handle_with(handler)

    async def serve(self, *, host: str, port: int, insecure: bool) -> "Served":
        """Listen until it is stopped; see ``Cluster.serve``. Raises OptionError, OSError."""
        served = self._made(self.transport.handler, host, port, insecure=insecure)
        await served.start()
        self.servers.append(served)
        return served

    def _made(self, handler: "Handler", host: str, port: int, *, insecure: bool) -> "Served":
        from fakekube.composition.serving import Served

        options, world = self._options, self._world
        world.outside.listens = is_virtual = isinstance(world.plain_clock, ManualClock)
        return Served(
            handler, identity=self._identity, clock=world.clock, activity=world.activity, host=host, port=port,
            insecure=insecure, compresses=lambda: self._gates()["APIResponseCompression"],
            allow_hosts=options.allow_host, allow_origins=options.allow_origin,
            names=[name for name in (options.advertise_address,) if name], outside=world.outside if is_virtual else None)

    async def serve_operator(self, user: "UserInfo", begun: "Callable[[], None]") -> "OperatorServer":
        """Let a run of an operator outside reach the cluster as ``user``, by a port and a token of
        its own.

        ``begun`` is called when it has begun to watch, or to write. Raises OSError.
        """
        from fakekube.composition.operatorservers import LOOPBACK, OperatorServer

        server = OperatorServer(
            lambda: self.transport.handler, self._server.authenticator, user, begun, self._world.outside.processes)
        await server.start(self._made(server, LOOPBACK, 0, insecure=False))
        return server

    def record(self, recorder: "Recorder | None") -> None:
        """Let a recorder take what is asked from now on, in place of another."""
        self.flush()
        self.recorder = recorder
        self.lead_to(self._server, self._options)

    async def answer(self, request: "Request") -> "Response":
        """The path by which somebody outside records; see ``recordingpath.py``."""
        if self._path is None:
            from fakekube.composition.recordingpath import RecordingPath

            self._path = RecordingPath(self.record, lambda: self.recorder is not None)
        return self._path.answer(request)

    def flush(self) -> None:
        """Write what was recorded."""
        if self.recorder is not None:
            self.recorder.flush()

    def _handler(self) -> "Handler":
        if self.recorder is None:
            return self._server
        from fakekube.composition.installed import installed

        options = self._options
        addons = [name for name in options.controllers.split(",") if name in installed().addons]
        facts: dict[str, Any] = {
            "release": options.kubernetes_version, "clock": str(options.clock), "nodes": options.nodes,
            "controllers": options.controllers, "featureGates": dict(options.feature_gates),
            "authorizationMode": list(options.authorization_mode), "addons": [*options.addon_config, *addons],
            "defaultStorageClass": options.default_storage_class, "extra": self._extra, "prepared": self._prepared,
            "member": self._name}
        return self.recorder.around(self._server, self._world.plain_clock, facts, self.registered)
