"""What names, labels and other words of the API must look like, with upstream's complaint when they
do not.

Every validator takes a text and returns the complaints, none for a good one. Upstream:
apimachinery/pkg/util/validation and pkg/api/validate/content. Left out: wildcard domains and fully
qualified domain names beyond the dotted check.
"""

import re
from collections.abc import Callable
from functools import cache

from fakekube.util.memory import memoized

DNS1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS1123_SUBDOMAIN = rf"{DNS1123_LABEL}(\.{DNS1123_LABEL})*"
DNS1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
LABEL_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
LABEL_VALUE = f"({LABEL_NAME})?"
CONFIG_KEY = "[-._a-zA-Z0-9]+"
C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
HTTP_HEADER = "[-A-Za-z0-9]+"
PERCENT = "[0-9]+%"
HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

ALPHANUMERIC_ENDS = "and must start and end with an alphanumeric character"
LABEL_NAME_TEXT = f"must consist of alphanumeric characters, '-', '_' or '.', {ALPHANUMERIC_ENDS}"
LABEL_NAME_EXAMPLES = ("MyName", "my.name", "123-abc")

MAX_LABEL_LENGTH = 63
MAX_SUBDOMAIN_LENGTH = 253
MAX_PORT_NAME_LENGTH = 15
MAX_INT32 = 2**31 - 1


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def matches(expression: str, text: str) -> bool:
    """Whether the whole of ``text`` matches; expressions are compiled once, on first use."""
    return _pattern(expression).fullmatch(text) is not None


def too_long(limit: int) -> str:
    """How a text over ``limit`` characters is refused."""
    return f"must be no more than {limit} characters"


def too_many_bytes(limit: int) -> str:
    """How a text over ``limit`` bytes is refused."""
    return f"must be no more than {limit} bytes"


def in_bytes(text: str) -> str:
    """A complaint as the newer half of upstream words it, which tells lengths in bytes."""
    return text.replace("characters", "bytes") if text.startswith("must be no more than ") else text


def is_longer(text: str, limit: int) -> bool:
    """Whether a text has more than ``limit`` bytes.

    Most have so few letters that nobody needs to count.
    """
    return len(text) * 4 > limit and len(text.encode()) > limit


def mismatch(text: str, expression: str, *examples: str) -> str:
    """How a text that does not match is refused, with the expression and examples of what does."""
    used = f"regex used for validation is '{expression}')"
    if not examples:
        return f"{text} ({used}"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}{used}"


def between(low: int, high: int) -> str:
    """How a number outside of a range is refused."""
    return f"must be between {low} and {high}, inclusive"


def dns1123_label(text: str) -> list[str]:
    """``my-name``: a part of a domain name."""
    found = [too_long(MAX_LABEL_LENGTH)] if len(text) > MAX_LABEL_LENGTH else []
    if not matches(DNS1123_LABEL, text):
        if matches(DNS1123_SUBDOMAIN, text):
            return [*found, "must not contain dots"]
        what = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
        found.append(mismatch(what + ALPHANUMERIC_ENDS, DNS1123_LABEL, "my-name", "123-abc"))
    return found


def dns1123_subdomain(text: str) -> list[str]:
    """``example.com``: a domain name."""
    found = [too_long(MAX_SUBDOMAIN_LENGTH)] if len(text) > MAX_SUBDOMAIN_LENGTH else []
    if not matches(DNS1123_SUBDOMAIN, text):
        what = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
        found.append(mismatch(what + ALPHANUMERIC_ENDS, DNS1123_SUBDOMAIN, "example.com"))
    return found


def dns1035_label(text: str) -> list[str]:
    """``my-name``, with a letter in front."""
    found = [too_long(MAX_LABEL_LENGTH)] if len(text) > MAX_LABEL_LENGTH else []
    if not matches(DNS1035_LABEL, text):
        what = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            "character, and end with an alphanumeric character"
        )
        found.append(mismatch(what, DNS1035_LABEL, "my-name", "abc-123"))
    return found


def qualified_name(text: str) -> list[str]:
    """``example.com/my.name``: the key of a label, with or without a domain in front."""
    return [] if is_qualified_name(text) else _qualified_name_complaints(text)


@memoized(4096, longest=MAX_SUBDOMAIN_LENGTH + 1 + MAX_LABEL_LENGTH)
def is_qualified_name(text: str) -> bool:
    """Whether a text is one. Keys repeat from object to object, so the answer is worth keeping."""
    prefix, slash, name = text.rpartition("/")
    if len(name) > MAX_LABEL_LENGTH or not matches(LABEL_NAME, name):
        return False
    return not slash or not dns1123_subdomain(prefix)


def _qualified_name_complaints(text: str) -> list[str]:
    found: list[str] = []
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        what = mismatch(f"a valid label key {LABEL_NAME_TEXT}", LABEL_NAME, *LABEL_NAME_EXAMPLES)
        return [f"{what} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if slash and not prefix:
        found.append("prefix part must be non-empty")
    elif slash:
        found += [f"prefix part {complaint}" for complaint in _content_subdomain(prefix)]
    if not name:
        found.append("name part must be non-empty")
    elif len(name.encode()) > MAX_LABEL_LENGTH:
        found.append(f"name part {too_many_bytes(MAX_LABEL_LENGTH)}")
    if not matches(LABEL_NAME, name):
        found.append(mismatch(f"name part {LABEL_NAME_TEXT}", LABEL_NAME, *LABEL_NAME_EXAMPLES))
    return found


def _content_subdomain(text: str) -> list[str]:
    """As ``dns1123_subdomain``, with the length in bytes."""
    return [in_bytes(each) for each in dns1123_subdomain(text)]


def label_value(text: str) -> list[str]:
    """``MyValue``, or nothing at all."""
    if not text:
        return []
    found = [too_many_bytes(MAX_LABEL_LENGTH)] if len(text.encode()) > MAX_LABEL_LENGTH else []
    if not matches(LABEL_NAME, text):
        what = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            + ALPHANUMERIC_ENDS
        )
        found.append(mismatch(what, LABEL_VALUE, "MyValue", "my_value", "12345"))
    return found


def is_label_value(text: str) -> bool:
    """Whether a text is one."""
    return not text or (len(text) <= MAX_LABEL_LENGTH and matches(LABEL_NAME, text))


def path_segment(text: str) -> list[str]:
    """Anything that can stand between two slashes of a path."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return path_segment_prefix(text)


def path_segment_prefix(text: str) -> list[str]:
    """The beginning of a path segment."""
    return [f"may not contain '{part}'" for part in ("/", "%") if part in text]


def config_key(text: str) -> list[str]:
    """A key of a ConfigMap's or a Secret's data."""
    found = [too_long(MAX_SUBDOMAIN_LENGTH)] if len(text) > MAX_SUBDOMAIN_LENGTH else []
    if not matches(CONFIG_KEY, text):
        what = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        found.append(mismatch(what, CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if text in (".", ".."):
        found.append(f"must not be '{text}'")
    elif text.startswith(".."):
        found.append("must not start with '..'")
    return found


def env_name(text: str) -> list[str]:
    """A name of an environment variable: printable ASCII without an equals sign."""
    found = [] if text else ["environment variable name must be non-empty"]
    if not all(" " <= letter <= "~" and letter != "=" for letter in text):
        found.append("a valid environment variable name must consist only of printable ASCII characters other than '='")
    return found


def c_identifier(text: str) -> list[str]:
    """An identifier of the C language."""
    if matches(C_IDENTIFIER, text):
        return []
    what = (
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
        "characters or '_'"
    )
    return [mismatch(what, C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]


def port_name(text: str) -> list[str]:
    """``http``: the name of a port in the sense of IANA."""
    found = [too_long(MAX_PORT_NAME_LENGTH)] if len(text) > MAX_PORT_NAME_LENGTH else []
    if not matches("[-a-z0-9]+", text):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= letter <= "z" for letter in text):
        found.append("must contain at least one letter (a-z)")
    if "--" in text:
        found.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def port_number(number: int) -> list[str]:
    """A port of TCP or UDP."""
    return [] if 1 <= number <= 65535 else [between(1, 65535)]


def unix_id(number: int) -> list[str]:
    """The id of a Unix user or group."""
    return [] if 0 <= number <= MAX_INT32 else [between(0, MAX_INT32)]


def percent(text: str) -> list[str]:
    """``25%``."""
    if matches(PERCENT, text):
        return []
    return [mismatch("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, "1%", "93%")]


def http_header(text: str) -> list[str]:
    """The name of a header."""
    if matches(HTTP_HEADER, text):
        return []
    what = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [mismatch(what, HTTP_HEADER, "X-Header-Name")]


def anything(_text: str) -> list[str]:
    """Any name at all."""
    return []


@cache
def _rules() -> dict[str, Callable[[str], list[str]]]:
    return {
        "subdomain": dns1123_subdomain, "label": dns1123_label, "label1035": dns1035_label,
        "path_segment": path_segment, "config_map_key": config_key, "any": anything, "ip": anything,
    }


def object_name(rule: str, text: str) -> list[str]:
    """A name by the rule that a Kind names: subdomain, label, label1035, path_segment,
    config_map_key, any or ip.

    Whether the name of an IPAddress is an address is its strategy's to say.
    """
    return _rules()[rule](text)


def object_name_prefix(rule: str, text: str) -> list[str]:
    """A generateName by the same rules.

    A dash at its end takes the letter before it along, as upstream has it.
    """
    if rule == "path_segment":
        return path_segment_prefix(text)
    if len(text) > 1 and text.endswith("-"):
        text = f"{text[:-2]}a"
    return _rules()[rule](text)
