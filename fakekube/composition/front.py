"""What clients of a cluster reach: its server, or a recorder around it.

The cluster's own controllers reach the server itself. What is written to files is loaded when
somebody asks for it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakekube.client.inprocess import InProcess
from fakekube.composition.options import ClusterOptions, OptionError

if TYPE_CHECKING:
    from fakekube.apimachinery.http import Handler, Request, Response
    from fakekube.composition.auditfile import AuditFile
    from fakekube.composition.recordingpath import RecordingPath
    from fakekube.composition.serving import Served
    from fakekube.recording.recorder import Recorder
    from fakekube.util.clock import Clock

RECORDING = "/fakekube/v1/recording"


def audit_file(name: str) -> "AuditFile | None":
    """Where audit events go; None without a name. Raises OptionError."""
    if not name:
        return None
    from fakekube.composition.auditfile import AuditFile

    return AuditFile(name)


def recorder_of(record: "str | Recorder") -> "Recorder | None":
    """The recorder that an option names: itself, or a file. Raises OptionError."""
    if not isinstance(record, str):
        return record
    if not record:
        return None
    from fakekube.recording.recorder import Recorder

    try:
        return Recorder.to_file(Path(record))
    except (OSError, ValueError) as error:
        raise OptionError(f"record: {record}: {error}") from error


class Front:
    """The way in for the clients of one cluster, in this process and on ports.

    ``name`` is the cluster's in a fleet, ``extra`` says whether components of the user run in it.
    Raises OptionError for a file that cannot be.
    """

    def __init__(self, options: ClusterOptions, clock: "Clock", *, name: str = "", extra: bool = False) -> None:
        self.recorder = recorder_of(options.record)
        self.servers: list[Served] = []
        self._clock, self._name, self._extra = clock, name, extra
        self._path: RecordingPath | None = None

    def open(self, server: "Handler", options: ClusterOptions) -> InProcess:
        """Lead clients to a server; the transport for those of this process."""
        self._server, self._options = server, options
        self.transport = InProcess(self._handler())
        return self.transport

    def lead_to(self, server: "Handler", options: ClusterOptions) -> None:
        """Lead clients to another server from now on."""
        self._server, self._options = server, options
        self.transport.handler = handler = self._handler()
        for served in self.servers:
            served.handle_with(handler)

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
            "defaultStorageClass": options.default_storage_class, "extra": self._extra, "member": self._name}
        return self.recorder.around(self._server, self._clock, facts)
