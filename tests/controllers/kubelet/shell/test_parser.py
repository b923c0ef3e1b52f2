"""The little of a shell's language that is understood."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.kubelet.shell.parser import BadScript, expand, parse

VARIABLES = {"A": "one", "B": "two words", "?": "7"}


def words(text):
    """The words of each command, by step."""
    return [[[expand(word, VARIABLES) for word in command.words] for command in step.commands] for step in parse(text)]


@pytest.mark.parametrize(("text", "expected"), [
    ("echo a b", [[["echo", "a", "b"]]]), ("", []), (" ; ;\n", []), ("a;b\nc", [[["a"]], [["b"]], [["c"]]]),
    ("a | b | c", [[["a"], ["b"], ["c"]]]), ("a # not this; nor this\nb#yes", [[["a"]], [["b#yes"]]]),
    ("echo 'a; b' \"c | d\" e\\;f", [[["echo", "a; b", "c | d", "e;f"]]]), ("echo a'b'\"c\"d", [[["echo", "abcd"]]]),
    ("echo $A ${B}x '$A' \"$A\" \\$A $NONE.", [[["echo", "one", "two wordsx", "$A", "one", "$A", "."]]]),
    ('echo "a\\"b\\\\c\\n"', [[["echo", 'a"b\\c\\n']]]),
    ("echo $?", [[["echo", "7"]]]), ("echo '' \"\"", [[["echo", "", ""]]]),
    ("echo 2 >x", [[["echo", "2"]]]), ("echo a2>x", [[["echo", "a2"]]]),
])
def test_words_are_what_a_shell_would_see(text, expected):
    """Given a script / when it is read / then its commands have the words that a shell would give
    them.
    """
    assert words(text) == expected


def test_steps_know_on_what_they_depend():
    """Given a list of commands / then each knows whether it follows, needs success or needs
    failure.
    """
    assert [step.condition for step in parse("a && b || c; d & e")] == [";", "&&", "||", ";", ";"]


def test_redirections_are_kept_apart_from_words():
    """Given redirections of all kinds / then each is an operator with its word, in order."""
    [step] = parse("run <in >out 2>>log 2>&1 >&2 &>both")
    found = [(operator, word and expand(word, {})) for operator, word in step.commands[0].redirections]
    assert found == [("<", "in"), (">", "out"), ("2>>", "log"), ("2>&1", None), (">&2", None), ("&>", "both")]
    assert [expand(word, {}) for word in step.commands[0].words] == ["run"]


@pytest.mark.parametrize("text", ["echo 'a", 'echo "a', "a |", "a && ", "&& b", "a || || b", "echo >", "echo > ; a", "| a"])
def test_what_no_shell_would_take_is_refused(text):
    """Given a broken script / when it is read / then it is refused."""
    with pytest.raises(BadScript, match=r"^syntax error: "):
        parse(text)


@given(st.text(" ab'\"\\$;&|<>12\n#{}?", max_size=20))
def test_any_text_is_read_or_refused(text):
    """Given any text / when it is read / then it is a script or a BadScript."""
    try:
        steps = parse(text)
    except BadScript:
        return
    assert all(step.commands for step in steps)


@pytest.mark.parametrize(("script", "construct"), [
    ("if true; then echo a; fi", "if"), ("for a in b; do echo $a; done", "for"), ("echo a; while true; do :; done", "while"),
    ("case a in a) echo b;; esac", "case"), ("f() { echo a; }", "f()"), ("(echo a)", "(echo"), ("{ echo a; }", "{"),
    ("echo $(date)", "$("), ("echo `date`", "`"), ("echo $((1 + 2))", "$(("), ("echo ${A:-b}", "${"), ('echo "$(date)"', "$("),
    ("cat <<EOF", "<<"), ("[[ a = a ]]", "[["),
])
def test_a_construct_that_is_not_known_is_refused(script, construct):
    """Given a script with a construct that is left out / then it is refused with a sentence that
    names it.
    """
    with pytest.raises(BadScript, match=f"^not known to this scripted shell: {re.escape(construct)}$"):
        parse(script)


@pytest.mark.parametrize("script", ["echo if", "'if' true", "echo '$(date)'", "echo \\$\\(date", "echo {}", "ls *"])
def test_what_only_looks_like_a_construct_is_a_word(script):
    """Given words that no shell takes for a construct / then the script is parsed."""
    assert len(parse(script)) == 1
