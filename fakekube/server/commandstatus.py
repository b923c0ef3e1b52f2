"""What the client of a command is sent at the end.

That is a Status, or, by protocols before version 4, the text of an error, if there is one.
Upstream: k8s.io/cri-streaming/pkg/streaming/remotecommand, and apiserver/pkg/util/proxy
(streamtranslator) for version 5.
"""

import orjson

from fakekube.apimachinery.streams import CommandSession, CommandStreams, StreamError
from fakekube.apimachinery.types import Tree

V5, V4 = "v5.channel.k8s.io", ("v5.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io")


async def run(session: CommandSession, streams: CommandStreams) -> bytes:
    """Run a session's command to its end.

    Returns what then goes to the error stream. Raises ConnectionError.
    """
    try:
        code = await session.run(streams)
    except StreamError as error:
        status = _failure(f"Internal error occurred: {error}", "InternalError", [{"message": str(error)}]) | {"code": 500}
    else:
        status = _exit(session, code) if code else {"metadata": {}, "status": "Success"}
    if session.protocol in V4:
        return orjson.dumps(status)
    return str(status.get("message", "")).encode()


def _exit(session: CommandSession, code: int) -> Tree:
    # The API server translates version 5 and words it as its client library does; otherwise the
    # runtime's own words come.
    said = f"command terminated with exit code {code}"
    if session.protocol != V5:
        said = f"error executing command [{' '.join(session.options.command)}], exit code {code}"
    text = f"command terminated with non-zero exit code: {said}"
    return _failure(text, "NonZeroExitCode", [{"reason": "ExitCode", "message": str(code)}])


def _failure(message: str, reason: str, causes: list[dict[str, str]]) -> Tree:
    return {
        "metadata": {}, "status": "Failure", "message": message, "reason": reason, "details": {"causes": causes}}
