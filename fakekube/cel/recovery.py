"""How a parser made by ANTLR goes on after an error: the messages that it gives.

It deletes a token, or inserts one, or skips tokens until one that may follow. ``grammar`` has the
rules; what may follow the call of a rule is given with the call.

Upstream: DefaultErrorStrategy of ANTLR 4.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

from fakekube.cel import errors, lexer
from fakekube.cel.lexer import BYTES, END, ESCAPED, FLOAT, IDENT, INT, STRING, UINT

MAX_ERRORS = 100
MAX_ATTEMPTS = 30
MAX_SKIPPED = 256

_ORDER = (
    *(END, "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?"),
    *(":", "+", "*", "/", "%", "true", "false", "null", FLOAT, INT, UINT, STRING, BYTES, IDENT, ESCAPED),
)
_SYMBOLS = frozenset({END, FLOAT, INT, UINT, STRING, BYTES, IDENT, ESCAPED})

class Ahead:
    """The tokens that may come next within a rule; ``end`` if the rule may be over."""

    __slots__ = ("end", "kinds")

    def __init__(self, kinds: Iterable[str], *, end: bool = False) -> None:
        self.kinds = frozenset(kinds)
        self.end = end


OVER = Ahead((), end=True)


class _Mismatch(Exception):
    """A token that cannot stand here."""


class _NoAlternative(_Mismatch):
    """Tokens from ``start`` on that begin no alternative."""

    def __init__(self, start: int, at: int) -> None:
        super().__init__()
        self.start = start
        self.at = at


class _GivenUp(Exception):
    """There were too many errors to read on."""


class Recovery:
    """Reads tokens to the end, noting what is wrong with them."""

    def __init__(self, text: str, tokens: list[lexer.Token], unrecognized: list[lexer.Unrecognized]) -> None:
        self.text = text
        self.tokens = tokens
        self.unrecognized = unrecognized
        self.position = 0
        self.issues: list[errors.Issue] = []
        self.recovering = False
        self.attempts = 0
        self.follows: list[Ahead] = []
        self.state: object = ""
        self.expected = OVER
        self.last_position = -1
        self.last_states: set[object] = set()

    def run(self, whole: Callable[[], None]) -> list[errors.Issue]:
        """Every syntax error of a rule that takes all tokens, in the order they are found in."""
        with suppress(_GivenUp):
            self.rule(OVER, whole)
        return self.issues

    # tokens

    def kind(self, ahead: int = 1) -> str:
        """The kind of the token so far ahead."""
        place = self.position + ahead - 1
        return self.tokens[place].kind if place < len(self.tokens) else END

    def consume(self) -> None:
        """On to the next token; the last one stays."""
        if self.position < len(self.tokens) - 1:
            self.position += 1

    def report(self, message: str, place: int | None = None) -> None:
        """Note an error at a token."""
        token = self.tokens[self.position if place is None else place]
        if len(self.issues) >= MAX_ERRORS:
            self.issues.append(errors.Issue(f"Syntax error: More than {MAX_ERRORS} syntax errors", token.start))
            raise _GivenUp
        self.issues.append(errors.Issue(f"Syntax error: {message}", token.start))

    def shown(self) -> str:
        """The token as messages show it."""
        return quoted(self.tokens[self.position].text)

    # ANTLR's error strategy

    def wanted(self, ahead: Ahead) -> frozenset[str]:
        """The tokens that may come next, those after the end of rules included."""
        kinds = set(ahead.kinds)
        if ahead.end:
            for follow in reversed(self.follows):
                kinds |= follow.kinds
                if not follow.end:
                    return frozenset(kinds)
            kinds.add(END)
        return frozenset(kinds)

    def at(self, state: object, ahead: Ahead) -> None:
        """Where in a rule reading has come to."""
        self.state, self.expected = state, ahead

    def sync(self, state: object, ahead: Ahead, *, looping: bool = False) -> None:
        """Look whether the next token may begin what comes."""
        self.at(state, ahead)
        if self.recovering or ahead.end or self.kind() in ahead.kinds:
            return
        if not looping:
            if not self.deleted():
                raise _Mismatch
            return
        self.unwanted()
        self.skip_until(self.wanted(ahead) | self.after_rules())

    def match(self, kind: str, state: object, after: Ahead) -> None:
        """Read a token of a kind; ``after`` is what may come behind it within the rule."""
        self.at(state, Ahead((kind,)))
        if self.kind() == kind:
            self.matched()
            self.consume()
            return
        self.attempt()
        if self.deleted():
            self.consume()
        elif self.kind() in self.wanted(after):
            if not self.recovering:
                self.recovering = True
                self.report(f"missing {listed(self.wanted(self.expected))} at {self.shown()}")
        else:
            raise _Mismatch

    def matched(self) -> None:
        """A token stood where it should: errors count again."""
        self.recovering = False
        self.last_position = -1
        self.last_states = set()

    def unwanted(self) -> None:
        """Note a token that should not be there."""
        if not self.recovering:
            self.recovering = True
            self.report(f"extraneous input {self.shown()} expecting {listed(self.wanted(self.expected))}")

    def deleted(self) -> bool:
        """Skip one token if the one behind it is what should come."""
        if self.kind(2) not in self.wanted(self.expected):
            return False
        self.unwanted()
        self.consume()
        self.matched()
        return True

    def after_rules(self) -> frozenset[str]:
        """All that may follow the rules that are being read."""
        return frozenset(kind for follow in self.follows for kind in follow.kinds)

    def skip_until(self, kinds: frozenset[str], limit: int | None = None) -> None:
        """Skip tokens until one of these."""
        skipped = 0
        while self.kind() != END and self.kind() not in kinds:
            if limit is not None and skipped >= limit:
                self.issues.append(errors.Issue(f"error recovery token lookahead limit exceeded: {limit}", -1))
                raise _GivenUp
            skipped += 1
            self.consume()

    def attempt(self) -> None:
        """Count the attempts to go on after an error."""
        if self.attempts == MAX_ATTEMPTS:
            self.report(f"error recovery attempt limit exceeded: {MAX_ATTEMPTS}")
            raise _GivenUp
        self.attempts += 1

    def rule(self, follow: Ahead, body: Callable[[], None]) -> None:
        """Read a rule; after an error in it, go on behind it."""
        self.follows.append(follow)
        try:
            body()
        except _Mismatch as error:
            self.note(error)
            self.recover()
        finally:
            self.follows.pop()

    def note(self, error: _Mismatch) -> None:
        """Report what ended a rule, unless an error is being recovered from already."""
        if self.recovering:
            return
        self.recovering = True
        if isinstance(error, _NoAlternative):
            first, last = self.tokens[error.start], self.tokens[error.at]
            read = self.read(first.start, last.start + (0 if last.kind == END else len(last.text)))
            if read[1:] in {"true", "false", "null"}:
                self.report(f"mismatched input '{read[1:]}' expecting IDENTIFIER", error.at)
            else:
                self.report(f"no viable alternative at input {quoted(END if first.kind == END else read)}", error.at)
        else:
            self.report(f"mismatched input {self.shown()} expecting {listed(self.wanted(self.expected))}")

    def read(self, start: int, end: int) -> str:
        """The source between two places, without what begins no token."""
        parts, place = [], start
        for bad in self.unrecognized:
            if start <= bad.start < end:
                parts.append(self.text[place : bad.start])
                place = bad.start + len(bad.text)
        return "".join(parts) + self.text[place:end]

    def recover(self) -> None:
        """Skip tokens until one that may follow a rule that is being read."""
        self.attempt()
        if self.last_position == self.position and self.state in self.last_states:
            self.consume()
        self.last_position = self.position
        self.last_states.add(self.state)
        self.skip_until(self.after_rules(), MAX_SKIPPED)

    def no_alternative(self, tokens: int) -> _NoAlternative:
        """The error of a choice that the last of so many tokens rules out."""
        return _NoAlternative(self.position, min(self.position + tokens - 1, len(self.tokens) - 1))


def listed(kinds: frozenset[str]) -> str:
    """Kinds of tokens as messages list them."""
    names = [kind if kind in _SYMBOLS else f"'{kind}'" for kind in _ORDER if kind in kinds]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def quoted(text: str) -> str:
    """A text as messages quote it."""
    escaped = text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"
