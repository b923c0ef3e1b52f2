"""Which release lets expressions use what."""

from pathlib import Path

import pytest

from fakekube.apimachinery.releases import RELEASES
from fakekube.cel import errors
from fakekube.cel.library import bindings, jsonpatch, kubernetes

PAGE = (Path(__file__).parents[2] / "docs" / "cel.md").read_text()
SINCE = {
    "'a'.charAt(0)": 25,
    "[1].sum()": 25,
    "'a'.find('a')": 25,
    "url('/a')": 25,
    "quantity('1')": 28,
    "optional.of(1).optMap(x, x)": 28,
    "{'a': 1}.?a": 28,
    "1 < 2.0": 28,
    "'%d'.format([1])": 29,
    "strings.quote('a')": 29,
    "sets.contains([1], [1])": 29,
    "ip('::1')": 30,
    "cidr('::/0')": 30,
    "format.uuid()": 31,
    "[1].all(i, v, true)": 32,
    "{'a': 1}.transformMap(k, v, v)": 32,
    "semver('1.0.0')": 33,
    "[1].sort()": 34,
    "lists.range(3)": 34,
    "[1].includes(1)": 37,
}


def compiles(text: str, minor: int, *, stored: bool) -> bool:
    """Whether a release takes an expression."""
    try:
        kubernetes.environment(minor, stored=stored).compile(text)
    except errors.CompileError:
        return False
    return True


@pytest.mark.parametrize("text", SINCE)
def test_stored_expressions_use_what_the_release_has_new_ones_what_the_one_before_had(text: str) -> None:
    """given a function, when each release compiles it, then stored expressions may use it from the
    first release on that has it, and new ones one release later since there is a difference
    """
    stored = [release.minor for release in RELEASES if compiles(text, release.minor, stored=True)]
    new = [release.minor for release in RELEASES if compiles(text, release.minor, stored=False)]
    assert stored == list(range(SINCE[text], 38))
    assert new == list(range(SINCE[text] + (SINCE[text] >= 28), 38))


def test_unwrapping_comes_with_the_release_whoever_wrote_the_expression() -> None:
    """given functions of optionals that came with CEL itself, when a new expression has them, then
    the release alone counts
    """
    assert [release.minor for release in RELEASES if compiles("[1].first()", release.minor, stored=False)] == [33, 34, 35, 36, 37]
    flat = "optional.of(1).optFlatMap(x, optional.of(x))"
    assert not compiles(flat, 28, stored=True)
    assert compiles(flat, 29, stored=False)


@pytest.mark.parametrize(("text", "since"), [
    ("duration('1x') < duration('1s')", 29), ("'a'.matches('(')", 29), ("'%d'.format(['a'])", 29),
])
def test_literals_are_looked_at_since_there_are_validators(text: str, since: int) -> None:
    """given a literal that can have no value, when it is compiled, then only releases with
    validators say which argument is wrong
    """
    for minor in (since, 37):
        with pytest.raises(errors.CompileError, match=r"invalid (duration|matches) argument|error during formatting"):
            kubernetes.environment(minor).compile(text)
    with pytest.raises(errors.CelError) as older:
        kubernetes.environment(since - 1).compile(text)
    assert "argument" not in str(older.value).replace("undeclared", "")


@pytest.mark.parametrize(("minor", "text", "refused"), [
    (28, "'%s %s'.split(' ').map(x, [x, x]) == [1, 'a']", True),
    (37, "[1, 'a'] == []", True),
    (37, "'%s %d'.format(['a', 1]) == 'a 1'", False),
])
def test_literals_of_mixed_types(minor: int, text: str, refused: bool) -> None:
    """given literals of mixed types, when they are compiled, then they are refused except as the
    arguments of a template
    """
    assert compiles(text, minor, stored=True) is not refused


def test_the_page_names_every_function() -> None:
    """given all functions and macros of 1.37, when the page is read, then each is there"""
    libraries = (*kubernetes.libraries(37), bindings.library(), jsonpatch.library())
    names = [function.name for library in libraries for function in library.functions if not function.name.startswith(("_", "@"))]
    names += [macro.name for library in libraries for macro in library.macros]
    missing = [name for name in names if "@" not in name and f"`{name}" not in PAGE and f".{name}`" not in PAGE]
    shortened = {f"format.{name}Prefix" for name in ("dns1123Label", "dns1123Subdomain", "dns1035Label")}
    shortened |= {"string", "exists_one"}
    assert set(missing) - shortened == set()
