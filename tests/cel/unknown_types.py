"""Random expressions about values whose types a check does not know: operators, methods and
functions that get anything at all.
"""

import random

VALUES = (
    "1", "2", "0", "-1", "1u", "2u", "1.0", "2.5", "'a'", "'b'", "''", "b'a'", "true", "false", "null", "[]", "{}", "[1]",
    "['a']", "{'a': 1}", "{1: 'a'}", "[[1], [2]]", "timestamp('2020-01-01T00:00:00Z')", "duration('1s')", "quantity('1')",
    "quantity('2')", "[quantity('1')]", "ip('1.1.1.1')", "ip('::1')", "cidr('10.0.0.0/8')", "url('http://a')", "semver('1.0.0')",
    "semver('2.0.0-a')", "format.named('dns1123Label').value()", "type(1)", "type('a')", "optional.of(1)", "optional.none()",
    "optional.of('a')", "double('NaN')", "double('Infinity')", "9223372036854775807", "18446744073709551615u",
)
KEYS = ("1", "2u", "true", "'a'", "'b'")
OPERATORS = ("==", "!=", "in", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||")
METHODS = (
    "size()", "sort()", "distinct()", "flatten()", "reverse()", "isSorted()", "min()", "max()", "sum()", "contains(?)",
    "startsWith(?)", "matches(?)", "indexOf(?)", "lastIndexOf(?)", "includes(?)", "split(?)", "getSeconds()",
    "getFullYear()", "add(?)", "sub(?)", "compareTo(?)", "isGreaterThan(?)", "isLessThan(?)", "sign()", "isInteger()",
    "asInteger()", "asApproximateFloat()", "family()", "isLoopback()", "containsIP(?)", "containsCIDR(?)", "prefixLength()",
    "getHost()", "getPort()", "major()", "value()", "hasValue()", "orValue(?)", "lowerAscii()", "replace(?,?)",
    "substring(1)", "charAt(1)", "slice(0,1)", "validate(?)", "find(?)", "findAll(?)", "format([?])", "trim()", "string()",
    "map(x,x)", "filter(x,x==?)", "exists(x,x==?)", "all(x,x!=?)", "exists_one(x,x==?)", "map(x,x==?,x)", "sortBy(x,x)",
    "transformList(i,x,x)", "all(i,x,x==?)", "masked()", "ip()", "getEscapedPath()", "getQuery()",
)
FUNCTIONS = (
    "size(?)", "int(?)", "uint(?)", "double(?)", "string(?)", "bytes(?)", "bool(?)", "type(?)", "timestamp(?)",
    "duration(?)", "quantity(?)", "isQuantity(?)", "ip(?)", "isIP(?)", "cidr(?)", "isCIDR(?)", "url(?)", "isURL(?)",
    "semver(?)", "isSemver(?)", "ip.isCanonical(?)", "!?", "sets.contains(?,?)", "sets.intersects(?,?)",
    "sets.equivalent(?,?)", "??:?", "?[?]", "?[??]", "has(?.a)", "?.a", "?.?a", "cel.bind(v,?,v==?)", "lists.range(?)",
    "[?]+?", "?[0]", "?['a']", "?in[?,1]",
)


class Unknown:
    """Draws them; as many as are asked for, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def expression(self) -> str:
        """One operator, method or function."""
        draw = self._random
        chance = draw.random()
        if chance < 0.4:
            return f"{self._value()} {draw.choice(OPERATORS)} {self._value()}"
        if chance < 0.75:
            return f"{self._value()}.{self._filled(draw.choice(METHODS))}"
        return self._function(draw.choice(FUNCTIONS))

    def _function(self, form: str) -> str:
        if form == "??:?":
            return f"{self._value()} ? {self._value()} : {self._value()}"
        if form == "?[??]":
            return f"{self._value()}[?{self._value()}]"
        if form == "?.?a":
            return f"{self._value()}.?a"
        return self._filled(form.replace("in[", " in ["))

    def _filled(self, form: str) -> str:
        while "?" in form:
            form = form.replace("?", self._value(), 1)
        return form

    def _value(self, depth: int = 2) -> str:
        draw = self._random
        chance = draw.random() if depth else 0.0
        if chance < 0.7:
            text = draw.choice(VALUES)
        elif chance < 0.83:
            text = f"[{', '.join(self._value(depth - 1) for _ in range(draw.randint(0, 3)))}]"
        elif chance < 0.94:
            entries = [f"{draw.choice(KEYS)}: {self._value(depth - 1)}" for _ in range(draw.randint(0, 2))]
            text = f"{{{', '.join(entries)}}}"
        else:
            text = f"optional.of({self._value(depth - 1)})"
        return f"dyn({text})"
