"""What ``kubectl logs`` shows of containers that run nothing."""

import pytest

from fakekube.apimachinery.errors import APIError
from tests.controllers.kubelet.machine import container


async def test_a_log_grows_as_time_passes(machine):
    """Given a script that speaks, waits and speaks / then its log holds what was said until now."""
    await machine.run(container("main", "sh", "-c", "echo one; sleep 10; echo two; sleep 10"))
    await machine.advance(2)
    assert await machine.log() == "one\n"
    await machine.advance(10)
    assert await machine.log() == "one\ntwo\n"
    await machine.advance(60)
    assert await machine.log() == "one\ntwo\n"


async def test_the_log_before_the_restart_is_kept(machine):
    """Given a container that was restarted / then ``previous`` shows what it said before."""
    await machine.run(restart_policy="OnFailure", annotations={"exit-codes": "1,0", "log": "hello", "run-duration": "3s"})
    await machine.advance(5)
    assert await machine.log(query="previous=true") == "hello\n"


async def test_an_annotation_speaks_line_by_line(machine):
    """Given a log annotation of two lines / then the log has both, and ``tailLines`` the last."""
    await machine.run(annotations={"log": "a\nb"})
    await machine.advance(1)
    assert await machine.log() == "a\nb\n"
    assert await machine.log(query="tailLines=1") == "b\n"


async def test_a_container_that_has_not_started_has_no_log(machine):
    """Given a pod that waits to start / when its log is asked for / then the answer says that it
    waits.
    """
    await machine.run(annotations={"start-delay": "1h"})
    with pytest.raises(APIError, match="is waiting to start: ContainerCreating"):
        await machine.log()
