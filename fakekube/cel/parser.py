"""From a text to a tree.

Operators are taken by precedence from two stacks, so that the depth of recursion is the depth of
brackets. Texts that are too long or nest too deep are refused with upstream's messages.

Upstream: parser/parser.go and the grammar parser/gen/CEL.g4.
"""

from collections.abc import Mapping

from fakekube.cel import errors, grammar, lexer, macros, syntax, tree
from fakekube.cel.lexer import END, ESCAPED, IDENT

MAX_CODE_POINTS = 100_000
MAX_DEPTH = 250

_PRECEDENCE = {
    "||": 1, "&&": 2,
    "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "in": 3,
    "+": 4, "-": 4,
    "*": 5, "/": 5, "%": 5,
}  # fmt: skip
_RELATION, _SUM = 3, 4
_FUNCTIONS = {operator: f"_{operator}_" for operator in _PRECEDENCE} | {"in": "@in"}
Macros = Mapping[tuple[str, int, bool], macros.Macro]


class _Refused(Exception):
    """The text nests too deep."""


class _Unexpected(Exception):
    """A token that cannot stand where it stands."""


def parse(text: str, known_macros: Macros, *, optional_syntax: bool) -> tree.Expression:
    """The tree of a text. Raises CompileError."""
    if len(text) > MAX_CODE_POINTS:
        message = f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_CODE_POINTS}"
        raise errors.CompileError(text, [errors.Issue(message, -1)])
    found, unrecognized = lexer.tokens(text)
    parser = _Parser(found, known_macros, optional_syntax=optional_syntax)
    try:
        parsed = parser.whole()
    except _Unexpected:
        try:
            unread = grammar.issues(text, found, unrecognized)
        except RecursionError:
            raise _too_deep(text) from None
        known = dict.fromkeys([*syntax.lexical(unrecognized), *unread, *parser.issues])
        raise errors.CompileError(text, list(known)) from None
    except _Refused as refused:
        raise errors.CompileError(text, [errors.Issue(str(refused), -1)]) from None
    except RecursionError:
        raise _too_deep(text) from None
    if unrecognized or parser.issues:
        raise errors.CompileError(text, [*syntax.lexical(unrecognized), *parser.issues])
    return parsed


def _too_deep(text: str) -> errors.CompileError:
    return errors.CompileError(text, [errors.Issue(f"expression recursion limit exceeded: {MAX_DEPTH}", -1)])


class _Parser:
    """Where reading has come to, and what was found wrong with what was read."""

    def __init__(self, found: list[lexer.Token], known_macros: Macros, *, optional_syntax: bool) -> None:
        self.tokens = found
        self.position = 0
        self.kind = found[0].kind
        self.macros = known_macros
        self.optional_syntax = optional_syntax
        self.issues: list[errors.Issue] = []
        self.depth = 0
        self.relations = 0
        self.sums = 0

    def whole(self) -> tree.Expression:
        """The tree of all tokens."""
        parsed = self.expression()
        if self.kind != END:
            raise _Unexpected
        return parsed

    # what every rule uses

    def take(self) -> lexer.Token:
        """The token, and on to the next."""
        token = self.tokens[self.position]
        self.position += 1
        self.kind = self.tokens[self.position].kind if self.position < len(self.tokens) else END
        return token

    def expect(self, kind: str) -> lexer.Token:
        """The token if it is of this kind."""
        if self.kind != kind:
            raise _Unexpected
        return self.take()

    def offset(self) -> int:
        """Where the token starts."""
        return self.tokens[self.position].start

    def report(self, offset: int, message: str) -> None:
        """Note what is wrong; reading goes on."""
        self.issues.append(errors.Issue(message, offset))

    def nested(self, node: tree.Expression, *inner: tree.Expression, counted: bool = True) -> tree.Expression:
        """The node, with the depth that follows from its parts."""
        deepest = 0
        for part in inner:
            deepest = max(deepest, part.depth)
        node.depth = deepest + 1 if counted else deepest
        if node.depth > MAX_DEPTH:
            raise _Refused("max recursion depth exceeded")
        return node

    # expressions

    def expression(self, *, ternary: bool = True) -> tree.Expression:
        """Operands and operators, and what follows a question mark."""
        if ternary:
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise _Refused(f"expression recursion limit exceeded: {MAX_DEPTH}")
        self.relations += 1
        self.sums += 1
        operands = [self.operand()]
        pending: list[tuple[int, str, int]] = []  # precedence, operator, offset
        while (precedence := _PRECEDENCE.get(self.kind, 0)) > 0:
            while pending and pending[-1][0] >= precedence:
                self.reduce(operands, pending)
            pending.append((precedence, self.kind, self.offset()))
            self.take()
            self.enter(precedence)
            operands.append(self.operand())
        while pending:
            self.reduce(operands, pending)
        self.relations -= 1
        self.sums -= 1
        node = operands[0]
        if ternary:
            if self.kind == "?":
                offset = self.take().start
                then = self.expression(ternary=False)
                self.expect(":")
                otherwise = self.expression()
                node = self.nested(tree.Call(offset, "_?_:_", [node, then, otherwise]), node, then, otherwise)
            self.depth -= 1
        return node

    def enter(self, precedence: int) -> None:
        """Count how many relations and sums are open, each of which nests in upstream's parser."""
        if precedence == _RELATION:
            self.relations += 1
        elif precedence >= _SUM:
            self.sums += 1
        if self.relations > MAX_DEPTH or self.sums > MAX_DEPTH:
            raise _Refused(f"expression recursion limit exceeded: {MAX_DEPTH}")

    def reduce(self, operands: list[tree.Expression], pending: list[tuple[int, str, int]]) -> None:
        """Put the last two operands together with the last operator."""
        precedence, operator, offset = pending.pop()
        right, left = operands.pop(), operands.pop()
        function = _FUNCTIONS[operator]
        if precedence == _RELATION:
            self.relations -= 1
        elif precedence >= _SUM:
            self.sums -= 1
        if precedence < _RELATION:
            if isinstance(left, tree.Call) and left.growing and left.function == function:
                left.arguments.append(right)
                left.depth = max(left.depth, right.depth)
                operands.append(left)
                return
            chain = tree.Call(offset, function, [left, right])
            chain.growing = True
            operands.append(self.nested(chain, left, right, counted=False))
            return
        operands.append(self.nested(tree.Call(offset, function, [left, right]), left, right))

    def operand(self) -> tree.Expression:
        """Prefix operators, a primary, and what follows it."""
        prefix = self.kind if self.kind in {"!", "-"} else ""
        offset, count = self.offset(), 0
        while prefix and self.kind == prefix:
            if prefix == "-" and count == 0 and self.tokens[self.position + 1].kind in {lexer.INT, lexer.FLOAT}:
                break
            self.take()
            count += 1
        node = self.suffixes(*self.primary())
        if count % 2 == 0:
            return node
        return self.nested(tree.Call(offset, "-_" if prefix == "-" else "!_", [node]), node, counted=False)

    def primary(self) -> tuple[tree.Expression, bool]:
        """What stands by itself, and whether it is a name that could be that of a type."""
        kind, offset = self.kind, self.offset()
        if kind in {IDENT, "."}:
            return self.name()
        if kind == "(":
            self.take()
            inner = self.expression()
            self.expect(")")
            if isinstance(inner, tree.Call):
                inner.growing = False
            return inner, False
        if kind == "[":
            return self.create_list(), False
        if kind == "{":
            self.take()
            entries = self.entries(named=False)
            return self.nested(tree.CreateMap(offset, entries), *_parts(entries), counted=False), False
        return self.literal(), False

    def name(self) -> tuple[tree.Expression, bool]:
        """A name, or a call of a function without receiver."""
        offset, dot = self.offset(), ""
        if self.kind == ".":
            self.take()
            dot = "."
        token = self.expect(IDENT)
        called = self.kind == "("
        reserved = token.text in syntax.RESERVED
        if reserved and self.kind != "{":
            self.report(offset, f"reserved identifier: {token.text}")
        if called:
            opened = self.offset()
            arguments = self.arguments()
            return self.call(opened, dot + token.text, None, arguments), False
        return tree.Ident(token.start, dot + token.text), True

    def literal(self) -> tree.Expression:
        """A constant."""
        offset, kind = self.offset(), self.kind
        if kind in {"true", "false", "null"}:
            self.take()
            return tree.Literal(offset, None if kind == "null" else kind == "true")
        sign = self.take().text if kind == "-" else ""
        token = self.take() if self.kind in _LITERALS and self.kind != END else None
        if token is None or (sign and token.kind not in {lexer.INT, lexer.FLOAT}):
            raise _Unexpected
        try:
            return tree.Literal(offset, syntax.literal(token, sign))
        except lexer.LiteralError as invalid:
            self.report(offset, str(invalid))
            return tree.Literal(offset, None)

    # brackets

    def suffixes(self, node: tree.Expression, is_name: bool) -> tree.Expression:
        """Selections, indexes, calls of members, and the fields of an object after its name."""
        while True:
            if self.kind == ".":
                node, is_name = self.selected(node, is_name)
            elif self.kind == "[":
                is_name, offset = False, self.take().start
                optional = self.question_mark(offset, "[?")
                index = self.expression()
                self.expect("]")
                function = "_[?_]" if optional else "_[_]"
                node = self.nested(tree.Call(offset, function, [node, index]), node, index)
            elif self.kind == "{" and is_name:
                is_name, offset = False, self.take().start
                entries = self.entries(named=True)
                name = tree.qualified_name(node) or ""
                node = self.nested(tree.CreateStruct(offset, name, entries), *_parts(entries), counted=False)
            else:
                return node

    def selected(self, node: tree.Expression, is_name: bool) -> tuple[tree.Expression, bool]:
        """What follows a dot."""
        offset = self.take().start
        optional = self.question_mark(offset, ".?")
        if self.kind not in {IDENT, ESCAPED}:
            raise _Unexpected
        token = self.take()
        if self.kind == "(" and token.kind == IDENT and not optional:
            opened = self.offset()
            arguments = self.arguments()
            return self.call(opened, token.text, node, arguments), False
        field = token.text if token.kind == IDENT else token.text[1:-1]
        if optional:
            chosen: tree.Expression = tree.Call(offset, "_?._", [node, tree.Literal(token.start, field)])
            return self.nested(chosen, node), False
        return self.nested(tree.Select(offset, node, field), node), is_name and token.kind == IDENT

    def question_mark(self, offset: int, spelled: str) -> bool:
        """Whether a question mark follows, which only some environments know."""
        if self.kind != "?":
            return False
        asked = self.take()
        if not self.optional_syntax:
            self.report(asked.start if spelled == "?" else offset, f"unsupported syntax '{spelled}'")
        return True

    def arguments(self) -> list[tree.Expression]:
        """What stands in brackets after the name of a function."""
        self.take()
        found: list[tree.Expression] = []
        if self.kind != ")":
            found.append(self.expression())
            while self.kind == ",":
                self.take()
                found.append(self.expression())
        self.expect(")")
        return found

    def create_list(self) -> tree.Expression:
        """``[a, ?b,]``."""
        opened = self.take()
        elements: list[tree.Expression] = []
        optional: list[int] = []
        while self.kind != "]":
            if elements:
                self.expect(",")
                if self.kind == "]":
                    break
            elif self.kind == ",":
                self.take()
                break
            if self.question_mark(self.offset(), "?"):
                optional.append(len(elements))
            elements.append(self.expression())
        self.expect("]")
        created = tree.CreateList(opened.start, elements, frozenset(optional))
        return self.nested(created, *elements, counted=False)

    def entries(self, *, named: bool) -> list[tree.Entry]:
        """What stands in braces, after the opening one."""
        found: list[tree.Entry] = []
        while self.kind != "}":
            if found:
                self.expect(",")
                if self.kind == "}":
                    break
            elif self.kind == ",":
                self.take()
                break
            optional = self.question_mark(self.offset(), "?")
            key, name = None, ""
            if named:
                if self.kind not in {IDENT, ESCAPED}:
                    raise _Unexpected
                token = self.take()
                name = token.text if token.kind == IDENT else token.text[1:-1]
            else:
                key = self.expression()
            colon = self.expect(":")
            found.append(tree.Entry(colon.start, key, name, self.expression(), optional=optional))
        self.expect("}")
        return found

    def call(
        self, offset: int, function: str, target: tree.Expression | None, arguments: list[tree.Expression]
    ) -> tree.Expression:
        """A call, or what a macro of that name makes of it."""
        inner = arguments if target is None else [target, *arguments]
        macro = self.macros.get((function, len(arguments), target is not None))
        if macro is None:
            macro = self.macros.get((function, macros.ANY_NUMBER, target is not None))
        node: tree.Expression | None = None
        if macro is not None:
            try:
                node = macro.expand(offset, target, arguments)
            except macros.MacroError as refused:
                self.report(refused.offset, str(refused))
                node = tree.Literal(offset, None)
        if node is None:
            node = tree.Call(offset, function, arguments, target)
        return self.nested(node, *inner, counted=target is not None)


_LITERALS = frozenset({lexer.INT, lexer.UINT, lexer.FLOAT, lexer.STRING, lexer.BYTES})


def _parts(entries: list[tree.Entry]) -> list[tree.Expression]:
    return [part for entry in entries for part in (entry.key, entry.value) if part is not None]
