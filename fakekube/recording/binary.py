"""Exchanges in protobuf, as Go clients like them, turned into JSON, so that they can be translated
and compared.
"""

from functools import cache

from fakekube.apis.catalog import definitions_of
from fakekube.recording import lines
from fakekube.recording.exchanges import Exchange
from fakekube.schema.protobuf.codec import ProtobufCodec
from fakekube.schema.protobuf.wire import MAGIC, WireError

JSON = "application/json"
PROTOBUF = "protobuf"


class Unpacking:
    """Turns exchanges with clusters of known releases into JSON."""

    def __init__(self) -> None:
        self._codec = cache(lambda release: ProtobufCodec(definitions_of(release)))

    def unpack(self, exchange: Exchange, release: str) -> None:
        """Turn body and answer of an exchange into JSON, where they are protobuf that can be read.
        """
        line = exchange.line
        headers: dict[str, str] = line.get("headers") or {}
        if not any(PROTOBUF in headers.get(name, "") for name in ("content-type", "accept")):
            return
        read, sent = True, lines.body_of(line).startswith(MAGIC)
        for name in ("body", "answer"):
            data = lines.body_of(line, name)
            if not data.startswith(MAGIC):
                continue
            try:
                line[name] = self._codec(release).decode(data)
            except (WireError, ValueError, KeyError):
                read = False
            else:
                line.pop(f"{name}Text", None)
                line.pop(f"{name}Base64", None)
        if read:
            line["headers"] = {
                **headers, **({"content-type": JSON} if sent else {}),
                "accept": JSON if PROTOBUF in headers.get("accept", "") else headers.get("accept", JSON)}
