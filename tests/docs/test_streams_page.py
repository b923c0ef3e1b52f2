"""The page about commands and ports says what holds."""

import re
from pathlib import Path
from typing import Any

import pytest

from fakekube_controllers.kubelet.shell.utilities import UTILITIES
from tests.controllers.kubelet.machine import Machine
from tests.controllers.kubelet.streaming import PortClient, agents, execute

PAGE = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()


def example(number: int, language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[number]


def test_every_command_that_is_known_is_named() -> None:
    """Given the commands that containers know, when the page is read, then each is there."""
    assert [name for name in UTILITIES if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize(("command", "stdin", "expected"), [
    (["psql"], b"select 1\n", (0, "you asked: select 1\n", "")), (["pg_isready"], b"", (0, "accepting connections\n", "")),
    (["fsck", "/"], b"", (8, "", "disk on fire\n")), (["nginx", "-T"], b"", (0, "nginx -T\n", "")),
])
async def test_the_callback_of_the_page_works(command: list[str], stdin: bytes, expected: object) -> None:
    """Given the page's callback for commands, when they run, then they come to what it says."""
    names: dict[str, object] = {}
    exec(example(0, "python"), names)
    async with Machine(on_exec=names["on_exec"]) as machine:
        await machine.run(restart_policy="Always")
        await machine.advance(2)
        assert await execute(machine, *command, stdin=stdin) == expected


@pytest.mark.parametrize(("command", "expected"), [
    (["pg_isready"], (0, "accepting connections\n", "")), (["false"], (0, "", "")), (["fsck", "/"], (8, "", "disk on fire\n"))])
async def test_the_annotation_of_the_page_works(command: list[str], expected: object) -> None:
    """Given the page's annotation, when its commands run, then they come to what it says."""
    text = example(0, "yaml").partition("|\n")[2].strip()
    async with Machine() as machine:
        await machine.run(restart_policy="Always", annotations={"exec": text})
        await machine.advance(2)
        assert await execute(machine, *command) == expected


async def test_the_port_of_the_page_answers() -> None:
    """Given the page's callback for ports, when a client connects to its port, then it is answered.
    """
    names: dict[str, object] = {}
    exec(example(2, "python"), names)
    async with Machine(on_connect=names["on_connect"]) as machine:
        await machine.run(restart_policy="Always")
        await machine.advance(2)
        client = PortClient(80)
        client.received.feed(b"GET / HTTP/1.0\r\n\r\n")
        await (await agents(machine).forward(await machine.pod()))(client.streams)
    assert client.sent.endswith(b"\r\n\r\nok")


async def test_the_shell_of_the_page_runs_by_itself() -> None:
    """Given the page's shell without a cluster, when its script runs, then it comes to what the
    page says.
    """
    names: dict[str, Any] = {}
    exec(example(1, "python"), names)
    result = await names["hello"]()
    assert (result.stdout, result.stderr, result.exit_code) == ("hello web-0\n", "", 3)
