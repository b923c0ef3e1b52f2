"""How somebody outside records what a served cluster is asked: ``/fakekube/v1/recording``.

POST {"start": true}                    from now on; {"secrets": true} beside it masks nothing
GET                                     the lines since the start, or since the last GET
POST {"stop": true}                     no more; what was not asked for is forgotten
"""

from collections.abc import Callable

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, Response
from fakekube.composition.fakekube_api import fields_wanted
from fakekube.recording.recorder import Recorder

LINES = "application/x-ndjson"
FIELDS = ("start", "stop", "secrets")
MOST_BYTES = 256 << 20
"""So much waits at most for who records; what comes after that is lost, and said."""


class RecordingPath:
    """The answers of one cluster.

    ``record`` puts a recorder in, or takes it out; ``is_recorded`` says whether there is one.
    """

    def __init__(self, record: Callable[[Recorder | None], None], is_recorded: Callable[[], bool]) -> None:
        self._record, self._is_recorded = record, is_recorded
        self._recorder: Recorder | None = None
        self._waiting: list[bytes] = []
        self._size = self._lost = 0

    def answer(self, request: Request) -> Response:
        """Start, take or stop. Raises APIError 400, also while somebody else records; 405."""
        if request.method == "GET":
            return self._take()
        if request.method != "POST":
            raise errors.method_not_allowed()
        values = fields_wanted(request, FIELDS)
        start, stop = (str(values.get(name, False)).lower() == "true" for name in ("start", "stop"))
        if start == stop:
            raise errors.bad_request("give either start or stop")
        if start:
            self._start(secrets=str(values.get("secrets", False)).lower() == "true")
        else:
            self._stop()
        return Response(200, orjson.dumps({"recording": self._recorder is not None}))

    def _start(self, *, secrets: bool) -> None:
        if self._is_recorded():
            raise errors.bad_request("this cluster is recorded already")
        self._waiting, self._size, self._lost = [], 0, 0
        self._recorder = Recorder(self._keep, secrets=secrets)
        self._record(self._recorder)

    def _stop(self) -> None:
        if self._recorder is None:
            raise errors.bad_request("nobody records this cluster")
        self._recorder = None
        self._record(None)

    def _take(self) -> Response:
        if self._recorder is None:
            raise errors.bad_request("nobody records this cluster")
        self._recorder.flush()
        data, self._waiting, self._size = b"".join(self._waiting), [], 0
        lost, self._lost = self._lost, 0
        headers = [("Warning", f'299 - "{lost} bytes of the recording are lost: nobody took them"')] if lost else None
        return Response(200, data, LINES, headers)

    def _keep(self, data: bytes) -> None:
        if self._size + len(data) > MOST_BYTES:
            self._lost += len(data)
            return
        self._waiting.append(data)
        self._size += len(data)
