"""The shell by itself, without a cluster."""

import asyncio

import pytest

from fakekube.util.clock import ManualClock
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.session import Io, NoInput, Result
from fakekube_controllers.kubelet.shell.shell import Shell


@pytest.fixture
def files():
    return Files()


@pytest.fixture
def shell(files):
    return Shell(files, {"HOSTNAME": "web-0"}, ManualClock())


async def test_a_script_comes_to_a_result(shell):
    """Given a script, when it runs, then its outputs and its exit code are there."""
    assert await shell.run("hostname | tee /tmp/a; cat /nope; exit 3") == Result(
        "web-0\n", "cat: can't open '/nope': No such file or directory\n", 3)


async def test_files_outlive_a_script_and_variables_do_not(shell, files):
    """Given a script that writes a file and sets a variable, when another runs, then the file is
    there, and the variable not.
    """
    await shell.run("A=1; echo $A >/tmp/a")
    assert files.read("/tmp/a") == b"1\n"
    assert (await shell.run("cat /tmp/a; echo [$A]")).stdout == "1\n[]\n"


async def test_an_input_is_read(shell):
    """Given an input, when a script reads, then it gets it; without one the input is empty."""
    assert await shell.run("cat; cat", b"x") == Result("xx", "", 0)
    assert await shell.run("cat") == Result("", "", 0)


async def test_a_shell_within_a_shell_changes_nothing_around_it(shell):
    """Given a shell within a shell, when it sets a variable and exits, then the one around it goes
    on with its own.
    """
    assert await shell.run("A=1; sh -c 'A=2; exit 4; echo no'; echo $? $A") == Result("4 1\n", "", 0)


@pytest.mark.parametrize("word", ["!", "exec", "time"])
async def test_a_word_that_needs_a_command_is_one_without_it(shell, word):
    """Given a word that stands in front of a command, when no command follows, then it is a command
    that is not known.
    """
    assert await shell.run(word) == Result(f"{word}\n", "", 0)


async def test_a_sleep_is_the_clocks(files):
    """Given a script that sleeps, when the clock is moved on, then it ends, and not before."""
    clock = ManualClock()
    running = asyncio.ensure_future(Shell(files, {}, clock).run("sleep 5s; echo done"))
    await asyncio.sleep(0)
    assert not running.done()
    assert clock.fire_next()
    assert (await running).stdout == "done\n"


async def test_who_reads_no_more_ends_a_command(shell):
    """Given an output that nobody reads any more, when a command writes to it, then the command
    ends with that error.
    """
    async def broken(_: bytes) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await shell.execute(["echo", "a"], Io(NoInput(), broken, broken))


async def test_a_script_that_is_not_known_is_refused_and_not_repeated():
    """Given a script with a loop / then nothing of it is run or written, stderr has a sentence, and
    the exit code is 2.
    """
    result = await Shell(Files(), {}, ManualClock()).run("echo before; for a in b; do echo $a; done")
    assert result == Result("", "sh: not known to this scripted shell: for\n", 2)
