"""What commands do that nobody has scripted."""

import pytest

from tests.controllers.kubelet.machine import container
from tests.controllers.kubelet.streaming import begin, execute


@pytest.fixture
async def running(machine):
    """A pod that runs until it is deleted."""
    env = [{"name": "COLOUR", "value": "blue"}, {"name": "FROM", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    await machine.run(container(env=env), restart_policy="Always")
    await machine.advance(2)
    return machine


@pytest.mark.parametrize(("words", "expected"), [
    (["echo", "hello"], (0, "hello\n", "")),
    (["/bin/echo", "-n", "a", "b"], (0, "a b", "")),
    (["echo", "-e", "a\\tb"], (0, "a\tb\n", "")),
    (["nginx", "-T"], (0, "nginx -T\n", "")),
    (["false"], (1, "", "")),
    (["true"], (0, "", "")),
    (["hostname"], (0, "p\n", "")),
    (["printf", "%s=%d\\n", "a", "1"], (0, "a=1\n", "")),
    (["printenv", "COLOUR"], (0, "blue\n", "")),
    (["printenv", "X"], (1, "", "")),
    (["env"], (0, "HOSTNAME=p\nCOLOUR=blue\n", "")),
    (["date"], (0, "Thu Jan  1 00:00:02 UTC 2026\n", "")),
    (["whoami"], (0, "root\n", "")),
    (["cat", "/nope"], (1, "", "cat: can't open '/nope': No such file or directory\n")),
    (["ls", "/nope"], (1, "", "ls: /nope: No such file or directory\n")),
    (["sleep", "x"], (1, "", "sleep: invalid number 'x'\n")),
    (["test", "-d", "/tmp"], (0, "", "")),
    (["[", "a", "=", "b", "]"], (1, "", "")),
])
async def test_simple_commands_do_what_they_do(running, words, expected):
    """Given a command / when it runs / then it says what it would say; one that is not known says
    its own words.
    """
    assert await execute(running, *words) == expected


@pytest.mark.spec("API-137")
@pytest.mark.parametrize(("script", "expected"), [
    ("echo x; exit 3", (3, "x\n", "")),
    ("echo out; echo err >&2", (0, "out\n", "err\n")),
    ("false && echo a || echo b", (0, "b\n", "")),
    ("false; echo $?", (0, "1\n", "")),
    ("A=1; B=$A$A; echo $B $COLOUR", (0, "11 blue\n", "")),
    ("echo a | cat | cat", (0, "a\n", "")),
    ("echo a >/tmp/f; echo b >>/tmp/f; cat /tmp/f; cat </tmp/f", (0, "a\nb\na\nb\n", "")),
    ("echo a >/dev/null; cat /dev/null", (0, "", "")),
    ("cat /x 2>/dev/null; echo $?", (0, "1\n", "")),
    ("cat /x 2>&1", (1, "cat: can't open '/x': No such file or directory\n", "")),
    ("echo a &>/tmp/g; cat /tmp/g", (0, "a\n", "")),
    ("sh -c 'exit 4'; echo $?", (0, "4\n", "")),
    ("set -e; exec echo x", (0, "x\n", "")),
    ("echo 'a", (2, "", "sh: syntax error: unterminated quoted string\n")),
    ("exit", (0, "", "")),
    ("false; exit", (1, "", "")),
    ("cat </nope", (1, "", "sh: can't open /nope: no such file\n")),
    ("mkdir -p /d/e; touch /d/f; ls /d; rm -r /d; ls /d", (1, "e\nf\n", "ls: /d: No such file or directory\n")),
    ("echo a | tee /tmp/t; test -f /tmp/t && ! test -e /nope && echo there", (0, "a\nthere\n", "")),
    ("export X=5; printenv X; rm /q; rm -f /q", (0, "5\n", "rm: can't remove '/q': No such file or directory\n")),
])
async def test_scripts_run_step_by_step(running, script, expected):
    """Given a script of such commands / when a shell runs it / then output, errors and exit code
    are a shell's.
    """
    assert await execute(running, "sh", "-c", script) == expected


async def test_a_script_has_its_arguments(running):
    """Given words after a script / when it runs / then they are its parameters."""
    assert await execute(running, "/bin/bash", "-c", "echo $1 $0", "name", "first") == (0, "first name\n", "")


async def test_cat_gives_back_what_it_gets_as_it_gets_it(running):
    """Given cat / when input comes bit by bit / then it comes back at once, and cat ends with it.
    """
    session = await begin(running, "cat")
    for text in ("one", "two\n"):
        session.stdin.feed(text.encode())
        await running.cluster.settle()
        assert session.says() == text
    session.stdin.end()
    assert await session.code() == 0


async def test_a_shell_takes_line_by_line(running):
    """Given a shell without a script / when lines come / then each is run as it comes, until one
    says exit.
    """
    session = await begin(running, "sh")
    session.stdin.feed(b"echo one\nec")
    await running.cluster.settle()
    assert session.says() == "one\n"
    session.stdin.feed(b"ho two; exit 5\nnot this\n")
    assert await session.code() == 5
    assert session.says() == "two\n"


async def test_a_sleep_takes_virtual_time(running):
    """Given a command that sleeps / when time is moved on / then it ends when its time has come,
    and time is never held up.
    """
    session = await begin(running, "sh", "-c", "echo a; sleep 1h; echo b")
    await running.advance(3599)
    assert (session.says(), session.task.done()) == ("a\n", False)
    await running.advance(1)
    assert (await session.code(), session.says()) == (0, "b\n")


async def test_files_stay_as_long_as_the_container_runs(running):
    """Given an archive as kubectl cp sends it / when it is unpacked / then its files are there for
    other commands, and come back in an archive; the archive of a path that is not there is an
    error.
    """
    await execute(running, "sh", "-c", "mkdir /d; echo one >/d/a; echo two >/d/b")
    code, archive, _ = await execute(running, "tar", "cf", "-", "/d")
    assert code == 0
    assert await execute(running, "tar", "-xmf", "-", "-C", "/copy", stdin=archive.encode()) == (0, "", "")
    assert await execute(running, "cat", "/copy/d/a", "/copy/d/b") == (0, "one\ntwo\n", "")
    assert await execute(running, "tar", "cf", "-", "/nope") == (1, "", "tar: /nope: No such file or directory\n")
    assert (await execute(running, "tar", "xf", "-", stdin=b"no archive"))[0] == 1
