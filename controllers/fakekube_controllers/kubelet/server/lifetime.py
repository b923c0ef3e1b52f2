"""What commands and connections have in common: they end with their container, and a callback of
theirs may raise.
"""

import asyncio
from collections.abc import Coroutine
from logging import Logger
from typing import Any, TypeVar

from fakekube.apimachinery.streams import StreamError
from fakekube.util.tasks import Tasks
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.server.logs import ContainerLogs

T = TypeVar("T")


async def while_running(
    logs: ContainerLogs, uid: str, container: Container, work: Coroutine[Any, Any, T], over: asyncio.Event,
) -> T | None:
    """What the work comes to; None when ``over`` was set before, which it is when the container
    ends.

    ``uid`` is the pod's. The end of a log that nobody reads is the end of its container.
    """
    stop, tasks = logs.follow_container(uid, container, len(container.log), lambda _: None, over.set), Tasks(lambda _: None)
    try:
        working = tasks.spawn(work, "stream")
        await asyncio.wait((working, tasks.spawn(over.wait(), "end of a container")), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        stop()
        await tasks.close()


def callback_failed(who: str, error: Exception, log: Logger) -> StreamError:
    """The error that a client gets when a callback raised; the traceback is in the log."""
    log.error("%s raised", who, exc_info=error)
    return StreamError(f"{who} raised {type(error).__name__}: {error}")
