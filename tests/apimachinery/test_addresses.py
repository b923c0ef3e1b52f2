"""Addresses and prefixes are read and printed as Go's net/netip does."""

import pytest

from fakekube.apimachinery import netip


@pytest.mark.parametrize(("text", "printed"), [
    ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
    ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
    ("1:0:0:4:5:0:0:0", "1:0:0:4:5::"), ("1:0:0:4:0:0:7:8", "1::4:0:0:7:8"),
    ("::ffff:1.2.3.4", "::ffff:1.2.3.4"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("::1.2.3.4", "::102:304"),
    ("fe80::1%eth0", "fe80::1%eth0"), ("ABCD::", "abcd::"),
])
def test_an_address_prints_in_its_short_form(text: str, printed: str) -> None:
    """Given an address / when it is read and printed / then the first longest run of zeros is left
    out.
    """
    assert str(netip.parse_address(text)) == printed


@pytest.mark.parametrize(("text", "message"), [
    ("", "unable to parse IP"), ("abc", "unable to parse IP"), ("1%2", "missing IPv6 address"),
    ("1.2.3", "IPv4 address too short"), ("1.2.3.4.5", "IPv4 address too long"),
    ("1.2.3.256", "IPv4 field has value >255"), ("1.2.3.04", "IPv4 field has octet with leading zero"),
    ("1.2..4", 'IPv4 field must have at least one digit (at ".4")'),
    ("1.2.3.", 'IPv4 field must have at least one digit (at ".")'), ("1.2.3.x", 'unexpected character (at "x")'),
    ("::1%", "zone must be a non-empty string"),
    ("1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'), ("1:2", "address string too short"),
    ("1:2:3:4:5:1.2.3.4", 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'),
    ("::2:3:4:5:6:7:8:1.2.3.4", 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")'),
    ("1:2x", 'unexpected character, want colon (at "x")'),
    ("1:", 'colon must be followed by more characters (at ":")'), ("1::2::3", 'multiple :: in address (at ":3")'),
    ("12345::", 'each group must have 4 or less digits (at "12345::")'),
    (":1", 'each colon-separated field must have at least one digit (at ":1")'),
    ("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"),
])
def test_what_is_no_address_says_why(text: str, message: str) -> None:
    """Given a text that is no address / when it is read / then the error is Go's."""
    with pytest.raises(netip.AddressError) as error:
        netip.parse_address(text)
    assert str(error.value) == f'ParseAddr("{text}"): {message}'


@pytest.mark.parametrize(("text", "message"), [
    ("1.2.3.4", "no '/'"), ("1.2.3/8", 'ParseAddr("1.2.3"): IPv4 address too short'),
    ("fe80::1%a/8", "IPv6 zones cannot be present in a prefix"), ("1.2.3.4/", 'bad bits after slash: ""'),
    ("1.2.3.4/08", 'bad bits after slash: "08"'), ("1.2.3.4/+8", 'bad bits after slash: "+8"'),
    ("1.2.3.4/33", "prefix length out of range"), ("::/129", "prefix length out of range"),
    ("1.2.3.4/9223372036854775807", "prefix length out of range"),
    ("1.2.3.4/9223372036854775808", 'bad bits after slash: "9223372036854775808"'),
])
def test_what_is_no_prefix_says_why(text: str, message: str) -> None:
    """Given a text that is no prefix / when it is read / then the error is Go's."""
    with pytest.raises(netip.AddressError) as error:
        netip.parse_prefix(text)
    assert str(error.value) == f'netip.ParsePrefix("{text}"): {message}'


@pytest.mark.parametrize(("text", "address", "is_inside"), [
    ("10.0.0.0/8", "10.255.255.255", True), ("10.0.0.0/8", "11.0.0.0", False), ("10.1.2.3/32", "10.1.2.3", True),
    ("10.1.2.3/32", "10.1.2.2", False), ("0.0.0.0/0", "255.0.0.1", True), ("0.0.0.0/0", "::", False),
    ("::/0", "0.0.0.0", False), ("2001:db8::/32", "2001:db8:ffff::", True), ("2001:db8::/32", "2001:db9::", False),
])
def test_a_network_has_addresses(text: str, address: str, is_inside: bool) -> None:
    """Given a network / when an address is looked for in it / then only one of its family and its
    bits is found.
    """
    assert netip.parse_prefix(text).contains(netip.parse_address(address)) is is_inside


@pytest.mark.parametrize(("left", "right", "overlap"), [
    ("10.0.0.0/8", "10.1.0.0/16", True), ("10.0.0.0/8", "11.0.0.0/8", False), ("10.0.0.0/7", "11.0.0.0/8", True),
    ("0.0.0.0/0", "::/0", False), ("::/0", "2001:db8::/32", True), ("10.0.0.1/32", "10.0.0.0/32", False),
])
def test_networks_overlap(left: str, right: str, overlap: bool) -> None:
    """Given two networks / when they are compared / then the shorter length decides, either way."""
    assert netip.parse_prefix(left).overlaps(netip.parse_prefix(right)) is overlap
    assert netip.parse_prefix(right).overlaps(netip.parse_prefix(left)) is overlap


def test_a_network_is_zero_behind_its_bits() -> None:
    """Given a prefix with more than its network / when it is masked / then the rest is zero."""
    assert str(netip.parse_prefix("10.1.2.3/15").masked()) == "10.0.0.0/15"
    assert str(netip.parse_prefix("2001:db8:ffff::1/33").masked()) == "2001:db8:8000::/33"
