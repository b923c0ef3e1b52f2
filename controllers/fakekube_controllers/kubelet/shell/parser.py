"""The little of a shell's language that people write into ``sh -c``: words and quotes, variables,
lists, pipes, redirections.

Left out, and refused with a sentence: everything with a keyword (if, for, while, case, functions),
substitution of commands, arithmetic, here-documents. Globs stand for themselves, and ``&`` is as
``;``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

OPERATORS = re.compile(r"[012]?>&[012]|&>|[012]?>>|[012]?>|<<|<|&&|\|\||;|\n|\||&")
VARIABLE = re.compile(r"\$(?:(\w+|[?$#@*])|\{(\w+|[?$#@*])\})")


KEYWORDS = dict.fromkeys((
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select", "{", "}",
    "[["))
SUBSTITUTIONS = re.compile(r"\$\(\(|\$\(|`|\$\{(?!(?:\w+|[?$#@*])\})")
NOT_KNOWN = "not known to this scripted shell: {}"


class BadScript(ValueError):
    """A text that no shell would take, or that this one does not know."""


class Token(NamedTuple):
    """An operator, or a word: pieces of text, of which each says whether variables in it are
    replaced.
    """

    operator: str
    pieces: tuple[tuple[str, bool], ...] = ()


class Simple(NamedTuple):
    """A command and where its streams go: ``redirections`` are operators with the words after them.
    """

    words: tuple[Token, ...]
    redirections: tuple[tuple[str, Token | None], ...]


class Step(NamedTuple):
    """A pipeline, and what stood before it: ``;``, ``&&`` or ``||``."""

    condition: str
    commands: tuple[Simple, ...]


def parse(text: str) -> list[Step]:
    """The steps of a script. Raises BadScript."""
    steps: list[Step] = []
    commands: list[Simple] = []
    words: list[Token] = []
    redirections: list[tuple[str, Token | None]] = []
    condition, operator, tokens = ";", ";", _tokens(text)

    def finish_command(operator: str) -> None:
        if words or redirections:
            commands.append(Simple(tuple(words), tuple(redirections)))
            words.clear()
            redirections.clear()
        elif operator in ("&&", "||", "|"):
            raise BadScript(f'syntax error: unexpected "{operator}"')

    for token in tokens:
        operator = token.operator
        if not operator:
            _check(token, is_first=not words)
            words.append(token)
        elif operator == "<<":
            raise BadScript(NOT_KNOWN.format(operator))
        elif operator in ("<", "&>") or operator.endswith(">"):
            target = next(tokens, None)
            if target is None or target.operator:
                raise BadScript("syntax error: unexpected redirection")
            redirections.append((operator, target))
        elif ">&" in operator:
            redirections.append((operator, None))
        else:
            finish_command(operator)
            if operator != "|":
                if commands:
                    steps.append(Step(condition, tuple(commands)))
                    commands = []
                condition = operator if operator in ("&&", "||") else ";"
    if operator in ("&&", "||", "|"):
        raise BadScript("syntax error: unexpected end of file")
    finish_command(";")
    if commands:
        steps.append(Step(condition, tuple(commands)))
    return steps


def _check(token: Token, *, is_first: bool) -> None:
    """Raise BadScript for a word that stands for a construct which is not known."""
    for text, replaced in token.pieces:
        if replaced and (found := SUBSTITUTIONS.search(text)):
            raise BadScript(NOT_KNOWN.format(found[0]))
    if is_first and len(token.pieces) == 1 and token.pieces[0][1]:
        word = token.pieces[0][0]
        if word in KEYWORDS or word.startswith("(") or word.endswith("()"):
            raise BadScript(NOT_KNOWN.format(word))


def expand(token: Token, variables: Mapping[str, str]) -> str:
    """A word with its variables replaced."""
    def value(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[2], "")

    return "".join(VARIABLE.sub(value, text) if replaced else text for text, replaced in token.pieces)


def _tokens(text: str) -> Iterator[Token]:
    position, pieces = 0, list[tuple[str, bool]]()
    while position < len(text):
        character = text[position]
        operator = OPERATORS.match(text, position)
        if character in " \t\r":
            position += 1
        elif character == "#" and not pieces:
            position = (text + "\n").index("\n", position)
            continue
        elif operator is not None and not (pieces and operator[0][0].isdigit()):
            position = operator.end()
        else:
            found, position = _pieces(text, position)
            pieces += found
            continue
        if pieces:
            yield Token("", tuple(pieces))
            pieces = []
        if operator is not None and character not in " \t\r":
            yield Token(operator[0])
    if pieces:
        yield Token("", tuple(pieces))


def _pieces(text: str, position: int) -> tuple[list[tuple[str, bool]], int]:
    """The next part of a word: quoted, escaped, or bare."""
    character = text[position]
    if character == "'":
        end = text.find("'", position + 1)
        if end < 0:
            raise BadScript("syntax error: unterminated quoted string")
        return [(text[position + 1:end], False)], end + 1
    if character == '"':
        return _double_quoted(text, position + 1)
    if character == "\\":
        return [(text[position + 1:position + 2], False)], position + 2
    end = position + 1
    while end < len(text) and text[end] not in " \t\r\n'\"\\;&|<>":
        end += 1
    return [(text[position:end], True)], end


def _double_quoted(text: str, position: int) -> tuple[list[tuple[str, bool]], int]:
    """Begins with an empty piece that is not replaced: a quoted word is no keyword."""
    found = [("", False)]
    start = position
    while position < len(text):
        character = text[position]
        if character == '"':
            return [*found, (text[start:position], True)], position + 1
        if character == "\\" and text[position + 1:position + 2] in ('"', "\\", "$", "`"):
            found += [(text[start:position], True), (text[position + 1:position + 2], False)]
            position += 1
            start = position + 1
        position += 1
    raise BadScript("syntax error: unterminated quoted string")

