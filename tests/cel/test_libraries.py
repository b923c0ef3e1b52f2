"""Properties of Kubernetes' functions, against naive models of them."""

import ipaddress
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import gourl, netip
from fakekube.cel import errors, types, values
from fakekube.cel.library import (
    formatting,
    kubernetes,
    kubernetes_lists,
    lists,
    network,
    quantities,
    regex,
    semvers,
    sets,
    strings,
    urls,
)

TEXT = st.text(alphabet="abcA,. é\t\n\u2003😀", max_size=12)
SMALL = st.integers(-3, 15)
INSERTING = kubernetes.environment(37).extended({"x": types.DYN})
SCALAR = st.one_of(st.integers(-3, 3), st.booleans(), st.none(), st.sampled_from(["", "a", "b", 1.0, 2.5, values.Uint(1), b"a"]))
NESTED = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


def fails(function: Any, *arguments: Any) -> bool:
    """Whether an error of ours is raised."""
    try:
        function(*arguments)
    except errors.EvaluationError:
        return True
    return False


@given(TEXT, st.sampled_from(["", ",", "a", " é"]), SMALL)
def test_split_and_join(text: str, separator: str, limit: int) -> None:
    """given a text, when it is split and joined again, then it is the text, in no more parts than
    were asked for
    """
    parts = strings.split(text, separator, limit)
    assert parts == [] if limit == 0 else strings.join(parts, separator) == text
    assert limit < 0 or len(parts) <= limit


@given(TEXT, TEXT, SMALL)
def test_searches(text: str, part: str, offset: int) -> None:
    """given a text and a part, when it is looked for, then it is where a naive search finds it"""
    places = [place for place in range(len(text) - len(part) + 1) if text[place : place + len(part)] == part]
    assert strings.index_of(text, part) == (places[0] if places else -1)
    assert strings.last_index_of(text, part) == (places[-1] if places else -1)
    if offset < 0:
        assert fails(strings.index_of, text, part, offset)
        assert fails(strings.last_index_of_before, text, part, offset)
    elif part:
        assert strings.index_of(text, part, offset) == next((place for place in places if place >= offset), -1)
        before = [place for place in places if place <= offset] if offset < len(text) else []
        assert strings.last_index_of_before(text, part, offset) == (before[-1] if before else -1)


@given(TEXT, SMALL, SMALL)
def test_parts(text: str, start: int, end: int) -> None:
    """given a text and indexes, when a part is taken, then characters make it, or the indexes are
    refused
    """
    good = 0 <= start <= end <= len(text)
    assert fails(strings.substring, text, start, end) is not good
    if good:
        assert strings.substring(text, start, end) == "".join(strings.char_at(text, index) for index in range(start, end))


@given(TEXT, st.sampled_from(["", "a", ",", "é\t"]), TEXT, SMALL)
def test_replacing(text: str, old: str, new: str, limit: int) -> None:
    """given a text, when parts are replaced, then the first so many are, and the rest is kept"""
    found = strings.replace(text, old, new, limit)
    everywhere = len(text) + 1 if not old else text.count(old)
    count = everywhere if limit < 0 else min(limit, everywhere)
    assert len(found) == len(text) + count * (len(new) - len(old))
    assert limit != 0 or found == text


@given(st.text(max_size=12))
def test_a_quoted_text_is_a_literal(text: str) -> None:
    """given any text, when it is quoted, then it is read back from the literal"""
    from fakekube.cel.environment import Environment

    assert Environment().compile(strings.quote(text)).evaluate({}) == text


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_printed(number: int) -> None:
    """given a number, when it is printed in all bases, then each reads back"""
    printed = formatting.format_string("%d %b %o %x %X", [number] * 5).split()
    assert [int(text, base) for text, base in zip(printed, (10, 2, 8, 16, 16), strict=True)] == [number] * 5
    assert printed[4] == printed[3].upper()


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 30))
def test_doubles_are_printed(number: float, precision: int) -> None:
    """given a double, when it is printed with so many digits, then it has them, and is no further
    off than half of the last
    """
    text = formatting.format_string(f"%.{precision}f", [number]).replace(",", "")
    assert len(text.partition(".")[2]) == precision
    assert abs(Fraction(text) - Fraction(number)) <= Fraction(1, 2 * 10**precision)
    mantissa, _, exponent = formatting.format_string("%e", [number]).strip().partition("×10")
    power = int(exponent.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")))
    assert abs(Fraction(mantissa) * Fraction(10) ** power - Fraction(number)) <= Fraction(10) ** (power - 6) / 2


@given(st.text(alphabet="%.sdfebxXo109 é", max_size=8), st.lists(SCALAR, max_size=3))
def test_templates_fail_with_words(template: str, arguments: list[Any]) -> None:
    """given any template and arguments, when it is filled, then a text or an error of ours comes"""
    if not fails(formatting.format_string, template, arguments):
        assert "%" in template or formatting.format_string(template, arguments) == template


@given(st.lists(NESTED, max_size=8))
def test_distinct_is_what_comparisons_leave(elements: list[Any]) -> None:
    """given a list, when doubles are dropped, then each is compared with those before"""
    kept: list[Any] = []
    for element in elements:
        if not any(values.equal(element, other) for other in kept):
            kept.append(element)
    found = lists.distinct(elements)
    assert [repr(element) for element in found] == [repr(element) for element in kept]


@given(st.lists(NESTED, max_size=6), st.lists(NESTED, max_size=6))
def test_sets_are_what_comparisons_find(left: list[Any], right: list[Any]) -> None:
    """given two lists, when they are taken as sets, then each element was compared with each"""
    within = [any(values.equal(element, other) for other in left) for element in right]
    assert sets.contains(left, right) is all(within)
    assert sets.intersects(left, right) is any(within)
    assert sets.equivalent(left, right) is (all(within) and sets.contains(right, left))


@given(st.one_of(st.lists(st.integers()), st.lists(st.text(max_size=3)), st.lists(st.floats(allow_nan=False))))
def test_order(elements: list[Any]) -> None:
    """given comparable elements, when they are sorted, then min, max and isSorted agree with it"""
    ordered = lists.sort(elements)
    assert ordered == sorted(elements)
    assert kubernetes_lists.is_sorted(ordered)
    assert kubernetes_lists.is_sorted(elements) is (ordered == elements)
    if elements:
        assert (kubernetes_lists.least(elements), kubernetes_lists.greatest(elements)) == (ordered[0], ordered[-1])
        assert kubernetes_lists.index_of(elements, elements[-1]) == elements.index(elements[-1])
    assert lists.sort_by_keys(list(range(len(elements))), elements) == sorted(range(len(elements)), key=elements.__getitem__)


@given(st.lists(NESTED, max_size=5), st.integers(0, 4))
def test_flatten(elements: list[Any], depth: int) -> None:
    """given nested lists, when they are flattened so deep, then it is as often as once each time"""
    found = elements
    for _ in range(depth):
        found = [inner for element in found for inner in (element if isinstance(element, list) else [element])]
    assert repr(lists.flatten(elements, depth)) == repr(found)


@given(st.dictionaries(st.sampled_from("abc"), st.integers()), st.sampled_from("abc"), st.integers())
def test_inserting(entries: dict[str, int], key: str, value: int) -> None:
    """given entries, when a map is made of them, then it has them, unless a key comes twice"""
    listed = [{"key": each, "value": held} for each, held in (*entries.items(), (key, value))]
    program = INSERTING.compile("x.transformMapEntry(i, e, {e.key: e.value})")
    if key in entries:
        assert fails(program.evaluate, {"x": listed})
    else:
        assert program.evaluate({"x": listed}) == {**entries, key: value}


@given(st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 2**32 - 1, 127 << 24, 0xE0000001, 0xA9FE0001])))
def test_ipv4(number: int) -> None:
    """given an address, when it is printed and read, then it is as another library has it"""
    known = ipaddress.IPv4Address(number)
    address = netip.parse_address(str(known))
    assert str(address) == str(known)
    assert (address.is_loopback, address.is_multicast, address.is_unspecified, address.is_link_local_unicast) == (
        known.is_loopback, known.is_multicast, known.is_unspecified, known.is_link_local)


@given(st.lists(st.sampled_from([0, 0, 0, 1, 0xFE80, 0xFF02, 0xFFFF, 0x2001]), min_size=8, max_size=8), st.integers(0, 128))
def test_ipv6(groups: list[int], length: int) -> None:
    """given an address in both spellings, when it is read, then it is as another library has it"""
    number = sum(group << 16 * place for place, group in enumerate(reversed(groups)))
    known = ipaddress.IPv6Address(number)
    for text in (known.exploded, known.compressed.upper()):
        assert netip.parse_address(text).number == number
    address = netip.parse_address(known.exploded)
    if not address.is_4_in_6:
        assert str(address) == known.compressed
        assert network.is_canonical(known.compressed)
        assert (address.is_loopback, address.is_multicast, address.is_unspecified, address.is_link_local_unicast) == (
            known.is_loopback, known.is_multicast, known.is_unspecified, known.is_link_local)
    masked = netip.parse_prefix(f"{known}/{length}").masked()
    assert masked.address.number == int(ipaddress.IPv6Network((number, length), strict=False).network_address)


@given(st.tuples(st.integers(0, 255), st.integers(0, 32)), st.tuples(st.integers(0, 255), st.integers(0, 32)))
def test_networks(left: tuple[int, int], right: tuple[int, int]) -> None:
    """given two networks, when they are compared, then it is as another library says"""
    ours = [network.to_cidr(f"10.{byte}.0.1/{length}") for byte, length in (left, right)]
    known = [ipaddress.ip_network(f"10.{byte}.0.1/{length}", strict=False) for byte, length in (left, right)]
    assert network.covers(ours[0], ours[1]) is known[1].subnet_of(known[0])  # type: ignore[arg-type]
    assert network.contains(ours[0], network.to_ip(f"10.{right[0]}.0.1")) is (
        ipaddress.ip_address(f"10.{right[0]}.0.1") in known[0])


@given(st.text(alphabet="0123456789abcdefF:.%/", max_size=14))
def test_what_is_no_address_is_refused(text: str) -> None:
    """given any text of the right letters, when it is read, then an address prints as itself, else
    it is refused
    """
    if network.is_ip(text):
        assert network.to_ip(str(network.to_ip(text))) == network.to_ip(text)
    if network.is_cidr(text):
        assert network.to_cidr(str(network.to_cidr(text))) == network.to_cidr(text)


@given(st.dictionaries(st.text(alphabet="abé ", min_size=1, max_size=3), st.text(alphabet="xyü&=%", min_size=1, max_size=3)))
def test_queries(pairs: dict[str, str]) -> None:
    """given pairs, when they stand escaped in a URL, then they are read back"""
    from urllib.parse import urlencode

    text = f"https://example.com/?{urlencode(pairs)}"
    assert urls.to_url(text).parsed.query == parse_qs(urlencode(pairs)) == {name: [value] for name, value in pairs.items()}


@given(st.text(alphabet="htps:/[]@.%20az?#&=é;", max_size=16))
def test_a_url_prints_as_what_it_is(text: str) -> None:
    """given any text, when it is a URL, then what it prints is one with the same parts"""
    if urls.is_url(text):
        try:
            first = gourl.parse(text)
        except gourl.URLError:
            return
        again = gourl.parse(str(first))
        assert (again.scheme, again.hostname, again.port, again.path, again.raw_query, again.fragment) == (
            first.scheme, first.hostname, first.port, first.path, first.raw_query, first.fragment)


AMOUNT = st.builds(
    lambda number, suffix: f"{number}{suffix}",
    st.one_of(st.integers(-(10**20), 10**20), st.sampled_from(["1.5", "-0.25", "0.001"])),
    st.sampled_from(["", "m", "k", "Ki", "M", "Gi", "E", "e3", "n", "u"]))
_UNITS = {
    "": 1, "m": Fraction(1, 1000), "k": 1000, "Ki": 1024, "M": 10**6, "Gi": 1024**3, "E": 10**18, "e3": 1000,
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6),
}


def exactly(text: str) -> Fraction:
    """The amount that a text says, as upstream rounds and bounds it."""
    suffix = text.lstrip("-0123456789.")
    amount = Fraction(text[: len(text) - len(suffix)]) * _UNITS[suffix]
    nano = amount * 10**9
    amount = Fraction(-(-abs(nano) // 1), 10**9) * (1 if amount >= 0 else -1)  # what is less than a billionth is rounded up
    bound = 2**63 - 1
    return max(min(amount, Fraction(bound)), Fraction(-bound)) if suffix.endswith("i") else amount


@given(AMOUNT, AMOUNT)
def test_quantities(left: str, right: str) -> None:
    """given two quantities, when they are added and compared, then it is as fractions are"""
    ours, others = quantities.to_quantity(left), quantities.to_quantity(right)
    exact, other = exactly(left), exactly(right)
    assert ours.compare(others) == (exact > other) - (exact < other)
    for found, expected in ((ours.add(others), exact + other), (ours.add(others, -1), exact - other)):
        assert Fraction(found.number) * Fraction(10) ** found.scale == expected
        assert found.integer in (None, expected)
    assert quantities.sign(ours) == (exact > 0) - (exact < 0)
    assert ours.approximate_float == pytest.approx(float(exact), rel=1e-12)


PART = st.one_of(st.integers(0, 11).map(str), st.sampled_from(["a", "b", "alpha", "rc-1", "-"]))
VERSION = st.tuples(st.integers(0, 11), st.integers(0, 2), st.integers(0, 2), st.lists(PART, max_size=3))


def written(version: tuple[int, int, int, list[str]]) -> str:
    """A version as a text."""
    return ".".join(map(str, version[:3])) + (f"-{'.'.join(version[3])}" if version[3] else "")


@given(VERSION, VERSION)
def test_semvers(left: tuple[int, int, int, list[str]], right: tuple[int, int, int, list[str]]) -> None:
    """given two versions, when they are compared, then numbers go first, then what is before"""
    def key(version: tuple[int, int, int, list[str]]) -> Any:
        parts = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in version[3]]
        return version[:3], not parts, parts

    ours, other = semvers.to_semver(written(left)), semvers.to_semver(f"{written(right)}+build.7")
    assert ours.compare(other) == (key(left) > key(right)) - (key(left) < key(right))
    assert str(ours) == written(left)
    assert semvers.to_semver(f"v0{written(left)}", normalize=True) == ours


@given(st.text(alphabet="ab1é ", max_size=10), st.sampled_from(["a", "[ab]+", "é|1", r"\d", "(a)(b)"]), SMALL)
def test_regular_expressions(text: str, pattern: str, limit: int) -> None:
    """given a text and an expression, when parts are found, then they are as ``re`` finds them"""
    import re

    parts = [found[0] for found in re.finditer(pattern, text)]
    assert regex.find_all(text, pattern) == parts
    assert regex.find_all(text, pattern, limit) == (parts if limit < 0 else parts[:limit])
    assert regex.find(text, pattern) == (parts[0] if parts else "")


@pytest.mark.parametrize(("function", "arguments"), [
    (strings.replace, ("a" * 100_000, "", "b" * 100_000)),
    (strings.replace, ("a" * 100_000, "a", "b" * 100_000, 50_000)),
    (strings.join, (["a"] * 100_000, "b" * 100_000)),
])
def test_no_text_grows_beyond_memory(function: Any, arguments: tuple[Any, ...]) -> None:
    """given a call that costs little and gives a great deal, when it is made, then it is stopped"""
    with pytest.raises(errors.CostExceeded):
        function(*arguments)


def test_long_urls_are_read_in_one_go() -> None:
    """given a very long URL, when it is read and printed, then nothing of it is lost"""
    text = "https://example.com/" + "aé%20/" * 100_000 + "?" + "a=b&" * 5_000
    parsed = urls.to_url(text).parsed
    assert str(parsed) == "https://example.com/" + "a%C3%A9%20/" * 100_000 + "?" + "a=b&" * 5_000
    assert parsed.query == {"a": ["b"] * 5_000}
