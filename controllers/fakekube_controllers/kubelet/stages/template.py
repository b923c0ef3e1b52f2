"""Go templates, read: text and actions become a tree of nodes that ``render.py`` walks.

Everything of text/template but complex numbers, ``html``, ``js`` and ``urlquery``. Upstream:
text/template/parse.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r"""\s*(?:
    (?P<string>"(?:[^"\\\n]|\\.)*") | (?P<raw>`[^`]*`) | (?P<char>'(?:[^'\\]|\\.)+')
    | (?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<field>(?:\.[A-Za-z_]\w*)+) | (?P<variable>\$\w*(?:\.[A-Za-z_]\w*)*) | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>:=|=|\||\(|\)|,|\.)
)""", re.VERBOSE)
COMMENT = re.compile(r"(?:-\s)?/\*")
KEYWORDS = ("if", "range", "with", "else", "end", "define", "block", "template", "break", "continue")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "'": "'"}


class TemplateError(ValueError):
    """A template that is none, or that does not fit what it is given."""


@dataclass(slots=True)
class Operand:
    """A value: ``kind`` is literal, dot, variable, function or pipeline; ``path`` are the fields
    taken of it.
    """

    kind: str
    value: Any = None
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class Pipeline:
    """Commands, each given the last one's value as its last argument; and the variables that get
    the result.
    """

    commands: list[list[Operand]]
    variables: tuple[str, ...] = ()
    declares: bool = False


@dataclass(slots=True)
class Node:
    """``kind`` is text, action, if, range, with, template, break or continue."""

    kind: str
    line: int
    text: str = ""
    pipeline: Pipeline | None = None
    body: list["Node"] = field(default_factory=list)
    otherwise: list["Node"] = field(default_factory=list)


@dataclass(slots=True)
class Template:
    """A template, and those that it defines."""

    body: list[Node]
    defined: dict[str, list[Node]]


def parse(text: str, functions: Collection[str]) -> Template:
    """Read a template that may call these functions. Raises TemplateError, naming the line."""
    parser = _Parser(list(_split(text)), functions)
    body, end = parser.block(())
    assert end == "", "a block without an end ends with the text"
    return Template(body, parser.defined)


def _split(text: str) -> Iterator[tuple[str, str, int]]:
    """``text`` and ``action`` in turn, with their lines; what trim marks take away is gone."""
    position, trim = 0, False
    while (start := text.find("{{", position)) >= 0:
        before, line = text[position:start], text.count("\n", 0, start) + 1
        inner = start + 2
        end = _end_of_action(text, inner, line)
        content, after = text[inner:end], end + 2
        if content.startswith("-") and content[1:2].isspace():
            before, content = before.rstrip(), content[1:]
        trims_after = content.endswith("-") and content[-2:-1].isspace()
        if trims_after:
            content = content[:-1]
        yield "text", before.lstrip() if trim else before, line
        if not content.strip().startswith("/*"):
            yield "action", content.strip(), line
        position, trim = after, trims_after
    rest = text[position:]
    yield "text", rest.lstrip() if trim else rest, text.count("\n") + 1


def _end_of_action(text: str, position: int, line: int) -> int:
    quote = ""
    if comment := COMMENT.match(text, position):
        position = text.find("*/", comment.end())
        if position < 0:
            raise TemplateError(f"line {line}: unclosed comment")
    while position < len(text):
        char = text[position]
        if quote:
            if char == "\\" and quote != "`":
                position += 1
            elif char == quote:
                quote = ""
        elif char in '"`':
            quote = char
        elif text.startswith("}}", position):
            return position
        position += 1
    raise TemplateError(f"line {line}: unclosed action")


class _Parser:
    def __init__(self, parts: list[tuple[str, str, int]], functions: Collection[str]) -> None:
        self._parts, self._at, self._functions = parts, 0, functions
        self._ranges = 0  # around what is read
        self.defined: dict[str, list[Node]] = {}

    def block(self, ends: Collection[str]) -> tuple[list[Node], str]:
        """Nodes until one of the words that end it; and the whole action that did."""
        nodes: list[Node] = []
        line = 1
        while self._at < len(self._parts):
            kind, content, line = self._parts[self._at]
            self._at += 1
            if kind == "text":
                if content:
                    nodes.append(Node("text", line, content))
                continue
            word = re.match(r"\w*", content)
            name = word[0] if word else ""
            if name in ("else", "end"):
                if name not in ends:
                    raise TemplateError(f"line {line}: unexpected {{{{{name}}}}}")
                return nodes, content
            if name == "define":
                self._define(content[6:], line)
            else:
                nodes.append(self._node(name if name in KEYWORDS else "", content, line))
        if ends:
            raise TemplateError(f"line {line}: unexpected end of the template: {{{{end}}}} is missing")
        return nodes, ""

    def _define(self, rest: str, line: int) -> None:
        self._body_of(_Action(rest, line, self._functions).literal())

    def _body_of(self, name: str) -> None:
        """Read a template of its own: a range around it is not one for it."""
        around, self._ranges = self._ranges, 0
        self.defined[name], _ = self.block(("end",))
        self._ranges = around

    def _node(self, word: str, content: str, line: int) -> Node:
        rest = content[len(word):]
        if word in ("break", "continue"):
            if not self._ranges:
                raise TemplateError(f"line {line}: {{{{{word}}}}} outside {{{{range}}}}")
            return Node(word, line)
        if word == "template":
            action = _Action(rest, line, self._functions)
            name = action.literal()
            return Node("template", line, name, action.pipeline() if action.peek() else None)
        if word == "block":
            action = _Action(rest, line, self._functions)
            name = action.literal()
            pipeline = action.pipeline()
            self._body_of(name)
            return Node("template", line, name, pipeline)
        if not word:
            return Node("action", line, pipeline=_Action(content, line, self._functions).whole())
        node = Node(word, line, pipeline=_Action(rest, line, self._functions).whole())
        self._ranges += word == "range"
        node.body, end = self.block(("else", "end"))
        self._ranges -= word == "range"
        if end.startswith("else"):
            node.otherwise = self._otherwise(end[4:].strip(), line)
        return node

    def _otherwise(self, rest: str, line: int) -> list[Node]:
        """What follows ``else``: another ``if`` or ``with``, which shares the end, or a block."""
        word = rest.split(" ", 1)[0]
        if word in ("if", "with"):
            return [self._node(word, rest, line)]
        if rest:
            raise TemplateError(f"line {line}: unexpected {rest!r} after else")
        body, _ = self.block(("end",))
        return body


class _Action:
    """What stands between the braces."""

    def __init__(self, text: str, line: int, functions: Collection[str]) -> None:
        self._line, self._functions, self._at, position = line, functions, 0, 0
        self._tokens: list[tuple[str, str, bool]] = []
        while text[position:].strip():
            match = TOKEN.match(text, position)
            if match is None:
                raise self._error(f"cannot read {text[position:].strip()!r}")
            kind = match.lastgroup or ""
            self._tokens.append((kind, match[kind], match.start(kind) == position and position > 0))
            position = match.end()

    def _error(self, text: str) -> TemplateError:
        return TemplateError(f"line {self._line}: {text}")

    def peek(self, ahead: int = 0) -> str:
        """The next mark, or nothing."""
        at = self._at + ahead
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def _kind(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def literal(self) -> str:
        """A name in quotes."""
        if self._kind() not in ("string", "raw"):
            raise self._error("a name in quotes is missing")
        return str(_literal(self._kind(), self._take()))

    def whole(self) -> Pipeline:
        """A pipeline with nothing after it."""
        found = self.pipeline()
        if self.peek():
            raise self._error(f"unexpected {self.peek()!r}")
        return found

    def pipeline(self) -> Pipeline:
        """A pipeline, with the variables that it sets."""
        variables: list[str] = []
        declares = False
        if self._kind() == "variable" and self.peek(1) in (":=", "=", ","):
            variables.append(self._take())
            if self.peek() == ",":
                self._take()
                if self._kind() != "variable":
                    raise self._error("a second variable is missing")
                variables.append(self._take())
            sign = self._take() if self.peek() else ""
            if sign not in (":=", "="):
                raise self._error("nothing is assigned")
            declares = sign == ":="
        commands = [self._command()]
        while self.peek() == "|":
            self._take()
            commands.append(self._command())
        return Pipeline(commands, tuple(variables), declares)

    def _command(self) -> list[Operand]:
        operands = []
        while self.peek() and self.peek() not in ("|", ")"):
            operands.append(self._operand())
        if not operands:
            raise self._error("a value is missing")
        return operands

    def _operand(self) -> Operand:
        kind, mark = self._kind(), self._take()
        if kind == "field":
            return Operand("dot", path=tuple(mark[1:].split(".")))
        if kind == "variable":
            name, *fields = mark.split(".")
            return Operand("variable", name, tuple(fields))
        if mark == ".":
            return Operand("dot")
        if mark == "(":
            inner = self.pipeline()
            if self.peek() != ")":
                raise self._error("a parenthesis is not closed")
            self._take()
            path: tuple[str, ...] = ()
            if self._kind() == "field" and self._tokens[self._at][2]:
                path = tuple(self._take()[1:].split("."))
            return Operand("pipeline", inner, path)
        if kind == "word" and mark not in ("true", "false", "nil"):
            if mark not in self._functions:
                raise self._error(f'function "{mark}" not defined')
            return Operand("function", mark)
        if kind == "sign":
            raise self._error(f"unexpected {mark!r}")
        return Operand("literal", _literal(kind, mark))


def _literal(kind: str, mark: str) -> Any:
    if kind == "raw":
        return mark[1:-1]
    if kind == "string":
        return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", _unescaped, mark[1:-1])
    if kind == "char":
        return ord(re.sub(r"\\(.)", _unescaped, mark[1:-1])[0])
    if kind == "number":
        text = mark.replace("_", "")
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    return {"true": True, "false": False, "nil": None}[mark]


def _unescaped(match: re.Match[str]) -> str:
    mark = match[1]
    return chr(int(mark[1:], 16)) if len(mark) > 1 else ESCAPES.get(mark, mark)
