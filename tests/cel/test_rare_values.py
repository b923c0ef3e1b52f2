"""Values that are not what their declaration says, and types that are rarely compared."""

from typing import Any

import pytest

from fakekube.cel import assignability, conversion, errors, types, values
from fakekube.cel.assignability import Substitutions
from fakekube.cel.library import kubernetes
from fakekube.cel.standard import conversions, times

A, B = types.parameter("A"), types.parameter("B")
NULLABLE = types.Type(types.Kind.INT, "int", wrapper=True)


@pytest.mark.parametrize("convert", [
    conversion.byte, conversion.duration, conversion.date, conversion.date_time, conversion.list_of("set", (), None),
    conversion.list_of("map", ("k",), None), conversion.list_of("atomic", (), conversion.double),
    conversion.map_of(conversion.double), conversion.object_of({"a": conversion.double}),
])
@pytest.mark.parametrize("value", [5, 1.5, True])
def test_what_is_of_another_type_stays(convert: Any, value: Any) -> None:
    """given a value that its schema does not allow, when it is converted, then it stays as it is"""
    assert convert(value) is value


def test_what_is_converted_below() -> None:
    """given lists, maps and objects with doubles, when they are converted, then their elements are,
    and an object that has none of the fields stays the same one
    """
    listed, mapped, known = (
        conversion.list_of("atomic", (), conversion.double), conversion.map_of(conversion.double),
        conversion.object_of({"a": conversion.double}))
    assert listed is not None
    assert mapped is not None
    assert known is not None
    assert repr((listed([1, 2.5]), mapped({"x": 1}), known({"a": 1, "b": 1}))) == "([1.0, 2.5], {'x': 1.0}, {'a': 1.0, 'b': 1})"
    other = {"b": 1}
    assert known(other) is other
    assert conversion.list_of("atomic", (), None) is conversion.map_of(None) is conversion.object_of({}) is None


def test_an_attempt_that_fails_is_taken_back() -> None:
    """given a parameter that stands for a number, when an attempt makes it stand for anything and
    then fails, then it stands for a number again
    """
    found = Substitutions()
    assert found.assignable(types.INT, A)
    assert not found.assignable_all([types.DYN, types.INT, types.INT], [A, B, types.STRING])
    assert (found.find(A), found.find(B)) == (types.INT, None)
    assert found.assignable_all([types.DYN, types.INT], [A, B])
    assert (found.find(A), found.find(B)) == (types.DYN, types.INT)


@pytest.mark.parametrize(("declared", "given", "expected"), [
    (NULLABLE, types.NULL, True), (types.INT, types.NULL, False), (types.DYN, types.INT, True), (types.INT, types.DYN, False),
    (types.list_of(types.DYN), types.list_of(types.INT), True), (types.list_of(types.INT), types.list_of(types.STRING), False),
    (types.opaque("a"), types.opaque("b"), False), (types.opaque("a", types.INT), types.opaque("a"), False),
])
def test_what_may_stand_where(declared: types.Type, given: types.Type, expected: bool) -> None:
    """given two types, when one stands where the other is declared, then it may or may not"""
    assert assignability.accepts(declared, given) is expected


def test_types_as_texts_and_keys() -> None:
    """given types, when they are shown and compared, then wrappers say so, and types of objects
    are equal by their names
    """
    assert str(NULLABLE) == "wrapper(int)"
    one, same = types.object_type("a.B", {"x": types.INT}), types.object_type("a.B", {})
    assert (len({one, same}), len({one, types.object_type("a.C", {})}), one == types.opaque("a.B")) == (1, 2, False)


@pytest.mark.parametrize(("text", "number"), [
    ("1_0", 10.0), ("1_000.2_5e1_0", 1000.25e10), ("0x_1_0p1_0", 16384.0), ("0x1_fp0", 31.0), ("1__0", None), ("_1", None),
    ("1_", None), ("1_.5", None), ("1._5", None), ("1_e5", None), ("1e_5", None), ("0_x1p0", None), ("0x1_p0", None),
    ("in_f", None), ("0x1p99999", None), ("1e999", None), ("-0x1p-2", -0.25), ("0xp1", None),
])
def test_digits_may_be_separated(text: str, number: float | None) -> None:
    """given a number with underscores, when it is read, then they stand between digits or it is
    none, as Go has it
    """
    if number is None:
        with pytest.raises(errors.EvaluationError, match=r"^type conversion error from 'string' to 'double'$"):
            conversions.string_to_double(text)
    else:
        assert conversions.string_to_double(text) == number


@pytest.mark.parametrize(("key", "shown"), [
    (True, "true"), (False, "false"), (1, "1"), (1.0, "1"), (1.5, "1.5"), ("a", "a"), (values.Uint(7), "7"), (None, "None"),
])
def test_keys_as_errors_show_them(key: Any, shown: str) -> None:
    """given the key of a map, when an error names it, then it is as Go prints it"""
    assert conversions.key_text(key) == shown


@pytest.mark.parametrize(("moment", "zone", "year", "month", "day", "hour"), [
    ("9999-12-31T23:30:00Z", "+01:00", 10000, 0, 1, 0), ("9999-12-31T23:30:00Z", "UTC", 9999, 11, 31, 23),
    ("9999-12-31T23:30:00Z", "-01:00", 9999, 11, 31, 22), ("9999-12-31T23:30:00Z", "Asia/Tokyo", 10000, 0, 1, 8),
    ("0001-01-01T00:30:00Z", "-01:00", 0, 11, 31, 23), ("0001-01-01T00:30:00Z", "", 1, 0, 1, 0),
    ("0001-01-01T00:30:00Z", "+01:00", 1, 0, 1, 1), ("2020-12-31T23:30:00Z", "+01:00", 2021, 0, 1, 0),
])
def test_clocks_beyond_the_years_of_python(moment: str, zone: str, year: int, month: int, day: int, hour: int) -> None:
    """given the first and the last hours of all, when a zone shows them, then that is in the year
    before or after
    """
    found = times.parse_timestamp(moment)
    shown = [part(found, zone) for part in (times.full_year, times.month, times.date, times.hours)]
    assert shown == [year, month, day, hour]


def test_expressions_in_a_deep_stack() -> None:
    """given a caller whose stack is nearly full, when loops within loops are compiled, then they
    are refused, and nothing of Python's is raised
    """
    text = "[1].all(x, " * 40 + "true" + ")" * 40
    environment = kubernetes.environment(37)

    def compiled_deep(depth: int) -> str:
        if depth:
            return compiled_deep(depth - 1)
        try:
            environment.compile(text)
        except errors.CompileError as error:
            return str(error)
        return "compiled"

    assert compiled_deep(10) == "compiled"
    told = {compiled_deep(depth) for depth in range(500, 850, 25)}
    assert "ERROR: <input>:-1:0: expression recursion limit exceeded: 250" in told
