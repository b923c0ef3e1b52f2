"""What is wrong with tokens that are no expression.

The parser proper stops at the first token that cannot stand where it stands; for the messages these
rules read on. Each rule of the grammar is a method that looks ahead as far as ANTLR would.

Upstream: parser/gen/CEL.g4 and the recursive descent that ANTLR makes of it.
"""

from collections.abc import Callable

from fakekube.cel import errors, lexer, syntax
from fakekube.cel.lexer import BYTES, END, ESCAPED, FLOAT, IDENT, INT, STRING, UINT
from fakekube.cel.recovery import OVER, Ahead, Recovery

_RELATIONS = frozenset({"==", "!=", "in", "<", "<=", ">=", ">"})
_PRODUCTS, _SUMS = frozenset({"*", "/", "%"}), frozenset({"+", "-"})
_CALCULATIONS = _PRODUCTS | _SUMS
_LITERAL = frozenset({"-", INT, UINT, FLOAT, STRING, BYTES, "true", "false", "null"})
_PRIMARY = _LITERAL | {".", IDENT, "(", "[", "{"}
_UNARY = _PRIMARY | {"!"}
_EXPRESSION = _UNARY
_OPTIONAL_EXPRESSION = _EXPRESSION | {"?"}
_FIELD = frozenset({"?", IDENT, ESCAPED})
_NUMBERS = frozenset({INT, FLOAT})


def issues(text: str, tokens: list[lexer.Token], unrecognized: list[lexer.Unrecognized]) -> list[errors.Issue]:
    """Every syntax error of these tokens of a text, some of whose characters begin none."""
    grammar = Grammar(text, tokens, unrecognized)
    return grammar.run(grammar.start) + grammar.meanings


class Grammar(Recovery):
    """Reads tokens to the end, noting what is wrong with them.

    ``meanings`` are errors of tokens that stand where they may: reserved words, constants that are
    none.
    """

    def __init__(self, text: str, tokens: list[lexer.Token], unrecognized: list[lexer.Unrecognized]) -> None:
        super().__init__(text, tokens, unrecognized)
        self.meanings: list[errors.Issue] = []

    def start(self) -> None:
        """``expr EOF``."""
        self.rule(Ahead((END,)), self.expression)
        self.match(END, "start", OVER)

    def expression(self) -> None:
        """``conditionalOr ('?' conditionalOr ':' expr)?``."""
        self.rule(Ahead(("?",), end=True), self.conditional_or)
        self.sync("expr", Ahead(("?",), end=True))
        if self.kind() == "?":
            self.match("?", "expr ?", Ahead(_EXPRESSION))
            self.rule(Ahead((":",)), self.conditional_or)
            self.match(":", "expr :", Ahead(_EXPRESSION))
            self.rule(OVER, self.expression)

    def conditional_or(self) -> None:
        """``conditionalAnd ('||' conditionalAnd)*``."""
        self.chain("||", self.conditional_and)

    def conditional_and(self) -> None:
        """``relation ('&&' relation)*``."""
        self.chain("&&", self.relation)

    def chain(self, operator: str, part: Callable[[], None]) -> None:
        """Parts with an operator between them."""
        more = Ahead((operator,), end=True)
        self.rule(more, part)
        self.sync(f"{operator} *", more)
        while self.kind() == operator:
            self.match(operator, operator, Ahead(_EXPRESSION))
            self.rule(more, part)
            self.sync(f"{operator} *", more)

    def relation(self, *, nested: bool = False) -> None:
        """``calc``, or a relation of two of them."""
        more = Ahead(_RELATIONS, end=True)
        self.rule(more, self.calculation)
        self.at("relation *", more)
        while not nested and self.kind() in _RELATIONS:
            self.matched()
            self.consume()
            self.rule(more, lambda: self.relation(nested=True))
            self.at("relation *", more)

    def calculation(self, precedence: int = 0) -> None:
        """``unary``, or a calculation of two of them."""
        more = Ahead(_CALCULATIONS, end=True)
        self.rule(more, self.unary)
        self.at("calc *", more)
        while (self.kind() in _PRODUCTS and precedence <= 2) or (self.kind() in _SUMS and precedence <= 1):
            above = 3 if self.kind() in _PRODUCTS else 2
            self.matched()
            self.consume()
            self.rule(more, lambda above=above: self.calculation(above))  # type: ignore[misc]
            self.at("calc *", more)

    def unary(self) -> None:
        """``member``, after exclamation marks or minus signs or none."""
        self.sync("unary", Ahead(_UNARY))
        if self.kind() == "!":
            self.sync("unary !", Ahead(("!",)))
            more = Ahead(_PRIMARY | {"!"})
            while self.kind() == "!":
                self.match("!", "unary ! token", more)
                self.sync("unary ! loop", more, looping=True)
        elif self.kind() == "-" and self.kind(2) not in _NUMBERS:
            if self.kind(2) not in _PRIMARY:
                raise self.no_alternative(2)
            self.minus_signs()
        elif self.kind() not in _PRIMARY:
            raise self.no_alternative(1)
        self.rule(OVER, self.member)

    def minus_signs(self) -> None:
        """``'-'+``."""
        self.sync("unary -", Ahead(("-",)))
        while True:
            self.match("-", "unary - token", Ahead(_PRIMARY))
            self.sync("unary - loop", Ahead(_PRIMARY), looping=True)
            if self.kind() != "-":
                return
            if self.kind(2) not in _PRIMARY:
                raise self.no_alternative(2)

    def member(self) -> None:
        """``primary``, and selections, calls and indexes behind it."""
        more = Ahead((".", "["), end=True)
        self.rule(more, self.primary)
        self.at("member *", more)
        while self.kind() in {".", "["}:
            if self.kind() == "[":
                self.match("[", "member [", Ahead(_OPTIONAL_EXPRESSION))
                self.optional_sign("member [?", Ahead(_OPTIONAL_EXPRESSION), Ahead(_EXPRESSION))
                self.rule(Ahead(("]",)), self.expression)
                self.match("]", "member ]", more)
            else:
                self.selection(more)
            self.at("member *", more)

    def selection(self, more: Ahead) -> None:
        """What stands behind a dot."""
        if self.kind(2) not in _FIELD:
            raise self.no_alternative(2)
        if self.kind(2) == IDENT and self.kind(3) == "(":
            self.match(".", "member call .", Ahead((IDENT,)))
            self.match(IDENT, "member call name", Ahead(("(",)))
            self.match("(", "member call (", Ahead(_EXPRESSION | {")"}))
            self.arguments("member call", more)
            return
        self.match(".", "member .", Ahead(_FIELD))
        self.optional_sign("member .?", Ahead(_FIELD), Ahead((IDENT, ESCAPED)))
        self.rule(more, self.escaped_identifier)

    def optional_sign(self, state: str, ahead: Ahead, after: Ahead) -> None:
        """``'?'?``."""
        self.sync(state, ahead)
        if self.kind() == "?":
            self.match("?", f"{state} token", after)

    def arguments(self, state: str, after: Ahead) -> None:
        """``exprList? ')'``."""
        self.sync(f"{state} arguments", Ahead(_EXPRESSION | {")"}))
        if self.kind() in _EXPRESSION:
            self.rule(Ahead((")",)), self.expressions)
        self.match(")", f"{state} )", after)

    def expressions(self) -> None:
        """``expr (',' expr)*``."""
        more = Ahead((",",), end=True)
        self.rule(more, self.expression)
        self.sync("exprList *", more)
        while self.kind() == ",":
            self.match(",", "exprList ,", Ahead(_EXPRESSION))
            self.rule(more, self.expression)
            self.sync("exprList *", more)

    def escaped_identifier(self) -> None:
        """A name, or one in backquotes."""
        self.sync("escapeIdent", Ahead((IDENT, ESCAPED)))
        if self.kind() not in {IDENT, ESCAPED}:
            raise self.no_alternative(1)
        self.match(self.kind(), "escapeIdent name", OVER)

    def primary(self) -> None:
        """What stands by itself."""
        self.sync("primary", Ahead(_PRIMARY))
        kind = self.kind()
        if kind in {".", IDENT}:
            self.named()
        elif kind == "(":
            self.match("(", "primary (", Ahead(_EXPRESSION))
            self.rule(Ahead((")",)), self.expression)
            self.match(")", "primary )", OVER)
        elif kind == "[":
            self.match("[", "primary [", Ahead(_OPTIONAL_EXPRESSION | {",", "]"}))
            self.braced("list", _OPTIONAL_EXPRESSION, "]", self.elements)
        elif kind == "{":
            self.match("{", "primary {", Ahead(_OPTIONAL_EXPRESSION | {",", "}"}))
            self.braced("map", _OPTIONAL_EXPRESSION, "}", self.entries)
        elif kind in _LITERAL:
            self.rule(OVER, self.literal)
        else:
            raise self.no_alternative(1)

    def named(self) -> None:
        """A name, a call, or the creation of an object, whichever the tokens ahead say."""
        place = 1
        if self.kind() == ".":
            if self.kind(2) != IDENT:
                raise self.no_alternative(2)
            place = 2
        called = self.kind(place + 1) == "("
        while self.kind(place + 1) == "." and self.kind(place + 2) == IDENT:
            place += 2
        creation = self.kind(place + 1) == "{"
        names = "message" if creation else "call" if called else "ident"
        self.sync(f"primary {names}", Ahead((".", IDENT)))
        offset = self.tokens[self.position].start
        if self.kind() == ".":
            self.match(".", f"primary {names} .", Ahead((IDENT,)))
        word = self.tokens[self.position].text
        if word in syntax.RESERVED and not creation:
            self.meanings.append(errors.Issue(f"reserved identifier: {word}", offset))
        behind = Ahead((".", "{")) if creation else Ahead(("(",)) if called else OVER
        self.match(IDENT, f"primary {names} name", behind)
        if creation:
            while self.kind() == ".":
                self.match(".", "message .", Ahead((IDENT,)))
                self.match(IDENT, "message name", behind)
            self.match("{", "message {", Ahead(_FIELD | {",", "}"}))
            self.braced("message", _FIELD, "}", self.fields)
        elif called:
            self.match("(", "call (", Ahead(_EXPRESSION | {")"}))
            self.arguments("call", OVER)

    def braced(self, state: str, first: frozenset[str], closing: str, content: Callable[[], None]) -> None:
        """Content or none, a comma or none, and what closes it."""
        self.sync(f"{state} content", Ahead(first | {",", closing}))
        if self.kind() in first:
            self.rule(Ahead((",", closing)), content)
        self.sync(f"{state} comma", Ahead((",", closing)))
        if self.kind() == ",":
            self.match(",", f"{state} ,", Ahead((closing,)))
        self.match(closing, f"{state} {closing}", OVER)

    def repeated(self, state: str, first: frozenset[str], entry: Callable[[], None]) -> None:
        """``entry (',' entry)*``, where the last comma is not followed by an entry."""
        entry()
        self.at(f"{state} *", Ahead((",",), end=True))
        while self.kind() == "," and self.kind(2) in first:
            self.match(",", f"{state} ,", Ahead(first))
            entry()
            self.at(f"{state} *", Ahead((",",), end=True))

    def elements(self) -> None:
        """The elements of a list."""
        more = Ahead((",",), end=True)
        self.repeated("listInit", _OPTIONAL_EXPRESSION, lambda: self.rule(more, self.optional_expression))

    def entries(self) -> None:
        """The entries of a map."""
        self.repeated("mapInitializerList", _OPTIONAL_EXPRESSION, lambda: self.entry("map", self.optional_expression))

    def fields(self) -> None:
        """The fields of an object."""
        self.repeated("fieldInitializerList", _FIELD, lambda: self.entry("field", self.optional_field))

    def entry(self, state: str, key: Callable[[], None]) -> None:
        """``key ':' expr``."""
        self.rule(Ahead((":",)), key)
        self.match(":", f"{state} :", Ahead(_EXPRESSION))
        self.rule(Ahead((",",), end=True), self.expression)

    def optional_expression(self) -> None:
        """``'?'? expr``."""
        self.optional_sign("optExpr", Ahead(_OPTIONAL_EXPRESSION), Ahead(_EXPRESSION))
        self.rule(OVER, self.expression)

    def optional_field(self) -> None:
        """``'?'? escapeIdent``."""
        self.optional_sign("optField", Ahead(_FIELD), Ahead((IDENT, ESCAPED)))
        self.rule(OVER, self.escaped_identifier)

    def literal(self) -> None:
        """A constant."""
        self.sync("literal", Ahead(_LITERAL))
        if self.kind() != "-":
            self.constant("")
            self.match(self.kind(), "literal token", OVER)
            return
        if self.kind(2) not in _NUMBERS:
            raise self.no_alternative(2)
        self.match("-", "literal -", Ahead((self.kind(2),)))
        self.constant("-")
        self.match(self.kind(), "literal number", OVER)

    def constant(self, sign: str) -> None:
        """Look whether the token means a value."""
        token = self.tokens[self.position]
        try:
            syntax.literal(token, sign)
        except lexer.LiteralError as invalid:
            offset = self.tokens[self.position - len(sign)].start
            self.meanings.append(errors.Issue(str(invalid), offset))
