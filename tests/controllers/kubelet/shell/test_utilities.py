"""Each command of the shell, with what it writes, and how it ends."""

import pytest

from fakekube.util.clock import ManualClock
from fakekube_controllers.kubelet.shell import parser
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.parser import BadScript
from fakekube_controllers.kubelet.shell.session import Result
from fakekube_controllers.kubelet.shell.shell import Shell

SETUP = "mkdir /d; mkdir -p /deep/er; echo one >/d/a; echo two >/d/b; "


async def run(script: str, stdin: bytes = b"") -> Result:
    return await Shell(Files(), {"HOSTNAME": "web-0", "A": "1"}, ManualClock()).run(script, stdin)


@pytest.mark.parametrize(("script", "expected"), [
    # echo and printf
    ("echo", ("\n", "", 0)), ("echo -n", ("", "", 0)), ("echo -e 'a\\nb\\tc\\rd\\\\e'", ("a\nb\tc\rd\\e\n", "", 0)),
    ("echo 'a\\nb'", ("a\\nb\n", "", 0)), ("echo -ne 'a\\n'", ("a\n", "", 0)), ("echo -en 'a\\t'", ("a\t", "", 0)),
    ("echo -n -e 'a\\t'", ("a\t", "", 0)), ("echo a -n", ("a -n\n", "", 0)), ("echo -x", ("-x\n", "", 0)),
    ("printf", ("", "", 0)), ("printf 'a\\n'", ("a\n", "", 0)), ("printf '%s-%s' a", ("a-", "", 0)),
    ("printf '%d%% of %s' 5 x", ("5% of x", "", 0)),
    # cat
    ("echo a | cat", ("a\n", "", 0)), ("echo a | cat -", ("a\n", "", 0)), (SETUP + "cat /d/a /d/b", ("one\ntwo\n", "", 0)),
    (SETUP + "echo x | cat /d/a -", ("one\nx\n", "", 0)), (SETUP + "cat -n /d/a", ("one\n", "", 0)),
    (SETUP + "cat /nope /d/a", ("one\n", "cat: can't open '/nope': No such file or directory\n", 1)), ("cat d/../tmp", (
        "", "cat: can't open 'd/../tmp': No such file or directory\n", 1)),
    # sleep
    ("sleep", ("", "sleep: invalid number ''\n", 1)), ("sleep a b", ("", "sleep: invalid number 'a b'\n", 1)),
    # test
    (SETUP + "test -d /d", ("", "", 0)), (SETUP + "test -d /d/a", ("", "", 1)), (SETUP + "test -f /d/a", ("", "", 0)),
    (SETUP + "test -f /d", ("", "", 1)), (SETUP + "test -e /d", ("", "", 0)), (SETUP + "test -e /d/a", ("", "", 0)),
    ("test -e /nope", ("", "", 1)), ("test -z ''", ("", "", 0)), ("test -z a", ("", "", 1)), ("test -n a", ("", "", 0)),
    ("test -n ''", ("", "", 1)), ("test a", ("", "", 0)), ("test ''", ("", "", 1)), ("test", ("", "", 1)),
    ("test a = a", ("", "", 0)), ("test a == b", ("", "", 1)), ("test 1 -eq 1", ("", "", 0)), ("test a != b", ("", "", 0)),
    ("test 1 -ne 1", ("", "", 1)), ("test ! a = b", ("", "", 0)), ("[ a = a ]", ("", "", 0)), ("[ ! a ]", ("", "", 1)),
    ("test a -lt b", ("", "", 1)), ("test -d /", ("", "", 0)), ("test -d /tmp", ("", "", 0)), ("test -d /t", ("", "", 1)),
    # files and directories
    (SETUP + "ls", ("d\ndeep\ntmp\n", "", 0)), (SETUP + "ls -l /d", ("a\nb\n", "", 0)), (SETUP + "ls /d/a", ("/d/a\n", "", 0)),
    (SETUP + "ls /deep /nope /d", ("er\n", "ls: /nope: No such file or directory\n", 1)),
    (SETUP + "rm /d/a; ls /d", ("b\n", "", 0)), (SETUP + "rm -r /d; ls", ("deep\ntmp\n", "", 0)),
    (SETUP + "rm /nope /d/a; ls /d", ("a\nb\n", "rm: can't remove '/nope': No such file or directory\n", 0)),
    ("rm -f /nope", ("", "", 0)), ("rm -rf /nope", ("", "", 0)), ("rm -r /nope", (
        "", "rm: can't remove '/nope': No such file or directory\n", 1)),
    (SETUP + "touch /d/a /d/c; cat /d/a; ls /d", ("one\na\nb\nc\n", "", 0)), ("mkdir -p /x/y; test -d /x", ("", "", 0)),
    (SETUP + "echo x | tee /d/a; cat /d/a", ("x\nx\n", "", 0)),
    (SETUP + "echo x | tee -a /d/a; cat /d/a", ("x\none\nx\n", "", 0)),
    (SETUP + "tee /d/c </d/a; cat d/c", ("one\none\n", "", 0)),
    ("echo x >/dev/null; cat /dev/null; test -f /dev/null", ("", "", 0)),
    ("echo x >/tmp/../y; ls /", ("tmp\ny\n", "", 0)), ("echo x >//y; cat y", ("x\n", "", 0)),
    # variables
    ("env", ("HOSTNAME=web-0\nA=1\n", "", 0)), ("printenv A", ("1\n", "", 0)), ("env B", ("", "", 1)),
    ("export B=2 C; env", ("HOSTNAME=web-0\nA=1\nB=2\n", "", 0)), ("B=x=y; echo $B", ("x=y\n", "", 0)),
    ("B=2 C=3 echo $A$B$C", ("1\n", "", 0)), ("1=2", ("1=2\n", "", 0)), ("B=; printenv B", ("\n", "", 0)),
    ("A=2 B=3 env; env", ("HOSTNAME=web-0\nA=2\nB=3\nHOSTNAME=web-0\nA=1\n", "", 0)),
    ("A=2 export B=3; A=4 sh -c 'echo $A$B'; echo $A$B", ("43\n23\n", "", 0)), ("A=2; A=3 set; B=4 :; env A B", ("3\n", "", 0)),
    ("false; env", ("HOSTNAME=web-0\nA=1\n", "", 0)),
    # small ones
    ("date", ("Thu Jan  1 00:00:00 UTC 2026\n", "", 0)), ("true", ("", "", 0)), (":", ("", "", 0)), ("false", ("", "", 1)),
    ("set -e", ("", "", 0)), ("cd /x", ("", "", 0)), ("pwd", ("/\n", "", 0)), ("whoami", ("root\n", "", 0)),
    ("hostname", ("web-0\n", "", 0)), ("/usr/bin/hostname", ("web-0\n", "", 0)), ("unknown a b", ("unknown a b\n", "", 0)),
    # the shell's own
    ("exit 3; echo no", ("", "", 3)), ("exit 300", ("", "", 44)), ("false; exit x", ("", "", 1)), ("! true", ("", "", 1)),
    ("! false", ("", "", 0)), ("exec echo a", ("a\n", "", 0)), ("command echo a", ("a\n", "", 0)),
    ("time echo a", ("a\n", "", 0)),
    ("nohup echo a", ("a\n", "", 0)), ("bash -c 'exit 5'", ("", "", 5)), ("ash -ec 'echo $1' x y", ("y\n", "", 0)),
    ("dash -c 'echo $0$1$2' a b c", ("abc\n", "", 0)), ("echo 'echo a; exit 4' | sh", ("a\n", "", 4)), ("sh", ("", "", 0)),
    ("false; sh", ("", "", 0)), ("sh -c", ("", "", 0)), ("sh -x -c 'echo a'", ("a\n", "", 0)),
    # lists and pipes
    ("true && echo a || echo b", ("a\n", "", 0)), ("false || echo b && echo c", ("b\nc\n", "", 0)),
    ("true || echo a; echo c", ("c\n", "", 0)), ("false && echo a", ("", "", 1)), ("echo a | false", ("", "", 1)),
    ("false | echo a", ("a\n", "", 0)), ("true; echo $?; false; echo $?", ("0\n1\n", "", 0)),
    # redirections
    ("cat /x 2>/tmp/e; cat /tmp/e", ("cat: can't open '/x': No such file or directory\n", "", 0)),
    ("cat /x 2>/tmp/e; cat /y 2>>/tmp/e; cat /tmp/e", (
        "cat: can't open '/x': No such file or directory\ncat: can't open '/y': No such file or directory\n", "", 0)),
    ("echo a 1>/tmp/o; cat /tmp/o", ("a\n", "", 0)), ("echo a 1>>/tmp/o; cat /tmp/o", ("a\n", "", 0)),
    ("echo a >&2", ("", "a\n", 0)), ("echo a 1>&2", ("", "a\n", 0)), ("echo a 2>&1", ("a\n", "", 0)),
    ("cat /x >/tmp/o 2>&1; cat /tmp/o", ("cat: can't open '/x': No such file or directory\n", "", 0)),
    ("cat /x &>/tmp/o; cat /tmp/o", ("cat: can't open '/x': No such file or directory\n", "", 0)),
    (">/tmp/o; test -f /tmp/o", ("", "", 0)), ("cat </nope", ("", "sh: can't open /nope: no such file\n", 1)),
    ("F=/tmp/f; echo a >$F; cat <$F", ("a\n", "", 0)), ("echo 2>x", ("\n", "", 0)), ("cat /x | cat", (
        "", "cat: can't open '/x': No such file or directory\n", 0)),
    # archives
    ("tar cf - /nope", ("", "tar: /nope: No such file or directory\n", 1)), ("tar", ("", "", 0)),
    (SETUP + "tar cf - /d | tar xf - -C /e; ls /e; cat /e/d/a", ("d\none\n", "", 0)),
    (SETUP + "tar -cf - d/b | tar -xmf - -C /e; cat /e/d/b", ("two\n", "", 0)),
    (SETUP + "tar cf - /d | tar --no-same-permissions --no-same-owner -xmf - -C /e; cat /e/d/a", ("one\n", "", 0)),
])
async def test_a_command_does_what_busyboxs_does(script: str, expected: tuple[str, str, int]) -> None:
    """Given a script / when it runs in a new container / then this is its output, its error output
    and its code.
    """
    found = await run(script)
    assert (found.stdout, found.stderr, found.exit_code) == expected


@pytest.mark.parametrize(("script", "stdin", "expected"), [
    ("cat", b"x", "x"), ("tee /a; cat /a", b"x", "xx"), ("echo a | cat", b"x", "a\n"), ("cat | cat", b"x", "x"),
    ("sh", b"echo $A\necho b", "1\nb\n"), ("cat </dev/null", b"x", ""),
])
async def test_a_command_reads_what_it_is_given(script: str, stdin: bytes, expected: str) -> None:
    """Given an input / then the first command of a pipe reads it, unless a file is put in its
    place.
    """
    assert await run(script, stdin) == Result(expected, "", 0)


async def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    """Given an output that is no UTF-8 / then what cannot be read is marked."""
    assert await run("cat", b"a\xff") == Result("a�", "", 0)
    assert await run("cat >&2", b"a\xff") == Result("", "a�", 0)


@pytest.mark.parametrize("word", [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select", "{", "}",
    "[["])
def test_every_word_of_the_language_that_is_not_known_is_refused(word: str) -> None:
    """Given a keyword at the beginning of a command / then it is refused, and elsewhere a word."""
    with pytest.raises(BadScript) as refused:
        parser.parse(f"echo a; {word} b")
    assert str(refused.value) == f"not known to this scripted shell: {word}"
    assert len(parser.parse(f'echo {word}; "{word}" b')) == 2


@pytest.mark.parametrize(("script", "complaint"), [
    ("&& a", 'syntax error: unexpected "&&"'), ("a | | b", 'syntax error: unexpected "|"'),
    ("a; || b", 'syntax error: unexpected "||"'),
    ("a |", "syntax error: unexpected end of file"), ("a &&", "syntax error: unexpected end of file"),
    ("a ||", "syntax error: unexpected end of file"), ("a >", "syntax error: unexpected redirection"),
    ("a < ; b", "syntax error: unexpected redirection"), ("a 'b", "syntax error: unterminated quoted string"),
    ('a "b', "syntax error: unterminated quoted string"), ('a "b\\"', "syntax error: unterminated quoted string"),
    ("a << E", "not known to this scripted shell: <<"), ("a ${B:-c}", "not known to this scripted shell: ${"),
])
def test_a_script_that_is_none_says_why(script: str, complaint: str) -> None:
    """Given a script with a fault / when it is read / then this is the complaint."""
    with pytest.raises(BadScript) as refused:
        parser.parse(script)
    assert str(refused.value) == complaint


@pytest.mark.parametrize(("text", "expected"), [
    ("$A", "1"), ("${A}b", "1b"), ("a$", "a$"), ("$B.", "."), ("$?", "0"), ("$#", "n"), ("$@", "all"), ("$*", "star"),
    ("$$", "pid"),
    ("${?}", "0"), ("'$A'", "$A"), ('"$A"', "1"), ('"\\$A"', "$A"), ('"\\`"', "`"), ('"\\n"', "\\n"), ("\\$A", "$A"),
    ("a\\\\b", "a\\b"),
    ("a#b", "a#b"), ("a\tb", "a"), ("a\\ b", "a b"),
])
def test_a_word_is_expanded_as_its_quotes_say(text: str, expected: str) -> None:
    """Given a word / then variables in it are replaced unless it is quoted, also the special ones.
    """
    variables = {"A": "1", "?": "0", "#": "n", "@": "all", "*": "star", "$": "pid"}
    assert parser.expand(parser.parse(text)[0].commands[0].words[0], variables) == expected
