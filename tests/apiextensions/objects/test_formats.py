"""Texts that are of a format, and texts that are not."""

import pytest

from fakekube.apiextensions.objects.formats import FORMATS, format_named

CASES = {
    "bsonobjectid": (["507f1f77bcf86cd799439011"], ["507f", "z07f1f77bcf86cd799439011"]),
    "byte": (["AAEC", "aGk="], ["", "%", "aGk", "aG k"]),
    "cidr": (["10.0.0.0/8", "010.1.2.3/08", "fd00::/8"], ["10.0.0.0", "10.0.0.0/33", "a/8", "fd00::/129", "10.0.0.0/-1"]),
    "creditcard": (["4111 1111 1111 1111", "378282246310005"], ["4111 1111 1111 1112", "1"]),
    "date": (["2026-01-02", "2024-02-29"], ["2026-13-01", "2026-02-30", "26-01-02", "2026-1-2", "2026-01-02T"]),
    "date-time": (["2026-01-02T03:04:05Z", "2026-01-02t03:04:05.123+02:00", "2026-01-02T23:59:59z"],
                  ["yesterday", "2026-01-02", "2026-01-02T24:00:00Z", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z"]),
    "duration": (["1h30m", "-1.5s", "0", "2 days", "3 weeks 1 hour", "22 ns"], ["soon", "", "5", "5 parsecs"]),
    "email": (["a@b.example", "Ann <ann@b.example>", '"a b"@c.example', "a@[1.2.3.4]"],
              ["x", "a@", "@b", "a b@c", "a@b>", "a..b@c"]),
    "hexcolor": (["#fff", "FFFFFF"], ["#ffff", "red"]),
    "hostname": (["a.example", "a", "1a.example", "bücher.example"], ["-a_", "", "a..b", "a" * 64, "a.b.c.d" * 64]),
    "ipv4": (["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "1.2.3.256", "::1", "a.b.c.d"]),
    "ipv6": (["::1", "fd00::1", "::ffff:1.2.3.4"], ["1.2.3.4", "::1%eth0", "1:2", ":::"]),
    "isbn": (["0321751043", "978-0321751041"], ["0321751044", "x"]),
    "isbn10": (["0-321-75104-3", "097522980X"], ["978-0321751041"]),
    "isbn13": (["978-0321751041"], ["978-0321751042", "0321751043"]),
    "mac": (["00:00:5e:00:53:01", "02-00-5e-10-00-00-00-01", "0000.5e00.5301"],
            ["00:00:5e:00:53", "00:00-5e:00:53:01", "0g:00:5e:00:53:01"]),
    "password": (["anything", ""], []),
    "rgbcolor": (["rgb(1, 20,255)"], ["rgb(1,2)", "rgb(256,0,0)"]),
    "ssn": (["123-45-6789"], ["123456789", "12-345-6789", ""]),
    "uri": (["https://a.example/b?c#d", "/path", "mailto:a@b", "http://[::1]:80/x", "*", "http://a:80"],
            ["::", "", "a/b", "http://a b", "http://[::1", "http://a:x/", "/%zz", "http://a%41/", ":a", "1a:b", "http://[fe80::x]/"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
             ["x", "123e4567-e89b-12d3-a456-42661417400"]),
    "uuid3": (["123e4567-e89b-32d3-a456-426614174000"], ["123e4567-e89b-42d3-a456-426614174000"]),
    "uuid4": (["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-42d3-c456-426614174000"]),
    "uuid5": (["123e4567-e89b-52d3-a456-426614174000"], ["123e4567-e89b-42d3-a456-426614174000"]),
    "k8s-short-name": (["a-1", "a" * 63], ["A", "a.b", "-a", "a" * 64]),
    "k8s-long-name": (["a.b-1"], ["a..b", "A.b", "a" * 254]),
}


@pytest.mark.spec("API-157")
@pytest.mark.parametrize("name", CASES)
def test_a_format_takes_its_texts_and_no_others(name: str) -> None:
    """Given texts that upstream takes for the format and texts that it does not, then each is told
    rightly.
    """
    is_format = format_named(name, 37)
    assert is_format is not None
    good, bad = CASES[name]
    assert [text for text in good if not is_format(text)] == []
    assert [text for text in bad if is_format(text)] == []


def test_all_formats_are_looked_at_here() -> None:
    """Given the formats that are known, then each stands in the cases above."""
    assert {name.replace("-", "") for name in CASES} >= set(FORMATS)
    assert format_named("made-up", 37) is None
    assert format_named("k8s-long-name", 33) is None
