"""What a client is told at the end of a command, by the protocol that it speaks."""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery.streams import CommandOptions, CommandSession, StreamError
from fakekube.server import commandstatus

V5, V4, V3 = "v5.channel.k8s.io", "v4.channel.k8s.io", "v3.channel.k8s.io"
STREAMS: Any = None
NON_ZERO = "command terminated with non-zero exit code: "


def failure(message: str, reason: str, *causes: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"metadata": {}, "status": "Failure", "message": message, "reason": reason, "details": {"causes": [*causes]}, **more}


@pytest.mark.parametrize(("protocol", "code", "told"), [
    (V5, 0, {"metadata": {}, "status": "Success"}),
    (V5, 3, failure(f"{NON_ZERO}command terminated with exit code 3", "NonZeroExitCode", {"reason": "ExitCode", "message": "3"})),
    (V4, 3, failure(
        f"{NON_ZERO}error executing command [sh -c x], exit code 3", "NonZeroExitCode", {"reason": "ExitCode", "message": "3"})),
    (V4, None, failure("Internal error occurred: gone", "InternalError", {"message": "gone"}, code=500)),
    (V3, 0, ""), (V3, 3, f"{NON_ZERO}error executing command [sh -c x], exit code 3"),
    (V3, None, "Internal error occurred: gone"),
])
async def test_what_a_client_is_told(protocol: str, code: int | None, told: Any) -> None:
    """Given a command that ends with a code, or cannot go on / when it has ended / then its client
    is sent a Status, or by older protocols a text, in upstream's words.
    """
    async def command(streams: Any) -> int:
        if code is None:
            raise StreamError("gone")
        return code

    session = CommandSession(protocol, False, CommandOptions({}, "c", ("sh", "-c", "x")), command)
    found = await commandstatus.run(session, STREAMS)
    assert (orjson.loads(found) if protocol != V3 else found.decode()) == told
