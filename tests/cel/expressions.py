"""Random expressions that have a type: for comparisons with other implementations.

A ``Generator`` draws from one seed. ``extensions`` names what may be used beside the standard
library: "strings", "optionals", "bindings" are known to others as well, "kubernetes" is everything
else, and brings along what others answer in another way.
"""

import random
from collections.abc import Callable, Sequence

SCALARS = ("bool", "int", "uint", "double", "string", "bytes", "duration", "timestamp")
DATA = {"i": 3, "j": -7, "f": 2.5, "t": "héllo wörld", "b": True, "ns": [3, 1, 2], "ts": ["a", "", "b,c"], "m": {"a": 1, "b": 2}}
"""The variables, by names; their types are in ``VARIABLES``."""
VARIABLES = {
    "i": "int", "j": "int", "f": "double", "t": "string", "b": "bool", "ns": "list int", "ts": "list string", "m": "map int",
}

_INTS = ("0", "1", "2", "-1", "7", "42", "-13", "9223372036854775807", "(-9223372036854775807 - 1)", "0x1F")
_UINTS = ("0u", "1u", "5u", "18446744073709551615u")
_DOUBLES = ("0.0", "1.5", "-2.25", "1e3", "3.0", "0.1", "1e300", "-1e-5")
_STRINGS = ("''", "'a'", "'hello'", "'a,b,,c'", "'Ünïcødé'", "'12'", "'-3.5'", "'true'", "'TacoCat'", "r'\\d+'", "'\\n\\t\"'")
_BYTES = ("b''", "b'abc'", "b'\\xff'", "b'\\303\\251'")
_DURATIONS = ("duration('1h')", "duration('90s')", "duration('-90m')", "duration('0s')", "duration('24h')")
_TIMESTAMPS = ("timestamp('2020-02-29T12:30:45Z')", "timestamp('1970-01-01T00:00:00Z')", "timestamp('1999-12-31T23:59:59.999Z')")
_SEPARATORS = ("", "','")
_SETS = ("contains", "intersects", "equivalent")
_FORMATS = ("dns1123Label", "qualifiedName", "uri", "date")
_SEARCHES = ("indexOf", "lastIndexOf")
_LIMITS = ("0", "1", "2", "-1")
_ZONES = ("'UTC'", "'+02:30'", "'-11:00'")
_PATTERNS = ("'l+'", "'^h'", "'[a-c]'", "'(a|b)*'", "'.'", "'x?'", "''")
_LITERALS = {
    "bool": ("true", "false"), "int": _INTS, "uint": _UINTS, "double": _DOUBLES, "string": _STRINGS, "bytes": _BYTES,
    "duration": _DURATIONS, "timestamp": _TIMESTAMPS,
}
Make = Callable[[], str]


class Generator:
    """Expressions from a seed."""

    def __init__(self, seed: int, extensions: Sequence[str] = ()) -> None:
        self.random = random.Random(seed)
        self.extensions = frozenset(extensions)
        self.scope: list[tuple[str, str]] = list(VARIABLES.items())
        self.names = 0

    def any(self, depth: int = 4) -> str:
        """An expression of a random type."""
        kind = self.choice((*SCALARS, *SCALARS, "list", "list", "map"))
        if kind in ("list", "map"):
            kind = f"{kind} {self.choice(('int', 'string', 'bool', 'double'))}"
        return self.of(kind, depth)

    def choice(self, among: Sequence[str]) -> str:
        """One of them."""
        return self.random.choice(among)

    def of(self, kind: str, depth: int) -> str:
        """An expression of a type: ``int``, ``list int``, ``map string``, ``optional int``."""
        known = [name for name, of in self.scope if of == kind]
        if depth <= 0 or self.random.random() < 0.1:
            if known and self.random.random() < 0.5:
                return self.choice(known)
            return self.literal(kind)
        below = depth - 1
        common: list[Make] = [
            lambda: f"({self.of('bool', below)} ? {self.of(kind, below)} : {self.of(kind, below)})",
            lambda: f"[{self.of(kind, below)}, {self.of(kind, below)}][{self.choice(('0', '1', '2', 'i'))}]"
            if not kind.startswith(("list", "map", "optional")) else self.literal(kind),
        ]
        if "bindings" in self.extensions:
            common.append(lambda: self.binding(kind, below))
        if "optionals" in self.extensions and not kind.startswith("optional"):
            common += [
                lambda: f"{self.of(f'optional {kind}', below)}.orValue({self.of(kind, below)})",
                lambda: f"{self.of(f'optional {kind}', below)}.value()",
            ]
        special = self.special(kind, below)
        makes = special + common if self.random.random() < 0.2 or not special else special
        return self.random.choice(makes)()

    def binding(self, kind: str, depth: int) -> str:
        """``cel.bind(v, value, body)``."""
        of = self.choice(SCALARS)
        value = self.of(of, depth)
        return self.within(of, lambda name: f"cel.bind({name}, {value}, {self.of(kind, depth)})")

    def within(self, kind: str, make: Callable[[str], str]) -> str:
        """What is made while a new variable is known."""
        self.names += 1
        name = f"v{self.names}"
        self.scope.append((name, kind))
        made = make(name)
        self.scope.pop()
        return made

    def literal(self, kind: str) -> str:
        """A constant of a type."""
        if kind == "duration" and "kubernetes" in self.extensions:
            return self.choice((*_DURATIONS, "duration('-1.5s')"))
        if kind in _LITERALS:
            return self.choice(_LITERALS[kind])
        outer, _, inner = kind.partition(" ")
        if outer == "list":
            return f"[{', '.join(self.literal(inner) for _ in range(self.random.randint(1, 3)))}]"
        if outer == "map":
            return f"{{{', '.join(f'{key!r}: {self.literal(inner)}' for key in ('a', 'b', 'c')[: self.random.randint(1, 3)])}}}"
        return f"optional.of({self.literal(inner)})"

    def special(self, kind: str, depth: int) -> list[Make]:
        """What makes a value of this type and no other."""
        outer, _, inner = kind.partition(" ")
        if inner:
            return {"list": self.lists, "map": self.maps, "optional": self.optionals}[outer](inner, depth)
        made: dict[str, Callable[[int], list[Make]]] = {
            "bool": self.bools, "int": self.ints, "uint": self.uints, "double": self.doubles, "string": self.strings,
            "bytes": self.bytes, "duration": self.durations, "timestamp": self.timestamps,
        }
        return made[kind](depth)

    def bools(self, depth: int) -> list[Make]:
        """Comparisons, logic, questions of texts and lists."""
        of = self.of
        kind = self.choice(SCALARS)
        ordered = self.choice(("int", "uint", "double", "string", "bytes", "duration", "timestamp", "bool"))
        number, other = self.choice(("int", "uint", "double")), self.choice(("int", "uint", "double"))
        makes: list[Make] = [
            lambda: f"({of(kind, depth)} {self.choice(('==', '!='))} {of(kind, depth)})",
            lambda: f"({of(ordered, depth)} {self.choice(('<', '<=', '>', '>='))} {of(ordered, depth)})",
            lambda: f"(dyn({of(number, depth)}) {self.choice(('<', '<=', '>', '>='))} {of(other, depth)})",
            lambda: f"({of('bool', depth)} {self.choice(('&&', '||'))} {of('bool', depth)})",
            lambda: f"!{of('bool', depth)}",
            lambda: f"({of('int', depth)} in {of('list int', depth)})",
            lambda: f"({of('string', depth)} in {of('map int', depth)})",
            lambda: f"{of('string', depth)}.{self.choice(('startsWith', 'endsWith', 'contains'))}({of('string', depth)})",
            lambda: f"{of('string', depth)}.matches({self.choice(_PATTERNS)})",
            lambda: f"({of('list string', depth)} == {of('list string', depth)})",
            lambda: f"({of('map int', depth)} == {of('map int', depth)})",
            lambda: f"has({of('map int', depth)}.a)",
            lambda: self.quantified(depth),
            lambda: f"(type({of(kind, depth)}) == {self.choice(('int', 'string', 'bool', 'double', 'uint', 'bytes'))})",
            lambda: f"(dyn({of(kind, depth)}) == dyn({of(ordered, depth)}))",
        ]
        if "optionals" in self.extensions:
            makes.append(lambda: f"{of(f'optional {kind}', depth)}.hasValue()")
        if "kubernetes" in self.extensions:
            makes += self.kubernetes_bools(depth)
        return makes

    def kubernetes_bools(self, depth: int) -> list[Make]:
        """Questions that Kubernetes' functions answer."""
        of = self.of
        return [
            lambda: f"sets.{self.choice(_SETS)}({of('list int', depth)}, {of('list int', depth)})",
            lambda: f"{of(f'list {self.choice(SCALARS)}', depth)}.isSorted()",
            lambda: f"{of('list int', depth)}.includes({of('int', depth)})",
            lambda: f"isQuantity({of('string', depth)})",
            lambda: f"isIP({of('string', depth)})",
            lambda: f"isURL({of('string', depth)})",
            lambda: f"isSemver({of('string', depth)}, {of('bool', depth)})",
            lambda: f"format.{self.choice(_FORMATS)}().validate({of('string', depth)}).hasValue()",
            lambda: f"{of('map int', depth)}.existsOne(k, v, v > 1 || k == 'a')",
        ]

    def quantified(self, depth: int) -> str:
        """``all``, ``exists``, ``exists_one``."""
        kind = self.choice(("int", "string"))
        ranged = self.of(f"list {kind}", depth)
        macro = self.choice(("all", "exists", "exists_one"))
        return self.within(kind, lambda name: f"{ranged}.{macro}({name}, {self.of('bool', depth - 1)})")

    def ints(self, depth: int) -> list[Make]:
        """Arithmetic, sizes, conversions, parts of times."""
        of = self.of
        source = self.choice(("int", "uint", "double", "string", "timestamp"))
        sized = self.choice(("string", "bytes", "list int", "map int"))
        parts = ("getFullYear", "getMonth", "getDayOfYear", "getDate", "getDayOfMonth", "getDayOfWeek", "getHours", "getMinutes")
        makes: list[Make] = [
            lambda: f"({of('int', depth)} {self.choice(('+', '-', '*', '/', '%'))} {of('int', depth)})",
            lambda: f"-({of('int', depth)})",
            lambda: f"int({of(source, depth)})",
            lambda: f"size({of(sized, depth)})",
            lambda: f"{of('timestamp', depth)}.{self.choice((*parts, 'getSeconds', 'getMilliseconds'))}()",
            lambda: f"{of('timestamp', depth)}.{self.choice(parts)}({self.choice(_ZONES)})",
            lambda: f"{of('duration', depth)}.{self.choice(('getHours', 'getMinutes', 'getSeconds'))}()",
            lambda: f"{of('list int', depth)}[{of('int', depth)}]",
            lambda: f"{of('map int', depth)}[{of('string', depth)}]",
            lambda: f"{of('map int', depth)}.{self.choice(('a', 'b', 'z'))}",
        ]
        if "strings" in self.extensions:
            makes += [
                lambda: f"{of('string', depth)}.{self.choice(('indexOf', 'lastIndexOf'))}({of('string', depth)})",
                lambda: f"{of('string', depth)}.{self.choice(_SEARCHES)}({of('string', depth)}, {self.offset()})",
            ]
        if "kubernetes" in self.extensions:
            makes += [
                lambda: f"{of('list int', depth)}.{self.choice(('sum', 'min', 'max'))}()",
                lambda: f"{of('list int', depth)}.{self.choice(('indexOf', 'lastIndexOf'))}({of('int', depth)})",
                lambda: f"quantity({of('string', depth)}).asInteger()",
                lambda: f"semver({of('string', depth)}, true).minor()",
            ]
        return makes

    def offset(self) -> str:
        """Where to look for a text: beyond its end others refuse."""
        return self.of("int", 0) if "kubernetes" in self.extensions else "0"

    def uints(self, depth: int) -> list[Make]:
        """Arithmetic and conversions."""
        of = self.of
        source = self.choice(("int", "uint", "double", "string"))
        return [
            lambda: f"({of('uint', depth)} {self.choice(('+', '-', '*', '/', '%'))} {of('uint', depth)})",
            lambda: f"uint({of(source, depth)})",
        ]

    def doubles(self, depth: int) -> list[Make]:
        """Arithmetic and conversions."""
        of = self.of
        source = self.choice(("int", "uint", "double", "string"))
        makes: list[Make] = [
            lambda: f"({of('double', depth)} {self.choice(('+', '-', '*', '/'))} {of('double', depth)})",
            lambda: f"-({of('double', depth)})",
            lambda: f"double({of(source, depth)})",
        ]
        if "kubernetes" in self.extensions:
            makes.append(lambda: f"{of('list double', depth)}.{self.choice(('sum', 'min', 'max'))}()")
        return makes

    def strings(self, depth: int) -> list[Make]:
        """Joining, conversions, and the functions of strings."""
        of = self.of
        source = self.choice(("int", "uint", "string", "bool", "bytes", "duration", "timestamp"))
        printed = self.choice(("int", "uint", "string", "bool", "duration", "timestamp"))
        makes: list[Make] = [
            lambda: f"({of('string', depth)} + {of('string', depth)})",
            lambda: f"string({of(source, depth)})",
            lambda: f"{of('list string', depth)}[{of('int', 0)}]",
        ]
        if "strings" in self.extensions:
            makes += [
                lambda: f"{of('string', depth)}.charAt({of('int', depth)})",
                lambda: f"{of('string', depth)}.{self.choice(('lowerAscii', 'upperAscii', 'trim'))}()",
                lambda: f"{of('string', depth)}.replace({of('string', 0)}, {of('string', 0)})",
                lambda: f"{of('string', depth)}.replace({of('string', 0)}, {of('string', 0)}, {self.choice(_LIMITS)})",
                lambda: f"{of('string', depth)}.substring({of('int', depth)})",
                lambda: f"{of('list string', depth)}.join({self.choice(_SEPARATORS)})",
                lambda: f"strings.quote({of('string', depth)})",
                lambda: f"'{self.choice(('%s', '%d', '%x', '%b', '%o'))}'.format([{of('int', depth)}])",
                lambda: f"'<%s>'.format([{of(printed, depth)}])",
            ]
        if "kubernetes" in self.extensions:
            makes += [
                lambda: f"{of('string', depth)}.find({self.choice(_PATTERNS)})",
                lambda: f"{of('string', depth)}.substring({self.choice(('0', '1'))}, {self.choice(('1', '2', '3', '0'))})",
                lambda: f"url('https://example.com/' + {of('string', depth)}).getEscapedPath()",
                lambda: f"'{self.choice(('%f', '%.2f', '%e', '%s', '%.0f'))}'.format([{of('double', depth)}])",
                lambda: f"'%s'.format([{of(self.choice(('list int', 'list double', 'map string', 'list string')), depth)}])",
                lambda: f"jsonpatch.escapeKey({of('string', depth)})",
            ]
        return makes

    def bytes(self, depth: int) -> list[Make]:
        """Joining and conversions."""
        return [
            lambda: f"({self.of('bytes', depth)} + {self.of('bytes', depth)})",
            lambda: f"bytes({self.of('string', depth)})",
        ]

    def durations(self, depth: int) -> list[Make]:
        """Arithmetic of times."""
        of = self.of
        return [
            lambda: f"({of('duration', depth)} {self.choice(('+', '-'))} {of('duration', depth)})",
            lambda: f"({of('timestamp', 0)} - {of('timestamp', 0)})",
        ]

    def timestamps(self, depth: int) -> list[Make]:
        """Arithmetic of times."""
        return [lambda: f"({self.of('timestamp', depth)} {self.choice(('+', '-'))} {self.of('duration', depth)})"]

    def lists(self, inner: str, depth: int) -> list[Make]:
        """Literals, concatenation, macros."""
        of = self.of
        outer = self.choice(("int", "string"))
        ranged = f"list {outer}"

        def predicate(name: str) -> str:
            return f".filter({name}, {of('bool', depth - 1)})"

        makes: list[Make] = [
            lambda: f"[{of(inner, depth)}, {of(inner, depth)}]",
            lambda: f"({of(f'list {inner}', depth)} + {of(f'list {inner}', depth)})",
            lambda: f"{of(ranged, depth)}{self.within(outer, lambda name: f'.map({name}, {of(inner, depth - 1)})')}",
            lambda: f"{of(f'list {inner}', depth)}{self.within(inner, predicate)}",
        ]
        if inner == "string" and "strings" in self.extensions:
            makes += [
                lambda: f"{of('string', depth)}.split({of('string', 0)})",
                lambda: f"{of('string', depth)}.split({of('string', 0)}, {self.choice(('-1', '0', '1', '2'))})",
            ]
        if "kubernetes" in self.extensions:
            makes += [
                lambda: f"{of(f'list {inner}', depth)}.{self.choice(('distinct', 'reverse', 'sort'))}()",
                lambda: f"{of(f'list {inner}', depth)}.slice({self.choice(('0', '1'))}, {self.choice(('1', '2', '0'))})",
                lambda: f"[{of(f'list {inner}', depth)}, {of(f'list {inner}', depth)}].flatten()",
                lambda: f"{of(f'map {inner}', depth)}.transformList(k, v, v).sort()",
            ]
        if inner == "string" and "kubernetes" in self.extensions:
            makes.append(lambda: f"{of('string', depth)}.findAll({self.choice(_PATTERNS)})")
        return makes

    def maps(self, inner: str, depth: int) -> list[Make]:
        """Literals, and what two variables transform."""
        of = self.of
        makes: list[Make] = [lambda: f"{{'a': {of(inner, depth)}, {of('string', depth)}: {of(inner, depth)}}}"]
        if "kubernetes" in self.extensions:
            makes.append(lambda: f"{of(f'map {inner}', depth)}.transformMap(k, v, k != 'b', v)")
        return makes

    def optionals(self, inner: str, depth: int) -> list[Make]:
        """All ways to an optional."""
        of = self.of

        def mapped(name: str) -> str:
            return f".optMap({name}, {of(inner, depth - 1)})"

        return [
            lambda: f"optional.of({of(inner, depth)})",
            lambda: f"optional.{'ofNonZeroValue' if inner != 'timestamp' else 'of'}({of(inner, depth)})",
            lambda: f"{of(f'optional {inner}', depth)}.or({of(f'optional {inner}', depth)})",
            lambda: f"{{'a': {of(inner, depth)}}}.?{self.choice(('a', 'b'))}",
            lambda: f"[{of(inner, depth)}][?{self.choice(('0', '1', 'i'))}]",
            lambda: f"{of(f'optional {inner}', depth)}{self.within(inner, mapped)}",
        ]
